/** Texts that several views read. */

/** Element types to choose from. */
export const ELEMENTS = ["f64", "f32", "i32", "f16", "bf16", "i16", "f8E4M3FN", "f8E5M2", "i8", "i1"];

/** A layout is one line; where it is broken does not matter. */
export function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}
