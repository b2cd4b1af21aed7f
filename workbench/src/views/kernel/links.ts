/** Which lines of the panes belong together, without the page: every line by the lines of the text that it came from. */

import type { ExplainAnswer, Line } from "../../engine/requests";
import { isPlace, shownLine } from "./model";

/** A line of a pane. */
export interface Shown {
  /** Its number in its own text, from 1. */
  number: number;
  text: string;
  /** The lines of the Triton IR that it belongs to. */
  of: readonly number[];
}

/** A place `file:line:column`. */
function parted(place: string): { file: string; line: number } | undefined {
  const [, file, line] = /^(.*):(\d+):\d+$/.exec(place) ?? [];
  return file === undefined ? undefined : { file, line: Number(line) };
}

/** Which lines of the user's file the lines of the text came from. */
export class Sources {
  /** The user's file: the one that most lines lead to last, from wherever they were inlined. */
  readonly file: string | undefined;
  /** The line of the file for each line of the text. */
  readonly #lines = new Map<number, number>();
  /** The last place of the text, which is the kernel's own. */
  readonly #kernel: number | undefined;

  constructor(lines: readonly Line[] = []) {
    const places = lines.map(({ line, sources }) => ({ line, sources: sources.flatMap((place) => parted(place) ?? []) }));
    const files = new Map<string, number>();
    for (const { sources } of places) {
      const file = sources.at(-1)?.file;
      if (file !== undefined) files.set(file, (files.get(file) ?? 0) + 1);
    }
    this.file = [...files].sort(([, a], [, b]) => b - a)[0]?.[0];
    for (const { line, sources } of places) {
      const own = sources.find(({ file }) => file === this.file);
      if (own) this.#lines.set(line, own.line);
    }
    this.#kernel = this.#lines.get(lines.at(-1)?.line ?? 0);
  }

  /** The line of the file that a line of the text came from. */
  of(line: number): number | undefined {
    return this.#lines.get(line);
  }

  /** The lines of the text that came from a line of the file. */
  from(python: number): number[] {
    return [...this.#lines].flatMap(([line, own]) => (own === python ? [line] : []));
  }

  /**
   * The file's lines. A text that has the kernel elsewhere than the file had it is moved to where it was; of a
   * file that nobody gave, the lines that are known of.
   */
  shown(source: string, kernel: string): Shown[] {
    const line = (number: number, text: string): Shown => ({ number, text, of: this.from(number) });
    if (source.trim() === "") {
      const known = [...new Set(this.#lines.values())].sort((a, b) => a - b);
      return known.map((number) => line(number, `${this.file ?? ""}:${number}`));
    }
    const texts = source.trimEnd().split("\n");
    const def = texts.findIndex((text) => new RegExp(`^def ${kernel}\\b`).test(text)) + 1;
    const shift = def > 0 && this.#kernel !== undefined && this.#kernel !== def && this.from(def).length === 0 ? this.#kernel - def : 0;
    const all = texts.map((text, index) => line(index + 1 + shift, text));
    // What stands above the first function is of no use here.
    const first = all.findIndex(({ text }) => /^(@|def )/.test(text));
    return tidied(all.slice(Math.max(0, first)));
  }
}

/** Lines without empty ones at the ends and one after another. */
function tidied(lines: Shown[]): Shown[] {
  return lines.filter(({ text }, index) => text.trim() !== "" || (index > 0 && lines[index - 1]!.text.trim() !== "" && index < lines.length - 1));
}

/** The lines of the text itself. */
export function ofText(text: string): Shown[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "" || isPlace(line)) return [];
    return [{ number: index + 1, text: shownLine(line), of: [index + 1] }];
  });
}

/**
 * The lines of another text of the same kernel, Triton's own TTGIR for instance: the two meet at the lines of
 * their Python source.
 */
export function ofOther(text: string, theirs: Sources, ours: Sources): Shown[] {
  return ofText(text).map((line) => {
    const python = theirs.of(line.number);
    return { ...line, of: python === undefined ? [] : ours.from(python) };
  });
}

/** The lines of code whose comments `// text:12` say where what follows came from; these are left out. */
export function ofCode(code: string): Shown[] {
  let of: number[] = [];
  let number = 0;
  return code.trimEnd().split("\n").flatMap((text) => {
    const line = /^\s*\/\/ text:(\d+)$/.exec(text)?.[1];
    if (line !== undefined) {
      of = [Number(line)];
      return [];
    }
    number++;
    // What frames the code came from no line.
    const framing = /^\S/.test(text) || text.trim() === "";
    return [{ number, text, of: framing ? [] : of }];
  });
}

/**
 * A listing of `nvdisasm -g`, or of `nvdisasm -gp` for Weft's PTX that `ptxas -lineinfo` assembled.
 *
 * Their comments `//## File "…", line 17` name a line of the user's file, or of the PTX.
 *
 * @param ptx that PTX; its comments name lines of the user's file, else it is as `code`
 */
export function ofListing(listing: string, sources: Sources, code: readonly Shown[], ptx: string): Shown[] {
  let of: readonly number[] = [];
  let instructions = 0;
  const lines = ptx.split("\n").map((text) => (/^\s*\/\//.test(text) ? undefined : code[instructions++]));
  return listing.trimEnd().split("\n").flatMap((text, index) => {
    const [, file, line] = /^\s*\/\/## File "([^"]*)",\s*line (\d+)/.exec(text) ?? [];
    if (line !== undefined) {
      of = /ptx(_txt)?$/.test(file!) ? (lines[Number(line) - 1]?.of ?? []) : sources.from(Number(line));
      return [];
    }
    const instruction = /^\s*(?:\/\*[0-9a-f]{4,}\*\/|[A-Z@{][\w.@!{])/.test(text);
    return [{ number: index + 1, text: text.replace(/\s*\/\* 0x[0-9a-f]{16} \*\/\s*$/, ""), of: instruction ? of : [] }];
  }).filter(({ text }) => text.trim() !== "");
}

/** The registers that a listing names: one more than the highest; nothing where it names none. */
export function registersIn(listing: string): number | undefined {
  let most = -1;
  for (const [, number] of listing.matchAll(/\bR(\d{1,3})\b/g)) most = Math.max(most, Number(number));
  return most < 0 || most > 254 ? undefined : most + 1;
}

/** What lines of the text cost, as a share of what all cost. */
export function heat({ lines = [] }: ExplainAnswer): (of: readonly number[]) => number {
  const all = lines.reduce((sum, { cost }) => sum + cost, 0);
  const costs = new Map(lines.map(({ line, cost }) => [line, cost]));
  return (of) => (all === 0 ? 0 : of.reduce((sum, line) => sum + (costs.get(line) ?? 0), 0) / all);
}
