/** The convert view: its code is what the command prints, its pictures and its address hold. */

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { PRESETS } from "../../src/views/convert/presets";
import type { Preset } from "../../src/views/convert/presets";
import { elementsOf } from "../../src/views/convert/elements";
import { browser, freshPage, page } from "./fixture";
import { open, settled, weft } from "./harness";

freshPage("#/convert", '[aria-label="The movement"] svg');

const code = () => page.locator('[aria-label="Code of the conversion"]');

/** What the command prints of a conversion. */
function printed({ from, to, shape, element, target }: Preset, ...how: string[]): string {
  const asked = ["--from", from, "--to", to, "--shape", shape.join("x"), "--element", element, "--target", target];
  const { status, stdout } = spawnSync(weft, ["convert", ...asked, ...how], { encoding: "utf8" });
  expect(status).toBe(0);
  return stdout;
}

test.each(PRESETS.map((preset) => [preset.id, preset] as const))("the code of %s is the command's, byte for byte", async (id, preset) => {
  await page.getByLabel("Example").selectOption(id);
  const amd = preset.target.startsWith("gfx");
  const languages = amd ? [["HIP C++", "hip"]] : [["CUDA C++", "cuda"], ["PTX", "ptx"]];
  for (const [label = "", emit = ""] of languages) {
    await page.getByText(label, { exact: true }).click();
    await expect.poll(() => code().textContent(), { timeout: 10_000 }).toBe(printed(preset, "--emit", emit));
  }
});

test("the plan, its price and the runners-up are the engine's", async () => {
  const answer = JSON.parse(printed(PRESETS[0]!, "--json")) as {
    strategy: string;
    cost: number;
    alternatives: { strategy: string }[];
  };
  const rows = page.locator("tr[data-strategy]");
  const strategies = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-strategy")));
  expect(strategies).toEqual([answer.strategy, ...answer.alternatives.map(({ strategy }) => strategy)]);
  expect(await rows.first().locator("td").first().textContent()).toBe((answer.cost / 100).toFixed(2));
});

test("an address shows what it showed", async () => {
  await page.getByLabel("Example").selectOption("warps");
  await page.getByText("PTX", { exact: true }).click();
  await expect.poll(() => code().textContent()).toContain(".func");
  // What the pointer rests on is told too, and is no part of the state.
  await page.mouse.move(0, 0);
  await settled(page);
  const [address, before] = [page.url(), await page.locator("main").innerText()];
  const again = await open(browser, address);
  await expect.poll(() => again.page.locator("main").innerText(), { timeout: 10_000 }).toBe(before);
  expect(again.complaints).toEqual([]);
  await again.page.context().close();
});

test("a text that is no layout is refused with a caret", async () => {
  const from = page.getByLabel("From", { exact: true });
  await from.fill("#ttg.blocked<{sizePerThread = [1, 2");
  await from.press("Control+Enter");
  const fault = page.locator(".fault pre").first();
  await expect.poll(() => fault.textContent()).toContain("error: From, column 36");
  const lines = (await fault.textContent())!.split("\n");
  const [source, caret] = [lines[1]!, lines[2]!];
  expect(source).toContain("#ttg.blocked<{sizePerThread = [1, 2");
  expect(caret.indexOf("^") - source.indexOf("#ttg")).toBe(35);
});

test("an element that is pointed at is marked wherever it passes", async () => {
  await page.hover('[aria-label="The movement"] g[data-panel="0"][data-row="2"][data-column="5"]');
  const titles = () => page.locator('[aria-label="The movement"] g.linked').evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-says") ?? ""));
  await expect.poll(async () => (await titles()).length).toBeGreaterThan(1);
  const label = (await titles())[0]!;
  const element = elementsOf(label);
  expect(element).toHaveLength(1);
  // Registers hold one element each here: it is once in the panel before and once in that after.
  const all = await titles();
  expect(all.every((title) => elementsOf(title)[0] === element[0])).toBe(true);
  expect(label.startsWith("register 2, lane 5: ")).toBe(true);
  // The same stands beside the pointer, within the window, and goes when the pointer does.
  const readout = page.locator('[aria-label="The movement"] .readout');
  expect(await readout.locator("dt, dd").allTextContents()).toEqual(["register", "2", "lane", "5", "element", element[0]]);
  const box = (await readout.boundingBox())!;
  expect(box.x >= 0 && box.x + box.width <= 1440 && box.y >= 0).toBe(true);
  await page.mouse.move(1, 1);
  await expect.poll(() => readout.isHidden()).toBe(true);
});

test("the code goes to the clipboard", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator('[aria-label="Code"]').getByRole("button", { name: "Copy" }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toBe(printed(PRESETS[0]!, "--emit", "cuda"));
});

test("what the machine has no printer for is said, and the rest stays", async () => {
  await page.getByText("HIP C++", { exact: true }).click();
  await expect.poll(() => page.locator('[aria-label="Code"] .fault').textContent()).toContain("error:");
  expect(await page.locator('[aria-label="The movement"] svg').count()).toBe(1);
});
