/** The state of the convert view. */

import { extents, text, word } from "../../state/codec";
import type { Fields } from "../../state/codec";
import { PRESETS } from "./presets";

export type Language = "cuda" | "ptx" | "hip";

export interface State {
  shape: number[];
  element: string;
  target: string;
  from: string;
  to: string;
  /** What the code is written in. */
  code: Language;
}

const first = PRESETS[0]!;

export const fields: Fields<State> = {
  shape: extents(...first.shape),
  element: text(first.element),
  target: text(first.target),
  from: text(first.from),
  to: text(first.to),
  code: word<Language>("cuda", "ptx", "hip"),
};
