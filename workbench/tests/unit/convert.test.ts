import { expect, test } from "vitest";
import { elementsOf } from "../../src/views/convert/elements";

test("elements are read from the labels of registers and of words", () => {
  expect(elementsOf("register 1, lane 3: element 5")).toEqual(["5"]);
  expect(elementsOf("byte 4, bank 1: element 2 3, stored by lane 1 2, instruction 0, wavefront 0")).toEqual(["2", "3"]);
  expect(elementsOf("register 1, lane 3: element - 7")).toEqual(["7"]);
  expect(elementsOf("register 1, lane 3: nothing")).toEqual([]);
});
