/** The kernel view: what the command explains, on the lines; and pins. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ExplainAnswer } from "../../src/engine/requests";
import { lanes, spanInWords, warpsOf } from "../../src/views/kernel/clock";
import { LayoutNames, lineOf, total } from "../../src/views/kernel/model";
import { browser, freshPage, page } from "./fixture";
import { open, weft } from "./harness";

const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}.ttir`, import.meta.url));
/** Compiling takes a while in a build without optimisation. */
const patience = { timeout: 60_000 };

freshPage("#/kernel?preset=row_softmax", "button.line");

/** The lines of a pane that have a class, as their texts. */
const lines = (pane: string, which: string) => page.locator(`[data-pane=${pane}] button.line${which} code`).allTextContents();

/** What the command explains of a softmax, with these pins. */
function explained(...pins: string[]): ExplainAnswer {
  return explainedOf("row_softmax", ...pins);
}

function explainedOf(name: string, ...pins: string[]): ExplainAnswer {
  return said(name, "--target", "sm_90", ...pins.flatMap((pin) => ["--pin", pin]));
}

function explainedOn(target: string): ExplainAnswer {
  return said("row_softmax", "--target", target);
}

function said(name: string, ...options: string[]): ExplainAnswer {
  const said = spawnSync(weft, ["explain", example(name), "--json", ...options], { encoding: "utf8" });
  expect(said.stderr).toBe("");
  return JSON.parse(said.stdout) as ExplainAnswer;
}

const cell = (row: string, column: string) =>
  page.locator(`tr[data-row=${row}] [data-column=${column}]`).textContent({ timeout: 1000 }).catch(() => null);
const cycles = (hundredths: number) => (hundredths / 100).toFixed(2);
const line = (value: string) => page.locator("[data-pane=ir] button.line", { hasText: `${value} = ` });

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
  await page.locator("[data-example=matmul]").click();
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

test("a round of a loop is drawn on a clock and told in the words of the command, by pointer and by keys", async () => {
  const card = page.locator(".rounds");
  expect(explained().rounds).toEqual([]);
  expect(await card.isVisible()).toBe(false);
  await page.locator("[data-example=matmul]").click();
  const rounds = card.locator(".round");
  await expect.poll(() => rounds.count(), patience).toBe(1);
  const [round] = explainedOf("matmul").rounds;
  const told = (await rounds.innerText()).toLowerCase();
  for (const words of [warpsOf(round!), cycles(round!.time), round!.verdict, round!.side_by_side, ...round!.memories.map(({ reason }) => reason)]) {
    expect(told).toContain(words.toLowerCase());
  }
  expect(round!.memories.map(({ memory }) => memory)).toEqual(["L2 cache", "DRAM"]);
  const all = lanes(round!);
  expect(await card.locator(".works li").allTextContents()).toEqual(all.map(({ work }) => work));
  // By keys: along a lane, and to the one below.
  const says = card.locator(".says");
  await card.locator(".clock").focus();
  await page.keyboard.press("ArrowRight");
  expect(await says.textContent()).toBe(spanInWords(all[0]!.spans[0]!, all));
  await page.keyboard.press("End");
  expect(await says.textContent()).toBe(spanInWords(all[0]!.spans.at(-1)!, all));
  for (const _ of all) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  expect(await says.textContent()).toBe(spanInWords(all.at(-1)!.spans[0]!, all));
  await page.keyboard.press("Escape");
  expect(await says.textContent()).toBe("");
  // By pointer: the longest wait.
  const waits = all.find(({ work }) => work === "waits")!;
  const longest = waits.spans.reduce((best, span) => (span.end - span.start > best.end - best.start ? span : best));
  const track = card.locator('.track[data-work="waits"]');
  const { width, height } = (await track.boundingBox())!;
  const length = Math.max(...round!.spans.map(({ end }) => end));
  await track.hover({ position: { x: (width * (longest.start + longest.end)) / 2 / length, y: height / 2 } });
  expect(await says.textContent()).toBe(spanInWords(longest, all));
  expect(await card.locator(".readout").isVisible()).toBe(true);
  const line = lineOf((await rounds.getAttribute("data-round"))!);
  await card.getByRole("button", { name: `Line ${line}` }).click();
  expect(page.url()).toContain(`line=${line}`);
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
  await page.getByRole("button", { name: `Unpin ${home.value}` }).click();
  await expect.poll(() => page.locator("[data-column=after]").count(), patience).toBe(0);
});

test("a text that cannot be read is told with a caret, as the command tells it", async () => {
  const text = "tt.func public @k(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}";
  await page.locator(".asked summary").click();
  const field = page.locator(".asked textarea");
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

test("a line of the source lights up what became of it in every pane, by pointer and by keys", async () => {
  await expect.poll(() => lines("code", ""), patience).not.toEqual([]);
  const load = page.locator("[data-pane=python] button.line", { hasText: "tl.load(" });
  await load.hover();
  const lit = await lines("ir", ".lit");
  expect(lit.filter((text) => text.includes("tt.load"))).toHaveLength(1);
  expect(lit.some((text) => text.includes("tt.store"))).toBe(false);
  const code = await lines("code", ".lit");
  expect(code.filter((text) => text.includes("ld.global"))).toHaveLength(2);
  expect(code.some((text) => text.includes("st.global"))).toBe(false);
  // The same by keys: a pane is one stop of Tab, arrows go on, Enter chooses.
  await page.locator('[data-pane=python] button.line[tabindex="0"]').focus();
  await page.keyboard.press("End");
  const last = await page.evaluate(() => document.activeElement?.querySelector("code")?.textContent);
  expect(last).toContain("tl.store(");
  await page.keyboard.press("Enter");
  await expect.poll(() => lines("code", "[aria-pressed=true]")).toSatisfy((texts: string[]) => texts.some((text) => text.includes("st.global")));
  expect(await lines("ir", "[aria-pressed=true]")).toContainEqual(expect.stringContaining("tt.store"));
  expect(page.url()).toContain("python=22");
});

test("the heat of all lines is the whole, in the source as in the text", async () => {
  const heats = (pane: string) =>
    page.locator(`[data-pane=${pane}] .heat[title]`).evaluateAll((cells) => cells.map((cell) => parseFloat(cell.getAttribute("title") ?? "")));
  for (const pane of ["python", "ir"]) {
    const all = await heats(pane);
    expect(all.length).toBeGreaterThan(2);
    expect(all.reduce((sum, one) => sum + one, 0)).toBeCloseTo(100, 0);
  }
});

test("a listing that is pasted is linked by what its comments say of the PTX", async () => {
  await page.locator("[data-shows=sass]").click();
  const pane = page.locator("[data-pane=sass]");
  await pane.locator("summary").click();
  const listing = readFileSync(new URL("../data/row_softmax.sm_90.sass", import.meta.url), "utf8");
  const field = pane.getByLabel("A listing");
  await field.fill(listing);
  await field.press("Control+Enter");
  const loads = page.locator("[data-pane=python] button.line", { hasText: "tl.load(" });
  await loads.click();
  const chosen = () => lines("sass", "[aria-pressed=true]");
  await expect.poll(chosen, patience).toSatisfy((texts: string[]) => texts.filter((text) => text.includes("LDG.E.128")).length === 2);
  expect((await chosen()).some((text) => text.includes("STG"))).toBe(false);
  expect(await page.locator("[data-figure=registers] .value").textContent()).toBe("21");
});

test("a race is found where it is, with the lines of both", async () => {
  await page.locator("[data-example=racing_count]").click();
  await expect.poll(() => page.getByLabel("count: ptr<i32>").inputValue({ timeout: 1000 }).catch(() => ""), patience).toBe("zeros:i32[1]");
  await page.getByRole("button", { name: "Run on the simulator" }).click();
  await expect.poll(() => page.locator(".runner [data-passed]").getAttribute("data-passed", { timeout: 1000 }).catch(() => ""), patience).toBe("false");
  await expect.poll(() => page.locator("[data-pane=python] .mark.found").count(), patience).toBe(2);
  const racing = await page.locator("[data-pane=python] button.line:has(.mark.found) code").allTextContents();
  expect(racing.map((text) => text.trim())).toEqual(["before = tl.load(count)", "tl.store(count, before + positive)"]);
  // What lines took is what all took.
  const sectors = await page.locator("[data-pane=ir] .mark.counted", { hasText: "sectors" }).allTextContents();
  const all = (await page.locator(".runner dd.value").first().textContent())!.replace(/,/g, "");
  expect(sectors.reduce((sum, text) => sum + parseInt(text), 0)).toBe(Number(all));
  await page.locator(".findings button").first().click();
  await expect.poll(() => lines("ir", "[aria-pressed=true]")).toContainEqual(expect.stringContaining("tt.store"));
});

test("two machines stand side by side, line by line", async () => {
  const [here, there] = [explained(), explainedOn("gfx942")];
  await page.getByLabel("Compare with").selectOption("gfx942");
  await expect.poll(() => page.locator(".against tr.sum td.number").allTextContents(), patience).toHaveLength(2);
  const spent = ({ spent }: ExplainAnswer) => cycles(spent.movements + spent.accesses + spent.work);
  expect(await page.locator(".against tr.sum td.number").allTextContents()).toEqual([spent(here), spent(there)]);
  const parts = await page.locator(".against tr:not(.sum) td.number:nth-child(3)").allTextContents();
  expect(parts.reduce((sum, text) => sum + (parseFloat(text) || 0), 0)).toBeCloseTo(Number(spent(there)), 1);
  expect(await page.locator("[data-figure=shared] .other strong").textContent()).toBe(`${there.shared_bytes} B`);
  // And Triton's own choice of layouts.
  await page.getByLabel("Compare with").selectOption("triton");
  await expect.poll(() => page.locator(".against thead th").allTextContents(), patience).toContain("Triton's layouts");
});

test("Triton's own text stands beside ours, line by line, and layouts of one name are the same", async () => {
  await page.goto(page.url().replace(/#.*/, "#/kernel?preset=tiled_transpose&against=triton&python=23"));
  await expect.poll(() => page.locator("[data-pane=other] .line").count(), patience).toBeGreaterThan(0);
  expect((await lines("other", "[aria-pressed=true]")).some((text) => text.includes("tt.store"))).toBe(true);
  expect((await lines("ir", "[aria-pressed=true]")).some((text) => text.includes("tt.store"))).toBe(true);
  await page.locator("[data-pane=other] button.line").filter({ hasText: "tt.load" }).hover();
  expect((await lines("ir", ".lit")).some((text) => text.includes("tt.load"))).toBe(true);
  // The store runs in one layout on both sides.
  const touched = (pane: string) => page.locator(`[data-pane=${pane}] button.line`).filter({ hasText: "tt.store" }).locator(".mark.touches").first().textContent();
  expect(await touched("other")).toBe(await touched("ir"));
});

test("a slow access says why, and a run is offered as a command", async () => {
  const text = readFileSync(new URL("../../../kernels/append_to_pages.ttir", import.meta.url), "utf8");
  const store = text.split("\n").findIndex((line) => line.includes("tt.store")) + 1;
  await page.goto(page.url().replace(/#.*/, `#/kernel?line=${store}&text=${encodeURIComponent(text)}`));
  await expect.poll(() => page.locator(".because").allTextContents(), patience).toContain(
    "32 sectors where 2 would do, because neighbouring lanes are 64 bytes apart, and each moves 2.",
  );
  expect(await page.locator(".as-command code").textContent()).toMatch(/^weft run append_to_pages\.ttir --target sm_90 --grid 1 --arg '/);
});
