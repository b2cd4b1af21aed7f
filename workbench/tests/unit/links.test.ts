import { describe, expect, test } from "vitest";
import type { ExplainAnswer, Line } from "../../src/engine/requests";
import { PRESETS } from "../../src/views/kernel/presets";
import { initial } from "../../src/state/codec";
import { commandOf, parameters, valuesOf } from "../../src/views/kernel/arguments";
import { Sources, heat, ofCode, ofListing, ofText, registersIn } from "../../src/views/kernel/links";
import { fields } from "../../src/views/kernel/state";

const LINES: Line[] = [
  { line: 3, sources: ["k.py:7:11"], cost: 30 },
  { line: 4, sources: ["triton/language/standard.py:216:16", "k.py:8:5"], cost: 0 },
  { line: 5, sources: ["k.py:8:5"], cost: 10 },
  { line: 6, sources: ["k.py:6:1"], cost: 0 },
];

describe("the source", () => {
  const sources = new Sources(LINES);

  test("is the user's, from wherever a line was inlined", () => {
    expect(sources.file).toBe("k.py");
    expect([3, 4, 5, 9].map((line) => sources.of(line))).toEqual([7, 8, 8, undefined]);
    expect(sources.from(8)).toEqual([4, 5]);
  });

  test("begins at the first function, and knows what each line became", () => {
    const file = "import triton\n\n\nA = 1\n@jit\ndef k(x):\n  y = load(x)\n  store(sum(y))\n";
    expect(sources.shown(file, "k")).toEqual([
      { number: 5, text: "@jit", of: [] },
      { number: 6, text: "def k(x):", of: [6] },
      { number: 7, text: "  y = load(x)", of: [3] },
      { number: 8, text: "  store(sum(y))", of: [4, 5] },
    ]);
  });

  test("of a function by itself is moved to where the file had it", () => {
    const own = sources.shown("def k(x):\n  y = load(x)\n  store(sum(y))", "k");
    expect(own.map(({ number, of }) => [number, of])).toEqual([[6, [6]], [7, [3]], [8, [4, 5]]]);
  });

  test("that nobody gave is told by its lines", () => {
    expect(sources.shown("", "k").map(({ text }) => text)).toEqual(["k.py:6", "k.py:7", "k.py:8"]);
  });
});

test("code is linked by its comments, which are left out", () => {
  const code = ".version 7.8\n.entry k(\n)\n{\n  .reg .b32 %r<2>;\n  // text:3\n  ld a;\n  ld b;\n  // a note\n  // text:5\n  st c;\n}\n";
  const shown = ofCode(code);
  expect(shown.filter(({ of }) => of.length > 0)).toEqual([
    { number: 6, text: "  ld a;", of: [3] },
    { number: 7, text: "  ld b;", of: [3] },
    { number: 8, text: "  // a note", of: [3] },
    { number: 9, text: "  st c;", of: [5] },
  ]);
  expect(shown.at(-1)).toEqual({ number: 10, text: "}", of: [] });
});

test("a listing is linked by lines of the user's file and of the PTX", () => {
  const sources = new Sources(LINES);
  const ptx = "{\n  // text:3\n  ld a;\n  // text:5\n  st c;\n}";
  const listing = [
    'k:', '\t//## File "/home/k.py", line 8', "        /*0000*/  STG.E [R2], R0 ;  /* 0x000000020000798f */",
    '\t//## File ".nv_debug_ptx_txt", line 3', "        /*0010*/  @!P0 LDG.E R12, [R2] ;",
  ].join("\n");
  const shown = ofListing(listing, sources, ofCode(ptx), ptx.replaceAll("text:", "k.py:"));
  expect(shown.map(({ text, of }) => [text.trim(), of])).toEqual([
    ["k:", []],
    ["/*0000*/  STG.E [R2], R0 ;", [4, 5]],
    ["/*0010*/  @!P0 LDG.E R12, [R2] ;", [3]],
  ]);
  expect(registersIn(listing)).toBe(13);
  expect(registersIn("nothing")).toBeUndefined();
});

test("what a line costs is a share of all", () => {
  const share = heat({ lines: LINES } as ExplainAnswer);
  expect([[3], [4, 5], [9]].map(share)).toEqual([0.75, 0.25, 0]);
});

test("every example has its source, its arguments and a run", () => {
  for (const preset of PRESETS) {
    const state = { ...initial(fields), preset: preset.id };
    const kernel = /tt\.func public @(\w+)/.exec(preset.text)![1]!;
    expect(preset.source, preset.id).toContain(`def ${kernel}(`);
    const known = parameters(preset.text, kernel);
    expect(known.length, preset.id).toBeGreaterThan(1);
    expect(Object.keys(valuesOf(state, kernel).args)).toEqual(known.map(({ name }) => name));
    const given = preset.args.split(" ").map((arg) => arg.split("=")[0]);
    expect(given.sort(), preset.id).toEqual(known.map(({ name }) => name).sort());
    expect(ofText(preset.text).some(({ text }) => text.includes("loc(")), preset.id).toBe(false);
  }
});

test("a kernel of one's own is given numbers that its text takes", () => {
  const text = "tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %s: f32) {\n  tt.return\n}";
  expect(parameters(text, "k")).toEqual([
    { name: "x", type: "ptr<f16>", divisibility: 16 },
    { name: "n", type: "i32", divisibility: 16 },
    { name: "s", type: "f32", divisibility: 1 },
  ]);
  const state = { ...initial(fields), text, args: ["s=0.5"] };
  expect(valuesOf(state, "k")).toEqual({ grid: "1", args: { x: "random:f16[4096]", n: "1024", s: "0.5" } });
  const pinned = { ...state, warps: "8" as const, pins: ["%a=[lane: 1] -> [dim0: 2]"], seed: 3 };
  expect(commandOf(pinned, "k")).toBe(
    "weft run k.ttir --target sm_90 --grid 1 --arg 'x=random:f16[4096]' --arg n=1024 --arg s=0.5 --warps 8 --pin '%a=[lane: 1] -> [dim0: 2]' --seed 3",
  );
});
