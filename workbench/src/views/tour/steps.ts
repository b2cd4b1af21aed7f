/** The story of one swizzle: from a pile-up to a construction that finds the way out. */

import type { LayoutSource } from "../../engine/requests";
import type { Phrase } from "../../ui/say";
import { foldedBases, tensorBits } from "../swizzle/model";
import { PRESETS } from "../swizzle/presets";

const transpose = PRESETS[0]!;
export const SHAPE = transpose.shape;
export const ELEMENT = transpose.element;
export const STORE = transpose.store;
export const LOAD = transpose.loads[0]!;

/** The problem at the end: its load holds three row bits and two column bits that are not neighbours. */
export const EXERCISE =
  "[register: (8,0) (0,2) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (0,1) (0,4)] -> [dim0: 16, dim1: 32]";

/** A memory of the tile that folds rows into columns. */
export function folded(...folds: number[]): LayoutSource {
  return { bases: foldedBases(folds, tensorBits(SHAPE)) };
}

export const PLAIN = folded();
export const XOR_M = folded(1, 2, 4, 8);
export const XOR_2M = folded(2, 4, 8, 16);

/** What stands beside the words. */
export type Figure =
  | { show: "layout"; layout: LayoutSource; picture: "grid" | "matrix"; ringed?: string; caption: Phrase }
  | { show: "access"; layout: string; memory: LayoutSource; kind: "load" | "store"; caption: Phrase }
  | { show: "law"; memories: { name: string; memory: LayoutSource }[] }
  | { show: "construction" }
  | { show: "exercise" };

export interface Step {
  title: string;
  words: string[];
  figures: Figure[];
}

export const STEPS: readonly Step[] = [
  {
    title: "One tile, two readings",
    words: [
      "A warp of 32 lanes carries a tile of 16 × 32 floats through shared memory, to transpose it. It arrives by rows: in each of 16 instructions lane t writes column t of one row. It leaves by columns: sixteen lanes fetch column 2r, the other sixteen column 2r + 1.",
      "Neither order can be changed. Global memory asks for both. The only thing that is ours to choose is where in shared memory each element lies.",
      "In the pictures a cell is an element, and its colour tells the lane that holds it: hue = lane ÷ 2, darker = odd. Point at one to read its register. What lane 9 holds is outlined: in the first picture a column, in the second one row of every other column.",
    ],
    figures: [
      { show: "layout", layout: STORE, picture: "grid", ringed: "lane 9", caption: "The store: lanes run along the rows." },
      { show: "layout", layout: LOAD, picture: "grid", ringed: "lane 9", caption: "The load: lanes run down the columns, two at a time." },
    ],
  },
  {
    title: "The pile-up",
    words: [
      "Shared memory has 32 banks, each four bytes wide, dealt out in turn: word w is in bank w mod 32. In one wavefront a bank serves one word. Lanes that want different words of one bank wait for each other.",
      "Lay the tile down row by row and a row is exactly one turn around the banks. The store is perfect: 32 columns, 32 banks. But a column is then a single bank, sixteen words deep, and the load stands in two queues of sixteen while thirty banks sleep. From here on a colour is a bank.",
    ],
    figures: [
      { show: "access", layout: LOAD, memory: PLAIN, kind: "load", caption: "One load instruction, row-major: 16 wavefronts." },
    ],
  },
  {
    title: "A freedom that costs nothing",
    words: [
      "Shuffle the words of one row among themselves. The store writes that row at once, and 32 words in another order are still 32 words in 32 banks. So each row may be permuted as we please, and the store never notices.",
      "The rows only have to disagree. If row m moves column n to column n ⊕ m, with exclusive-or, each row is permuted (do it twice and it is undone), and two rows never agree on a column. One column now meets sixteen banks.",
      "Exclusive-or asks for one instruction, no padding, and no carry. Each row bit flips one column bit, always the same one.",
    ],
    figures: [
      { show: "access", layout: STORE, memory: XOR_M, kind: "store", caption: "The store under n ⊕ m: a permuted row, one wavefront." },
    ],
  },
  {
    title: "Almost",
    words: [
      "And yet the load takes two wavefronts. It does not read one column but a pair, 2r and 2r + 1. The first lies in the banks 2r ⊕ m, the second in 2r ⊕ 1 ⊕ m, and as m runs through all sixteen rows these are the same sixteen banks.",
      "Half of the banks are asked twice, half not at all. The wavefronts show it: two full rows on the left, nothing on the right.",
      "The culprit is one bit. n₀ tells the two halves of the warp apart, and they read at the same time. Folding m₀ into n₀ lets a step down the rows look just like a step to the other half.",
    ],
    figures: [
      { show: "access", layout: LOAD, memory: XOR_M, kind: "load", caption: "The load under n ⊕ m: 16 banks, twice." },
    ],
  },
  {
    title: "Leave the busy bit alone",
    words: [
      "So fold the row into the four column bits that the load does not use at once: n₁ to n₄. That is n ⊕ 2m.",
      "Pairs of columns now move together. The even column of a pair fills the sixteen even banks, the odd one the sixteen odd banks, and nobody waits.",
      "Three rules came out of this: stay inside the row, let the rows disagree, and keep off the bits that lanes of one phase use.",
    ],
    figures: [
      { show: "access", layout: LOAD, memory: XOR_2M, kind: "load", caption: "The load under n ⊕ 2m: 32 banks, one word each." },
    ],
  },
  {
    title: "The same, as vectors",
    words: [
      "Everything here is counted in powers of two, so an element is a vector of nine bits, m₀ to m₃ and n₀ to n₄, and adding is exclusive-or. The store and the load are matrices: which element bit does each bit of the register and of the lane flip? The memory is one too, of the bits of the offset. Five offset bits choose the bank, four the segment, a stripe of 128 bytes.",
      "Two elements share a bank when they differ by a sum of segment columns. Two elements are asked for at the same time when they differ by a sum of lane columns. A conflict is a vector that is both.",
      "How many wavefronts? Two to the dimension of what the two spaces share. No address is looked at, and the count by addresses always agrees.",
    ],
    figures: [
      { show: "layout", layout: STORE, picture: "matrix", caption: "The store: a register is a row, a lane a column." },
      { show: "layout", layout: LOAD, picture: "matrix", caption: "The load: lanes take m and n₀, registers n₁ to n₄." },
      { show: "layout", layout: XOR_2M, picture: "matrix", caption: "The memory n ⊕ 2m: segment bit j flips mⱼ and nⱼ₊₁." },
      {
        show: "law",
        memories: [
          { name: "row-major", memory: PLAIN },
          { name: "n ⊕ m", memory: XOR_M },
          { name: "n ⊕ 2m", memory: XOR_2M },
        ],
      },
    ],
  },
  {
    title: "A recipe",
    words: [
      "Now the search is a construction. Write down what one phase of the store steps along, and what one phase of the load steps along. What both have is untouchable. What only one has is harmless to the other.",
      "Add one direction of the store's to one of the load's. The load cannot step along the sum, because half of it is the store's. The store cannot either. Four such sums are four segment directions without a conflict, and a count of dimensions says that there could not be five.",
      "No step looked at the tile. That is why the same recipe works for a fragment of a matrix unit against 16-byte vectors of bytes, where the eye finds nothing.",
    ],
    figures: [
      { show: "construction" },
      { show: "access", layout: LOAD, memory: XOR_2M, kind: "load", caption: "The load in the memory that comes out: 32 banks, one word each." },
    ],
  },
  {
    title: "Your turn",
    words: [
      "Here is a load that nobody prepared an answer for. Its lanes run along m₀, m₁, m₂ and along n₀ and n₂; m₃ is a register.",
      "The two swizzles from before both fail. Ask which column bits the load leaves free, and fold the rows that its lanes run along into those, each into one of its own. The fourth row bit is free.",
    ],
    figures: [{ show: "exercise" }],
  },
];
