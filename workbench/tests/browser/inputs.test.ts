/** Fields that say what is wrong as one types, and addresses that cannot be read. */

import { describe, expect, test } from "vitest";
import { freshPage, page } from "./fixture";
import { settled } from "./harness";

freshPage("#/swizzle", ".tile svg");

/** What is said below a field once something is typed into it. */
async function typed(label: string, text: string): Promise<string> {
  const field = page.getByLabel(label, { exact: true });
  const said = page.locator(`#${await field.getAttribute("aria-describedby")}`);
  const before = await said.textContent();
  await field.fill(text);
  await expect.poll(() => said.textContent()).not.toBe(before);
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  return (await said.innerText()).trim();
}

describe("as one types", () => {
  test.each([
    ["16x33", "Shape: 33 is not a power of two. Use 16x32"],
    ["0x0", "Shape: an extent is at least 1. Use 1x1"],
    ["abc", "Shape: `abc` is not a number."],
    ["16x", "Shape: an extent is missing."],
    ["", "Shape: extents are missing. Use 16x32"],
  ])("the shape %s", async (text, said) => {
    expect(await typed("Shape", text)).toBe(said);
    expect(page.url()).not.toContain("shape=");
  });

  test("a shape may be written as a list, and what would be right is taken by a click", async () => {
    await page.getByLabel("Shape", { exact: true }).fill("[32, 32]");
    await page.keyboard.press("Enter");
    await settled(page);
    expect(page.url()).toContain("shape=32x32");
    await typed("Shape", "16x33");
    await page.getByRole("button", { name: "Use 16x32" }).click();
    await settled(page);
    expect(page.url()).not.toContain("shape=");
    expect(await page.getByLabel("Shape", { exact: true }).inputValue()).toBe("16x32");
  });

  test("element types by the names of others", async () => {
    expect(await typed("Element", "fp16")).toBe("Element: `fp16` is spelled differently here. Use f16");
    expect(await typed("Element", "float32")).toContain("Use f32");
    expect(await typed("Element", "weft")).toMatch(/^Element: .*weft/);
  });

  test("layouts, in the words of their labels", async () => {
    await page.getByText("Store, loads and memory as texts").click();
    for (const label of ["Store from", "Load into", "Memory"]) {
      const said = await typed(label, "#ttg.blockd<{}>");
      expect(said).toMatch(new RegExp(`^${label}: column 1: unknown attribute \`#ttg\\.blockd\``));
      await page.reload();
      await settled(page);
      await page.getByText("Store, loads and memory as texts").click();
    }
    const store = page.getByLabel("Store from");
    await store.fill("#ttg.blockd<{}>");
    await store.blur();
    await page.waitForSelector("main .fault:not([hidden])");
    const told = await page.locator("main .fault:not([hidden])").innerText();
    expect(told).toContain("error: Store from");
    expect(told).not.toContain("registers");
  });
});

/** What is typed into a field of a view, and what stands below it; where something would be right, a click takes it. */
const MISTYPED: [place: string, label: string, typed: string, said: string][] = [
  ["#/layout", "Shape of the tensor", "16x24", "Shape of the tensor: 24 is not a power of two. Use 16x32"],
  ["#/layout", "Name", "B", "Name: there is a layout B already. Use D"],
  ["#/layout", "Name", "2 rows", "Name: a name is a letter, then letters and digits. Use rows"],
  ["#/layout", "Definition", "row-major", "Definition: column 1: expected"],
  ["#/layout", "Definition", "#ttg.blocked<{sizePerThread = [1, 3]}>", "Definition: "],
  ["#/convert", "Shape", "16*", "Shape: an extent is missing."],
  ["#/convert", "Element", "half", "Element: `half` is spelled differently here. Use f16"],
  ["#/convert", "From", "#ttg.blockd<{}>", "From: column 1: unknown attribute `#ttg.blockd`"],
  ["#/convert", "To", "(16,16):(16", "To: "],
  ["#/kernel", "Blocks", "0", "Blocks: a grid has at least one block. Use 1"],
  ["#/kernel", "Blocks", "four", "Blocks: `four` is not a count of blocks."],
  ["#/kernel", "n: i32", "many", "n: i32: `many` is not a whole number. Use 1024"],
  ["#/kernel", "x: ptr<f32>", "rndom:f32[4x1024]", "not by `rndom`. Use random:f32[4x1024]"],
  ["#/kernel", "x: ptr<f32>", "random:f16[4x1024]", "x: ptr<f32>: the kernel takes elements of f32, not f16. Use random:f32[4x1024]"],
  ["#/kernel", "out: ptr<f32>", "1024", "out: ptr<f32>: a pointer takes a buffer: how it is filled, its element type and its extents. Use empty:f32[4x1024]"],
];

describe("in every view", () => {
  test.each(MISTYPED)("%s, %s: %s", async (place, label, text, expected) => {
    await page.goto(page.url().replace(/#.*/, place));
    await page.getByLabel(label, { exact: true }).waitFor({ timeout: 60_000 });
    await settled(page);
    const before = page.url();
    const said = await typed(label, text);
    expect(said).toContain(expected);
    expect(said.startsWith(`${label}: `)).toBe(true);
    expect(page.url()).toBe(before);
  });

  test("operators of layouts: an order of axes, and a new shape", async () => {
    await page.goto(page.url().replace(/#.*/, "#/layout"));
    await page.getByLabel("Operator").selectOption("transpose");
    expect(await typed("Axes in their new order", "1 2")).toBe("Axes in their new order: there is no axis `2`. Use 1 0");
    expect(await typed("Axes in their new order", "1")).toBe("Axes in their new order: axis 0 is missing. Use 1 0");
    await page.getByLabel("Operator").selectOption("reshape");
    expect(await typed("New shape", "8x16")).toBe("New shape: 128 elements where the tensor has 256. Use 16x16");
    const before = page.url();
    await page.getByRole("button", { name: "Derive" }).click();
    expect(page.url()).toBe(before);
  });

  test("a layout for a pin, and the name of a kernel", async () => {
    await page.goto(page.url().replace(/#.*/, "#/kernel"));
    await page.locator("[data-pane=ir] button.line", { hasText: "tt.load" }).click({ timeout: 60_000 });
    const pin = page.locator(".details select").first();
    await pin.selectOption("own");
    expect(await typed((await page.locator(".details textarea").evaluate((field) => (field as HTMLTextAreaElement).labels[0]!.textContent))!, "#ttg.blockd<{}>")).toContain("unknown attribute `#ttg.blockd`");
    await page.locator(".asked summary").click();
    expect(await typed("Name", "softmax")).toBe("Name: the text has no kernel `softmax`. Use row_softmax");
  });
});

describe("addresses", () => {
  test("a page that is none, and values that cannot be read", async () => {
    const told = () => page.locator("#workbench > .fault").innerText();
    await page.evaluate(() => (location.hash = "#/nothing"));
    await expect.poll(told).toBe("error: the address: there is no page `nothing`; this is Swizzle");
    await page.evaluate(() => (location.hash = "#/swizzle?shape=16x33"));
    await expect.poll(told).toBe("error: the address: `shape=16x33` cannot be read and is ignored");
    await page.evaluate(() => (location.hash = "#/swizzle?fold=2.4.8.10"));
    await expect.poll(() => page.locator("#workbench > .fault").isVisible()).toBe(false);
  });
});
