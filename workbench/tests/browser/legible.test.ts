/** That every text can be read: contrast of what stands in pictures, and nothing cut at any width. */

import { describe, expect, test } from "vitest";
import { browser, oneBrowser, served } from "./fixture";
import { open } from "./harness";

/** Addresses at which every part of the page is seen. */
const PLACES = [
  "#/swizzle?fold=2.4.8.10&close=1&solve=7",
  "#/swizzle?fold=1.2.4.8&close=1&zoom=2&wave=1",
  "#/layout?at=lane%3D9",
  "#/convert",
  "#/kernel?preset=racing_count&run=1&against=sm_80",
  "#/kernel?preset=matmul",
  "#/tour?step=2",
  "#/tour?step=6",
  "#/tour?step=6&language=zh",
  "#/tour?step=8&fold=2.8.10.0",
];
const WIDTHS = [360, 390, 768, 900, 1440, 2560];

oneBrowser();

describe.each(PLACES)("%s", (place) => {
  test.each([false, true])("texts in pictures stand out, dark: %s", async (dark) => {
    const { page } = await open(browser, served.address + place, { dark, width: 1440, height: 6000 });
    const faint = await page.evaluate(() => {
      type Colour = [number, number, number, number];
      const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
      const parse = (text: string): Colour => {
        paint.clearRect(0, 0, 1, 1);
        paint.fillStyle = text;
        paint.fillRect(0, 0, 1, 1);
        const [r = 0, g = 0, b = 0, a = 0] = paint.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
      };
      const over = (top: Colour, alpha: number, under: Colour): Colour =>
        [0, 1, 2].map((i) => top[i]! * alpha * top[3] + under[i]! * (1 - alpha * top[3])).concat(1) as Colour;
      const light = ([r, g, b]: Colour) => {
        const [x = 0, y = 0, z = 0] = [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
      };
      const contrast = (a: Colour, b: Colour) => {
        const [high = 0, low = 0] = [light(a), light(b)].sort((x, y) => y - x);
        return (high + 0.05) / (low + 0.05);
      };
      /** The opacity of an element with its ancestors inside the drawing. */
      const opacity = (element: Element): number => {
        let product = 1;
        for (let at: Element | null = element; at && !(at instanceof HTMLElement); at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
        return product;
      };
      const found: string[] = [];
      for (const text of document.querySelectorAll<SVGTextElement>("main svg text")) {
        if (text.getBoundingClientRect().width === 0 || getComputedStyle(text).visibility === "hidden" || text.textContent?.trim() === "") continue;
        // What is scrolled away is brought here.
        text.scrollIntoView({ block: "nearest", inline: "nearest" });
        const box = text.getBoundingClientRect();
        const stack = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        if (!stack.includes(text.ownerSVGElement!)) {
          found.push(`${text.textContent} is not to be seen`);
          continue;
        }
        let ground: Colour = [255, 255, 255, 1];
        for (const under of stack.reverse()) {
          const style = getComputedStyle(under);
          if (under instanceof HTMLElement) ground = over(parse(style.backgroundColor), 1, ground);
          else if (/^(rect|path|circle)$/.test(under.tagName) && style.fill !== "none") ground = over(parse(style.fill), opacity(under), ground);
        }
        const ink = over(parse(getComputedStyle(text).fill), opacity(text), ground);
        const ratio = contrast(ink, ground);
        if (ratio < 4.5) found.push(`${text.textContent} ${ratio.toFixed(2)} ${text.closest("figure, section")?.className}`);
      }
      return [...new Set(found)].slice(0, 12);
    });
    expect(faint).toEqual([]);
    await page.context().close();
  });

  test.each(WIDTHS)("no text is cut at %i", async (width) => {
    const { page } = await open(browser, served.address + place, { width, height: 900 });
    await page.evaluate(() => document.fonts.ready);
    const cut = await page.evaluate(() => {
      const found: string[] = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const parent = node.parentElement;
        if (!parent || node.textContent?.trim() === "" || parent.closest(".spoken, .skip, title, desc, style, option, datalist, legend")) continue;
        // What a small picture leaves out its cells say when they are pointed at.
        if (getComputedStyle(parent).visibility === "hidden") continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.width === 0) continue;
        let edge: DOMRect | undefined = new DOMRect(0, -1e6, innerWidth, 2e6);
        for (let at: Element | null = parent; at; at = at.parentElement) {
          const { overflowX } = getComputedStyle(at);
          if (at instanceof SVGElement && !(at instanceof SVGSVGElement)) continue;
          if (at === document.documentElement || at === document.body) break;
          if (overflowX === "visible") continue;
          // What is scrolled is not cut.
          edge = overflowX === "hidden" || overflowX === "clip" ? at.getBoundingClientRect() : undefined;
          break;
        }
        // Nor does it reach out of its button or its card.
        const card = edge && parent.closest("button, .card")?.getBoundingClientRect();
        if (edge && card) {
          const [left, right] = [Math.max(edge.left, card.left), Math.min(edge.right, card.right)];
          edge = new DOMRect(left, -1e6, right - left, 2e6);
        }
        if (edge && (box.left < edge.left - 1.5 || box.right > edge.right + 1.5)) {
          found.push(`${node.textContent?.trim().slice(0, 30)} ${Math.round(box.left)}–${Math.round(box.right)} of ${Math.round(edge.left)}–${Math.round(edge.right)}`);
        }
      }
      return found.slice(0, 10);
    });
    expect(cut).toEqual([]);
    await page.context().close();
  });
});
