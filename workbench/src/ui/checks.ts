/** What is wrong with what is typed, in words, and what would be right. */

import type { Engine } from "../engine/engine";
import { Refusal } from "../engine/engine";
import { parseExtents } from "../state/codec";
import { ELEMENTS } from "./texts";

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

/** Names of element types elsewhere, and ours. */
const ALIASES: Record<string, string> = {
  fp64: "f64", float64: "f64", double: "f64",
  fp32: "f32", float32: "f32", float: "f32",
  fp16: "f16", float16: "f16", half: "f16",
  bfloat16: "bf16", bfloat: "bf16",
  fp8: "f8E4M3FN", e4m3: "f8E4M3FN", fp8e4nv: "f8E4M3FN", float8_e4m3fn: "f8E4M3FN",
  e5m2: "f8E5M2", fp8e5: "f8E5M2", float8_e5m2: "f8E5M2",
  int64: "i64", int32: "i32", int: "i32", int16: "i16", int8: "i8", int1: "i1", bool: "i1",
};

/** An element type; what is no common one is asked of the engine. */
export async function checkElement(written: string, engine: Engine): Promise<Checked<string>> {
  const value = written.trim();
  if (ELEMENTS.includes(value)) return { value };
  const known = ALIASES[value.toLowerCase()] ?? ELEMENTS.find((element) => element.toLowerCase() === value.toLowerCase());
  if (value === "") return { wrong: "an element type is missing", instead: "f32" };
  if (known) return { wrong: `\`${value}\` is written otherwise here`, instead: known };
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
