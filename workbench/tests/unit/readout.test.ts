import { expect, test } from "vitest";
import { parts } from "../../src/ui/readout";

test("what a cell says is cut into names and values", () => {
  expect(parts("dim0 3, dim1 1: offset 98, bank 2, register 0 of lane 19")).toEqual([
    [["dim0", "3"], ["dim1", "1"]],
    [["offset", "98"], ["bank", "2"], ["register", "0"], ["lane", "19"]],
  ]);
  expect(parts("byte 0, bank 0: element 1 2, stored by lane 0 3")).toEqual([
    [["byte", "0"], ["bank", "0"]],
    [["element", "1 2"], ["stored by lane", "0 3"]],
  ]);
  expect(parts("waits: from 4.00, cycles 5.50: meanwhile products")).toEqual([
    [["waits", ""]],
    [["from", "4.00"], ["cycles", "5.50"]],
    [["meanwhile products", ""]],
  ]);
  expect(parts("bit 0 of lane sets bit 2 of dim1")).toEqual([[["bit 0 of lane sets bit 2 of dim1", ""]]]);
  expect(parts("")).toEqual([]);
});
