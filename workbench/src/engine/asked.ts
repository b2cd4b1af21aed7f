/**
 * What can be asked.
 *
 * Written from the definitions in `weft-api` by the test `xtask/tests/requests.rs`; change those.
 */

/** Which machines are known, and what is known of them? */
export interface MachinesRequest {
  request: "machines";
  /** This machine alone; all if it is not given. */
  target?: Target;
}

export type Target = string | Record<string, unknown>;

/** What is this layout? */
export interface LayoutRequest {
  request: "layout";
  /** The layout: a Triton attribute, a layout's bases, or a CuTe layout. */
  attribute: LayoutSource;
  /** The tensor's extents; an attribute needs them, the others know their own. */
  shape?: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** How it is shown; not at all if it is not given. */
  format?: Format;
  /** What an SVG file shows: the grid if it is not given. */
  picture?: Picture;
  /**
   * Where a grid or a bank map cuts the tensor: coordinates of the axes before the last two, 0
   * where they are not given.
   */
  slice?: number[];
  /** Show everything, up to 65536 cells; an SVG file always does. */
  all?: boolean;
  /** The machine whose banks are shown. */
  target?: Target;
  /** Whether the answer tells the layout's names in the terms of others. */
  names?: boolean;
}

export type LayoutSource = string | { bases: Record<string, number[][]>; shape?: number[] };

/** How a layout is shown. */
export type Format = "text" | "grid" | "hardware" | "banks" | "matrix" | "svg";

/** A picture of a layout. */
export type Picture = "grid" | "hardware" | "banks" | "matrix";

/** What does an operator make of layouts? */
export interface OperateRequest {
  request: "operate";
  /** The operator that is applied. */
  operator: Operator;
  /** The layout, in any of its texts or as data. */
  layout: LayoutSource;
  /** Its tensor's extents; an attribute needs them, the others know their own. */
  shape?: number[];
  /** The second layout, for an operator of two. */
  other?: LayoutSource;
  /** The extents of the second layout's tensor. */
  other_shape?: number[];
  /**
   * The axes in their new order, for `Operator::Transpose`; the new extents, for
   * `Operator::Reshape`.
   */
  to?: number[];
}

/** An operator on layouts. */
export type Operator = "compose" | "product" | "divide" | "invert" | "transpose" | "reshape";

/** How does a tensor get from one layout into another? */
export interface ConvertRequest {
  request: "convert";
  /** The layout the tensor is in. */
  from: LayoutSource;
  /** The layout to move it to. */
  to: LayoutSource;
  /** The extents of the tensor, `dim0` first. */
  shape: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it is for. */
  target?: Target;
  /** What to print; the answer has no text if it is not given. */
  emit?: EmitConversion;
}

/** What is printed of a conversion. */
export type EmitConversion = "plan" | "picture" | "svg" | "ptx" | "cuda" | "hip";

/** Where does a tensor lie best in shared memory? */
export interface SwizzleRequest {
  request: "swizzle";
  /** The layout from which it is stored, or `tma`: the tensor memory accelerator writes it. */
  store: LayoutSource;
  /** The layouts into which it is loaded, or `tma`. */
  loads: LayoutSource[];
  /** The extents of the tensor, `dim0` first. */
  shape: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it is for. */
  target?: Target;
  /**
   * Further machines on which the same memory layout must be good. Where one of them has waves of
   * another width, the same threads, counted through all warps, are cut into waves of that width.
   */
  also?: Target[];
  /** How often the store and each load of threads happen; once each if it is not given. */
  weights?: number[];
  /**
   * The most bytes of the buffer, where that is less than a block can have; a larger tensor goes in
   * rounds.
   */
  scratch_bytes?: number;
  /** Show the steps of the paper's construction, for one load. */
  trace?: boolean;
  /**
   * Whether accesses may be matrix moves (`ldmatrix`, `stmatrix`) where the machine has them; else
   * they are plain vectors. They may, unless this is `false`.
   */
  matrix_moves?: boolean;
}

/** What becomes of a kernel, or of the accesses of a buffer, on another machine? */
export interface PortRequest {
  request: "port";
  /** The kernel: Triton IR, or what Triton makes of it for the first machine (TTGIR). */
  ttir?: string;
  /** Which kernel, if the text has several. */
  kernel?: string;
  /** Warps in a block on the new machine; as many threads as before, unless said. */
  warps?: number;
  /** Instead of a kernel, a buffer of shared memory: the layout from which it is stored. */
  store?: LayoutSource;
  /** The layouts into which the buffer is loaded. */
  loads?: LayoutSource[];
  /** The buffer's layout on the first machine, whose conflicts are counted on both. */
  memory?: LayoutSource;
  /** The extents of the buffer's tensor. */
  shape?: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it was made for. */
  from?: Target;
  /** The machine that it shall be for; gfx942 if it is not given. */
  target?: Target;
  /** What to print; the answer has no text if it is not given. */
  emit?: EmitPort;
}

/** What is printed of a port. */
export type EmitPort = "report" | "hip" | "tile" | "ttgir";

/** Does moving a tensor between registers and shared memory meet bank conflicts? */
export interface ConflictsRequest {
  request: "conflicts";
  /** The layout of the registers. */
  registers: LayoutSource;
  /** The layout of the memory; it may have gaps, or begin with another element than the first. */
  memory: LayoutSource;
  /** The extents of the tensor, `dim0` first. */
  shape: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it is for. */
  target?: Target;
  /** Which way the tensor moves; from memory to registers if it is not given. */
  kind?: AccessKind;
}

/** Which way a tensor moves between registers and memory. */
export type AccessKind = "load" | "store";

/** How are the accesses of a tensor served, wavefront by wavefront? */
export interface WavefrontsRequest {
  request: "wavefronts";
  /**
   * The layout of the registers. Where the machine has waves of another width, the same threads,
   * counted through all warps, are cut into waves of that width.
   */
  registers: LayoutSource;
  /** The layout of the memory; it may have gaps, or begin with another element than the first. */
  memory: LayoutSource;
  /** The extents of the tensor, `dim0` first. */
  shape: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it is for. */
  target?: Target;
  /** Which way the tensor moves; from memory to registers if it is not given. */
  kind?: AccessKind;
  /** The instruction that is told in full: a number below those of one warp. */
  instruction?: number;
  /** The warp whose instruction that is. */
  warp?: number;
  /** Whether the answer has pictures of the instruction. */
  pictures?: boolean;
  /** Whether the answer says where each element of the tile lies. */
  places?: boolean;
}

/**
 * What do accesses take on each memory that folds bits of the row into bits of the column?
 *
 * In memory number `n` bit `i` of the column, which runs along the last axis, is flipped in all rows
 * whose bit `j` is one, for each `j` and `i` for which `n` has bit `j * c + i`, with `c` bits of the
 * column; a row is numbered by all other coordinates.
 */
export interface SweepRequest {
  request: "sweep";
  /** The layout from which the tensor is stored. */
  store: LayoutSource;
  /** The layouts into which it is loaded. */
  loads: LayoutSource[];
  /** The extents of the tensor, `dim0` first. */
  shape: number[];
  /** The type of the elements. */
  element?: string;
  /** The elements' width, instead of a type. */
  element_bits?: number;
  /** The machine that it is for. */
  target?: Target;
  /** The number of the first memory. */
  from?: number;
  /** How many memories are counted. */
  count: number;
}

/** What does a kernel become? */
export interface CompileRequest {
  request: "compile";
  /** The text of the kernel in Triton IR. */
  ttir: string;
  /** Which kernel, if the text has several. */
  kernel?: string;
  /** The machine that it is for. */
  target?: Target;
  /**
   * Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
   * would lack registers, or where a multiprocessor has room for no other block.
   */
  warps?: number;
  /** What to print; the answer holds all of these texts. */
  emit?: Emit[];
  /**
   * The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
   * to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
   */
  stages?: number;
  /** Whether products become one operation with the sums that take them; unless said, they do. */
  fp_fusion?: boolean;
  /** Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it. */
  pins?: string[];
  /** Print the lane program as it is after this pass. */
  dump_after?: string;
  /** The most registers of a thread, in PTX: from 24 to 255. */
  max_registers?: number;
  /** Write source lines into the PTX, for debuggers and profilers. */
  line_info?: boolean;
  /**
   * Whether places are those at which operations begin in the text, `text:line:column`, and not
   * those in the user's source.
   */
  text_places?: boolean;
}

/** A text that compiling gives. */
export type Emit = "tile" | "ttgir" | "ptx" | "cuda" | "hip" | "lane" | "report" | "c-launcher";

/** What does a kernel compute, what does it cost, and is anything wrong with it? */
export interface RunRequest {
  request: "run";
  /** The text of the kernel in Triton IR. */
  ttir: string;
  /** Which kernel, if the text has several. */
  kernel?: string;
  /** Blocks along x, y and z. */
  grid: Grid;
  /** A value for each of the kernel's arguments. */
  args?: Arguments;
  /** The machine that is simulated. */
  target?: Target;
  /**
   * Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
   * would lack registers, or where a multiprocessor has room for no other block.
   */
  warps?: number;
  /**
   * The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
   * to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
   */
  stages?: number;
  /** Whether products become one operation with the sums that take them; unless said, they do. */
  fp_fusion?: boolean;
  /** Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it. */
  pins?: string[];
  /** The seed of random values. */
  seed?: number;
  /** Have the witness replay every plan, lane by lane, and verify the lane program again. */
  verify?: boolean;
  /** How to judge stores of one value to the same byte of global memory that nothing orders. */
  equal_stores?: EqualStores;
  /**
   * Whether places are those at which operations begin in the text, `text:line:column`, and not
   * those in the user's source.
   */
  text_places?: boolean;
}

export type Grid = number | number[];

/** A value for each of the kernel's arguments, by name: a number; or for a pointer a buffer, `random:f32[4096]`, `range:i32[64x64]`, `zeros:f16[64]`, `ones:…`, `-8..8:i8[64]` (random, from -8 up to but not 8), `empty:f32[4096]` (not initialised: reading it first is reported). */
export type Arguments = Record<string, number | boolean | string>;

/** How to judge stores of one value to the same byte of global memory that nothing orders. */
export type EqualStores = "note" | "race";

/** Where does each value of a kernel live, and what does each movement and access cost? */
export interface ExplainRequest {
  request: "explain";
  /** The text of the kernel in Triton IR. */
  ttir: string;
  /** Which kernel, if the text has several. */
  kernel?: string;
  /** The machine that it is for. */
  target?: Target;
  /**
   * Warps in a block; unless given, as many as the text says (TTGIR does), else 4. It gets more where these
   * would lack registers, or where a multiprocessor has room for no other block.
   */
  warps?: number;
  /**
   * The most stages of software pipelines, 1 for none: loads that feed a loop's matrix products run up
   * to one round less ahead of them; 3 unless given, and what a loop of the source asks for goes first.
   */
  stages?: number;
  /** Whether products become one operation with the sums that take them; unless said, they do. */
  fp_fusion?: boolean;
  /** Values with the layouts that they shall live in: `VALUE=ATTR`, the name as `explain` prints it. */
  pins?: string[];
  /**
   * Whether places are those at which operations begin in the text, `text:line:column`, and not
   * those in the user's source.
   */
  text_places?: boolean;
}

/** What are the numbers of this table of the paper *Linear Layouts*, here? */
export interface PaperRequest {
  request: "paper";
  /** Which table. */
  table: Table;
  /** The machine that it is for. */
  target?: Target;
  /** Take every Nth case of `table4`, counted from the first; all if it is not given. */
  every?: number;
}

/** A table of the paper. */
export type Table = "table2" | "table3" | "table4";
