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

/** What a buffer may be filled with. */
const FILLINGS = ["random", "range", "zeros", "ones", "empty"];

/**
 * What a run gives a kernel's argument: a number, or how a buffer is filled, `random:f32[4x1024]`.
 *
 * @param type `i32`, `ptr<f32>`
 * @param usual what would be right
 */
export function checkArgument(written: string, type: string, usual: string): Checked<string> {
  const value = written.trim();
  const pointee = /^ptr<(\w+)>$/.exec(type)?.[1];
  if (value === "") return { wrong: "a value is missing", instead: usual };
  if (pointee === undefined) {
    const whole = /^[iu]\d+$/.test(type);
    if (type === "i1" && /^(true|false)$/.test(value)) return { value };
    if (whole ? /^-?\d+$/.test(value) : !/^[fb]/.test(type) || (Number.isFinite(Number(value)) || /^-?(inf|nan)$/i.test(value))) return { value };
    return { wrong: `\`${value}\` is not a ${whole ? "whole " : ""}number`, instead: usual };
  }
  const [, filling = "", element = "", extents = ""] = /^([^:]*):(\w+)\[(.*)\]$/.exec(value) ?? [];
  if (element === "") return { wrong: "a pointer takes a buffer: how it is filled, its element type and its extents", instead: usual };
  const bounds = /^(-?[\d.]+?)\.\.(-?[\d.]+)$/.exec(filling);
  const put = (filling: string, element: string, extents: string) => `${filling}:${element}[${extents}]`;
  if (!bounds && !FILLINGS.includes(filling)) {
    return { wrong: `a buffer is filled with ${FILLINGS.join(", ")}, or from two bounds such as -8..8, not by \`${filling}\``, instead: put("random", element, extents) };
  }
  if (bounds && Number(bounds[1]) >= Number(bounds[2])) {
    return { wrong: `the lower bound ${bounds[1]} is not below ${bounds[2]}`, instead: put(`${bounds[2]}..${bounds[1]}`, element, extents) };
  }
  if (element !== pointee) return { wrong: `the kernel takes elements of ${pointee}, not ${element}`, instead: put(filling, pointee, extents) };
  const odd = extents.split("x").find((extent) => !/^[1-9]\d*$/.test(extent));
  if (odd !== undefined) return { wrong: odd === "" ? "an extent is missing" : `\`${odd}\` is not an extent`, instead: usual };
  return { value };
}

/** Axes in their new order, each of them once. */
export function checkOrder(written: string, axes: number): Checked<string> {
  const parts = written.trim().split(/[\s,]+/).filter((part) => part !== "");
  const all = Array.from({ length: axes }, (_, axis) => String(axis));
  const instead = [...all].reverse().join(" ");
  const odd = parts.find((part) => !all.includes(part));
  if (odd !== undefined) return { wrong: `there is no axis \`${odd}\``, instead };
  const missing = all.find((axis) => !parts.includes(axis));
  if (missing !== undefined) return { wrong: `axis ${missing} is missing`, instead };
  if (parts.length > axes) return { wrong: `axis ${parts.find((part, index) => parts.indexOf(part) < index)} occurs twice`, instead };
  return { value: parts.join(" ") };
}

/** A shape with as many elements as another one. */
export function checkReshape(written: string, shape: number[]): Checked<string> {
  const found = checkExtents(written);
  if ("wrong" in found) return found;
  const count = (extents: number[]) => extents.reduce((all, extent) => all * extent, 1);
  if (count(found.value) === count(shape)) return { value: found.value.join("x") };
  return { wrong: `${count(found.value)} elements where the tensor has ${count(shape)}`, instead: [...shape].reverse().join("x") };
}

/** A name of a layout: a word that no other one has. */
export function checkName(written: string, own: string, taken: string[], free: string): Checked<string> {
  const value = written.trim();
  if (value === own) return { value };
  if (value === "") return { wrong: "a name is missing", instead: own };
  if (!/^[A-Za-z]\w*$/.test(value)) return { wrong: "a name is a letter, then letters and digits", instead: value.replace(/^[^A-Za-z]+|\W/g, "") || free };
  if (taken.includes(value)) return { wrong: `there is a layout ${value} already`, instead: free };
  return { value };
}

/** The name of a kernel of a text; none where the text has one alone. */
export function checkKernel(written: string, text: string): Checked<string> {
  const value = written.trim();
  const known = [...text.matchAll(/tt\.func\s+(?:public\s+)?@"?([\w.$]+)"?/g)].map(([, name = ""]) => name);
  if (value === "" || known.length === 0 || known.includes(value)) return { value };
  return { wrong: `the text has no kernel \`${value}\``, instead: known[0]! };
}

/** An element type that the engine knows, by this name or another. */
export async function checkElement(written: string, engine: Engine): Promise<Checked<string>> {
  const value = written.trim();
  if (value === "") return { wrong: "an element type is missing", instead: "f32" };
  const { elements } = await engine.invoke({ request: "machines" });
  if (elements.some(({ name }) => name === value)) return { value };
  const called = ({ name, other_names }: (typeof elements)[number]) => [name, ...other_names].some((known) => known.toLowerCase() === value.toLowerCase());
  const known = elements.find(called);
  if (known) return { wrong: `\`${value}\` is spelled differently here`, instead: known.name };
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
