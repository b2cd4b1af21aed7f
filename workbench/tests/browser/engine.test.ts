/** The engine as the page reaches it, over loopback or as WebAssembly in the tab. */

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { freshPage, page, served } from "./fixture";
import { dist, engine, settled } from "./harness";

freshPage("#/swizzle?fold=2.4.8.10", ".watch svg");

const each = (access: string) => page.getAttribute(`[data-current="true"] .badge[data-access="${access}"]`, "data-each").then(Number);
const button = (name: string) => page.getByRole("button", { name, exact: true });

test("the page says who answers it, and nobody else is asked", async () => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.reload();
  await page.waitForSelector(".watch svg");
  await settled(page);
  const inTab = engine === "wasm";
  expect(await page.locator("footer.bottom").innerText()).toContain(inTab ? "as WebAssembly in this tab" : "in the program that serves this page");
  expect(asked.includes("/invoke")).toBe(!inTab);
  expect(asked.includes("/engine/weft_wasm_bg.wasm")).toBe(inTab);
});

test("a sweep moves its bar, leaves the page live, and can be stopped", async () => {
  const bar = page.locator(".sweep progress");
  const counted = () => bar.evaluate((bar) => (bar as HTMLProgressElement).value);
  await button("Try every memory").click();
  await expect.poll(counted, { timeout: 60_000 }).toBeGreaterThan(0);
  const before = await counted();
  // Another memory is looked at meanwhile.
  await button("XOR m").click();
  await settled(page);
  expect(await each("load")).toBe(2);
  await expect.poll(counted, { timeout: 60_000, interval: 5 }).toBeGreaterThan(before);
  expect(await bar.isVisible()).toBe(true);
  await button("Stop").click();
  expect(await bar.isVisible()).toBe(false);
  expect(await page.locator(".sweep [data-disagreements]").count()).toBe(0);
  await button("unswizzled").click();
  await settled(page);
  expect(await each("load")).toBe(16);
});

/** A kernel of as many rounds as its argument says. */
const rounds = `tt.func public @rounds(%out: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%sum = %zero) -> (i32) : i32 {
    %next = arith.addi %sum, %i : i32
    scf.yield %next : i32
  }
  tt.store %out, %sum : !tt.ptr<i32>
  tt.return
}
`;

test("a run that nobody waits for any more ends, and holds up nothing", async () => {
  const show = (n: number) => page.goto(`${served.address}#/kernel?text=${encodeURIComponent(rounds)}&run=1&args=${encodeURIComponent(`n=${n}`)}`);
  const running = () => page.waitForSelector(".runner[aria-busy=true]");
  const workers = page.workers().length;
  // More than the server answers at once, each for a minute.
  for (let other = 0; other < 6; other++) {
    await show(2 ** 31 - 1 - other);
    await running();
  }
  const start = performance.now();
  await show(3);
  await page.waitForSelector(".runner [data-passed=true]");
  await settled(page);
  expect(performance.now() - start).toBeLessThan(15_000);
  // In the tab the workers end that computed; Chromium takes up to two seconds to take one from its loop.
  await expect.poll(() => page.workers().length, { timeout: 15_000 }).toBe(workers);
});

test.runIf(engine === "http")("an action is one request, and whatever it needs is answered by it", async () => {
  // The examples' pictures are no part of an action.
  await page.waitForLoadState("networkidle");
  const asked: string[][] = [];
  page.on("request", (request) => {
    if (new URL(request.url()).pathname !== "/invoke") return;
    asked.push([JSON.parse(request.postData() ?? "") as { request: string }].flat().map(({ request }) => request).sort());
  });
  const after = async (act: () => Promise<unknown>) => {
    asked.length = 0;
    await act();
    await settled(page);
    return asked;
  };
  // Of the toggles: the matrix, and both accesses of the one memory that is another.
  const toggle = () => page.locator('.toggles button[data-row="0"][data-column="3"]').click();
  expect(await after(toggle)).toEqual([["layout", "wavefronts", "wavefronts"]]);
  expect(await after(() => page.getByLabel("Instruction", { exact: true }).fill("3"))).toEqual([["wavefronts", "wavefronts", "wavefronts"]]);
  // What was asked before is not asked again.
  expect(await after(toggle)).toEqual([["wavefronts"]]);
  // A kernel comes with its code; one of its layouts, which it names, is drawn after that.
  await page.goto(`${served.address}#/kernel`);
  await settled(page);
  const first = async (place: string) => (await after(() => page.goto(`${served.address}${place}`)))[0];
  expect(await first("#/kernel?preset=vector_add")).toEqual(["compile", "explain"]);
  expect(await first("#/kernel?preset=vector_add&warps=8&pins=%25nothing%3D%5Bregister%3A%5D")).toEqual(["compile", "compile", "explain", "explain"]);
});

describe.runIf(engine === "wasm")("as WebAssembly", () => {
  test("it is shipped in less than two megabytes", () => {
    const bytes = readFileSync(`${dist}/engine/weft_wasm_bg.wasm`);
    expect(gzipSync(bytes).length).toBeLessThan(2_000_000);
  });

  test("it has the stack for the deepest kernel that is read, and refuses a deeper one", async () => {
    const kernel = (depth: number) =>
      `tt.func public @k(%p: !tt.ptr<i32>, %c: i1, %x: i32) {\n${"scf.if %c {\n".repeat(depth)}` +
      `tt.store %p, %x : !tt.ptr<i32>\n${"}\n".repeat(depth)}tt.return\n}\n`;
    const show = async (depth: number) => {
      await page.goto(`${served.address}#/kernel?text=${encodeURIComponent(kernel(depth))}`);
      await settled(page);
    };
    await show(63);
    await page.waitForSelector(".totals");
    await show(64);
    await expect.poll(() => page.locator(".fault:not([hidden])").first().innerText()).toContain("more than 64 regions inside one another");
  });
});
