/** Amounts in words. */

/** Hundredths of a cycle, as reports print them: `13.00`. */
export function cycles(hundredths: number): string {
  return (hundredths / 100).toFixed(2);
}

/** `1 wavefront`, `3 wavefronts`. */
export function count(amount: number, what: string): string {
  return `${amount} ${what}${amount === 1 ? "" : "s"}`;
}
