/** What the swizzle view is about, without the page: folds, names of bits, presets. */

import type { Bases, Coordinates, LayoutSource } from "../../engine/requests";

/** Bits of an extent. */
export function bitsOf(extent: number): number {
  return 31 - Math.clz32(extent);
}

/** A tensor's bits: those of the last axis are columns, all others count rows. */
export interface TensorBits {
  shape: number[];
  /** Bits of the column. */
  columns: number;
  /** Bits of the row. */
  rows: number;
}

export function tensorBits(shape: number[]): TensorBits {
  const columns = bitsOf(shape.at(-1) ?? 1);
  const rows = shape.slice(0, -1).reduce((sum, extent) => sum + bitsOf(extent), 0);
  return { shape, columns, rows };
}

/** The element at bit `bit` of the row-major offset: one coordinate is a power of two. */
export function unit(shape: number[], bit: number): Coordinates {
  const element = shape.map(() => 0);
  let rest = bit;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const bits = bitsOf(shape[axis] ?? 1);
    if (rest < bits) {
      element[axis] = 2 ** rest;
      return element;
    }
    rest -= bits;
  }
  return element;
}

/** `mask` of each row bit, as many as there are row bits and no wider than the column. */
export function fitFolds(folds: number[], { rows, columns }: TensorBits): number[] {
  return Array.from({ length: rows }, (_, row) => (folds[row] ?? 0) & (2 ** columns - 1));
}

/** The memory that folds row bit `j` into the column bits of `folds[j]`. */
export function foldedBases(folds: number[], tensor: TensorBits): Bases {
  const { shape, columns, rows } = tensor;
  const offset: Coordinates[] = [];
  for (let bit = 0; bit < columns + rows; bit++) {
    const element = unit(shape, bit);
    const mask = bit < columns ? 0 : (folds[bit - columns] ?? 0);
    element[shape.length - 1] = (element[shape.length - 1] ?? 0) ^ mask;
    offset.push(element);
  }
  return { offset };
}

/** The folds of a memory's bases; nothing where it is no fold of rows into columns. */
export function foldsOf(bases: Bases, tensor: TensorBits): number[] | undefined {
  const { shape, columns, rows } = tensor;
  const offset = bases["offset"] ?? [];
  if (offset.length !== columns + rows) return undefined;
  const folds: number[] = [];
  for (const [bit, image] of offset.entries()) {
    const plain = unit(shape, bit);
    const mask = (image.at(-1) ?? 0) ^ (plain.at(-1) ?? 0);
    const leading = plain.slice(0, -1).every((value, axis) => value === image[axis]);
    if (!leading || (bit < columns && mask !== 0)) return undefined;
    if (bit >= columns) folds.push(mask);
  }
  return folds;
}

/** Bases as the text of a layout. */
export function basesText(bases: Bases, shape: number[]): string {
  const axes = Object.entries(bases).map(([axis, images]) => {
    const all = images.map((image) => (image.length === 1 ? `${image[0]}` : `(${image.join(",")})`));
    return all.length === 0 ? `${axis}:` : `${axis}: ${all.join(" ")}`;
  });
  const outs = shape.map((extent, axis) => `dim${axis}: ${extent}`);
  return `[${axes.join(", ")}] -> [${outs.join(", ")}]`;
}

/** The letter of an axis: of a matrix the rows are m, the columns n. */
export function axisName(axis: number, rank: number): string {
  if (rank === 2) return axis === 0 ? "m" : "n";
  return rank === 1 ? "n" : (["i", "j", "k", "l", "m", "n"][axis] ?? `d${axis}.`);
}

/** A text of the engine's, in which axes are counted, with their letters: `dim0 3` is `m 3`. */
export function inLetters(text: string, rank: number): string {
  return text.replace(/\bdim(\d+)\b/g, (_, axis) => axisName(Number(axis), rank));
}

/** A drawing of a matrix with the letters of its axes, and its rows as bits of them: `dim1 0` is `n₀`. */
export function matrixInLetters(drawing: string, rank: number): string {
  return inLetters(drawing, rank).replace(/>([a-n]) (\d+)<\/text>/g, (_, name, bit) => `>${name}${subscript(Number(bit))}</text>`);
}

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

export function subscript(number: number): string {
  return [...String(number)].map((digit) => SUBSCRIPTS[Number(digit)] ?? digit).join("");
}

/** The bits of an element as a sum: `m₀⊕n₁`. */
export function direction(element: Coordinates): string {
  const parts = element.flatMap((value, axis) => {
    const name = axisName(axis, element.length);
    const bits = Array.from({ length: 31 }, (_, bit) => bit).filter((bit) => (value >> bit) & 1);
    return bits.map((bit) => name + subscript(bit));
  });
  return parts.length === 0 ? "0" : parts.join("⊕");
}

/** Elements as a set of directions. */
export function directions(elements: Coordinates[]): string {
  return elements.length === 0 ? "∅" : `{${elements.map(direction).join(", ")}}`;
}

/** What the memory of a state is. */
export function memorySource(memory: string, folds: number[], shape: number[]): LayoutSource {
  if (memory.trim() !== "") return memory;
  const tensor = tensorBits(shape);
  return { bases: foldedBases(fitFolds(folds, tensor), tensor) };
}

/** The number of the fold memory in a sweep. */
export function foldNumber(folds: number[], { columns }: TensorBits): number {
  return folds.reduce((number, mask, row) => number + mask * 2 ** (row * columns), 0);
}

export function foldsOfNumber(number: number, { rows, columns }: TensorBits): number[] {
  const span = 2 ** columns;
  return Array.from({ length: rows }, (_, row) => Math.floor(number / span ** row) % span);
}

/** Ready-made folds of an example whose rows are narrower than its columns. */
export function namedFolds(tensor: TensorBits): { name: string; folds: number[] }[] {
  const { rows, columns } = tensor;
  const shifted = (by: number) =>
    fitFolds(
      Array.from({ length: rows }, (_, row) => (row + by < columns ? 2 ** (row + by) : 0)),
      tensor,
    );
  return [
    { name: "unswizzled", folds: fitFolds([], tensor) },
    { name: "XOR m", folds: shifted(0) },
    { name: "XOR 2m", folds: shifted(1) },
  ];
}
