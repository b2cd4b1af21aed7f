/** Conversions to begin with. */

export interface Preset {
  id: string;
  name: string;
  about: string;
  shape: number[];
  element: string;
  target: string;
  from: string;
  to: string;
}

const blocked = (size: number[], lanes: number[], warps: number[], order: number[]) =>
  `#ttg.blocked<{sizePerThread = [${size.join(", ")}], threadsPerWarp = [${lanes.join(", ")}], ` +
  `warpsPerCTA = [${warps.join(", ")}], order = [${order.join(", ")}]}>`;

const product =
  "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";

export const PRESETS: readonly Preset[] = [
  {
    id: "accumulator",
    name: "Matrix product to rows, f32",
    about: "From the fragment that a tensor core produces to a layout that stores four neighbours of a row at once: lane bits swap places with register bits, so lanes exchange values in rounds.",
    shape: [16, 16],
    element: "f32",
    target: "sm_80",
    from: product,
    to: blocked([1, 4], [8, 4], [1, 1], [1, 0]),
  },
  {
    id: "transpose",
    name: "Rows to columns, one warp, f32",
    about: "Each thread holds four neighbours of a row and needs four of a column. So many bits swap places that shared memory is cheaper than rounds of exchanges.",
    shape: [16, 16],
    element: "f32",
    target: "sm_90",
    from: blocked([1, 4], [8, 4], [1, 1], [1, 0]),
    to: blocked([4, 1], [4, 8], [1, 1], [0, 1]),
  },
  {
    id: "warps",
    name: "Rows to columns across four warps, f16",
    about: "Elements go to other warps, so they pass through shared memory, swizzled so that there are no bank conflicts.",
    shape: [32, 64],
    element: "f16",
    target: "sm_90",
    from: blocked([1, 8], [4, 8], [4, 1], [1, 0]),
    to: blocked([8, 1], [4, 8], [1, 4], [0, 1]),
  },
  {
    id: "wave64",
    name: "Rows to columns on 64 lanes, f32",
    about: "The same question on an AMD GPU, whose waves have 64 lanes.",
    shape: [16, 16],
    element: "f32",
    target: "gfx942",
    from: blocked([1, 4], [16, 4], [1, 1], [1, 0]),
    to: blocked([4, 1], [4, 16], [1, 1], [0, 1]),
  },
  {
    id: "renaming",
    name: "Registers in another order, f32",
    about: "Every element is already in the right thread: only the names of registers change.",
    shape: [8, 16],
    element: "f32",
    target: "sm_90",
    from: "[register: (0,1) (1,0), lane: (0,2) (0,4) (0,8) (2,0) (4,0), warp:, block:] -> [dim0: 8, dim1: 16]",
    to: "[register: (1,0) (0,1), lane: (0,2) (0,4) (0,8) (2,0) (4,0), warp:, block:] -> [dim0: 8, dim1: 16]",
  },
  {
    id: "figure3",
    name: "The paper's figure 3, f32",
    about: "A register bit and a lane bit change places: two rounds, each of which takes one register of every lane.",
    shape: [8, 8],
    element: "f32",
    target: "sm_90",
    from: "[register: (0,1), lane: (0,2) (0,4) (1,0) (2,0) (4,0)] -> [dim0: 8, dim1: 8]",
    to: "[register: (1,0), lane: (2,0) (4,0) (0,1) (0,2) (0,4)] -> [dim0: 8, dim1: 8]",
  },
  {
    id: "equal",
    name: "A slice that is a blocked row, f32",
    about: "Sums of rows in a slice of a blocked tile, and the blocked layout that a store asks for: two names, one matrix, so nothing moves.",
    shape: [128],
    element: "f32",
    target: "sm_90",
    from: `#ttg.slice<{dim = 1, parent = ${blocked([1, 4], [32, 1], [4, 1], [1, 0])}}>`,
    to: blocked([1], [32], [4], [0]),
  },
];
