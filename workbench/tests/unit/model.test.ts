import { describe, expect, test } from "vitest";
import {
  basesText, direction, directions, fitFolds, foldNumber, foldedBases, foldsOf, foldsOfNumber, namedFolds, tensorBits,
} from "../../src/views/swizzle/model";

const tensor = tensorBits([16, 32]);

describe("folds", () => {
  test("the 16x32 tensor has nine bits and twenty toggles", () => {
    expect(tensor).toEqual({ shape: [16, 32], columns: 5, rows: 4 });
    expect(tensor.rows * tensor.columns).toBe(20);
  });

  test("XOR 2m is the matrix of the construction", () => {
    const [, , twice] = namedFolds(tensor);
    expect(twice?.folds).toEqual([2, 4, 8, 16]);
    expect(foldedBases(twice?.folds ?? [], tensor)["offset"]).toEqual([
      [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 2], [2, 4], [4, 8], [8, 16],
    ]);
  });

  test("bases and folds say the same", () => {
    for (let number = 0; number < 2 ** 20; number += 4099) {
      const folds = foldsOfNumber(number, tensor);
      expect(foldNumber(folds, tensor)).toBe(number);
      expect(foldsOf(foldedBases(folds, tensor), tensor)).toEqual(folds);
    }
  });

  test("other memories are no folds", () => {
    const columns = { offset: [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16]] };
    expect(foldsOf(columns, tensor)).toBeUndefined();
    expect(foldsOf({ offset: [[0, 1]] }, tensor)).toBeUndefined();
  });

  test("tensors of other ranks have rows and columns too", () => {
    const cube = tensorBits([4, 2, 8]);
    expect([cube.rows, cube.columns]).toEqual([3, 3]);
    expect(foldedBases([1, 2, 4], cube)["offset"]).toEqual([
      [0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 1, 1], [1, 0, 2], [2, 0, 4],
    ]);
    expect(foldsOf(foldedBases([1, 2, 4], cube), cube)).toEqual([1, 2, 4]);
  });

  test("folds of another tensor are cut to this one", () => {
    expect(fitFolds([255, 1, 2, 3, 4, 5], tensor)).toEqual([31, 1, 2, 3]);
    expect(fitFolds([], tensor)).toEqual([0, 0, 0, 0]);
  });
});

describe("names", () => {
  test("directions are sums of bits", () => {
    expect(direction([1, 2])).toBe("m₀⊕n₁");
    expect(direction([0, 0])).toBe("0");
    expect(direction([8, 16])).toBe("m₃⊕n₄");
    expect(directions([])).toBe("∅");
    expect(directions([[1, 1], [2, 2]])).toBe("{m₀⊕n₀, m₁⊕n₁}");
  });

  test("bases are a text that the engine reads", () => {
    expect(basesText({ offset: [[0, 1], [1, 0]], warp: [] }, [2, 2])).toBe(
      "[offset: (0,1) (1,0), warp:] -> [dim0: 2, dim1: 2]",
    );
  });
});
