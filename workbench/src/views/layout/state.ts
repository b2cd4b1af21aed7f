/** The state of the layout view. */

import { extents, text, texts, word } from "../../state/codec";
import type { Fields } from "../../state/codec";

export interface State {
  /** `NAME = TEXT` each: a layout, or an operator on layouts of other names. */
  layouts: string[];
  /** The name of the layout that is seen. */
  shown: string;
  /** The tensor's extents, for attributes. */
  shape: number[];
  /** The type of the elements, on which the banks of a memory depend. */
  element: string;
  /** What is selected, as `selection.ts` writes it. */
  at: string;
  /** The pictures, all or one alone. */
  see: "all" | "grid" | "hardware" | "matrix";
}

export const fields: Fields<State> = {
  layouts: texts(
    "A = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>",
    "B = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>",
    "S = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
    "T = transpose(A, 1 0)",
    "I = invert(S)",
    "C = compose(A, I)",
  ),
  shown: text("A"),
  shape: extents(16, 16),
  element: text("f32"),
  at: text(),
  see: word("all", "grid", "hardware", "matrix"),
};
