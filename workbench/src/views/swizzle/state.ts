/** The state of the swizzle view. */

import type { LayoutSource } from "../../engine/requests";
import { extents, flag, masks, text, texts, whole } from "../../state/codec";
import type { Fields } from "../../state/codec";
import { memorySource } from "./model";
import { PRESETS } from "./presets";

export interface State {
  shape: number[];
  element: string;
  target: string;
  /** A second machine to compare with; empty for none. */
  against: string;
  store: string;
  loads: string[];
  /** The memory as a text; where it is empty, `fold` says it. */
  memory: string;
  /** For each row bit the column bits that it is folded into. */
  fold: number[];
  /** 0 is the store, 1 the first load. */
  access: number;
  /** The instruction of the warp. */
  step: number;
  warp: number;
  /** The wavefront that is seen alone, over all phases, from 1; 0 for all. */
  wave: number;
  /** The part of the tiles that is seen: its first row and column, and how often it was halved. */
  top: number;
  left: number;
  zoom: number;
  /** Whether the instruction is shown close up. */
  close: boolean;
  /** How many steps of the construction are open; 0 for none. */
  solve: number;
}

const first = PRESETS[0]!;

export const fields: Fields<State> = {
  shape: extents(...first.shape),
  element: text(first.element),
  target: text("sm_90"),
  against: text(),
  store: text(first.store),
  loads: texts(...first.loads),
  memory: text(),
  fold: masks(),
  access: whole(1, 0, 16),
  step: whole(0),
  warp: whole(0),
  wave: whole(0),
  top: whole(0),
  left: whole(0),
  zoom: whole(0, 0, 3),
  close: flag(),
  solve: whole(0, 0, 8),
};

/** What a change of the problem takes back: what was looked at is of another problem. */
export const afresh = { step: 0, warp: 0, wave: 0, solve: 0 } as const satisfies Partial<State>;

/** An access of a state: the store, or a load. */
export interface Access {
  index: number;
  name: string;
  kind: "load" | "store";
  layout: string;
}

export function accesses({ store, loads }: State): Access[] {
  const name = (index: number) => (loads.length > 1 ? `load ${index}` : "load");
  return [
    { index: 0, name: "store", kind: "store", layout: store },
    ...loads.map((layout, index) => ({ index: index + 1, name: name(index + 1), kind: "load" as const, layout })),
  ];
}

/** The access that is looked at. */
export function chosen(state: State): Access {
  const all = accesses(state);
  return all[Math.min(state.access, all.length - 1)]!;
}

export function memoryOf(state: State): LayoutSource {
  return memorySource(state.memory, state.fold, state.shape);
}
