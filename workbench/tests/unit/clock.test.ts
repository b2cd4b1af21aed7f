import { expect, test } from "vitest";
import type { Round } from "../../src/engine/requests";
import { lanes, lengthOf, marksTo, spanAt, spanInWords, spentOn, warpsOf } from "../../src/views/kernel/clock";

const round: Round = {
  place: "text:3:5",
  first_warp: 4,
  warps: 8,
  time: 1000,
  busy: [{ unit: "matrix units", time: 900 }],
  verdict: "bound by matrix units",
  side_by_side: "room for 2 blocks: with 2 side by side bound by matrix units, at least 9.00 cycles a round",
  bytes: 0,
  memories: [],
  spans: [
    { work: "products", start: 100, end: 900 },
    { work: "waits", start: 0, end: 100 },
    { work: "waits", start: 400, end: 950 },
  ],
};

test("a lane holds one kind of work, and says how long it goes on", () => {
  const all = lanes(round);
  expect(all.map(({ work }) => work)).toEqual(["products", "waits"]);
  expect(all.map(spentOn)).toEqual([800, 650]);
  expect(lengthOf(round)).toBe(950);
  expect(lengthOf({ ...round, spans: [] })).toBe(1);
});

test("a time is in a stretch, or close to one", () => {
  const waits = lanes(round)[1]!;
  expect(spanAt(waits, 50)).toBe(waits.spans[0]);
  expect(spanAt(waits, 500)).toBe(waits.spans[1]);
  expect(spanAt(waits, 120, 30)).toBe(waits.spans[0]);
  expect(spanAt(waits, 200, 30)).toBeUndefined();
  expect(spanAt(waits, 200)).toBe(waits.spans[0]);
  expect(spanAt({ work: "copies", spans: [] }, 0)).toBeUndefined();
});

test("a stretch says what else goes on, and what only touches it does not", () => {
  const all = lanes(round);
  const [first, second] = all[1]!.spans;
  expect(spanInWords(second!, all)).toBe("waits: from 4.00, to 9.50, cycles 5.50: meanwhile products");
  expect(spanInWords(first!, all)).toBe("waits: from 0.00, to 1.00, cycles 1.00");
});

test("the warps of a role", () => {
  expect(warpsOf(round)).toBe("warps 4 to 11");
  expect(warpsOf({ ...round, warps: 1 })).toBe("warp 4");
});

test("an axis has few marks, at round times, and all of them are within", () => {
  expect(marksTo(171400)).toEqual([0, 50000, 100000, 150000]);
  expect(marksTo(1000)).toEqual([0, 200, 400, 600, 800, 1000]);
  for (const length of [1, 7, 99, 101, 12345, 999999]) {
    const marks = marksTo(length);
    expect(marks.length).toBeGreaterThan(1);
    expect(marks.length).toBeLessThan(7);
    expect(marks.at(-1)).toBeLessThanOrEqual(length);
  }
});
