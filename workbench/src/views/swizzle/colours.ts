/** Colours of banks: two neighbours share a hue, and the odd one is darker. */

/** Lightness and chroma of even and of odd banks: light enough for black text on both. */
const SHADES = [
  [0.82, 0.115],
  [0.64, 0.125],
] as const;

export function bankColour(bank: number, banks: number): string {
  const [lightness, chroma] = SHADES[bank % 2 === 0 ? 0 : 1];
  const hue = (360 * Math.floor(bank / 2)) / (banks / 2);
  return `oklch(${lightness} ${chroma} ${hue.toFixed(1)})`;
}
