/** An explanation by the lines of the text, without the page. */

import type { Barrier, Buffers, ExplainAnswer, Home, MemoryAccess, Movement, Product, SharedAccess } from "../../engine/requests";

/** What is known of one line. */
export interface Marks {
  homes: Home[];
  products: Product[];
  movements: Movement[];
  accesses: MemoryAccess[];
  shared: SharedAccess[];
  barriers: Barrier[];
}

/** The line of a place `text:line:column`. */
export function lineOf(place: string | null): number | undefined {
  const line = /^text:(\d+):\d+$/.exec(place ?? "")?.[1];
  return line === undefined ? undefined : Number(line);
}

/** What buffers take of shared memory, and how matrix units swizzle them. */
export function sizeOf({ count, bytes, swizzle_bytes: span }: Buffers): string {
  const size = count === 1 ? `${bytes} bytes` : `${count} buffers of ${bytes} bytes`;
  if (span === undefined) return size;
  return span === 0 ? `${size}, not swizzled` : `${size}, swizzled in rows of ${span} bytes`;
}

/** Places in the text as a reader looks for them: `the load at text:12:5` is the load at line 12. */
export function inLines(sentence: string): string {
  return sentence.replace(/\btext:(\d+):\d+/g, "line $1");
}

/** What an explanation says of each line. */
export function byLine({ homes, products, movements, accesses, shared = [], barriers }: ExplainAnswer): Map<number, Marks> {
  const lines = new Map<number, Marks>();
  const at = (place: string | null): Marks | undefined => {
    const line = lineOf(place);
    if (line === undefined) return undefined;
    const known = lines.get(line) ?? { homes: [], products: [], movements: [], accesses: [], shared: [], barriers: [] };
    lines.set(line, known);
    return known;
  };
  for (const home of homes) at(home.place)?.homes.push(home);
  for (const product of products) at(product.place)?.products.push(product);
  for (const movement of movements) at(movement.place)?.movements.push(movement);
  for (const access of accesses) at(access.place)?.accesses.push(access);
  for (const access of shared) at(access.place)?.shared.push(access);
  for (const barrier of barriers) at(barrier.place)?.barriers.push(barrier);
  return lines;
}

/** Names for layouts, as the command's report gives them: `L0` is the first that it mentions. */
export class LayoutNames {
  readonly all: string[] = [];

  constructor(...answers: ExplainAnswer[]) {
    for (const { homes, products, movements, accesses, shared = [] } of answers) {
      for (const home of homes) this.#mention(home.layout, home.next?.layout);
      for (const product of products) this.#mention(product.layout, product.next?.layout);
      for (const { from, to } of movements) this.#mention(from, to);
      for (const access of accesses) this.#mention(access.layout, access.next?.layout);
      for (const access of shared) this.#mention(access.layout);
    }
  }

  /** The same names, and further ones for what another answer has. */
  with(answer: ExplainAnswer): LayoutNames {
    const names = new LayoutNames();
    names.all.push(...this.all);
    for (const layout of new LayoutNames(answer).all) names.#mention(layout);
    return names;
  }

  of(layout: string): string {
    const index = this.all.indexOf(layout);
    return index < 0 ? "?" : `L${index}`;
  }

  #mention(...layouts: (string | undefined)[]): void {
    for (const layout of layouts) {
      if (layout !== undefined && !this.all.includes(layout)) this.all.push(layout);
    }
  }
}

/** The extents in a tensor's type: `tensor<64x32xf16>`. */
export function shapeOf(type: string): number[] {
  const extents = /^tensor<((?:\d+x)+)/.exec(type)?.[1] ?? "";
  return extents.split("x").filter((part) => part !== "").map(Number);
}

/** Whether a layout's text is one of registers for a tensor of this shape. */
export function isOf(layout: string, shape: number[]): boolean {
  const outs = shape.map((extent, axis) => `dim${axis}: ${extent}`).join(", ");
  return layout.startsWith("[register") && layout.endsWith(`-> [${outs}]`);
}

/** An instruction's name without the types of its numbers: `mma.m16n8k16`. */
export function shortName(how: string): string {
  return how.startsWith("mma.") ? how.split(".").slice(0, 2).join(".") : "multiply-adds";
}

/** A line of the text as it is read: without the places of the user's source. */
export function shownLine(line: string): string {
  return line.replace(/ loc\((?:#\w+|unknown|"[^"]*"(?::\d+:\d+|\(#\w+\))?|callsite\([^()]*\))\)/g, "");
}

/** The lines that say nothing of the program: names of places. */
export function isPlace(line: string): boolean {
  return /^#\w+ = loc\(/.test(line);
}

/** What everything costs that homes decide on, in hundredths of a cycle of a block. */
export function total({ choice, spent }: ExplainAnswer): number {
  return choice?.cost ?? spent.movements + spent.accesses + spent.work;
}
