/** The state of the kernel view. */

import { text, texts, whole, word } from "../../state/codec";
import type { Fields } from "../../state/codec";
import { PRESETS } from "./presets";

export interface State {
  /** The bundled kernel; it is not read where `text` holds one. */
  preset: string;
  text: string;
  /** Which kernel of the text; empty where it has one. */
  kernel: string;
  target: string;
  /** Warps in a block; 0 for as many as the text says. */
  warps: "0" | "1" | "2" | "4" | "8" | "16" | "32";
  /** `NAME=LAYOUT` each. */
  pins: string[];
  /** The line that is looked at, from 1; 0 for none. */
  line: number;
}

export const fields: Fields<State> = {
  preset: text(PRESETS[0]!.id),
  text: text(),
  kernel: text(),
  target: text("sm_90"),
  warps: word("0", "1", "2", "4", "8", "16", "32"),
  pins: texts(),
  line: whole(0),
};

/** What a change of the kernel takes back. */
export const AFRESH: Partial<State> = { pins: [], line: 0, kernel: "" };

/** The kernel's text. */
export function textOf({ preset, text }: State): string {
  return text !== "" ? text : ((PRESETS.find(({ id }) => id === preset) ?? PRESETS[0]!).text);
}

/** The value that a pin is of. */
export function pinned(pin: string): string {
  const name = pin.slice(0, Math.max(0, pin.indexOf("="))).trim();
  return name.startsWith("%") ? name : `%${name}`;
}
