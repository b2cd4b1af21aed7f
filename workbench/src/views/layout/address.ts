/** Addresses of the layout view, for other views. */

import { formatPlace, initial, write } from "../../state/codec";
import { formatNamed } from "./names";
import type { Named } from "./names";
import { fields } from "./state";

/** The address that shows the first of these layouts; attributes among them are of a tensor of this shape. */
export function layoutAddress(layouts: Named[], shape: number[]): string {
  const state = {
    ...initial(fields),
    layouts: layouts.map(formatNamed),
    shown: layouts[0]?.name ?? "",
    ...(shape.length > 0 && { shape }),
  };
  return formatPlace({ view: "layout", query: write(fields, state) });
}
