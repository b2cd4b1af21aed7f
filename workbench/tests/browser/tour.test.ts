/** The tour, read to its end. */

import { expect, test } from "vitest";
import { browser, oneBrowser, served } from "./fixture";
import { open, settled } from "./harness";

oneBrowser();

test("S0-20, S0-21: lane 9 is outlined, and both accesses are matrices", async () => {
  const { page } = await open(browser, `${served.address}#/tour`);
  const outlined = (index: number) =>
    page.locator(".tour .picture").nth(index).locator("g.ringed").evaluateAll((cells) => cells.map((cell) => cell.getAttribute("data-says")));
  // The store: column 9. The load: row 9 of every even column.
  await expect.poll(() => outlined(0)).toEqual(Array.from({ length: 16 }, (_, r) => `m ${r}, n 9: register ${r}, lane 9`));
  await expect.poll(() => outlined(1)).toEqual(Array.from({ length: 16 }, (_, r) => `m 9, n ${2 * r}: register ${r}, lane 9`));
  await page.goto(`${served.address}#/tour?step=6`);
  const sets = (index: number) =>
    page.locator(".tour .matrix").nth(index).locator("g[data-row]").evaluateAll((cells) =>
      cells.flatMap((cell) => /^bit (\d) of (\w)\w* sets bit (\d) of (\w)$/.exec(cell.getAttribute("data-says") ?? "")?.slice(1).join("") ?? []).sort(),
    );
  await expect.poll(() => sets(0)).toEqual([...[0, 1, 2, 3].map((bit) => `${bit}r${bit}m`), ...[0, 1, 2, 3, 4].map((bit) => `${bit}l${bit}n`)].sort());
  await expect.poll(() => sets(1)).toEqual(["4l0n", ...[0, 1, 2, 3].flatMap((bit) => [`${bit}l${bit}m`, `${bit}r${bit + 1}n`])].sort());
  await page.context().close();
});

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
