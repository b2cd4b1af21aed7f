/** The five tasks, the tour and the other views, by keys alone: no pointer is moved, nothing is focused but by Tab. */

import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { freshPage, page, served } from "./fixture";
import { settled } from "./harness";

freshPage("#/swizzle", ".tile svg");

const patience = { timeout: 60_000 };

/** Goes on with Tab until what has the focus is what a selector names. */
async function reach(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector, { state: "attached", ...patience });
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press("Tab");
    const there = await page.evaluate((selector) => {
      const now = document.activeElement!;
      return now.matches(selector) && (now.matches(":focus-visible") || now.matches("input[type=radio]"));
    }, selector);
    if (there) return;
  }
  throw new Error(`${selector} is not reached`);
}

/** The field of a label, as a selector. */
async function field(page: Page, label: string): Promise<string> {
  return `#${await page.getByLabel(label, { exact: true }).getAttribute("id")}`;
}

const verdict = (index: number, access: string) =>
  page.locator(".tile").nth(index).locator(`.badge[data-access="${access}"]`).getAttribute("data-each").then(Number);

test("find a conflict in a padded layout", async () => {
  await reach(page, ".below details > summary");
  await page.keyboard.press("Enter");
  await reach(page, await field(page, "Memory"));
  await page.keyboard.type("(16,32):(33,1)");
  await page.keyboard.press("Tab");
  await expect.poll(() => verdict(2, "load"), patience).toBe(2);
});

test("explain a slow line of a kernel", async () => {
  await reach(page, 'a.tab[href="#/kernel"]');
  await page.keyboard.press("Enter");
  await reach(page, "[data-example=matmul]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-pane=python] button.line:has-text('tl.dot(')", patience);
  await settled(page);
  await reach(page, "[data-pane=python] button.line");
  const line = () => page.evaluate(() => document.activeElement?.querySelector("code")?.textContent ?? "");
  for (let step = 0; step < 40 && !(await line()).includes("tl.dot("); step++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".details").innerText(), patience).toContain("multiply-adds of each thread");
});

test("swizzle an fp8 tile for eight warps", async () => {
  await reach(page, "[data-example=fp8]");
  await page.keyboard.press("Space");
  await expect.poll(() => page.locator(".tile h2").nth(2).innerText(), patience).toContain("Optimal");
  await reach(page, ".solve button.primary");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".certificate", patience);
});

test("test a kernel in CI", async () => {
  await page.goto(`${served.address}#/kernel?preset=tiled_transpose`);
  await page.waitForSelector("button.line", patience);
  await settled(page);
  await reach(page, ".runner button.primary");
  await page.keyboard.press("Enter");
  await page.waitForSelector('.runner [data-passed="true"]', patience);
});

test("port a layout to gfx942", async () => {
  await reach(page, "[data-example=fragment]");
  await page.keyboard.press("Enter");
  await reach(page, await field(page, "Machine"));
  await page.keyboard.type("gfx942");
  await expect.poll(() => page.url(), patience).toContain("target=gfx942");
  await expect.poll(async () => [await verdict(0, "load"), await verdict(2, "load")], patience).toEqual([16, 1]);
});

test("a toggle, an instruction, a wavefront and a zoom", async () => {
  await reach(page, ".toggles button");
  await page.keyboard.press("Space");
  await expect.poll(() => page.url()).toContain("fold=1");
  await page.goto(`${served.address}#/swizzle?fold=1.2.4.8`);
  await page.reload();
  await page.waitForSelector(".tile svg");
  await reach(page, await field(page, "Instruction"));
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.url()).toContain("step=1");
  await reach(page, await field(page, "Wavefront"));
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.url()).toContain("wave=1");
  await reach(page, '.watch button[aria-label="Zoom in"]');
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("zoom=1");
});

test("the tour from its first step to its last", async () => {
  await page.goto(`${served.address}#/tour`);
  for (let step = 1; step < 8; step++) {
    await expect.poll(() => page.locator("article .label").innerText()).toBe(`Step ${step} of 8`);
    await reach(page, ".turn a.primary");
    await page.keyboard.press("Enter");
  }
  await expect.poll(() => page.locator(".verdict-line").innerText()).toContain("wavefronts an instruction");
  await reach(page, ".toggles button");
  // m₀ into n₁, m₁ into n₃, m₂ into n₄.
  for (const keys of ["ArrowRight Space", "ArrowDown ArrowRight ArrowRight Space", "ArrowDown ArrowRight Space"]) {
    for (const key of keys.split(" ")) await page.keyboard.press(key);
  }
  await expect.poll(() => page.locator(".verdict-line").getAttribute("data-solved")).toBe("true");
});

test("a layout of another name, an element of it, and a conversion's code", async () => {
  await page.goto(`${served.address}#/layout`);
  await page.waitForSelector("[data-kind=grid] svg g[data-row]");
  await reach(page, "input[name=shown]");
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => page.url()).toContain("shown=B");
  await reach(page, "[data-kind=grid] .frame");
  for (const key of ["ArrowDown", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  await expect.poll(() => page.url()).toContain("at=");
  await page.goto(`${served.address}#/convert`);
  await page.waitForSelector('[aria-label="Code of the conversion"]');
  await reach(page, await field(page, "Example"));
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => page.url()).toContain("from=");
  await reach(page, "[aria-label=Code] input[type=radio]");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.url()).toContain("code=ptx");
});
