import { describe, expect, test } from "vitest";
import { findMissing, formatNamed, formatOperation, freshName, parseNamed, parseOperation } from "../../src/views/layout/names";
import {
  basisInWords,
  elementKey,
  enters,
  formatSelection,
  holds,
  inBits,
  parseEntry,
  parsePair,
  parseSelection,
} from "../../src/views/layout/selection";

describe("named layouts", () => {
  test("a name and a text, and back", () => {
    const named = parseNamed(" A2 = [lane: 1] -> [dim0: 2]");
    expect(named).toEqual({ name: "A2", text: "[lane: 1] -> [dim0: 2]" });
    expect(formatNamed(named!)).toBe("A2 = [lane: 1] -> [dim0: 2]");
    for (const written of ["", "= x", "2A = x", "A x"]) expect(parseNamed(written)).toBeUndefined();
  });

  test("operators on names, and back", () => {
    for (const written of ["compose(A, B)", "product(A, A)", "divide(B, A)", "invert(T2)", "transpose(A, 1 0)", "reshape(A, 8x64)"]) {
      expect(formatOperation(parseOperation(written)!)).toBe(written);
    }
    expect(parseOperation("reshape(A, 8x64)")).toEqual({ operator: "reshape", of: ["A"], to: [8, 64] });
    const others = ["compose(A)", "invert(A, B)", "transpose(A)", "transpose(A, x)", "reshape(A, 3x5)", "weave(A, B)", "(16,32):(32,1)", "#ttg.blocked<{order = [0]}>", "invert(invert(A))"];
    for (const written of others) expect(parseOperation(written), written).toBeUndefined();
  });

  test("a layout that is missing or made of itself is named", () => {
    const all = ["A = [lane: 1] -> [dim0: 2]", "B = invert(A)", "C = compose(B, D)", "X = invert(Y)", "Y = invert(X)"].map((text) => parseNamed(text)!);
    expect(findMissing("B", all)).toBeUndefined();
    expect(findMissing("C", all)).toBe("there is no layout named `D`");
    expect(findMissing("X", all)).toBe("`X` is made of itself: X of Y of X");
    expect(freshName(all)).toBe("D");
  });
});

describe("selections", () => {
  test("are written and read", () => {
    for (const written of ["lane=9", "register=1,lane=3", "dim0=3,dim1=5", "lane[2]"]) {
      expect(formatSelection(parseSelection(written))).toBe(written);
    }
    for (const written of ["", "lane", "lane=x", "lane=1,,", "[2]"]) expect(parseSelection(written)).toBeUndefined();
  });

  const grid = parsePair("dim0 3, dim1 5: register 1, lane 13, warp 0", true);
  const hardware = parsePair("register 1, lane 13, warp 0: dim0 3, dim1 5", false);

  test("the same element has one key in both pictures", () => {
    expect(grid).toEqual(hardware);
    expect(elementKey(grid)).toBe("dim0=3,dim1=5");
    expect(parsePair("dim0 3: held by nobody", true)).toEqual({ element: { dim0: 3 } });
  });

  test("hold cells by coordinates of either side, and by bits", () => {
    for (const written of ["lane=13", "dim1=5", "dim0=3,register=1", "lane[0]", "lane[3]", "dim1[2]"]) {
      expect(holds(parseSelection(written)!, grid), written).toBe(true);
    }
    for (const written of ["lane=12", "lane=13,register=0", "lane[1]", "dim0[2]", "offset=1", "offset[0]"]) {
      expect(holds(parseSelection(written)!, grid), written).toBe(false);
    }
  });

  test("enter the matrix by the ones that take part", () => {
    const one = parseEntry("bit 3 of lane sets bit 1 of dim0")!;
    const none = parseEntry("bit 3 of lane leaves bit 0 of dim0")!;
    expect(enters({ at: { lane: 8 } }, one)).toBe(true);
    expect(enters({ at: { lane: 7 } }, one)).toBe(false);
    expect(enters({ at: { lane: 8 } }, none)).toBe(false);
    expect(enters({ at: { dim0: 2 } }, one)).toBe(true);
    expect(enters({ axis: "lane", bit: 3 }, none)).toBe(true);
    expect(enters({ axis: "dim0", bit: 0 }, none)).toBe(true);
    expect(enters({ axis: "dim0", bit: 1 }, none)).toBe(false);
    expect(parseEntry("something else")).toBeUndefined();
  });

  test("are told with their bits", () => {
    expect(inBits({ register: 1, lane: 13, warp: 0 }, { register: 3, lane: 5, warp: 0 })).toBe("register 1 = 001, lane 13 = 01101");
    const bases = { lane: [[0, 4], [3, 1], [0, 0]] };
    expect(basisInWords(bases, ["dim0", "dim1"], "lane", 0)).toBe("flips dim1 by 4");
    expect(basisInWords(bases, ["dim0", "dim1"], "lane", 1)).toBe("flips dim0 by 3 and dim1 by 1");
    expect(basisInWords(bases, ["dim0", "dim1"], "lane", 2)).toContain("copy");
    expect(basisInWords(bases, ["dim0", "dim1"], "warp", 0)).toBeUndefined();
  });
});
