/**
 * Screenshots of the page at seven widths and in both themes, into `screenshots/` or the folder named.
 *
 *     [WIDTHS=390,1440] npm run screenshots [FOLDER [PLACE...]]
 *     npm run screenshots -- --documents     the few that the documents show, into `docs/src/images`
 */

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { initial, write } from "../src/state/codec";
import { PRESETS } from "../src/views/swizzle/presets";
import { fields } from "../src/views/swizzle/state";
import type { State } from "../src/views/swizzle/state";
import { launch, open, serve, settled } from "../tests/browser/harness";

/** A home that costs more than the one that is chosen. */
const PIN = "%row_5=[register: 1 256 128, lane: 4 8 16 32 64, warp: 512 2, block:] -> [dim0: 1024]";
const WIDTHS = process.env["WIDTHS"]?.split(",").map(Number) ?? [2560, 1440, 1024, 900, 768, 390, 360];
const PLACES: [string, string][] = [
  ["swizzle", "#/swizzle?fold=1.2.4.8"],
  ["solve", "#/swizzle?fold=2.4.8.10&close=1&solve=7"],
  ["machines", problem("square", { against: "gfx942" })],
  ["refused", "#/swizzle?store=nothing"],
  ["wavefront", "#/swizzle?wave=7"],
  ["fp8", problem("fp8")],
  ["unknown", "#/nothing"],
  ["layout", "#/layout?at=lane%3D9"],
  ["memory", "#/layout?shown=S"],
  ["large", "#/layout?shown=B&shape=64x64"],
  ["layout-refused", `#/layout?layouts=${encodeURIComponent("A = [lane: 1 2 -> [dim0: 4]")}`],
  ["convert", "#/convert"],
  ["runners-up", "#/convert?code=ptx"],
  ["convert-refused", "#/convert?shape=16x8"],
  ["kernel", `#/kernel?preset=row_softmax&pins=${encodeURIComponent(PIN)}`],
  ["product", "#/kernel?preset=matmul&line=65"],
  ["race", "#/kernel?preset=racing_count&run=1&against=sm_80"],
  ["kernel-refused", `#/kernel?text=${encodeURIComponent("module {\n  tt.func public @k(%x: i32) {\n    %y = arith.add %x, %x : i32\n    tt.return\n  }\n}\n")}`],
  ["deadlock", "#/kernel?preset=spin_deadlock&run=1"],
  ["amd", "#/kernel?preset=row_softmax&target=gfx942"],
  ["sides", "#/kernel?preset=tiled_transpose&against=triton&python=23"],
  ...Array.from({ length: 7 }, (_, step): [string, string] => [`tour-${step + 1}`, `#/tour?step=${step + 1}`]),
  ["exercise", "#/tour?step=8&fold=2.8.10.0"],
];

/** The address of an example of the swizzle view. */
function problem(id: string, more: Partial<State> = {}): string {
  const { shape, element, store, loads, target = "sm_90", memory = "" } = PRESETS.find((preset) => preset.id === id)!;
  return `#/swizzle?${write(fields, { ...initial(fields), shape: [...shape], element, target, store, loads: [...loads], memory, ...more })}`;
}

/** What the documents show: the part of a page that begins at an element. */
const DOCUMENTS: [string, string, string, number][] = [
  ["swizzle", "#/swizzle?fold=1.2.4.8", ".swizzle", 897],
  ["solve", "#/swizzle?fold=2.4.8.10&solve=7", ".solve", 705],
  ["kernel", "#/kernel?preset=tiled_transpose", ".kernel", 905],
  ["exercise", "#/tour?step=8&fold=2.8.10.0", ".tour", 800],
];

const [argument = "screenshots", ...only] = process.argv.slice(2).filter((word) => !word.endsWith(".ts"));
const documents = argument === "--documents";
const folder = documents ? fileURLToPath(new URL("../../docs/src/images", import.meta.url)) : argument;
await mkdir(folder, { recursive: true });
const served = await serve();
const browser = await launch();

/** A page that is shown in full. */
async function shown(place: string, width: number, dark: boolean): Promise<Page> {
  const { page } = await open(browser, served.address + place, { width, height: 900, dark });
  await page.evaluate(() => document.fonts.ready);
  await settled(page);
  return page;
}

try {
  if (documents) {
    for (const [name, place, from, height] of DOCUMENTS) {
      const page = await shown(place, 1280, false);
      const box = await page.locator(from).first().boundingBox();
      const clip = { x: (box?.x ?? 8) - 8, y: (box?.y ?? 8) - 8, width: (box?.width ?? 0) + 16, height };
      // All of it in the window: a window that is grown for the picture would scroll its listings back.
      await page.setViewportSize({ width: 1280, height: Math.ceil(clip.y + clip.height) });
      await settled(page);
      await page.screenshot({ path: `${folder}/${name}.png`, clip });
      await page.context().close();
    }
  } else {
    for (const [name, place] of PLACES.filter(([name]) => only.length === 0 || only.includes(name))) {
      for (const width of WIDTHS) {
        for (const dark of [false, true]) {
          const page = await shown(place, width, dark);
          const path = `${folder}/${name}-${width}-${dark ? "dark" : "light"}.png`;
          await page.screenshot({ path, fullPage: true });
          await page.context().close();
        }
      }
    }
  }
} finally {
  await browser.close();
  served.stop();
}
