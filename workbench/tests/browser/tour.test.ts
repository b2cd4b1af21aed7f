/** The tour, read to its end. */

import { expect, test } from "vitest";
import { browser, oneBrowser, served } from "./fixture";
import { open, settled } from "./harness";

oneBrowser();

test("every step has its pictures, and the last one is solved by no preset", async () => {
  const { page, complaints } = await open(browser, `${served.address}#/tour`);
  for (let step = 1; step < 8; step++) {
    await settled(page);
    expect(await page.locator("article .label").innerText()).toBe(`Step ${step} of 8`);
    expect(await page.locator(".tour svg, .tour table tr").count()).toBeGreaterThan(0);
    expect(await page.locator(".fault:not([hidden])").count()).toBe(0);
    await page.getByRole("link", { name: "Next", exact: true }).click();
  }
  const verdict = page.locator(".verdict-line");
  for (const [name, wavefronts] of [["unswizzled", 8], ["XOR m", 4], ["XOR 2m", 2]] as const) {
    await page.getByRole("button", { name, exact: true }).click();
    await settled(page);
    expect(await verdict.innerText()).toContain(`${wavefronts} wavefronts an instruction`);
    expect(await verdict.getAttribute("data-solved")).toBe("false");
  }
  await page.getByRole("button", { name: "unswizzled", exact: true }).click();
  for (const [row, column] of [[0, 1], [1, 3], [2, 4]]) {
    await page.locator(`.toggles button[data-row="${row}"][data-column="${column}"]`).click();
  }
  await settled(page);
  expect(await verdict.getAttribute("data-solved")).toBe("true");
  expect(page.url()).toContain("fold=2.8.10.0");
  expect(complaints).toEqual([]);
});
