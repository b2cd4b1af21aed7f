/** The state of the kernel view. */

import { flag, text, texts, whole, word } from "../../state/codec";
import type { Fields } from "../../state/codec";
import { PRESETS } from "./presets";
import type { Preset } from "./presets";

export interface State {
  /** The bundled kernel; it is not read where `text` holds one. */
  preset: string;
  text: string;
  /** The Python source of `text`, where somebody gave it. */
  source: string;
  /** A disassembler's listing of the kernel. */
  sass: string;
  /** Which kernel of the text; empty where it has one. */
  kernel: string;
  target: string;
  /** Warps in a block; 0 for as many as the text says. */
  warps: "0" | "1" | "2" | "4" | "8" | "16" | "32";
  /** `NAME=LAYOUT` each. */
  pins: string[];
  /** The line of the text that is looked at, from 1; 0 for none. */
  line: number;
  /** The line of the Python source that is looked at instead. */
  python: number;
  /** The language of the code, where a machine has several. */
  code: "ptx" | "cuda";
  /** Panes that are put away. */
  away: string[];
  /** What the kernel is compared with: a machine, `triton`'s choice or another `text`; empty for nothing. */
  against: string;
  /** The text that it is compared with. */
  other: string;
  /** Whether the kernel has been run. */
  run: boolean;
  grid: string;
  /** `NAME=VALUE` of arguments that are not those of the example. */
  args: string[];
  seed: number;
}

export const fields: Fields<State> = {
  preset: text(PRESETS[0]!.id),
  text: text(),
  source: text(),
  sass: text(),
  kernel: text(),
  target: text("sm_90"),
  warps: word("0", "1", "2", "4", "8", "16", "32"),
  pins: texts(),
  line: whole(0),
  python: whole(0),
  code: word("ptx", "cuda"),
  away: texts(),
  against: text(),
  other: text(),
  run: flag(),
  grid: text(),
  args: texts(),
  seed: whole(0),
};

/** What a change of the kernel takes back. */
export const AFRESH: Partial<State> = {
  pins: [], line: 0, python: 0, kernel: "", source: "", sass: "", run: false, grid: "", args: [], other: "",
};

/** The example that is shown; none where the text is somebody's own. */
export function presetOf({ preset, text }: State): Preset | undefined {
  return text !== "" ? undefined : (PRESETS.find(({ id }) => id === preset) ?? PRESETS[0]!);
}

/** The kernel's text. */
export function textOf(state: State): string {
  return presetOf(state)?.text ?? state.text;
}

/** Its Python source; empty where nobody gave it. */
export function sourceOf(state: State): string {
  return state.source !== "" ? state.source : (presetOf(state)?.source ?? "");
}

/** The value that a pin is of. */
export function pinned(pin: string): string {
  const name = pin.slice(0, Math.max(0, pin.indexOf("="))).trim();
  return name.startsWith("%") ? name : `%${name}`;
}
