/**
 * How much of the engine is shipped, how soon a page shows its first picture and how long it counts all
 * memories of the 16x32 transpose, into `docs/measurements/workbench.json`.
 *
 *     ./build --wasm
 *     WEFT=../target/release/weft npm run measure
 */

import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { dist, launch, open, root, serveCommand, serveFolder, weft } from "../tests/browser/harness";
import type { Served } from "../tests/browser/harness";

if (!process.env["WEFT"]) throw new Error("WEFT must name a release build of the command");

/** How often a page is opened, and a sweep run. */
const [PICTURES, SWEEPS] = [15, 3];
const PLACE = "#/swizzle";

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;

/** Milliseconds from the beginning of a visit to the frame that shows a picture, of a browser that has kept nothing. */
async function firstPicture(browser: Browser, served: Served): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.querySelector("main svg.weft")) return;
      observer.disconnect();
      // The first frame from here shows it, and has been when the second one begins.
      requestAnimationFrame(() =>
        requestAnimationFrame((now) => (document.documentElement.dataset["pictured"] = String(now))),
      );
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(served.address + PLACE);
  await page.waitForSelector("html[data-pictured]", { state: "attached" });
  const pictured = Number(await page.getAttribute("html", "data-pictured"));
  await context.close();
  return pictured;
}

/** Seconds of a sweep, from the click to the histogram. */
async function sweep(page: Page): Promise<number> {
  const start = performance.now();
  await page.getByRole("button", { name: "Try every memory" }).click();
  await page.waitForSelector('[data-disagreements="0"]', { timeout: 600_000 });
  return (performance.now() - start) / 1000;
}

async function times(browser: Browser, name: string, served: Served): Promise<string[][]> {
  await firstPicture(browser, served);
  const pictures: number[] = [];
  for (let i = 0; i < PICTURES; i++) pictures.push(await firstPicture(browser, served));
  const sweeps: number[] = [];
  for (let i = 0; i < SWEEPS; i++) {
    const { page } = await open(browser, served.address + PLACE);
    sweeps.push(await sweep(page));
    await page.context().close();
  }
  served.stop();
  return [
    [`first picture, ${name}`, `${median(pictures).toFixed(0)} ms`, "1000 ms"],
    [`all 2²⁰ memories, ${name}`, `${median(sweeps).toFixed(1)} s`, "a few seconds"],
  ];
}

const engine = readFileSync(`${dist}/engine/weft_wasm_bg.wasm`);
const page = readdirSync(dist, { withFileTypes: true }).filter((entry) => entry.isFile());
const beside = page.reduce((sum, { name }) => sum + gzipSync(readFileSync(`${dist}/${name}`)).length, 0);
const rows = [
  ["engine", megabytes(engine.length), ""],
  ["engine, by gzip", megabytes(gzipSync(engine, { level: 9 }).length), "2 MB"],
  ["engine, by Brotli", megabytes(brotliCompressSync(engine).length), "2 MB"],
  ["the page around it with its fonts, by gzip", megabytes(beside), ""],
];
const browser = await launch();
const version = browser.version();
rows.push(...(await times(browser, "engine as WebAssembly", await serveFolder(dist))));
rows.push(...(await times(browser, "`weft serve`", await serveCommand())));
await browser.close();

const said = (program: string, ...words: string[]) => spawnSync(program, words, { encoding: "utf8" }).stdout.trim();
const measured = {
  what: `the workbench at its first address on a server of the same machine; medians of ${PICTURES} visits by a browser that has kept nothing, to the first frame with a picture, and of ${SWEEPS} sweeps over the 16x32 transpose`,
  command: "WEFT=../target/release/weft npm run measure",
  versions: `${said(weft, "--version")}, ${said("rustc", "--version").split(" ").slice(0, 2).join(" ")}, Chromium ${version}`,
  machine: `${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown processor"}`,
  date: new Date().toISOString().slice(0, 10),
  columns: ["what", "measured", "at most"],
  rows,
};
writeFileSync(`${root}/docs/measurements/workbench.json`, `${JSON.stringify(measured, null, 2)}\n`);
process.stdout.write(`${rows.map((row) => row.join(" | ")).join("\n")}\n`);
