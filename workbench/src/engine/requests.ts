/**
 * Answers, as far as the page reads them, and the requests that have them.
 *
 * `weft-api` defines them (`request.rs`, `answer.rs`). The types of all requests are written from there into
 * `asked.ts`; a view adds the types of what it reads here.
 */

import type {
  CompileRequest,
  ConvertRequest,
  ExplainRequest,
  LayoutRequest,
  MachinesRequest,
  OperateRequest,
  RunRequest,
  SweepRequest,
  SwizzleRequest,
  WavefrontsRequest,
} from "./asked";

export type * from "./asked";

/** What is wrong with a request. */
export interface Fault {
  kind: string;
  message: string;
  hint?: string;
  /** Where, in the text that the message is about; both from one. */
  line?: number;
  column?: number;
  /** Every fault of a text, where there are several. */
  all?: { message: string; hint: string | null; line: number; column: number }[];
}

/** Coordinates of an element, `dim0` first. */
export type Coordinates = number[];
/** The image of each bit of each axis. */
export type Bases = Record<string, Coordinates[]>;

/** A machine, as far as the page says something of it. */
export interface Machine {
  name: string;
  lanes: number;
  banks: number;
  bank_bytes: number;
}

export interface MachinesAnswer {
  machines: Machine[];
  /** The types of elements, narrow to wide. */
  elements: { name: string; other_names: string[] }[];
}

export interface LayoutAnswer {
  bases: Bases;
  constant?: Coordinates;
  paddings?: [number, number][];
  shape: number[];
  names?: { by: string; text: string }[];
  text: string;
  picture?: string;
}

/** One direction in which accesses collide, and the subspaces that it comes from. */
export interface Algebra {
  segment: Coordinates[];
  phase: Coordinates[];
  meet: Coordinates[];
  dimension: number;
  phases: number;
  wavefronts: number;
}

/** A word that a bank serves in one wavefront. */
export interface Word {
  bank: number;
  wavefront: number;
  address: number;
  moved: { lane: number; register: number; element: Coordinates }[];
}

/** Where an element lies in memory. */
export interface Place {
  offset: number;
  bank: number;
}
export interface WavefrontsAnswer {
  machine: string;
  kind: "load" | "store";
  vector_bytes: number;
  instructions: number;
  warps: number;
  wavefronts: number;
  ideal: number;
  algebra?: Algebra;
  instruction: number;
  warp: number;
  phases: { lanes: number[]; wavefronts: number; words: Word[] }[];
  tile?: string;
  banks?: string;
  /** Of the elements of the tile, row by row. */
  places?: (Place | null)[];
}

export interface SweepAnswer {
  toggles: number;
  from: number;
  count: number;
  accesses: { access: string; taken: { instructions: number; wavefronts: number; memories: number }[] }[];
  disagreements: number;
}

export interface Use {
  access: string;
  matrix: string | null;
  vector_bytes: number;
  instructions: number;
  wavefronts: number;
  floor: number;
}
export interface Trace {
  vector: Coordinates[];
  bank_bits: number;
  segment_bits: number;
  phases: [number, number];
  store_phase: Coordinates[];
  load_phase: Coordinates[];
  shared: Coordinates[];
  only_store: Coordinates[];
  only_load: Coordinates[];
  most_segment_bits: number;
  sums: Coordinates[];
  rest: Coordinates[];
  segment: Coordinates[];
  bank: Coordinates[];
  xor: string;
  wavefronts: number;
}
export interface SwizzleAnswer {
  bases: Bases;
  shape: number[];
  wavefronts: number;
  bound: number;
  certificate: { kind: string; optimal: boolean; candidates?: number };
  accesses: Use[];
  portable?: {
    best: string;
    machines: { machine: string; wavefronts: number; alone: number; bound: number; accesses: Use[] }[];
  };
  shared_bytes: number;
  xor: string;
  cute: string | null;
  triton: string | null;
  tma: { swizzle_bytes: number; transposed: boolean; wavefronts: number; as_few: boolean } | null;
  trace?: Trace;
}

/** A way to move a tensor; prices are in hundredths of a cycle. */
export interface Way {
  strategy: string;
  instructions: number;
  shuffles: number;
  wavefronts: number;
  barriers: number;
  shared_bytes: number;
  cost: number;
}
export interface ConvertAnswer extends Way {
  ideal_wavefronts: number;
  bound: number;
  verified: boolean;
  plan: string;
  outline: string;
  text?: string;
  least?: number;
  alternatives?: Way[];
}

/** The best choice of all in which something is in another layout. */
export interface Next {
  layout: string;
  more: number;
}
/** Buffers of shared memory that follow one another. */
export interface Buffers {
  count: number;
  /** Of each. */
  bytes: number;
  /** The layout as Triton writes it. */
  attribute: string;
  /** The bytes of a row within which matrix units and copy engines swizzle, in a layout of theirs. */
  swizzle_bytes?: number;
}
/** Where a value lives. */
export interface Home {
  value: string;
  type: string;
  memory: "registers" | "shared memory";
  layout: string;
  /** What it takes of shared memory. */
  buffers?: Buffers;
  reason: string;
  next?: Next;
  place: string | null;
}
export interface Movement extends Way {
  value: string;
  type: string;
  operation: string;
  place: string | null;
  from: string;
  to: string;
  times: number;
  bound: number;
  outline: string;
}
export interface MemoryAccess {
  operation: string;
  place: string | null;
  type: string;
  layout: string;
  vector_bytes: number;
  instructions: number;
  sectors: number;
  ideal_sectors: number;
  /** Why it takes more sectors or instructions than so many bytes need. */
  reasons?: string[];
  times: number;
  next?: Next;
}
/** How a matrix product is computed; costs in hundredths of a cycle of a block, for one time. */
export interface Product {
  place: string | null;
  type: string;
  layout: string;
  how: string;
  /** How often a warp issues it. */
  runs: number;
  cost: number;
  bound: number;
  times: number;
  next?: Next;
}
/** An access of shared memory that the program allocates; counts are of all warps. */
export interface SharedAccess {
  operation: string;
  kind: "load" | "store";
  value: string;
  place: string | null;
  type: string;
  layout: string;
  memory: string;
  matrix_moves?: boolean;
  vector_bytes?: number;
  instructions?: number;
  wavefronts?: number;
  ideal?: number;
  reasons?: string[];
  times: number;
}
export interface Barrier {
  scope: string;
  place: string | null;
  loops: (string | null)[];
  cost: number;
  reasons: string[];
}
/** Hundredths of a cycle of a block. */
export interface Spent {
  movements: number;
  accesses: number;
  work: number;
}
export interface ExplainAnswer {
  name: string;
  target: string;
  warps: number;
  shared_bytes: number;
  spent: Spent;
  greedy?: Spent;
  choice?: { cost: number; bound: number };
  homes: Home[];
  products: Product[];
  movements: Movement[];
  accesses: MemoryAccess[];
  shared?: SharedAccess[];
  barriers: Barrier[];
  occupancy: Occupancy;
  rounds: Round[];
  /** With `text_places`: every line at which an operation begins. */
  lines?: Line[];
}
/** What a multiprocessor runs at the same time. */
export interface Occupancy {
  blocks: number;
  warps: number;
  most_warps: number;
  limit: "threads" | "shared memory" | "blocks";
  /** The most registers of a thread that leave room for all these blocks. */
  registers: number;
  /** Of a multiprocessor. */
  shared_bytes: number;
}
/** A round of a loop, as a model has it; times are in hundredths of a cycle. */
export interface Round {
  place: string | null;
  first_warp: number;
  warps: number;
  time: number;
  /** The busiest unit first. */
  busy: { unit: string; time: number }[];
  /** What binds it, in words. */
  verdict: string;
  /** What blocks that share a multiprocessor make of it, in words. */
  side_by_side: string;
  /** From and to global memory. */
  bytes: number;
  memories: { memory: string; time: number; reason: string }[];
  /** Of the first warp, by kind of work and time. */
  spans: Span[];
}
/** A stretch of a round, from its start. */
export interface Span {
  work: "copies" | "products" | "shared memory" | "global memory" | "instructions" | "waits";
  start: number;
  end: number;
}
/** A line of the text; its cost is of the block, over all rounds, in hundredths of a cycle. */
export interface Line {
  line: number;
  /** `file:line:column` in the user's source, of inlined functions first. */
  sources: string[];
  cost: number;
}

export interface CompileAnswer {
  name: string;
  ptx?: string;
  cuda?: string;
  hip?: string;
}

export interface Actor {
  place: string | null;
  block: number[];
  warp: number;
  lane: number | null;
}
export interface Finding {
  kind: string;
  message: string;
  actor: Actor;
  other: Actor | null;
  count: number;
  hint: string;
}
/** What one operation on memory took on the simulator: sectors or wavefronts. */
export interface AccessCount {
  place: string | null;
  space: "global" | "shared";
  kind: string;
  lane_bytes: number;
  executions: number;
  cost: number;
  ideal: number;
}
export interface RunAnswer {
  name: string;
  grid: number[];
  threads: number;
  passed: boolean;
  counts: {
    instructions: number;
    global_sectors: number;
    ideal_global_sectors: number;
    shared_wavefronts: number;
    ideal_shared_wavefronts: number;
    shuffles: number;
    block_barriers: number;
    atomics: number;
  };
  accesses: AccessCount[];
  buffers: {
    name: string;
    element: string;
    elements: number;
    changed: boolean;
    agrees: boolean;
    exact: boolean;
    max_relative_error: number | null;
    mismatch: string | null;
  }[];
  evaluator: string | null;
  printed?: string[];
  findings: Finding[];
  findings_dropped: number;
}

/** Each request with its answer. */
interface Answers {
  machines: [MachinesRequest, MachinesAnswer];
  layout: [LayoutRequest, LayoutAnswer];
  wavefronts: [WavefrontsRequest, WavefrontsAnswer];
  sweep: [SweepRequest, SweepAnswer];
  swizzle: [SwizzleRequest, SwizzleAnswer];
  operate: [OperateRequest, LayoutAnswer];
  convert: [ConvertRequest, ConvertAnswer];
  explain: [ExplainRequest, ExplainAnswer];
  compile: [CompileRequest, CompileAnswer];
  run: [RunRequest, RunAnswer];
}

export type AnyRequest = Answers[keyof Answers][0];
/** The type of the answer to a request. */
export type Answer<R extends AnyRequest> = Answers[R["request"]][1];
