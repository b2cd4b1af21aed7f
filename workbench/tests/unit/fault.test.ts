import { expect, test } from "vitest";
import { caret, tell } from "../../src/ui/fault";

test("a caret stands under the column", () => {
  expect(caret("#ttg.blockd<{}>", 1, 6)).toBe("1 | #ttg.blockd<{}>\n  |      ^");
  expect(caret("a\nbc", 2, 2)).toBe("2 | bc\n  |  ^");
  expect(caret("a", 5, 1)).toBe("");
});

test("a fault is told as the command tells it", () => {
  const fault = { kind: "target", message: "there is no target `sm_1`", hint: "known are sm_80" };
  expect(tell(fault)).toBe("error: there is no target `sm_1`\nhelp: known are sm_80");
  const placed = { kind: "attribute", message: "`store`, column 2: what", line: 1, column: 2 };
  expect(tell(placed, "[x")).toBe("error: `store`, column 2: what\n1 | [x\n  |  ^");
});

test("all faults of a text are told", () => {
  const all = [
    { message: "one", hint: null, line: 1, column: 1 },
    { message: "two", hint: "so", line: 2, column: 1 },
  ];
  expect(tell({ kind: "ttir", message: "one (and 1 more)", all }, "a\nb")).toBe(
    "error: one\n1 | a\n  | ^\n\nerror: two\n2 | b\n  | ^\nhelp: so",
  );
});
