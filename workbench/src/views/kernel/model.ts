/** An explanation by the lines of the text, without the page. */

import type { ExplainAnswer, Home, MemoryAccess, Movement } from "../../engine/requests";

/** What is known of one line. */
export interface Marks {
  homes: Home[];
  movements: Movement[];
  accesses: MemoryAccess[];
}

/** The line of a place `text:line:column`. */
export function lineOf(place: string | null): number | undefined {
  const line = /^text:(\d+):\d+$/.exec(place ?? "")?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Places in the text as a reader looks for them: `the load at text:12:5` is the load at line 12. */
export function inLines(sentence: string): string {
  return sentence.replace(/\btext:(\d+):\d+/g, "line $1");
}

/** What an explanation says of each line. */
export function byLine({ homes, movements, accesses }: ExplainAnswer): Map<number, Marks> {
  const lines = new Map<number, Marks>();
  const at = (place: string | null): Marks | undefined => {
    const line = lineOf(place);
    if (line === undefined) return undefined;
    const known = lines.get(line) ?? { homes: [], movements: [], accesses: [] };
    lines.set(line, known);
    return known;
  };
  for (const home of homes) at(home.place)?.homes.push(home);
  for (const movement of movements) at(movement.place)?.movements.push(movement);
  for (const access of accesses) at(access.place)?.accesses.push(access);
  return lines;
}

/** Names for layouts, as the command's report gives them: `L0` is the first that it mentions. */
export class LayoutNames {
  readonly all: string[] = [];

  constructor(...answers: ExplainAnswer[]) {
    for (const { homes, movements, accesses } of answers) {
      for (const home of homes) this.#mention(home.layout, home.next?.layout);
      for (const { from, to } of movements) this.#mention(from, to);
      for (const access of accesses) this.#mention(access.layout, access.next?.layout);
    }
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

/** Whether a layout's text is one of a tensor of this shape. */
export function isOf(layout: string, shape: number[]): boolean {
  const outs = shape.map((extent, axis) => `dim${axis}: ${extent}`).join(", ");
  return layout.endsWith(`-> [${outs}]`);
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
