/** What is selected of a layout, and which cells of its pictures that is; without the page. */

import type { Bases } from "../../engine/requests";

/** Coordinates by the names of their axes. */
export type At = Readonly<Record<string, number>>;

/** Some coordinates, or one bit of an axis. */
export type Selection = { at: At } | { axis: string; bit: number };

/** A cell of a grid or of the hardware: an element and the place that holds it. */
export interface Pair {
  element: At;
  /** Nothing where nobody holds the element. */
  place?: At;
}

/** A cell of the matrix. */
export interface Entry {
  column: { axis: string; bit: number };
  row: { axis: string; bit: number };
  one: boolean;
}

/** `lane=9,register=2` or `lane[3]`. */
export function parseSelection(written: string): Selection | undefined {
  const bit = /^(\w+)\[(\d{1,2})\]$/.exec(written);
  if (bit) return { axis: bit[1]!, bit: Number(bit[2]) };
  const at: Record<string, number> = {};
  for (const part of written.split(",")) {
    const one = /^(\w+)=(\d{1,10})$/.exec(part);
    if (!one) return undefined;
    at[one[1]!] = Number(one[2]);
  }
  return { at };
}

export function formatSelection(selection: Selection | undefined): string {
  if (!selection) return "";
  if ("axis" in selection) return `${selection.axis}[${selection.bit}]`;
  return Object.entries(selection.at).map(([axis, value]) => `${axis}=${value}`).join(",");
}

/** `dim0 1, dim1 3` as coordinates. */
export function parseWords(words: string): At {
  const parts = words.split(", ").map((part) => /^(\w+) (\d+)$/.exec(part));
  return Object.fromEntries(parts.flatMap((part) => (part ? [[part[1]!, Number(part[2])]] : [])));
}

/** What the label of a cell says; the engine writes `ELEMENT: PLACE` in a grid, the other way round in
 * the hardware view. */
export function parsePair(label: string, inGrid: boolean): Pair {
  const [first = "", second = ""] = label.split(": ");
  const [element, place] = (inGrid ? [first, second] : [second, first]).map(parseWords) as [At, At];
  return Object.keys(place).length > 0 ? { element, place } : { element };
}

/** What the label of a cell of the matrix says: `bit 0 of lane sets bit 2 of dim1`. */
export function parseEntry(label: string): Entry | undefined {
  const parts = /^bit (\d+) of (\w+) (sets|leaves) bit (\d+) of (\w+)$/.exec(label);
  if (!parts) return undefined;
  return {
    column: { axis: parts[2]!, bit: Number(parts[1]) },
    row: { axis: parts[5]!, bit: Number(parts[4]) },
    one: parts[3] === "sets",
  };
}

function bitOf(at: At | undefined, axis: string, bit: number): boolean | undefined {
  const value = at?.[axis];
  return value === undefined ? undefined : Math.floor(value / 2 ** bit) % 2 === 1;
}

/** Whether a cell of a grid or of the hardware is selected. */
export function holds(selection: Selection, { element, place }: Pair): boolean {
  if ("axis" in selection) {
    const { axis, bit } = selection;
    return bitOf(place, axis, bit) ?? bitOf(element, axis, bit) ?? false;
  }
  return Object.entries(selection.at).every(([axis, value]) => (place?.[axis] ?? element[axis]) === value);
}

/**
 * Whether a cell of the matrix is selected: of a bit its whole column or row; of coordinates the ones
 * that take part, which are those in the columns of the place's bits, or where no place is named in the
 * rows of the element's.
 */
export function enters(selection: Selection, { column, row, one }: Entry): boolean {
  if ("axis" in selection) {
    const is = ({ axis, bit }: { axis: string; bit: number }) => axis === selection.axis && bit === selection.bit;
    return is(column) || is(row);
  }
  const set = ({ axis, bit }: { axis: string; bit: number }) => bitOf(selection.at, axis, bit);
  return one && (set(column) ?? set(row) ?? false);
}

/** One key for the same element, whichever picture it is in. */
export function elementKey({ element }: Pair): string {
  return Object.keys(element).sort().map((axis) => `${axis}=${element[axis]}`).join();
}

/** `lane 9 = 01001`: a coordinate with its bits. */
export function binary(axis: string, value: number, bits: number): string {
  return bits > 0 ? `${axis} ${value} = ${value.toString(2).padStart(bits, "0")}` : `${axis} ${value}`;
}

/** A place or an element in words, with its bits. */
export function inBits(at: At, bits: Readonly<Record<string, number>>): string {
  const parts = Object.entries(at).filter(([axis]) => (bits[axis] ?? 0) > 0);
  return parts.length > 0 ? parts.map(([axis, value]) => binary(axis, value, bits[axis] ?? 0)).join(", ") : "the only one";
}

/** What a bit of the hardware does, by its image: `adds 4 to dim1` by exclusive or. */
export function basisInWords(bases: Bases, dims: readonly string[], axis: string, bit: number): string | undefined {
  const image = bases[axis]?.[bit];
  if (!image) return undefined;
  const parts = image.flatMap((value, dim) => (value > 0 ? [`${dims[dim]} by ${value}`] : []));
  return parts.length > 0 ? `flips ${parts.join(" and ")}` : "makes a copy: it leaves every coordinate";
}
