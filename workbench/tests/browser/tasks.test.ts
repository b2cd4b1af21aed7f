/** The tasks of the chapter "Five tasks", done as it says: each action is one click, one choice or one text. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshPage, page, served } from "./fixture";
import { settled, weft } from "./harness";

freshPage("#/swizzle", ".tile svg");

const patience = { timeout: 60_000 };
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The wavefronts of an instruction, as the badge over a tile has them. */
const verdict = (index: number, access: string) =>
  page.locator(".tile").nth(index).locator(`.badge[data-access="${access}"]`).getAttribute("data-each").then(Number);

test("find a conflict in a padded layout: three actions", async () => {
  await page.getByText("Store, loads and memory as texts").click();
  await page.getByLabel("Memory", { exact: true }).fill("(16,32):(33,1)");
  await page.keyboard.press("Tab");
  await expect.poll(() => verdict(2, "load"), patience).toBe(2);
  expect(await verdict(2, "store")).toBe(1);
  await page.getByLabel("Memory", { exact: true }).fill("(16,32):(34,1)");
  await page.keyboard.press("Tab");
  await expect.poll(() => verdict(2, "load"), patience).toBe(1);
});

test("explain a slow line of a kernel: three actions", async () => {
  await page.getByRole("link", { name: "Kernel", exact: true }).click();
  await page.locator("[data-example=matmul]").click();
  const product = page.locator("[data-pane=python] button.line", { hasText: "tl.dot(" });
  await product.click(patience);
  await expect.poll(() => page.locator(".details").innerText(), patience).toContain("multiply-adds of each thread, 512 a warp");
});

test("swizzle an fp8 tile for eight warps: two actions", async () => {
  await page.locator("[data-example=fp8]").click();
  await expect.poll(() => page.locator(".tile h2").nth(2).innerText(), patience).toContain("Optimal");
  const whole = async () => [await verdict(0, "load"), await verdict(2, "load")];
  await expect.poll(async () => { const [plain = 0, best = 0] = await whole(); return plain > best; }, patience).toBe(true);
  await page.getByRole("button", { name: "Solve", exact: true }).click();
  await settled(page);
  await expect.poll(() => page.url(), patience).toContain("solve=");
});

test("test a kernel in CI: one action, and a command with an exit status", async () => {
  await page.goto(`${served.address}#/kernel?preset=tiled_transpose`);
  await page.getByRole("button", { name: "Run on the simulator" }).click(patience);
  await expect.poll(() => page.locator(".runner [data-passed]").getAttribute("data-passed", { timeout: 1000 }).catch(() => ""), patience).toBe("true");
  const run = (words: string) => spawnSync(weft, ["run", ...`${root}/${words}`.split(" ")], { encoding: "utf8" }).status;
  expect(run("examples/tiled_transpose.ttir --grid 2x2 --arg x=random:f32[128x128] --arg out=empty:f32[128x128] --arg m=128 --arg n=128")).toBe(0);
  expect(run("examples/racing_count.ttir --grid 8 --arg x=random:f32[8192] --arg count=zeros:i32[1] --arg n=8192")).toBe(1);
});

test("port a layout to gfx942: two actions", async () => {
  await page.locator("[data-example=fragment]").click();
  await page.getByLabel("Machine", { exact: true }).selectOption("gfx942");
  await expect.poll(() => page.url(), patience).toContain("target=gfx942");
  await expect.poll(async () => [await verdict(0, "load"), await verdict(2, "store"), await verdict(2, "load")], patience).toEqual([16, 1, 1]);
});
