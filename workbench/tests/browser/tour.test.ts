/** The tour, read to its end. */

import { expect, test } from "vitest";
import { bankColour } from "../../src/views/swizzle/colours";
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
  // One colour a lane, that of the bank in which a row has it.
  const colours = (index: number) => page.locator(".tour .picture").nth(index).locator("g[data-row] > path").evaluateAll((grounds) => grounds.map((ground) => getComputedStyle(ground).fill));
  const [rows, pairs] = [await colours(0), await colours(1)];
  const ofLane = Array.from({ length: 32 }, (_, lane) => bankColour(lane, 32));
  const near = (seen: string, lane: number) => {
    const [now, wanted] = [seen, ofLane[lane]!].map((colour) => colour.match(/[\d.]+/g)!.map(Number));
    return now!.every((part, index) => Math.abs(part - wanted![index]!) < 0.01);
  };
  expect(rows.length).toBe(512);
  expect(rows.flatMap((colour, element) => (near(colour, element % 32) ? [] : [element]))).toEqual([]);
  expect(pairs.flatMap((colour, element) => (near(colour, Math.floor(element / 32) + 16 * (element % 2)) ? [] : [element]))).toEqual([]);
  await page.goto(`${served.address}#/tour?step=6`);
  const sets = (index: number) =>
    page.locator(".tour .matrix").nth(index).locator("g[data-row]").evaluateAll((cells) =>
      cells.flatMap((cell) => /^bit (\d) of (\w)\w* sets bit (\d) of (\w)$/.exec(cell.getAttribute("data-says") ?? "")?.slice(1).join("") ?? []).sort(),
    );
  await expect.poll(() => sets(0)).toEqual([...[0, 1, 2, 3].map((bit) => `${bit}r${bit}m`), ...[0, 1, 2, 3, 4].map((bit) => `${bit}l${bit}n`)].sort());
  await expect.poll(() => sets(1)).toEqual(["4l0n", ...[0, 1, 2, 3].flatMap((bit) => [`${bit}l${bit}m`, `${bit}r${bit + 1}n`])].sort());
  await page.context().close();
});

test("S0-2 to S0-5: one tile stays for the story, while its memory and its number change", async () => {
  const { page } = await open(browser, `${served.address}#/tour?step=2`);
  const scene = page.locator(".tour .scene");
  await scene.locator("svg").waitFor();
  await scene.evaluate((scene) => (scene.id = "the-one"));
  const turned = async (step: number) => {
    await page.goto(`${served.address}#/tour?step=${step}`);
    await settled(page);
    const banks = await scene.locator("[data-element]").evaluateAll((cells) => cells.map((cell) => Number((cell as SVGElement).dataset["bank"])));
    return { banks, waves: await scene.locator(".waves").innerText(), tale: await scene.locator(".tale").innerText(), id: await scene.getAttribute("id") };
  };
  const expected = (mask: (row: number) => number) =>
    Array.from({ length: 512 }, (_, element) => (element % 32) ^ mask(Math.floor(element / 32)));
  const [id, busy] = ["the-one", (banks: number) => `${banks} of 32 banks`];
  expect(await turned(2)).toEqual({ banks: expected(() => 0), waves: "16 wavefronts", tale: `${busy(2)} do all the work, up to 16 words deep`, id });
  expect(await turned(3)).toEqual({ banks: expected((row) => row), waves: "1 wavefront", tale: `${busy(32)} work, and nobody waits`, id });
  expect(await turned(4)).toEqual({ banks: expected((row) => row), waves: "2 wavefronts", tale: `${busy(16)} do all the work, up to 2 words deep`, id });
  expect(await turned(5)).toEqual({ banks: expected((row) => 2 * row), waves: "1 wavefront", tale: `${busy(32)} work, and nobody waits`, id });
  await page.context().close();
});

test("words glide when the page is turned, and wavefronts are played, where motion is welcome", async () => {
  const welcome = await browser.newContext({ reducedMotion: "no-preference" });
  const page = await welcome.newPage();
  await page.goto(`${served.address}#/tour?step=2`);
  await page.locator(".scene [data-hit]").first().waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  const arrived = () => page.locator(".scene [data-hit]:not(.waiting)").count();
  await expect.poll(arrived, { interval: 20 }).toBeLessThan(32);
  await expect.poll(arrived, { timeout: 20_000 }).toBe(32);
  // Counted as they begin: on a busy machine they may be over when somebody looks.
  const begun = await page.evaluateHandle(() => {
    const counted = { glides: 0 };
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...how) {
      counted.glides++;
      return animate.apply(this, how);
    };
    return counted;
  });
  await page.getByRole("link", { name: "Next", exact: true }).click();
  // Every row but the first is another one.
  await expect.poll(() => begun.evaluate(({ glides }) => glides)).toBe(15 * 32);
  await welcome.close();
});

test("each step is told in Chinese, too, from the first to the solution", async () => {
  const { page, complaints } = await open(browser, `${served.address}#/tour`);
  await page.getByRole("link", { name: "中文", exact: true }).click();
  for (let step = 1; step < 8; step++) {
    await settled(page);
    expect(await page.locator("article .label").innerText()).toBe(`第 ${step} 步，共 8 步`);
    expect(await page.locator(".tour").getAttribute("lang")).toBe("zh-Hans");
    for (const words of await page.locator(".tour article h1, .tour article > p, .tour .card h2, .tour .legend, .tour .tale:not(:empty)").allInnerTexts()) {
      expect(words, `step ${step}`).toMatch(/\p{Script=Han}/u);
      expect(words, `step ${step}`).not.toContain("{");
    }
    await page.getByRole("link", { name: "下一步", exact: true }).click();
  }
  for (const [row, column] of [[0, 1], [1, 3], [2, 4]]) {
    await page.locator(`.toggles button[data-row="${row}"][data-column="${column}"]`).click();
  }
  await settled(page);
  expect(await page.locator(".verdict-line").innerText()).toContain("解出来了");
  await page.getByRole("link", { name: "English", exact: true }).click();
  expect(await page.locator("article .label").innerText()).toBe("Step 8 of 8");
  expect(await page.locator(".verdict-line").innerText()).toContain("Solved");
  expect(complaints).toEqual([]);
  await page.context().close();
});

test.each([1030, 1440, 390])("words and pictures stand beside each other, never upon each other, at %i", async (width) => {
  const { page } = await open(browser, `${served.address}#/tour?step=8`, { width });
  for (const step of [1, 2, 6, 7, 8]) {
    await page.goto(`${served.address}#/tour?step=${step}`);
    await settled(page);
    const over = await page.evaluate(() => {
      const boxes = (selector: string) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
      const cards = boxes(".tour .beside > *");
      return boxes(".tour article, .tour article p, .tour .turn, .tour .turn *").filter((word) =>
        cards.some((card) => word.right > card.left && word.left < card.right && word.bottom > card.top && word.top < card.bottom),
      ).length;
    });
    expect(over, `step ${step}`).toBe(0);
  }
  await page.context().close();
});

test("every step has its pictures, and the last one is solved by no preset", async () => {
  const { page, complaints } = await open(browser, `${served.address}#/tour`);
  for (let step = 1; step < 8; step++) {
    await settled(page);
    expect(await page.locator("article .label").innerText()).toBe(`Step ${step} of 8`);
    expect(await page.locator(".tour svg, .tour table tr").count()).toBeGreaterThan(0);
    expect(await page.locator(".fault:not([hidden])").count()).toBe(0);
    // The recipe ends in the memory that was found by eye.
    if (step === 7) {
      expect(await page.locator(".pairing tr:last-child td").allInnerTexts()).toEqual(["m₀⊕n₁", "m₁⊕n₂", "m₂⊕n₃", "m₃⊕n₄"]);
      expect(await page.locator(".scene .waves").innerText()).toContain("1 wavefront");
    }
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
