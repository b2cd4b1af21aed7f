import { describe, expect, test } from "vitest";
import { unread } from "../../src/state/codec";
import { checkExtents, checkGrid } from "../../src/ui/checks";
import { bankColour } from "../../src/views/swizzle/colours";
import { fields } from "../../src/views/swizzle/state";
import { deepest, seen } from "../../src/views/swizzle/tile";

describe("extents", () => {
  test("are read however they are parted", () => {
    for (const written of ["16x32", "16 × 32", "[16, 32]", "(16,32)", " 16 32 ", "16X32", "16*32"]) {
      expect(checkExtents(written), written).toEqual({ value: [16, 32] });
    }
  });

  test("what is wrong is named, with what would be right", () => {
    expect(checkExtents("16x33")).toEqual({ wrong: "33 is not a power of two", instead: "16x32" });
    expect(checkExtents("0x0")).toEqual({ wrong: "an extent is at least 1", instead: "1x1" });
    expect(checkExtents("abc")).toEqual({ wrong: "`abc` is not a number" });
    expect(checkExtents("16x")).toEqual({ wrong: "an extent is missing" });
    expect(checkExtents("")).toEqual({ wrong: "extents are missing", instead: "16x32" });
    expect(checkExtents("-4x8")).toEqual({ wrong: "`-4` is not a number" });
    expect(checkExtents("1.5x8")).toEqual({ wrong: "`1.5` is not a number" });
    expect(checkExtents("48x100")).toEqual({ wrong: "48 is not a power of two", instead: "64x128" });
  });
});

test("what an address says and cannot be read is told", () => {
  expect(unread(fields, "shape=16x33&fold=2.4&step=x&store=nothing")).toEqual(["shape=16x33", "step=x"]);
});

test("neighbouring banks share a hue, and no two pairs do", () => {
  const hue = (bank: number) => bankColour(bank, 32).split(" ")[2];
  const hues = Array.from({ length: 32 }, (_, bank) => hue(bank));
  expect(hues.every((own, bank) => own === hues[bank ^ 1])).toBe(true);
  expect(new Set(hues).size).toBe(16);
});

test("a window halves until eight columns are left", () => {
  expect(deepest(32)).toBe(2);
  expect(deepest(256)).toBe(3);
  expect(deepest(4)).toBe(0);
  expect([0, 1, 2].map((zoom) => seen([16, 32], zoom))).toEqual([[16, 32], [8, 16], [4, 8]]);
  expect(seen([128, 256], 0)).toEqual([64, 64]);
});

describe("a grid", () => {
  test("is read however it is parted", () => {
    for (const written of ["4x2", "4, 2", " 4 × 2 ", "4 2", "04x2"]) expect(checkGrid(written), written).toEqual({ value: "4x2" });
  });

  test("what is wrong is named, with what would be right", () => {
    expect(checkGrid("0x2")).toEqual({ wrong: "a grid has at least one block", instead: "1x2" });
    expect(checkGrid("1x2x3x4")).toMatchObject({ instead: "1x2x3" });
    expect(checkGrid("4x")).toEqual({ wrong: "a count is missing" });
    expect(checkGrid("four")).toEqual({ wrong: "`four` is not a count of blocks" });
    expect(checkGrid("")).toMatchObject({ instead: "1" });
  });
});
