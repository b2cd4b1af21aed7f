/**
 * How long ten actions take, from the event to the frame that shows the last of what they ask for, into
 * `docs/measurements/workbench_latency.json`: with an earlier page, with this one, and with the engine as
 * WebAssembly. The same engine answers both pages.
 *
 *     git show cf08b7d:crates/weft-command/page/… > EARLIER/…     every file of the earlier page
 *     ./build --wasm
 *     WEFT=../target/release/weft npm run latency EARLIER cf08b7d
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Browser } from "playwright-core";
import { dist, launch, open, root, serveCommand, serveFolder, settled, weft } from "../tests/browser/harness";
import type { Served } from "../tests/browser/harness";

if (!process.env["WEFT"]) throw new Error("WEFT must name a release build of the command");
const [earlier, commit] = process.argv.slice(2).filter((word) => !word.endsWith(".ts") && word !== "--");
if (!earlier || !commit) throw new Error("the folder of an earlier page, and the commit that it is of");

/** How often each action is done, each time to something else, after a few times that are not counted. */
const [TIMES, FIRST] = [20, 3];

/** An action: where its `index`th time begins, if that matters, and the address that it leads to or what is clicked. */
interface Action {
  name: string;
  from: (index: number) => string;
  to?: (index: number) => string;
  click?: (index: number) => string;
}

/** Four numbers from 0 to 31, others for each index. */
const masks = (index: number) => [7, 11, 13, 19].map((factor) => (((index + 1) * factor) % 31).toString(16)).join(".");

/** The order of four things, another one for each of 24 indices. */
function order<T>(all: readonly T[], index: number): T[] {
  const rest = [...all];
  return all.map((_, place) => rest.splice(Math.floor(index / [6, 2, 1, 1][place]!) % rest.length, 1)[0]!);
}

/** A transpose whose registers stand in another order for each index. */
function tile(index: number): string {
  const rows = order(["(2,0)", "(4,0)", "(8,0)", "(16,0)"], index).join(" ");
  const columns = order(["(0,2)", "(0,4)", "(0,8)", "(0,16)"], index).join(" ");
  const store = `[register: ${rows}, lane: (0,1) (0,2) (0,4) (0,8) (0,16), warp: (1,0)] -> [dim0: 32, dim1: 32]`;
  const loads = `[register: ${columns}, lane: (1,0) (2,0) (4,0) (8,0) (16,0), warp: (0,1)] -> [dim0: 32, dim1: 32]`;
  return `#/swizzle?${new URLSearchParams({ shape: "32x32", store, loads })}`;
}

const pick = <T>(all: readonly T[], index: number): T => all[index % all.length]!;
const MACHINES = ["sm_80", "sm_86", "sm_89", "gfx1200"];
const SHAPES = ["16x32", "32x16", "32x32", "8x32", "32x8", "8x16", "16x8", "64x16", "16x64", "64x32", "32x64", "64x64"];
const ELEMENTS = ["f16", "bf16", "i8", "i32", "f64", "i16"];
const KERNELS = ["tiled_transpose", "vector_add", "transpose_halves", "layer_norm_forward", "matmul", "attention_f16"];

const ACTIONS: Action[] = [
  { name: "*Swizzle*: one toggle", from: () => "", click: (index) => `.toggles button[data-row="${Math.floor(index / 5) % 4}"][data-column="${index % 5}"]` },
  { name: "*Swizzle*: another memory", from: () => "", to: (index) => `#/swizzle?fold=${masks(index)}` },
  { name: "*Swizzle*: another instruction", from: () => "", to: (index) => `#/swizzle?fold=1.2.4.8&access=${index % 2}&step=${1 + (index >> 1)}` },
  { name: "*Swizzle*: another machine", from: (index) => `#/swizzle?fold=${masks(index)}`, to: (index) => `#/swizzle?target=${pick(MACHINES, index)}&fold=${masks(index)}` },
  { name: "*Swizzle*: other accesses", from: () => "", to: tile },
  { name: "*Swizzle*: *Solve*", from: tile, to: (index) => `${tile(index)}&solve=7` },
  { name: "*Layout*: another shape", from: () => "", to: (index) => `#/layout?shape=${pick(SHAPES, index >> 1)}&shown=${"AB"[index % 2]}` },
  { name: "*Convert*: other elements", from: () => "", to: (index) => `#/convert?element=${pick(ELEMENTS, index)}&shape=${pick(SHAPES, 2 * Math.floor(index / 6))}` },
  { name: "*Kernel*: a line", from: () => "", to: (index) => `#/kernel?line=${13 + index}` },
  { name: "*Kernel*: another kernel", from: () => "", to: (index) => `#/kernel?preset=${pick(KERNELS, index)}&target=${pick(["sm_80", "sm_89", "sm_120", "sm_100"], Math.floor(index / 6))}` },
];

/** Milliseconds of an action, each time. */
async function times(browser: Browser, served: Served, { name, from, to, click }: Action): Promise<number[]> {
  const view = `#/${/\w+/.exec(name)![0].toLowerCase()}`;
  const { page } = await open(browser, served.address + view);
  await page.evaluate(() => document.fonts.ready);
  // What is drawn once the page is there, the examples' pictures, is no part of an action.
  await page.waitForLoadState("networkidle");
  const took: number[] = [];
  for (let index = 0; index < FIRST + TIMES; index++) {
    const place = from(index);
    if (place !== "") await page.evaluate((place) => (location.hash = place), place);
    await page.waitForTimeout(120);
    await settled(page);
    const one = await page.evaluate(
      async ({ to, click }) => {
        const main = document.querySelector("main")!;
        const later = () => new Promise<void>((done) => setTimeout(done));
        const before = location.hash;
        const clicked = click === undefined ? null : document.querySelector<HTMLElement>(click)!;
        const begin = performance.now();
        if (clicked) clicked.click();
        else location.hash = to!;
        // The address follows at once, or with its event, and the page waits from then on.
        do await later(); while (location.hash === before);
        do await later(); while (main.getAttribute("aria-busy") === "true");
        // The frame that shows it has been drawn when the first task after it runs.
        return new Promise<number>((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin))));
      },
      { to: to?.(index), click: click?.(index) },
    );
    if (index >= FIRST) took.push(one);
  }
  await page.context().close();
  return took;
}

const at = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? NaN;

const command = await serveCommand();
const pages = [await serveFolder(earlier, command), await serveFolder(dist, command), await serveFolder(dist)];
const browser = await launch();
const version = browser.version();
const rows: string[][] = [];
for (const action of ACTIONS) {
  const row = [action.name];
  for (const served of pages) {
    const values = await times(browser, served, action);
    row.push(at(values, 0.5).toFixed(0), at(values, 0.95).toFixed(0));
  }
  rows.push(row);
  process.stdout.write(`${row.join(" | ")}\n`);
}
await browser.close();
for (const served of pages) served.stop();

const said = (program: string, ...words: string[]) => spawnSync(program, words, { encoding: "utf8" }).stdout.trim();
const measured = {
  what: `milliseconds from an action to the frame that shows the last of what it asks for, of ${TIMES} times, each to something that was not asked for before; before is the page of commit ${commit}, answered by the same \`weft serve\` as the page of now`,
  command: `WEFT=../target/release/weft npm run latency EARLIER ${commit}`,
  versions: `${said(weft, "--version")}, Chromium ${version}`,
  machine: `${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown processor"}`,
  date: new Date().toISOString().slice(0, 10),
  columns: ["action", "before: median", "95 %", "now: median", "95 %", "WebAssembly: median", "95 %"],
  rows,
};
writeFileSync(`${root}/docs/measurements/workbench_latency.json`, `${JSON.stringify(measured, null, 2)}\n`);
