/** What fields say of what is mistyped: what is wrong, and what would be right. */

import { describe, expect, test } from "vitest";
import { checkArgument, checkKernel, checkName, checkOrder, checkReshape } from "../../src/ui/checks";

const BUFFER = "random:f32[4x1024]";

describe("a kernel's arguments", () => {
  test.each([
    ["n", "i32", "64", "abc", "`abc` is not a whole number", "64"],
    ["n", "i32", "64", "1.5", "`1.5` is not a whole number", "64"],
    ["n", "i32", "64", "", "a value is missing", "64"],
    ["eps", "f32", "1.0", "1,5", "`1,5` is not a number", "1.0"],
    ["x", "ptr<f32>", BUFFER, "5", "a pointer takes a buffer: how it is filled, its element type and its extents", BUFFER],
    ["x", "ptr<f32>", BUFFER, "random:f32", "a pointer takes a buffer: how it is filled, its element type and its extents", BUFFER],
    ["x", "ptr<f32>", BUFFER, "rndom:f32[8]", "a buffer is filled with random, range, zeros, ones, empty, or from two bounds such as -8..8, not by `rndom`", "random:f32[8]"],
    ["x", "ptr<f32>", BUFFER, "8..-8:f32[8]", "the lower bound 8 is not below -8", "-8..8:f32[8]"],
    ["x", "ptr<f32>", BUFFER, "random:f16[8]", "the kernel takes elements of f32, not f16", "random:f32[8]"],
    ["x", "ptr<f32>", BUFFER, "random:f32[4x]", "an extent is missing", BUFFER],
    ["x", "ptr<f32>", BUFFER, "random:f32[4x0]", "`0` is not an extent", BUFFER],
  ])("%s: %s, begun with %s: %j", (_, type, usual, written, wrong, instead) => {
    expect(checkArgument(written, type, usual)).toEqual({ wrong, instead });
  });

  test("what is right is taken", () => {
    for (const [type, written] of [
      ["i32", "-3"], ["i1", "true"], ["f32", "1e-5"], ["f64", "inf"], ["ptr<f32>", BUFFER], ["ptr<i8>", "-8..8:i8[64]"], ["ptr<i32>", "range:i32[3x5]"],
    ] as const) expect(checkArgument(` ${written} `, type, "")).toEqual({ value: written });
  });
});

test("an order of axes", () => {
  expect(checkOrder("1 0", 2)).toEqual({ value: "1 0" });
  expect(checkOrder("1, 0, 2", 3)).toEqual({ value: "1 0 2" });
  expect(checkOrder("0 2", 2)).toEqual({ wrong: "there is no axis `2`", instead: "1 0" });
  expect(checkOrder("0", 2)).toEqual({ wrong: "axis 1 is missing", instead: "1 0" });
  expect(checkOrder("0 1 1", 2)).toEqual({ wrong: "axis 1 occurs twice", instead: "1 0" });
});

test("a new shape", () => {
  expect(checkReshape("8 x 32", [16, 16])).toEqual({ value: "8x32" });
  expect(checkReshape("8x16", [16, 16])).toEqual({ wrong: "128 elements where the tensor has 256", instead: "16x16" });
  expect(checkReshape("8x33", [16, 16])).toEqual({ wrong: "33 is not a power of two", instead: "8x32" });
});

test("a layout's name", () => {
  expect(checkName("rows", "A", ["A", "B"], "D")).toEqual({ value: "rows" });
  expect(checkName("B", "A", ["A", "B"], "D")).toEqual({ wrong: "there is a layout B already", instead: "D" });
  expect(checkName("2b", "A", ["A", "B"], "D")).toEqual({ wrong: "a name is a letter, then letters and digits", instead: "b" });
  expect(checkName("", "A", ["A", "B"], "D")).toEqual({ wrong: "a name is missing", instead: "A" });
});

test("a kernel's name", () => {
  const text = "module {\n  tt.func public @copy(%x: !tt.ptr<f32>) {}\n  tt.func public @scale() {}\n}";
  expect(checkKernel("scale", text)).toEqual({ value: "scale" });
  expect(checkKernel("cpoy", text)).toEqual({ wrong: "the text has no kernel `cpoy`", instead: "copy" });
});
