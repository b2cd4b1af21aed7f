/**
 * Screenshots of the page at three widths and in both themes, into `screenshots/` or the folder named.
 *
 *     npm run screenshots [FOLDER]
 *
 * The pictures of the documents come from here: `docs/src/images` holds some of them.
 */

import { mkdir } from "node:fs/promises";
import { launch, open, serve, settled } from "../tests/browser/harness";

const WIDTHS = [1440, 900, 390];
const PLACES: [string, string][] = [
  ["swizzle", "#/swizzle?fold=1.2.4.8&algebra=1"],
  ["solve", "#/swizzle?fold=2.4.8.10&algebra=1&solve=7"],
  ["machines", `#/swizzle?${machines()}`],
  ["tour", "#/tour?step=4"],
  ["law", "#/tour?step=6"],
  ["exercise", "#/tour?step=8&fold=2.8.10.0"],
];

function machines(): string {
  const store =
    "[register: (2,0) (4,0) (8,0) (16,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16), warp: (1,0)] -> [dim0: 32, dim1: 32]";
  const loads =
    "[register: (0,2) (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (8,0) (16,0), warp: (0,1)] -> [dim0: 32, dim1: 32]";
  return new URLSearchParams({ shape: "32x32", store, loads, against: "gfx942" }).toString();
}

const folder = process.argv.at(-1)?.endsWith(".ts") ? "screenshots" : (process.argv.at(-1) ?? "screenshots");
await mkdir(folder, { recursive: true });
const served = await serve();
const browser = await launch();
try {
  for (const [name, place] of PLACES) {
    for (const width of WIDTHS) {
      for (const dark of [false, true]) {
        const { page } = await open(browser, served.address + place, { width, height: 900, dark });
        await page.evaluate(() => document.fonts.ready);
        await settled(page);
        const path = `${folder}/${name}-${width}-${dark ? "dark" : "light"}.png`;
        await page.screenshot({ path, fullPage: true });
        await page.context().close();
      }
    }
  }
} finally {
  await browser.close();
  served.stop();
}
