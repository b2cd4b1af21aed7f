import { expect, test } from "vitest";
import type { ExplainAnswer } from "../../src/engine/requests";
import { LayoutNames, byLine, inLines, isOf, isPlace, lineOf, shapeOf, shortName, shownLine, sizeOf, total } from "../../src/views/kernel/model";
import { pinned } from "../../src/views/kernel/state";

const way = { strategy: "shuffles", instructions: 1, shuffles: 1, wavefronts: 0, barriers: 0, shared_bytes: 0, cost: 300, bound: 300, outline: "" };
const A = "[register: 1, lane: 2] -> [dim0: 4]";
const B = "[register: 2, lane: 1] -> [dim0: 4]";
const C = "[register: (0,1)] -> [dim0: 1, dim1: 2]";
const answer: ExplainAnswer = {
  name: "k",
  target: "sm_90",
  warps: 1,
  shared_bytes: 0,
  spent: { movements: 300, accesses: 100, work: 20 },
  homes: [
    { value: "%a", type: "tensor<4xf32>", memory: "registers", layout: A, reason: "as the load at text:3:5 runs", next: { layout: B, more: 10 }, place: "text:3:5" },
    { value: "%b", type: "tensor<4xf32>", memory: "registers", layout: B, reason: "pinned", place: null },
  ],
  products: [{ place: "text:7:5", type: "tensor<1x2xf32>", layout: C, how: "mma.m16n8k16.f32.f16.f16", runs: 4, cost: 800, bound: 800, times: 16 }],
  movements: [{ ...way, value: "%a", type: "tensor<4xf32>", operation: "store", place: "text:5:5", from: A, to: C, times: 1 }],
  accesses: [{ operation: "load", place: "text:3:5", type: "tensor<4xf32>", layout: A, vector_bytes: 4, instructions: 1, sectors: 1, ideal_sectors: 1, times: 1 }],
  shared: [{ operation: "local_load", kind: "load", value: "%c", place: "text:7:5", type: "tensor<1x2xf32>", layout: C, memory: "#ttg.swizzled_shared<{}>", times: 16 }],
  barriers: [{ scope: "block", place: "text:7:5", loops: [], cost: 2000, reasons: ["what was copied is loaded for text:7:5"] }],
  occupancy: { blocks: 32, warps: 32, most_warps: 64, limit: "blocks", registers: 64, shared_bytes: 233472 },
  rounds: [],
};

test("what is known stands at its line", () => {
  const lines = byLine(answer);
  expect([...lines.keys()]).toEqual([3, 7, 5]);
  expect(lines.get(3)!.homes.map(({ value }) => value)).toEqual(["%a"]);
  expect(lines.get(3)!.accesses).toHaveLength(1);
  expect(lines.get(5)!.movements).toHaveLength(1);
  expect(lines.get(7)).toMatchObject({ homes: [], products: answer.products, shared: answer.shared, barriers: answer.barriers });
  expect(lineOf("kernel.py:3:5")).toBeUndefined();
});

test("layouts are named in the order of the report", () => {
  const names = new LayoutNames(answer, answer);
  expect(names.all).toEqual([A, B, C]);
  expect(names.of(C)).toBe("L2");
  expect(names.of("another")).toBe("?");
});

test("types and layouts tell their shapes", () => {
  expect(shapeOf("tensor<64x32x!tt.ptr<f32>>")).toEqual([64, 32]);
  expect(shapeOf("f32")).toEqual([]);
  expect(isOf(A, [4])).toBe(true);
  expect(isOf(C, [4])).toBe(false);
});

test("memory tells its size and its swizzle, and no value is pinned to it", () => {
  const buffers = { count: 1, bytes: 4096, attribute: "#ttg.swizzled_shared<{}>" };
  expect(sizeOf(buffers)).toBe("4096 bytes");
  expect(sizeOf({ ...buffers, count: 3, swizzle_bytes: 0 })).toBe("3 buffers of 4096 bytes, not swizzled");
  expect(sizeOf({ ...buffers, count: 3, swizzle_bytes: 64 })).toBe("3 buffers of 4096 bytes, swizzled in rows of 64 bytes");
  expect(isOf("[offset: 1 2, block:] -> [dim0: 4]", [4])).toBe(false);
});

test("instructions are named shortly", () => {
  expect(shortName("mma.m16n8k16.f32.f16.f16")).toBe("mma.m16n8k16");
  expect(shortName("multiply-adds of each thread")).toBe("multiply-adds");
});

test("lines are shown without places", () => {
  expect(shownLine('    %a = tt.load %p : tensor<4x!tt.ptr<f32>> loc(#loc7)')).toBe("    %a = tt.load %p : tensor<4x!tt.ptr<f32>>");
  expect(shownLine('  tt.func @k(%x: i32 loc("x"(#loc)), %y: i32 loc("k.py":1:2)) {')).toBe("  tt.func @k(%x: i32, %y: i32) {");
  expect(isPlace('#loc1 = loc("k.py":3:4)')).toBe(true);
  expect(isPlace("#blocked = #ttg.blocked<{}>")).toBe(false);
  expect(inLines("as the load at text:12:5 runs")).toBe("as the load at line 12 runs");
});

test("totals and pins", () => {
  expect(total(answer)).toBe(420);
  expect(total({ ...answer, choice: { cost: 400, bound: 390 } })).toBe(400);
  expect(pinned("%a=x")).toBe("%a");
  expect(pinned("a = x")).toBe("%a");
});
