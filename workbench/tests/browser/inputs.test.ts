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
    expect(await typed("Element", "fp16")).toBe("Element: `fp16` is written otherwise here. Use f16");
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

describe("addresses", () => {
  test("a page that is none, and values that cannot be read", async () => {
    const told = () => page.locator("#workbench > .fault").innerText();
    await page.evaluate(() => (location.hash = "#/nothing"));
    await expect.poll(told).toBe("error: the address: there is no page `nothing`; this is Swizzle");
    await page.evaluate(() => (location.hash = "#/swizzle?shape=16x33"));
    await expect.poll(told).toBe("error: the address: `shape=16x33` cannot be read, and is passed over");
    await page.evaluate(() => (location.hash = "#/swizzle?fold=2.4.8.10"));
    await expect.poll(() => page.locator("#workbench > .fault").isVisible()).toBe(false);
  });
});
