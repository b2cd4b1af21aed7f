/** The state of the swizzle view. */

import type { LayoutSource } from "../../engine/requests";
import { extents, flag, masks, text, texts, whole } from "../../state/codec";
import type { Fields } from "../../state/codec";
import { PRESETS, memorySource } from "./model";

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
  algebra: boolean;
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
  algebra: flag(),
  solve: whole(0, 0, 8),
};

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
