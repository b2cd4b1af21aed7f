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

test("S1-1, S1-10, S1-15, S2-2, S2-3, S2-8, S3-10, S4-12: each example is chosen by its picture, its matrix", async () => {
  const is = () => page.locator(".note.layout").textContent();
  const expected: Record<string, string> = {
    paper: "[register: (0,1) (1,0), lane: (0,2) (0,4) (0,8) (2,0) (4,0), warp: (8,0), block:] -> [dim0: 16, dim1: 16]",
    diagonals: "[register: (1,1), lane: (0,1) (0,2) (2,0)] -> [dim0: 4, dim1: 4]",
    mma: "[register: (0,1) (8,0) (0,8), lane: (0,2) (0,4) (1,0) (2,0) (4,0), warp:, block:] -> [dim0: 16, dim1: 16]",
    mfma: "[register: (1,0) (2,0), lane: (0,1) (0,2) (0,4) (0,8) (4,0) (8,0), warp:, block:] -> [dim0: 16, dim1: 16]",
    copies: "[register: 1 2 0, lane: 4 8 16 32 64] -> [dim0: 128]",
    slice: "[register:, lane: 1 2 4 8 16, warp: 32 64, block:] -> [dim0: 128]",
    shear: "[offset: (0,1) (0,2) (0,4) (0,8) (0,16) (0,32) (1,8) (2,16) (4,32), block:] -> [dim0: 8, dim1: 64]",
    orders: "[offset: (0,1) (0,2) (0,4) (1,0) (2,0)] -> [dim0: 4, dim1: 8]",
    vect: "[offset: (0,1,0,0) (0,2,0,0) (0,0,0,1) (0,0,1,0) (0,4,0,0) (1,0,0,0)] -> [dim0: 2, dim1: 8, dim2: 2, dim3: 2]",
    masks: "[offset: 7 6 5] -> [dim0: 8]",
    column: "[register: (1,0) (2,0), lane: (4,0) (8,0) (16,0) (32,0) (64,0), warp:, block:] -> [dim0: 128, dim1: 1]",
    rows: "[register: (0,1) (0,2) (8,0), lane: (0,4) (0,8) (1,0) (2,0) (4,0), warp:, block:] -> [dim0: 16, dim1: 16]",
  };
  const examples = page.locator("main [data-example]");
  expect((await examples.evaluateAll((all) => all.map((one) => one.getAttribute("data-example") ?? ""))).sort()).toEqual(Object.keys(expected).sort());
  await expect.poll(() => page.locator(".thumbnail.matrix svg").count(), { timeout: 20_000 }).toBe(Object.keys(expected).length);
  for (const [id, bases] of Object.entries(expected)) {
    const example = page.locator(`main [data-example=${id}]`);
    await example.click();
    await expect.poll(is).toBe(bases);
    await settled(page);
    expect(await example.getAttribute("aria-pressed")).toBe("true");
    expect(await page.locator("main .fault:visible").count()).toBe(0);
    expect(await page.locator("[data-kind=matrix] g[data-row]").count()).toBeGreaterThan(0);
    // A one of the matrix is a square of the picture.
    const ones = [...bases.split("->")[0]!.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits).toString(2).replaceAll("0", "").length, 0);
    const path = await example.locator("svg path").last().getAttribute("d");
    expect(path?.match(/M/g)?.length).toBe(ones);
  }
  // The second layout of an example is a name away.
  await page.locator("main [data-example=paper]").click();
  await page.getByRole("radio", { name: /^B / }).click();
  await expect.poll(is).toContain("register: (0,4) (0,8)");
  await page.locator("main [data-example=slice]").click();
  const sums = await is();
  await page.getByRole("radio", { name: /^R / }).click();
  await settled(page);
  expect(await is()).toBe(sums);
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
