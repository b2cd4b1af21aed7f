/** Problems to begin with. */

/** A problem: a tensor, how it is stored and loaded, and sometimes the memory and the machine it is about. */
export interface Preset {
  id: string;
  name: string;
  about: string;
  shape: number[];
  element: string;
  store: string;
  loads: string[];
  memory?: string;
  target?: string;
}

const ROWS =
  "[register: (1,0) (2,0) (4,0) (8,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 16, dim1: 32]";
const COLUMN_PAIRS =
  "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (0,1)] -> [dim0: 16, dim1: 32]";
const SQUARE_ROWS =
  "[register: (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16), warp: (1,0)] -> [dim0: 32, dim1: 32]";
const SQUARE_COLUMNS =
  "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (16,0), warp: (0,1)] -> [dim0: 32, dim1: 32]";
const HALVES_BY_ROWS =
  "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";

const transpose = { shape: [16, 32], element: "f32", store: ROWS, loads: [COLUMN_PAIRS] };
const square = { shape: [32, 32], element: "f32", store: SQUARE_ROWS, loads: [SQUARE_COLUMNS] };

/** Rows of 32 words with a gap of some words after each. */
function padded(gap: number): string {
  return `#ttg.padded_shared<[32:+${gap}] {order = [1, 0], shape = [16, 32]}>`;
}

export const PRESETS: readonly Preset[] = [
  {
    id: "transpose",
    name: "Transpose 16×32",
    about: "f32, one warp. It stores rows and loads pairs of columns.",
    ...transpose,
  },
  {
    id: "rotation",
    name: "Rotation: rows of 33",
    about: "A word of padding after each row rotates row m by m banks. Like n ⊕ m, it still takes two wavefronts.",
    ...transpose,
    memory: padded(1),
  },
  {
    id: "padding-34",
    name: "Padding: rows of 34",
    about: "Two words of padding after each row keep pairs of columns apart, for two words of memory in every 34.",
    ...transpose,
    memory: padded(2),
  },
  {
    id: "square",
    name: "Transpose 32×32",
    about: "f32, two warps. Rows in, columns out.",
    ...square,
  },
  {
    id: "phases",
    name: "The same on gfx942",
    about: "A wave of 64 lanes is served in phases: only lanes of one phase can collide.",
    ...square,
    target: "gfx942",
  },
  {
    id: "vectors",
    name: "Vectors of 16 bytes",
    about: "f16. Vectors along rows in, vectors along columns out.",
    shape: [64, 64],
    element: "f16",
    store: HALVES_BY_ROWS,
    loads: ["#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"],
  },
  {
    id: "fragment",
    name: "Rows to a fragment",
    about: "f16. Coalesced rows in, the left operand of a matrix multiplication out.",
    shape: [64, 64],
    element: "f16",
    store: HALVES_BY_ROWS,
    loads: [
      "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>",
    ],
  },
  {
    id: "masks",
    name: "Masks of three bits",
    about: "f16 in rows of 128 bytes, eight rows folded into vectors of 16 bytes: the 128-byte swizzle of the tensor memory accelerator.",
    shape: [8, 64],
    element: "f16",
    store: "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>",
    loads: ["#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [0, 1]}>"],
    memory: "Swizzle<3,3,3> o 0 o (8,64):(64,1)",
  },
  {
    id: "fp8",
    name: "fp8 over eight warps",
    about: "Vectors of 16 bytes in, the left operand of a matrix multiplication in fp8 out.",
    shape: [128, 64],
    element: "f8E4M3FN",
    store: "#ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>",
    loads: [
      "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>, kWidth = 4}>",
    ],
  },
  {
    id: "mfma",
    name: "An mfma fragment",
    about: "f16 on gfx942. Vectors of 16 bytes in, the left operand of mfma out: 64 lanes, served in phases.",
    shape: [64, 64],
    element: "f16",
    store: "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    loads: [
      "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>, kWidth = 4}>",
    ],
    target: "gfx942",
  },
  {
    id: "paper",
    name: "The paper's 16×16",
    about: "f32, two warps, a block of 2×2 for each thread; loaded as the transposed blocks.",
    shape: [16, 16],
    element: "f32",
    store: "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>",
    loads: ["#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 2], order = [0, 1]}>"],
  },
  {
    id: "twice",
    name: "One store, two loads",
    about: "f32, 32×32. Loaded by rows and by columns, which disagree.",
    shape: [32, 32],
    element: "f32",
    store: "[register: (1,0) (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 32, dim1: 32]",
    loads: [
      "[register: (0,1) (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (16,0)] -> [dim0: 32, dim1: 32]",
      "[register: (0,4) (0,8) (0,16) (8,0) (16,0), lane: (0,1) (0,2) (1,0) (2,0) (4,0)] -> [dim0: 32, dim1: 32]",
    ],
  },
];
