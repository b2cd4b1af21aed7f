/** What is wrong with what is typed, in words, and what would be right. */

import type { Engine } from "../engine/engine";
import { Refusal } from "../engine/engine";
import { parseExtents } from "../state/codec";

export type Checked<T> = { value: T } | { wrong: string; instead?: string };

/** The nearest power of two. */
function nearest(value: number): number {
  return 2 ** Math.max(0, Math.round(Math.log2(Math.max(1, value))));
}

/** The extents of a tensor, however they are parted: `16x32`, `16 × 32`, `[16, 32]`. */
export function checkExtents(written: string): Checked<number[]> {
  const parts = written.trim().replace(/^[[(]|[\])]$/g, "").trim().split(/\s*[x×*,]\s*|\s+/i);
  const value = parseExtents(parts.join("x"));
  if (value) return { value };
  if (written.trim() === "") return { wrong: "extents are missing", instead: "16x32" };
  const odd = parts.find((part) => !/^\d+$/.test(part));
  if (odd !== undefined) return { wrong: odd === "" ? "an extent is missing" : `\`${odd}\` is not a number` };
  const extents = parts.map(Number);
  const instead = extents.map(nearest).join("x");
  if (extents.includes(0)) return { wrong: "an extent is at least 1", instead };
  if (parts.some((part) => part.length > 9)) return { wrong: "an extent has too many digits" };
  return { wrong: `${extents.find((extent) => nearest(extent) !== extent)} is not a power of two`, instead };
}

/** The blocks of a grid along x, y and z: `8`, `4x2`. */
export function checkGrid(written: string): Checked<string> {
  const parts = written.trim().split(/\s*[x×*,]\s*|\s+/i);
  if (written.trim() === "") return { wrong: "a count of blocks is missing", instead: "1" };
  const odd = parts.find((part) => !/^\d{1,9}$/.test(part));
  if (odd !== undefined) return { wrong: odd === "" ? "a count is missing" : `\`${odd}\` is not a count of blocks` };
  if (parts.length > 3) return { wrong: "a grid has at most three counts, along x, y and z", instead: parts.slice(0, 3).join("x") };
  if (parts.some((part) => Number(part) === 0)) return { wrong: "a grid has at least one block", instead: parts.map((part) => Math.max(1, Number(part))).join("x") };
  return { value: parts.map(Number).join("x") };
}

/** An element type that the engine knows, by this name or another. */
export async function checkElement(written: string, engine: Engine): Promise<Checked<string>> {
  const value = written.trim();
  if (value === "") return { wrong: "an element type is missing", instead: "f32" };
  const { elements } = await engine.invoke({ request: "machines" });
  if (elements.some(({ name }) => name === value)) return { value };
  const called = ({ name, other_names }: (typeof elements)[number]) => [name, ...other_names].some((known) => known.toLowerCase() === value.toLowerCase());
  const known = elements.find(called);
  if (known) return { wrong: `\`${value}\` is written otherwise here`, instead: known.name };
  return asked(value, () => engine.invokeAside({ request: "layout", attribute: "[offset: 1] -> [dim0: 2]", shape: [2], element: value }));
}

/** A layout as a text, which the engine reads. */
export async function checkLayout(written: string, shape: number[], engine: Engine): Promise<Checked<string>> {
  const value = written.trim().replace(/\s+/g, " ");
  if (value === "") return { wrong: "a layout is missing: a Triton attribute, bases, or CuTe" };
  return asked(value, () => engine.invokeAside({ request: "layout", attribute: value, shape }));
}

/** What the engine says of a value. */
async function asked<T>(value: T, ask: () => Promise<unknown>): Promise<Checked<T>> {
  try {
    await ask();
    return { value };
  } catch (error) {
    if (!(error instanceof Refusal)) return { value };
    const { message, hint } = error.fault;
    return { wrong: `${message.replace(/^`\w+`(, )?(: )?/, "")}${hint ? `; ${hint}` : ""}` };
  }
}
