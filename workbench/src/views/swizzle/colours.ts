/** Colours of banks, and of lanes where there are no banks yet: two neighbours share a hue, and the odd one is darker. */

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

/**
 * A drawing of the engine's, which has eight colours and bars for the rest, with a colour for each of what its
 * cells say of an axis: the pictures of one story are coloured alike.
 */
export function recoloured(svg: string, axis: "bank" | "lane", count: number): string {
  if (svg === "") return svg;
  const drawing = new DOMParser().parseFromString(svg, "image/svg+xml");
  for (const cell of drawing.querySelectorAll<SVGGElement>("g[data-row]")) {
    const ground = cell.querySelector<SVGPathElement>(':scope > path[class^="h"]');
    const said = new RegExp(`\\b${axis} (\\d+)`).exec(cell.querySelector("title")?.textContent ?? "");
    if (!ground || !said) continue;
    ground.style.fill = bankColour(Number(said[1]), count);
    for (const bar of cell.querySelectorAll(":scope > path:is(.black, .white)")) bar.remove();
    cell.querySelector(":scope > g.white")?.setAttribute("class", "black");
  }
  // The key to the eight colours, which is what comes last, and its room.
  const key = drawing.querySelector('svg > g[transform]:last-child:has(> path[class^="h"])');
  const top = Number(/translate\(\S+ (\d+)\)/.exec(key?.getAttribute("transform") ?? "")?.[1]);
  if (key && top > 0) {
    key.remove();
    drawing.documentElement.setAttribute("height", String(top));
    drawing.documentElement.setAttribute("viewBox", `0 0 ${drawing.documentElement.getAttribute("width")} ${top}`);
  }
  return new XMLSerializer().serializeToString(drawing);
}
