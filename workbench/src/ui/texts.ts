/** Texts that several views read. */

/** A layout is one line; where it is broken does not matter. */
export function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}
