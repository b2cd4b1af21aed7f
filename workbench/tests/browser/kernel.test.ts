/** The kernel view: what the command explains, on the lines; and pins. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ExplainAnswer } from "../../src/engine/requests";
import { LayoutNames, total } from "../../src/views/kernel/model";
import { browser, freshPage, page } from "./fixture";
import { open, weft } from "./harness";

const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}.ttir`, import.meta.url));
/** Compiling takes a while in a build without optimisation. */
const patience = { timeout: 60_000 };

freshPage("#/kernel?preset=row_softmax", "button.line");

/** What the command explains of a softmax, with these pins. */
function explained(...pins: string[]): ExplainAnswer {
  return explainedOf("row_softmax", ...pins);
}

function explainedOf(name: string, ...pins: string[]): ExplainAnswer {
  const pinned = pins.flatMap((pin) => ["--pin", pin]);
  const said = spawnSync(weft, ["explain", example(name), "--target", "sm_90", "--json", ...pinned], { encoding: "utf8" });
  expect(said.stderr).toBe("");
  return JSON.parse(said.stdout) as ExplainAnswer;
}

const cell = (row: string, column: string) =>
  page.locator(`tr[data-row=${row}] [data-column=${column}]`).textContent({ timeout: 1000 }).catch(() => null);
const cycles = (hundredths: number) => (hundredths / 100).toFixed(2);
const line = (value: string) => page.locator("button.line", { hasText: `${value} = ` });

test("costs are those of the command, and every home stands at the line that makes its value", async () => {
  const answer = explained();
  expect(await cell("total", "before")).toBe(cycles(total(answer)));
  expect(await cell("movements", "before")).toBe(cycles(answer.spent.movements));
  expect(await cell("accesses", "before")).toBe(cycles(answer.spent.accesses));
  const names = new LayoutNames(answer);
  expect(answer.homes.length).toBeGreaterThan(2);
  for (const { value, layout } of answer.homes) {
    expect(await line(value).locator(".mark.home").allTextContents()).toContain(names.of(layout));
  }
  expect(await page.locator("button .mark.moves").count()).toBe(answer.movements.length);
  expect(await page.locator("button .mark.touches").count()).toBe(answer.accesses.length);
});

test("products, shared memory and barriers stand at their lines", async () => {
  const answer = explainedOf("matmul");
  expect(answer.products).toHaveLength(1);
  await page.getByLabel("Kernel", { exact: true }).selectOption("matmul");
  const marks = page.locator("button .mark.multiplies");
  await expect.poll(() => marks.count(), patience).toBe(1);
  const { how, runs, cost } = answer.products[0]!;
  expect(await marks.textContent()).toContain(`× ${runs}`);
  expect(answer.shared!.length).toBeGreaterThan(1);
  expect(await page.locator("button .mark.shared").count()).toBe(answer.shared!.length);
  expect(answer.barriers.length).toBeGreaterThan(0);
  expect(await page.locator("button .mark.waits").count()).toBe(answer.barriers.length);
  await marks.click();
  const details = page.locator(".details");
  await expect.poll(() => details.innerText(), patience).toContain(how);
  expect(await details.innerText()).toContain(`${runs} a warp: ${cycles(cost)} cycles of the block`);
});

test("a pin changes the total as `weft explain --pin` says", async () => {
  const free = explained();
  const home = free.homes.find(({ next }) => next)!;
  await line(home.value).click();
  await page.getByLabel(`Pin ${home.value}`).selectOption(home.next!.layout);
  const pinned = explained(`${home.value}=${home.next!.layout}`);
  expect(total(pinned)).toBeGreaterThan(total(free));
  await expect.poll(() => cell("total", "after"), patience).toBe(cycles(total(pinned)));
  expect(await cell("total", "before")).toBe(cycles(total(free)));
  expect(await cell("movements", "after")).toBe(cycles(pinned.spent.movements));
  expect(await cell("accesses", "after")).toBe(cycles(pinned.spent.accesses));
  // The address keeps the pin.
  const [address, before] = [page.url(), await page.locator(".totals").innerText()];
  const again = await open(browser, address);
  await again.page.waitForSelector(".totals [data-column=after]", patience);
  expect(await again.page.locator(".totals").innerText()).toBe(before);
  await again.page.context().close();
  await page.getByRole("button", { name: `Let go of ${home.value}` }).click();
  await expect.poll(() => page.locator("[data-column=after]").count(), patience).toBe(0);
});

test("a text that cannot be read is told with a caret, as the command tells it", async () => {
  const text = "tt.func public @k(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}";
  await page.getByText("Paste or change the text").click();
  const field = page.getByLabel("Triton IR");
  await field.fill(text);
  await field.press("Control+Enter");
  const fault = page.locator(".fault:not([hidden]) pre").first();
  await expect.poll(() => fault.textContent(), patience).toContain("%z");
  const told = (await fault.textContent())!.split("\n");
  expect(told[1]).toBe("2 |   %y = arith.addi %x, %z : i32");
  expect(told[2]!.indexOf("^")).toBe(told[1]!.indexOf("%z"));
  const command = spawnSync(weft, ["explain", "-"], { input: text, encoding: "utf8" });
  expect(command.stderr).toContain(told[0]!.replace(/^error: /, ""));
});

test("a pin that does not fit is refused, and the kernel stands", async () => {
  const { value } = explained().homes[0]!;
  await line(value).click();
  await page.getByLabel(`Pin ${value}`).selectOption("own");
  const own = page.getByLabel(`Layout of your own for ${value}`);
  await own.fill("#ttg.blocked<{");
  await own.press("Control+Enter");
  const fault = page.locator(".fault:not([hidden]) pre").first();
  await expect.poll(() => fault.textContent({ timeout: 1000 }).catch(() => ""), patience).toContain("`pin`, column ");
  expect(await page.locator("button.line").count()).toBeGreaterThan(0);
});
