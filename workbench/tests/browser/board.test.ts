/** Three tiles side by side: their colours, their queues, how they move, and that they fit. */

import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { PRESETS } from "../../src/views/swizzle/presets";
import { browser, freshPage, page, served } from "./fixture";
import { open, settled } from "./harness";

freshPage("#/swizzle?fold=2.4.8.10", ".tile svg");

/** The banks of a tile, row by row. */
function banks(index: number): Promise<number[]> {
  return page.locator(".tile").nth(index).locator("[data-element]").evaluateAll((cells) =>
    cells.map((cell) => Number((cell as SVGGElement).dataset["bank"])),
  );
}

/** How many words each bank serves that serves any. */
async function hits(index: number): Promise<number[]> {
  const found = await page.locator(".tile").nth(index).locator("[data-hit]").evaluateAll((words) =>
    words.map((word) => Number((word as SVGElement).dataset["hit"])),
  );
  const counts = new Map<number, number>();
  for (const bank of found) counts.set(bank, (counts.get(bank) ?? 0) + 1);
  return [...counts.values()];
}

const verdict = (index: number, access: string) =>
  page.locator(".tile").nth(index).locator(`.badge[data-access="${access}"]`).getAttribute("data-each").then(Number);

describe("the hero of the first seed", () => {
  test("S0-18: row-major, XOR m and XOR 2m side by side", async () => {
    const expected = (mask: (row: number) => number) =>
      Array.from({ length: 512 }, (_, element) => (element % 32) ^ mask(Math.floor(element / 32)));
    expect(await banks(0)).toEqual(expected(() => 0));
    expect(await banks(1)).toEqual(expected((row) => row));
    expect(await banks(2)).toEqual(expected((row) => 2 * row));
  });

  test("S0-18, S0-19: the hue is bank / 2, and the odd bank is darker", async () => {
    const fills = await page.locator(".tile").first().locator("[data-element] > rect:first-child").evaluateAll((cells) =>
      cells.slice(0, 32).map((cell) => (cell.getAttribute("fill") ?? "").slice(6, -1).split(" ").map(Number)),
    );
    for (const [bank, [lightness = 0, , hue = 0]] of fills.entries()) {
      expect(hue).toBeCloseTo(22.5 * Math.floor(bank / 2));
      expect(lightness).toBe(fills[bank % 2]![0]);
    }
    expect(fills[0]![0]).toBeGreaterThan(fills[1]![0]!);
  });

  test("S0-3 to S0-5: sixteen, two, one", async () => {
    expect([await hits(0), await hits(1), await hits(2)]).toEqual([Array(2).fill(16), Array(16).fill(2), Array(32).fill(1)]);
    expect([await verdict(0, "load"), await verdict(1, "load"), await verdict(2, "load")]).toEqual([16, 2, 1]);
    expect([await verdict(0, "store"), await verdict(1, "store"), await verdict(2, "store")]).toEqual([1, 1, 1]);
  });

  test("S0-10: the halves of the warp are marked apart", async () => {
    const tile = page.locator(".tile").first();
    expect([await tile.locator(".ring").count(), await tile.locator(".dot").count()]).toEqual([16, 16]);
    expect(await page.locator(".legend").nth(1).innerText()).toMatch(/lanes 0–15.*lanes 16–31/);
  });

  test("without toggles the third tile is the best there is", async () => {
    await page.getByRole("button", { name: "unswizzled" }).click();
    await settled(page);
    expect(await page.locator(".tile h2").nth(2).innerText()).toContain("Optimal: XOR 2m");
    expect(await page.locator(".tile").first().getAttribute("data-current")).toBe("true");
    await page.getByRole("button", { name: "Optimal" }).click();
    await page.waitForFunction(() => location.hash.includes("fold=2.4.8.10"));
  });

  test("the rule and the rank formula are live", async () => {
    const said = async () => [await page.locator('[data-line="rank"] code').innerText(), await page.locator(".rule").innerText()];
    expect(await said()).toEqual(["4 + 5 − rank 9 = 0", "✓ No conflict where the masks and n₀ are linearly independent. Here they are."]);
    expect(await page.locator('[data-line="room"]').innerText()).toBe("Room for segments: 9 − max(5, 5) = 4; needed: 4.");
    await page.getByRole("button", { name: "XOR m", exact: true }).click();
    await settled(page);
    expect(await said()).toEqual(["4 + 5 − rank 8 = 1", "✗ No conflict where the masks and n₀ are linearly independent. Here they are not."]);
  });

  test("bank and segment bits are marked in the matrix", async () => {
    const matrix = page.locator('[aria-label="Matrix"]');
    expect([await matrix.locator("g.bank").count(), await matrix.locator("g.segment").count()]).toEqual([45, 36]);
  });
});

describe("pointing", () => {
  test("an element is told in all three tiles, by pointer and by keyboard", async () => {
    await page.locator('.tile [data-element="97"]').first().hover();
    const says = () => page.locator(".tile .says").allInnerTexts();
    const told = [
      "m 3, n 1: offset 97, bank 1, lane 19, register 0, wavefront 3",
      "m 3, n 1: offset 98, bank 2, lane 19, register 0, wavefront 1",
      "m 3, n 1: offset 103, bank 7, lane 19, register 0, wavefront 0",
    ];
    expect(await says()).toEqual(told);
    await page.mouse.move(0, 0);
    await page.locator(".tile .frame").nth(2).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    expect(await says()).toEqual(told);
  });
});

describe("examples", () => {
  test("each is chosen by its picture and shows what it is about", async () => {
    const found: Record<string, number[]> = {};
    for (const { id } of PRESETS) {
      await page.locator(`[data-example="${id}"]`).click();
      await page.waitForSelector(`[data-example="${id}"][aria-pressed="true"]`);
      await settled(page);
      expect(await page.locator("main .fault:not([hidden])").count(), id).toBe(0);
      const badges = page.locator('[data-current="true"] .badge');
      found[id] = await badges.evaluateAll((all) => all.map((badge) => Number((badge as HTMLElement).dataset["each"])));
    }
    expect(found).toMatchInlineSnapshot(`
      {
        "fp8": [
          4,
          4,
        ],
        "fragment": [
          4,
          8,
        ],
        "masks": [
          4,
          4,
        ],
        "mfma": [
          8,
          64,
        ],
        "padding-34": [
          1,
          1,
        ],
        "paper": [
          4,
          16,
        ],
        "phases": [
          2,
          64,
        ],
        "rotation": [
          1,
          2,
        ],
        "square": [
          1,
          32,
        ],
        "transpose": [
          1,
          16,
        ],
        "twice": [
          1,
          32,
          8,
        ],
        "vectors": [
          4,
          8,
        ],
      }
    `);
  }, 240_000);

  test("every example has its picture: banks by colour, and what the first load touches in full", async () => {
    await page.waitForFunction((count) => document.querySelectorAll(".thumbnail[data-drawn]").length === count, PRESETS.length);
    const pixels = (id: string) =>
      page.locator(`[data-example="${id}"] canvas`).evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const { data } = (canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height);
        return Array.from({ length: width * height }, (_, at) => [...data.slice(4 * at, 4 * at + 4)]);
      });
    const [plain, rotated] = [await pixels("transpose"), await pixels("rotation")];
    const touched = (seen: number[][]) => seen.flatMap(([, , , alpha], at) => (alpha === 255 ? [at] : []));
    expect(touched(plain)).toEqual(Array.from({ length: 8 }, (_, row) => [32 * row, 32 * row + 1]).flat());
    expect(touched(rotated)).toEqual(touched(plain));
    // Without padding a column has one colour; with a word of it, row 1 has in column 0 what row 0 has in column 1.
    expect(plain[32]).toEqual(plain[0]);
    expect(rotated[32]).toEqual(rotated[1]);
  });
});

describe("large tiles", () => {
  test("zoom and pan, by button and by keyboard", async () => {
    await page.locator('[data-example="fragment"]').click();
    await settled(page);
    const cells = page.locator(".tile").first().locator("[data-element]");
    expect(await cells.count()).toBe(64 * 64);
    expect(await page.locator("svg.board text:not(.axis)").count()).toBe(0);
    for (let step = 0; step < 3; step++) await page.getByRole("button", { name: "Zoom in" }).click();
    expect(await cells.count()).toBe(4 * 8);
    expect(await page.locator("svg.board text:not(.axis)").count()).toBe(3 * 32);
    expect(await page.getByRole("button", { name: "Zoom in" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Move right" }).click();
    await page.getByRole("button", { name: "Move down" }).click();
    expect(await cells.first().getAttribute("data-element")).toBe(String(2 * 64 + 4));
    await page.locator(".tile .frame").first().focus();
    for (let step = 0; step < 9; step++) await page.keyboard.press("ArrowRight");
    expect(await cells.first().getAttribute("data-element")).toBe(String(2 * 64 + 5));
    expect(page.url()).toContain("zoom=3");
  });
});

describe("motion", () => {
  /** How many animations run as soon as the tiles are built up: on a busy machine the first are over when somebody asks later. */
  const building = (page: Page): Promise<number> =>
    page.getByRole("button", { name: "Build up" }).evaluate((button) => {
      (button as HTMLButtonElement).click();
      return document.getAnimations().filter(({ effect }) => effect?.getTiming().duration !== 0).length;
    });

  test("words glide where motion is welcome, and stand where it is not", async () => {
    expect(await building(page)).toBe(0);
    const welcome = await browser.newContext({ reducedMotion: "no-preference", viewport: { width: 1440, height: 900 } });
    const other = await welcome.newPage();
    await other.goto(page.url());
    await other.waitForSelector(".tile svg");
    await settled(other);
    // All rows but the first of two tiles.
    expect(await building(other)).toBeGreaterThanOrEqual(2 * 15 * 32);
    await other.getByRole("button", { name: "Play" }).click();
    // Two words a wavefront, whichever is seen: the animation goes on meanwhile.
    const arrived = () => {
      const wave = Number(/wave=(\d+)/.exec(location.hash)?.[1] ?? 0);
      return wave >= 2 && document.querySelector(".tile")!.querySelectorAll("[data-hit]:not(.waiting)").length === 2 * wave;
    };
    await other.waitForFunction(arrived, undefined, { polling: 20 });
    await welcome.close();
  });

  test("a race: the wavefronts of all three are played at once", async () => {
    const arrived = (index: number) => page.locator(".tile").nth(index).locator("[data-hit]:not(.waiting)").count();
    await page.getByLabel("Wavefront", { exact: true }).fill("1");
    expect([await arrived(0), await arrived(1), await arrived(2)]).toEqual([2, 16, 32]);
    await page.getByLabel("Wavefront", { exact: true }).fill("16");
    expect([await arrived(0), await arrived(1), await arrived(2)]).toEqual([32, 32, 32]);
  });
});

describe("room", () => {
  const bottom = (page: Page, selector: string) =>
    page.locator(selector).evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().bottom + scrollY)));

  test("verdicts, tiles, wavefronts and toggles are on one screen of 1440 by 900", async () => {
    const { page } = await open(browser, `${served.address}#/swizzle`, { width: 1440, height: 900 });
    await page.evaluate(() => document.fonts.ready);
    for (const part of [".tile .badge", ".tile .frame", ".toggles button"]) {
      expect(await bottom(page, part), part).toBeLessThanOrEqual(900);
    }
    await page.context().close();
  });

  test("and within two swipes of a phone, with room for fingers", async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
    const phone = await context.newPage();
    await phone.goto(`${served.address}#/swizzle`);
    await phone.waitForSelector(".tile svg");
    await settled(phone);
    await phone.evaluate(() => document.fonts.ready);
    for (const part of [".tile .badge", ".tile .frame", ".toggles button"]) {
      expect(await bottom(phone, part), part).toBeLessThanOrEqual(3 * 844);
    }
    const small = await phone.locator("button, select, summary, input:not([type=radio]), .badge, .tab, .segmented span").evaluateAll((all) =>
      all.filter((one) => one.getClientRects().length > 0).map((one) => [one.textContent, one.getBoundingClientRect().height] as const).filter(([, height]) => height < 43.9),
    );
    expect(small).toEqual([]);
    await context.close();
  });
});
