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
