/** The swizzle view, clicked through: the numbers of the 16x32 transpose, one after the other. */

import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { foldsOfNumber, tensorBits } from "../../src/views/swizzle/model";
import { browser, freshPage, page, served } from "./fixture";
import { engine, open, settled } from "./harness";

freshPage("#/swizzle?close=1", ".closeup svg");

/** The wavefronts of an instruction on a badge of the memory that the page is about. */
async function verdict(access: string): Promise<number> {
  return Number(await page.getAttribute(`[data-current="true"] .badge[data-access="${access}"]`, "data-each"));
}

async function fold(name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
  await settled(page);
}

async function law(): Promise<{ law: number; counted: number; agree: string | null }> {
  const both = page.locator(".both");
  return {
    law: Number(await both.locator("[data-law]").getAttribute("data-law")),
    counted: Number(await both.locator("[data-counted]").getAttribute("data-counted")),
    agree: await both.getAttribute("data-agree"),
  };
}

const line = (id: string) => page.locator(`.law [data-line="${id}"] code`).innerText();

describe("the 16x32 transpose", () => {
  test("S0-3, S0-11, S0-23: unswizzled the load takes 16 wavefronts", async () => {
    await fold("unswizzled");
    expect([await verdict("store"), await verdict("load")]).toEqual([1, 16]);
    expect(await line("segment")).toBe("{m₀, m₁, m₂, m₃}");
    expect(await line("meet")).toBe("{m₀, m₁, m₂, m₃}");
    expect(await law()).toEqual({ law: 16, counted: 16, agree: "true" });
    expect(await page.locator(".both").innerText()).toContain("2⁴ = 16");
  });

  test("S0-4, S0-24: XOR m leaves 2", async () => {
    await fold("XOR m");
    expect([await verdict("store"), await verdict("load")]).toEqual([1, 2]);
    expect(await line("segment")).toBe("{m₀⊕n₀, m₁⊕n₁, m₂⊕n₂, m₃⊕n₃}");
    expect(await line("meet")).toBe("{m₀⊕n₀}");
    expect(await law()).toEqual({ law: 2, counted: 2, agree: "true" });
  });

  test("S0-5, S0-25, S0-26: XOR 2m leaves 1", async () => {
    await fold("XOR 2m");
    expect([await verdict("store"), await verdict("load")]).toEqual([1, 1]);
    expect(await line("segment")).toBe("{m₀⊕n₁, m₁⊕n₂, m₂⊕n₃, m₃⊕n₄}");
    expect(await line("phase")).toBe("{m₀, m₁, m₂, m₃, n₀}");
    expect(await line("meet")).toBe("only 0");
    expect(await law()).toEqual({ law: 1, counted: 1, agree: "true" });
    // All 32 banks serve one lane each.
    expect(await page.locator(".closeup .picture").nth(1).locator("g.served").count()).toBe(32);
  });

  test("S0-9, S0-10, S0-16: twenty toggles, the store green under each, the matrix live", async () => {
    await fold("unswizzled");
    const toggles = page.locator(".toggles button");
    expect(await toggles.count()).toBe(20);
    for (let index = 0; index < 20; index++) {
      await toggles.nth(index).click();
      const [row, column] = [Math.floor(index / 5), index % 5];
      await settled(page);
      // Flipping segment bit `row` now flips the column bit too.
      const cell = page.locator(`[aria-label="Matrix"] g[data-row="${column}"][data-column="${5 + row}"]`);
      expect(await cell.getAttribute("data-says")).toContain(" sets ");
      expect(await verdict("store")).toBe(1);
      expect((await law()).agree).toBe("true");
      await toggles.nth(index).click();
      await settled(page);
    }
    const cells = page.locator('[aria-label="Matrix"] g[data-row]');
    expect(await cells.count()).toBe(81);
  });

  test("S0-12: accesses and all sixteen steps", async () => {
    await fold("XOR m");
    for (const access of ["store", "load"]) {
      await page.locator(".watch .segmented").getByText(access, { exact: true }).click();
      await settled(page);
      for (const step of [0, 1, 7, 15]) {
        await page.getByLabel("Instruction", { exact: true }).fill(String(step));
        await settled(page);
        const wavefronts = await page.locator(".closeup .picture").nth(1).locator("svg").textContent();
        expect(wavefronts).toContain(`Instruction ${step} of the ${access}`);
        expect((await law()).counted).toBe(access === "store" ? 1 : 2);
      }
    }
    expect(await page.getByLabel("Instruction", { exact: true }).getAttribute("max")).toBe("15");
  });

  test("S0-2, S0-13: a cell says its element, offset, bank, lane and register", async () => {
    await fold("XOR m");
    const tile = page.locator(".closeup .picture").first();
    expect(await tile.locator("g[data-row]").count()).toBe(512);
    expect(await tile.locator("g.served").count()).toBe(32);
    await tile.locator('g[data-row="3"][data-column="1"]').hover();
    const says = await tile.locator(".says").innerText();
    expect(says).toBe("m 3, n 1: offset 98, bank 2, register 0 of lane 19, phase 0, wavefront 1");
    // The same lane is outlined where the banks serve it.
    const linked = page.locator(".closeup .picture").nth(1).locator("g.linked");
    expect(await linked.getAttribute("data-says")).toContain("bank 2: the word at byte 392, lane 19");
  });

  test("S0-14: hits per bank", async () => {
    const rows = async (name: string) => {
      await fold(name);
      const banks = page.locator(".closeup .picture").nth(1);
      const hits: Record<string, number> = {};
      for (const column of await banks.locator("g.served").evaluateAll((cells) =>
        cells.map((cell) => (cell as SVGGElement).dataset["column"] ?? ""),
      )) hits[column] = (hits[column] ?? 0) + 1;
      return hits;
    };
    expect(await rows("unswizzled")).toEqual({ 0: 16, 1: 16 });
    expect(Object.values(await rows("XOR m"))).toEqual(Array(16).fill(2));
    expect(Object.values(await rows("XOR 2m"))).toEqual(Array(32).fill(1));
  });

  test("S0-6: padding takes the place of folds", async () => {
    await page.getByText("Store, loads and memory as texts").click();
    const memory = page.getByLabel("Memory", { exact: true });
    for (const [padded, wavefronts] of [["33", 2], ["34", 1]] as const) {
      const text = `#ttg.padded_shared<[32:+${Number(padded) - 32}] {order = [1, 0], shape = [16, 32]}>`;
      await memory.fill(text);
      await memory.blur();
      await settled(page);
      expect([await verdict("store"), await verdict("load")]).toEqual([1, wavefronts]);
    }
    expect(await page.locator(".law").innerText()).toContain("Padding carries");
  });
});

describe("algebra and count", () => {
  test("S0-15, S0-17: agree on a thousand random memories", async () => {
    const tensor = tensorBits([16, 32]);
    let state = 12345;
    const seen = new Set<number>();
    const disagreements: string[] = [];
    for (let round = 0; round < 1000; round++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const folds = foldsOfNumber(state >>> 12, tensor);
      const hash = `#/swizzle?fold=${folds.map((mask) => mask.toString(16)).join(".")}`;
      const found = await page.evaluate(async (hash) => {
        location.hash = hash;
        do await new Promise((next) => setTimeout(next, 0));
        while (document.querySelector('main[aria-busy="true"]'));
        const both = document.querySelector<HTMLElement>(".both");
        const number = (name: string) => Number(both?.querySelector(`[data-${name}]`)?.getAttribute(`data-${name}`));
        return { law: number("law"), counted: number("counted"), shown: location.hash };
      }, hash);
      seen.add(found.counted);
      if (!found.law || found.law !== found.counted || found.shown !== hash) disagreements.push(`${hash} ${JSON.stringify(found)}`);
    }
    expect(disagreements).toEqual([]);
    expect([...seen].sort((a, b) => a - b)).toEqual(expect.arrayContaining([1, 2, 4]));
  }, 600_000);

  test("S0-17: the sweep's histogram", async () => {
    // All 2^20 with an engine that is optimised; without, the same program counts a smaller tensor whole.
    if (engine === "wasm" || process.env["WEFT_LONG"] === "1") {
      await page.getByRole("button", { name: "Try every memory" }).click();
      await page.waitForSelector("[data-disagreements]", { timeout: 110_000 });
      expect(await page.getAttribute("[data-disagreements]", "data-disagreements")).toBe("0");
      expect(await histogram("load")).toEqual([[1, 322560], [2, 604800], [4, 117600], [8, 3600], [16, 16]]);
      expect(await histogram("store")).toEqual([[1, 1048576]]);
    }
    const store = "[register: (1,0) (2,0) (4,0), lane: (0,1) (0,2) (0,4) (0,8) (0,16)] -> [dim0: 8, dim1: 32]";
    const load = "[register: (0,4) (0,8) (0,16), lane: (1,0) (2,0) (4,0) (0,1) (0,2)] -> [dim0: 8, dim1: 32]";
    const query = new URLSearchParams({ shape: "8x32", store, loads: load });
    await page.goto(`${served.address}#/swizzle?${query}`);
    await settled(page);
    await page.getByRole("button", { name: "Try every memory" }).click();
    await page.waitForSelector("[data-disagreements]", { timeout: 110_000 });
    expect(await page.getAttribute("[data-disagreements]", "data-disagreements")).toBe("0");
    // Three masks of five bits modulo two fixed directions: as many as 3 x 3 matrices of each rank.
    const ranks = [168, 294, 49, 1].map((matrices) => matrices * 64);
    expect(await histogram("load")).toEqual([1, 2, 4, 8].map((wavefronts, index) => [wavefronts, ranks[index]]));
    expect(await histogram("store")).toEqual([[1, 32768]]);
  });

  async function histogram(access: string): Promise<number[][]> {
    return page
      .locator(`.histogram[data-access="${access}"] tbody tr`)
      .evaluateAll((rows) => rows.map((row) => [Number((row as HTMLElement).dataset["each"]), Number((row as HTMLElement).dataset["memories"])]));
  }
});

describe("the solver", () => {
  test("S0-28 to S0-34: the construction, value by value", async () => {
    await page.getByRole("button", { name: "Solve", exact: true }).click();
    await page.waitForSelector(".certificate");
    expect(await page.locator(".steps > li").count()).toBe(7);
    await page.getByRole("button", { name: "From the first step" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".steps > li").length === 1);
    expect(await page.locator(".certificate").count()).toBe(1);
    for (let step = 2; step <= 7; step++) {
      await page.getByRole("button", { name: "Next step" }).click();
      await page.waitForFunction((count) => document.querySelectorAll(".steps > li").length === count, step);
    }
    const said = await page.locator(".steps > li").allInnerTexts();
    expect(said[0]).toContain("V = ∅, v = 0");
    expect(said[1]).toContain("b = 5 bank bits, s = 4 segment bits");
    expect(said[2]).toContain("store: 1 phase, A = {n₀, n₁, n₂, n₃, n₄}");
    expect(said[2]).toContain("load: 1 phase, B = {m₀, m₁, m₂, m₃, n₀}");
    expect(said[3]).toContain("I = {n₀}");
    expect(said[3]).toContain("E = {n₁, n₂, n₃, n₄}");
    expect(said[3]).toContain("F = {m₀, m₁, m₂, m₃}");
    expect(said[3]).toContain("at most 4 bits");
    const strip = await page.locator(".pairing tr").evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
    );
    expect(strip).toEqual([
      ["n₁", "n₂", "n₃", "n₄"],
      ["m₀", "m₁", "m₂", "m₃"],
      ["m₀⊕n₁", "m₁⊕n₂", "m₂⊕n₃", "m₃⊕n₄"],
    ]);
    expect(said[5]).toContain("C = ∅");
    expect(said[5]).toContain("segments = {m₀⊕n₁, m₁⊕n₂, m₂⊕n₃, m₃⊕n₄}");
    expect(said[6]).toContain("banks = {n₀, n₁, n₂, n₃, n₄}");
    expect(said[6]).toContain("offset = (m << 5) ^ (m << 1) ^ n");
    const certificate = page.locator(".certificate");
    expect(await certificate.getAttribute("data-certificate")).toBe("dimensions");
    expect(await certificate.getAttribute("data-optimal")).toBe("true");
    expect(await certificate.innerText()).toContain("32 wavefronts, bound 32");
    await page.getByRole("button", { name: "Take the construction's memory" }).click();
    await settled(page);
    expect(page.url()).toContain("fold=2.4.8.10");
    expect(await verdict("load")).toBe(1);
  });
});

describe("the page", () => {
  test("a shared address shows the same state", async () => {
    await fold("XOR m");
    await page.locator(".watch .segmented").getByText("store", { exact: true }).click();
    await page.getByLabel("Instruction", { exact: true }).fill("5");
    await settled(page);
    await page.getByRole("button", { name: "Solve", exact: true }).click();
    await page.waitForSelector(".steps li");
    await settled(page);
    const seen = async (page: Page) => [
      await page.locator("main").innerText(),
      await page.locator(".toggles button").evaluateAll((all) => all.map((b) => b.getAttribute("aria-pressed"))),
      await page.locator(".watch svg").evaluateAll((all) => all.map((svg) => svg.outerHTML)),
    ];
    const other = await open(browser, page.url());
    await other.page.waitForSelector(".steps li");
    await settled(other.page);
    await other.page.mouse.move(0, 0);
    await page.mouse.move(0, 0);
    expect(await seen(other.page)).toEqual(await seen(page));
    expect(other.complaints).toEqual([]);
    await other.page.context().close();
  });

  test("back goes back", async () => {
    await fold("XOR m");
    await fold("XOR 2m");
    await page.goBack();
    await settled(page);
    expect(await verdict("load")).toBe(2);
  });

  test("bad text is told with a caret", async () => {
    await page.getByText("Store, loads and memory as texts").click();
    const store = page.getByLabel("Store from");
    await store.fill("#ttg.blockd<{}>");
    await store.blur();
    await page.waitForSelector(".fault pre");
    const told = await page.locator("main .fault:not([hidden])").innerText();
    expect(told).toContain("error: ");
    expect(told).toMatch(/1 \| #ttg\.blockd<\{\}>\n {2}\| +\^/);
    await page.goBack();
    await settled(page);
    expect(await page.locator("main .fault:not([hidden])").count()).toBe(0);
  });

  test("two machines stand side by side", async () => {
    await page.locator('[data-example="square"]').click();
    await page.getByLabel("Compare with").selectOption("gfx942");
    await page.waitForSelector('[data-current="true"] .verdict[data-target="gfx942"] .badge');
    await settled(page);
    const each = await page.locator('[data-current="true"] .verdict').evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll<HTMLElement>(".badge")].map((badge) => Number(badge.dataset["each"]))),
    );
    // 64 lanes are served in two phases of 32.
    expect(each).toEqual([[1, 32], [2, 64]]);
  });

  test("everything is reached by keyboard", async () => {
    await page.locator('.toggles button[data-row="0"][data-column="0"]').focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await settled(page);
    expect(page.url()).toContain("fold=0.2.0.0");
    const tile = page.locator(".closeup .frame").first();
    await tile.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    const says = await page.locator(".closeup .says").first().innerText();
    expect(says).toContain("m 0, n 1:");
  });

  test("wavefronts are played one after the other", async () => {
    await fold("XOR m");
    await page.getByLabel("Wavefront", { exact: true }).fill("2");
    const meant = page.locator(".closeup .picture").first().locator("g.meant");
    expect(await meant.count()).toBe(16);
    expect(await page.locator(".closeup .picture").nth(1).locator("g.meant").count()).toBe(16);
    await page.getByLabel("Wavefront", { exact: true }).fill("0");
    await page.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(() => location.hash.includes("wave=2"), undefined, { timeout: 10_000 });
    // Sixteen of the slowest of the three, and then all.
    await page.waitForFunction(() => !location.hash.includes("wave="), undefined, { timeout: 60_000 });
  });

  test("pictures are saved as SVG and PNG", async () => {
    for (const [kind, head] of [["SVG", "<svg"], ["PNG", "\u0089PNG"]] as const) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(".closeup .picture").first().getByRole("button", { name: kind }).click(),
      ]);
      const stream = await download.createReadStream();
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      const file = Buffer.concat(chunks);
      expect(file.toString("latin1").slice(0, 4)).toBe(head);
      expect(file.length).toBeGreaterThan(5000);
    }
  });
});
