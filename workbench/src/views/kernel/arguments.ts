/** A kernel's arguments: what they are called, and what a run begins with, without the page. */

import { presetOf, textOf } from "./state";
import type { State } from "./state";

export interface Parameter {
  name: string;
  /** `ptr<f32>`, `i32`. */
  type: string;
  /** What an integer must be a multiple of. */
  divisibility: number;
}

/** The arguments of a kernel in a text. */
export function parameters(text: string, kernel: string): Parameter[] {
  const from = text.search(new RegExp(`@"?${kernel.replace(/\W/g, "\\$&")}"?\\(`));
  if (from < 0) return [];
  // Up to the attributes, the result or the body: places of arguments hold parentheses of their own.
  const rest = text.slice(text.indexOf("(", from) + 1);
  const list = rest.slice(0, rest.search(/\)\s*(?:->|attributes|\{\s*\n|loc\()/));
  const found = list.matchAll(/%(\w+):\s*(!tt\.ptr<[^>]*>|[\w.]+)\s*(\{[^}]*\})?/g);
  return [...found].map(([, name = "", type = "", attributes = ""]) => ({
    name,
    type: type.replace(/^!tt\.ptr<(\w+).*>$/, "ptr<$1>"),
    divisibility: Number(/tt\.divisibility = (\d+)/.exec(attributes)?.[1] ?? 1),
  }));
}

/** How many elements a buffer has where nobody says. */
const ELEMENTS = 4096;

/** What a run of any kernel may begin with. */
function suggested({ type, divisibility }: Parameter): string {
  const pointee = /^ptr<(.*)>$/.exec(type)?.[1];
  if (pointee !== undefined) return `random:${pointee}[${ELEMENTS}]`;
  if (/^i1$/.test(type)) return "true";
  return /^f|^bf/.test(type) ? "1.0" : String(64 * divisibility);
}

/** A word as a shell takes it. */
const quoted = (word: string) => (/^[\w.,:=/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that does what a state's run does, for the text in a file. */
export function commandOf(state: State, kernel: string): string {
  const { grid, args } = valuesOf(state, kernel);
  const options: [string, string][] = [
    ["--target", state.target],
    ["--grid", grid.replaceAll("×", "x")],
    ...Object.entries(args).map(([name, value]): [string, string] => ["--arg", `${name}=${value}`]),
    ...(state.kernel !== "" ? [["--kernel", state.kernel] as [string, string]] : []),
    ...(state.warps !== "0" ? [["--warps", state.warps] as [string, string]] : []),
    ...state.pins.map((pin): [string, string] => ["--pin", pin]),
    ...(state.seed !== 0 ? [["--seed", String(state.seed)] as [string, string]] : []),
  ];
  return ["weft run", `${kernel}.ttir`, ...options.map(([option, value]) => `${option} ${quoted(value)}`)].join(" ");
}

/** The blocks and the arguments of a state's run: what somebody said, else the example's, else a suggestion. */
export function valuesOf(state: State, kernel: string): { grid: string; args: Record<string, string> } {
  const preset = presetOf(state);
  const read = (all: string[]) => Object.fromEntries(all.map((arg) => [arg.slice(0, arg.indexOf("=")), arg.slice(arg.indexOf("=") + 1)]));
  const [given, own] = [read(preset?.args.split(" ") ?? []), read(state.args)];
  const args = parameters(textOf(state), kernel).map((parameter) => {
    const { name } = parameter;
    return [name, own[name] ?? given[name] ?? suggested(parameter)];
  });
  return { grid: state.grid !== "" ? state.grid : (preset?.grid ?? "1"), args: Object.fromEntries(args) as Record<string, string> };
}
