/** The layout view: three pictures, linked, and operators on named layouts. */

import { expect, test } from "vitest";
import { browser, freshPage, page, served } from "./fixture";
import { open, settled } from "./harness";

freshPage("#/layout", "[data-kind=matrix] svg g[data-row]");

/** What the marked cells of a picture say. */
async function marked(kind: string, mark: string): Promise<string[]> {
  return page
    .locator(`[data-kind=${kind}] g.${mark}`)
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-says") ?? "").sort());
}

const said = () => page.locator("[data-said]").textContent();

test("a cell that is pointed at is marked in every picture and told in bits", async () => {
  await page.hover('[data-kind=grid] g[data-row="3"][data-column="5"]');
  await expect.poll(said).toBe("register 1 = 001, lane 13 = 01101 holds dim0 3 = 0011, dim1 5 = 0101");
  expect(await marked("grid", "linked")).toEqual(["dim0 3, dim1 5: register 1, lane 13, warp 0, block 0"]);
  expect(await marked("hardware", "linked")).toEqual(["register 1, lane 13, warp 0, block 0: dim0 3, dim1 5"]);
  // The columns of the place's bits, whose exclusive or is the element.
  expect(await marked("matrix", "linked")).toEqual([
    "bit 0 of lane sets bit 2 of dim1",
    "bit 0 of register sets bit 0 of dim1",
    "bit 2 of lane sets bit 0 of dim0",
    "bit 3 of lane sets bit 1 of dim0",
  ]);
});

test("the arrow keys do the same", async () => {
  await page.locator("[data-kind=hardware] .frame").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => marked("grid", "linked")).toEqual(["dim0 0, dim1 1: register 1, lane 0, warp 0, block 0"]);
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("at=register%3D1%2Clane%3D0");
  await expect.poll(() => marked("grid", "meant")).toHaveLength(1);
});

test("a lane, by its heading and by the field, is its column and its elements", async () => {
  await page.locator('[data-kind=hardware] text[data-head="lane 9"]').click();
  await expect.poll(() => page.url()).toContain("at=lane%3D9");
  await page.mouse.move(0, 0);
  await expect.poll(said).toBe("lane 9 = 01001: 8 elements");
  for (const kind of ["grid", "hardware"]) {
    const cells = await marked(kind, "meant");
    expect(cells).toHaveLength(8);
    expect(cells.every((label) => label.includes("lane 9,"))).toBe(true);
  }
  expect(await marked("matrix", "meant")).toEqual(["bit 0 of lane sets bit 2 of dim1", "bit 3 of lane sets bit 1 of dim0"]);
  await page.locator('[data-axis="lane"] select').selectOption("12");
  await expect.poll(async () => (await marked("grid", "meant")).every((label) => label.includes("lane 12,"))).toBe(true);
});

test("a bit is its column of the matrix and half of everything else", async () => {
  await page.getByRole("button", { name: "Bit 2 of lane" }).click();
  await expect.poll(said).toBe("Bit 2 of lane flips dim0 by 1: 128 elements");
  expect(await marked("grid", "meant")).toHaveLength(128);
  expect(await marked("hardware", "meant")).toHaveLength(128);
  expect(await marked("matrix", "meant")).toHaveLength(8);
  await page.getByRole("button", { name: "Bit 2 of lane" }).click();
  await expect.poll(() => marked("grid", "meant")).toEqual([]);
});

test("a copy is marked wherever it lies", async () => {
  const copies = encodeURIComponent("A = [register: 1, lane: 2 0] -> [dim0: 4]");
  await page.goto(`${served.address}#/layout?layouts=${copies}&at=lane%3D2`);
  await expect.poll(() => marked("hardware", "meant")).toEqual(["register 0, lane 2: dim0 0", "register 1, lane 2: dim0 1"]);
  // The grid names the lowest place, and is marked all the same.
  expect(await marked("grid", "meant")).toEqual(["dim0 0: register 0, lane 0", "dim0 1: register 1, lane 0"]);
});

test("what another layout has no axis for is selected in none of its pictures", async () => {
  await page.goto(`${served.address}#/layout?shown=S&at=lane%5B2%5D`);
  await page.waitForSelector('[data-kind=hardware] text[data-head^="offset"]');
  await settled(page);
  expect(await page.locator(".picture.selecting").count()).toBe(0);
  await expect.poll(said).toContain("Nothing.");
});

test("an element of memory is told with its offset and its bank, beside the pointer", async () => {
  await page.goto(`${served.address}#/layout?shown=S`);
  const cell = '[data-kind=grid] g[data-row="1"][data-column="0"]';
  const words = () => page.locator(cell).getAttribute("data-says", { timeout: 1000 }).catch(() => "");
  await expect.poll(words).toBe("dim0 1, dim1 0: offset 20, block 0, bank 20");
  await page.hover(cell);
  const readout = page.locator("[data-kind=grid] .readout");
  await expect.poll(() => readout.locator("dl").last().locator("dt, dd").allTextContents()).toEqual(["offset", "20", "block", "0", "bank", "20"]);
  // Two halves share a bank.
  await page.getByLabel("Element", { exact: true }).selectOption("f16");
  await expect.poll(words).toBe("dim0 1, dim1 0: offset 20, block 0, bank 10");
});

test("operators make layouts of layouts, by the engine", async () => {
  const make = async (operator: string, first: string, second?: string) => {
    await page.getByLabel("Operator").selectOption(operator);
    await page.getByLabel("A", { exact: true }).last().selectOption(first);
    if (second) await page.getByLabel("B", { exact: true }).last().selectOption(second);
    await page.getByRole("button", { name: "Derive" }).click();
    await settled(page);
  };
  const is = () => page.locator(".note.layout").textContent();
  const first = await is();
  await make("transpose", "A");
  await expect.poll(is).not.toBe(first);
  const turned = new URLSearchParams(page.url().split("?")[1]).get("shown")!;
  await make("transpose", turned);
  await expect.poll(is).toBe(first);
  // A memory and its inverse are the identity.
  await make("compose", "S", "I");
  const bits = [1, 2, 4, 8, 16, 32, 64, 128].map((bit) => `(${bit},0)`).join(" ");
  await expect.poll(is).toBe(`[offset: ${bits}, block:] -> [offset: 256, block: 1]`);
  await make("divide", "A", "S");
  await expect.poll(() => page.locator("main .fault").textContent()).toContain("error:");
});

test("an address shows what it showed, and each picture goes out as a file", async () => {
  await page.getByRole("radio", { name: /^T / }).click();
  await page.getByRole("button", { name: "Bit 1 of register" }).click();
  await page.mouse.move(0, 0);
  await settled(page);
  const address = page.url();
  const [before, cells] = [await page.locator("main").innerText(), await marked("grid", "meant")];
  const again = await open(browser, address);
  await expect.poll(() => again.page.locator("main").innerText(), { timeout: 10_000 }).toBe(before);
  await again.page.context().close();
  expect(cells.length).toBeGreaterThan(0);
  for (const [kind, name] of [["SVG", "svg"], ["PNG", "png"]] as const) {
    const waiting = page.waitForEvent("download");
    await page.locator("[data-kind=matrix]").getByRole("button", { name: kind }).click();
    expect((await waiting).suggestedFilename()).toBe(`the-matrix-of-a-layout.${name}`);
  }
});
