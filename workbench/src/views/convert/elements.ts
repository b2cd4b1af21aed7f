/** Elements on their way: the cells of all panels that hold what one cell holds. */

import { wordsOf } from "../../ui/picture";
import type { CellPlace, Picture } from "../../ui/picture";

/** The elements that a cell's label names: `register 1, lane 3: element 5`. */
export function elementsOf(label: string): string[] {
  const named = /: element ((?:\d+|-)(?: (?:\d+|-))*)/.exec(label)?.[1] ?? "";
  return named.split(" ").filter((element) => /^\d+$/.test(element));
}

/** Marks every cell that holds an element of this one; none where no cell is meant. */
export function follow(picture: Picture, place: CellPlace | null): void {
  const wanted = new Set(elementsOf(wordsOf(place && picture.cell(place))));
  for (const [cell] of picture.cells()) {
    cell.classList.toggle("linked", wanted.size > 0 && elementsOf(wordsOf(cell)).some((element) => wanted.has(element)));
  }
}
