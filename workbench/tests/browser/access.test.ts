/** An accessibility scan of every view, in both themes; and that each fits a phone and a finger. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { browser, oneBrowser, served } from "./fixture";
import { open } from "./harness";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Addresses at which every part of the page is seen. */
const PIN = "%row_5=[register: 1 256 128, lane: 4 8 16 32 64, warp: 512 2, block:] -> [dim0: 1024]";
const PLACES = [
  "#/swizzle?close=1&solve=7",
  "#/swizzle?store=nothing",
  "#/layout?at=lane%3D9",
  "#/layout?shown=I",
  "#/convert",
  "#/convert?code=hip",
  `#/kernel?preset=row_softmax&pins=${encodeURIComponent(PIN)}`,
  "#/kernel?preset=racing_count&run=1&against=sm_80&away=code",
  "#/kernel?preset=matmul",
  "#/kernel?text=module",
  "#/tour",
  "#/tour?step=4",
];

oneBrowser();

interface Finding {
  id: string;
  impact: string;
  nodes: { target: string[]; failureSummary: string }[];
}

describe.each(PLACES)("%s", (place) => {
  test.each([false, true])("has no serious findings, dark: %s", async (dark) => {
    const { page } = await open(browser, served.address + place, { dark });
    // A policy of the page forbids inline scripts; the test's own goes around it.
    await page.evaluate(axe);
    const findings = await page.evaluate(async () => {
      const run = (globalThis as unknown as { axe: { run(): Promise<{ violations: unknown[] }> } }).axe.run();
      return (await run).violations;
    });
    const serious = (findings as Finding[]).filter(({ impact }) => ["serious", "critical"].includes(impact));
    const told = serious.map(({ id, nodes }) => `${id}: ${nodes.map((n) => `${n.target.join(" ")} ${n.failureSummary}`).join("; ")}`);
    expect(told).toEqual([]);
    await page.context().close();
  });

  test("is no wider than a phone", async () => {
    const { page, complaints } = await open(browser, served.address + place, { width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  // Lines of a listing are as tall as its text: a line that is missed by one is reached by arrow keys, or anew.
  test("has room for fingers", async () => {
    const { page } = await open(browser, served.address + place, { width: 390, height: 844, touch: true });
    await page.evaluate(() => document.fonts.ready);
    const small = await page
      .locator("button:not(.line), select, summary, textarea, input:not([type=radio], [type=range]), a.badge, a.button, .tab, .segmented span, .named label, .turn li a")
      .evaluateAll((all) =>
        all
          .filter((one) => one.getClientRects().length > 0 && one.getBoundingClientRect().height < 43.9)
          .map((one) => `${one.tagName} ${one.className} ${one.textContent?.slice(0, 30)} ${one.getBoundingClientRect().height}`),
      );
    expect([...new Set(small)]).toEqual([]);
    await page.context().close();
  });

  test("stands still where motion is not welcome", async () => {
    const { page } = await open(browser, served.address + place);
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll("*")]
        .filter((one) => [getComputedStyle(one).transitionDuration, getComputedStyle(one).animationDuration].some((each) => /[1-9]/.test(each)))
        .map((one) => `${one.tagName} ${one.className}`),
    );
    expect([...new Set(moving)]).toEqual([]);
    await page.context().close();
  });
});
