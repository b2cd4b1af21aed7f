/** Layouts to begin with. */

import { fields } from "./state";

export interface Preset {
  id: string;
  name: string;
  about: string;
  shape: number[];
  element?: string;
  /** `NAME = TEXT` each; the first is shown. */
  layouts: string[];
}

const blocked = (size: number[], lanes: number[], warps: number[], order: number[]) =>
  `#ttg.blocked<{sizePerThread = [${size.join(", ")}], threadsPerWarp = [${lanes.join(", ")}], ` +
  `warpsPerCTA = [${warps.join(", ")}], order = [${order.join(", ")}]}>`;

const mma = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";
const mfma = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = false}>";
const swizzled = (vec: number, perPhase: number, maxPhase: number) =>
  `#ttg.swizzled_shared<{vec = ${vec}, perPhase = ${perPhase}, maxPhase = ${maxPhase}, order = [1, 0]}>`;

export const PRESETS: readonly Preset[] = [
  {
    id: "rows",
    name: "Rows, mma, a swizzle",
    about: "Four neighbours of a row in each thread (A), the result of a matrix instruction (B), a swizzled memory (S), and three layouts made of them.",
    shape: [16, 16],
    layouts: [...fields.layouts.initial],
  },
  {
    id: "paper",
    name: "The paper's A and B",
    about: "Figure 1 of the paper: A has two by two elements in each thread, and its matrix only permutes bits. B has its threads walk down the columns, so that a row of memory is loaded in more pieces.",
    shape: [16, 16],
    layouts: [`A = ${blocked([2, 2], [4, 8], [2, 1], [1, 0])}`, `B = ${blocked([1, 1], [16, 2], [1, 2], [0, 1])}`],
  },
  {
    id: "diagonals",
    name: "Diagonals of blocks",
    about: "One basis says (1,1) and not (1,0): each lane holds a diagonal of a two by two block, and transposing every block moves nothing between lanes.",
    shape: [4, 4],
    layouts: ["A = [register: (1,1), lane: (0,1) (0,2) (2,0)] -> [dim0: 4, dim1: 4]"],
  },
  {
    id: "mma",
    name: "mma and its operands",
    about: "What mma.sync leaves in registers (C), and what it takes: A from the left, B from the right, f16.",
    shape: [16, 16],
    element: "f16",
    layouts: [
      `C = ${mma}`,
      `A = #ttg.dot_op<{opIdx = 0, parent = ${mma}, kWidth = 2}>`,
      `B = #ttg.dot_op<{opIdx = 1, parent = ${mma}, kWidth = 2}>`,
    ],
  },
  {
    id: "mfma",
    name: "mfma on 64 lanes",
    about: "The result of AMD's matrix instruction: another family by name, a matrix of the same kind.",
    shape: [16, 16],
    layouts: [`C = ${mfma}`, `A = #ttg.dot_op<{opIdx = 0, parent = ${mfma}, kWidth = 4}>`],
  },
  {
    id: "copies",
    name: "Copies: a zero column",
    about: "Register bit 2 goes to 0: registers 4 to 7 hold what registers 0 to 3 hold.",
    shape: [128],
    layouts: ["A = [register: 1 2 0, lane: 4 8 16 32 64] -> [dim0: 128]"],
  },
  {
    id: "slice",
    name: "A slice, a row of sums",
    about: "Sums of the rows of a blocked tile (S) lie as a blocked row does (R): two names, one matrix, so that nothing has to move.",
    shape: [128],
    layouts: [`S = #ttg.slice<{dim = 1, parent = ${blocked([1, 4], [32, 1], [4, 1], [1, 0])}}>`, `R = ${blocked([1], [32], [4], [0])}`],
  },
  {
    id: "shear",
    name: "Triton's swizzle, a shear",
    about: "Eight rows of 64 halves: to the right I, and above it C, which folds the row into the column. P has two rows to a phase, so its lowest row bit folds nothing.",
    shape: [8, 64],
    element: "f16",
    layouts: [`S = ${swizzled(8, 1, 8)}`, `P = ${swizzled(8, 2, 4)}`],
  },
  {
    id: "orders",
    name: "Row- and column-major",
    about: "The two differ in nothing but the order of their bits.",
    shape: [4, 8],
    layouts: ["R = (4,8):(8,1)", "C = (4,8):(1,4)"],
  },
  {
    id: "vect",
    name: "NCHW_VECT_C",
    about: "cuDNN's layout of images: the two lowest bits of the channel come last. Two images of 8 channels of 2 by 2.",
    shape: [2, 8, 2, 2],
    layouts: ["V = [offset: (0,1,0,0) (0,2,0,0) (0,0,0,1) (0,0,1,0) (0,4,0,0) (1,0,0,0)] -> [dim0: 2, dim1: 8, dim2: 2, dim3: 2]"],
  },
  {
    id: "masks",
    name: "Three bits, three masks",
    about: "The rows of the matrix are the masks 101, 011 and 111, its columns the images of 1, 2 and 4.",
    shape: [8],
    layouts: ["M = [offset: 7 6 5] -> [dim0: 8]"],
  },
  {
    id: "column",
    name: "A column of 128",
    about: "128 rows and one column: the neighbours are the rows, and each thread holds four of them.",
    shape: [128, 1],
    layouts: [`A = ${blocked([4, 1], [32, 1], [1, 1], [0, 1])}`],
  },
];
