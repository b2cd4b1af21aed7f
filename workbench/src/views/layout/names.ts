/** Named layouts, and operators on them, without the page. */

import type { Operator } from "../../engine/requests";
import { parseExtents } from "../../state/codec";

/** A layout with its name. */
export interface Named {
  name: string;
  text: string;
}

/** What a text says where it is no layout itself. */
export interface Operation {
  operator: Operator;
  /** The names of one or two layouts. */
  of: string[];
  /** Axes in their new order, or new extents. */
  to: number[];
}

/** The operators with what they take besides a first layout. */
export const OPERATORS: readonly { value: Operator; label: string; takes: "other" | "order" | "shape" | "nothing" }[] = [
  { value: "compose", label: "compose: A, then B", takes: "other" },
  { value: "product", label: "product: A beside B", takes: "other" },
  { value: "divide", label: "divide: A by B", takes: "other" },
  { value: "invert", label: "invert A", takes: "nothing" },
  { value: "transpose", label: "transpose A", takes: "order" },
  { value: "reshape", label: "reshape A", takes: "shape" },
];

/** `NAME = TEXT` in its parts; a name is a word of letters and digits. */
export function parseNamed(written: string): Named | undefined {
  const parts = /^\s*([A-Za-z]\w*)\s*=\s*(.*)$/s.exec(written);
  return parts ? { name: parts[1]!, text: parts[2]!.trim() } : undefined;
}

export function formatNamed({ name, text }: Named): string {
  return `${name} = ${text}`;
}

/** An operator on names: `compose(A, B)`, `transpose(A, 1 0)`, `reshape(A, 8x64)`. */
export function parseOperation(text: string): Operation | undefined {
  const parts = /^(\w+)\s*\(([^()]*)\)$/.exec(text.trim());
  const known = OPERATORS.find(({ value }) => value === parts?.[1]);
  if (!parts || !known) return undefined;
  const operands = parts[2]!.split(",").map((part) => part.trim());
  const [first = "", second = ""] = operands;
  const name = /^[A-Za-z]\w*$/;
  if (!name.test(first)) return undefined;
  const made = (of: string[], to: number[]): Operation => ({ operator: known.value, of, to });
  switch (known.takes) {
    case "nothing":
      return operands.length === 1 ? made([first], []) : undefined;
    case "other":
      return operands.length === 2 && name.test(second) ? made([first, second], []) : undefined;
    case "order": {
      const order = second.split(/\s+/);
      return operands.length === 2 && order.every((axis) => /^\d$/.test(axis)) ? made([first], order.map(Number)) : undefined;
    }
    case "shape": {
      const shape = parseExtents(second);
      return operands.length === 2 && shape ? made([first], shape) : undefined;
    }
  }
}

export function formatOperation({ operator, of, to }: Operation): string {
  const more = to.length === 0 ? [] : [operator === "reshape" ? to.join("x") : to.join(" ")];
  return `${operator}(${[...of, ...more].join(", ")})`;
}

/** Why the layouts that a layout is made of cannot be found; nothing where they can. */
export function findMissing(name: string, all: readonly Named[], above: string[] = []): string | undefined {
  const named = all.find((other) => other.name === name);
  if (!named) return `there is no layout named \`${name}\``;
  if (above.includes(name)) return `\`${name}\` is made of itself: ${[...above, name].join(" of ")}`;
  for (const part of parseOperation(named.text)?.of ?? []) {
    const missing = findMissing(part, all, [...above, name]);
    if (missing) return missing;
  }
  return undefined;
}

/** A name that no layout has. */
export function freshName(all: readonly Named[]): string {
  const letters = [..."ABCDEFGHJKLMNPQRSTUVWXYZ"];
  const free = [...letters, ...letters.map((letter) => `${letter}2`)].find((name) => !all.some((named) => named.name === name));
  return free ?? `L${all.length}`;
}

/** Whether a layout is one of memory: it says at which offset each element of a tensor lies. */
export function isMemory({ bases, text }: { bases: object; text: string }): boolean {
  return "offset" in bases && !("lane" in bases) && /-> \[dim0/.test(text);
}
