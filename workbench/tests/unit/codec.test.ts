import { describe, expect, test } from "vitest";
import { extents, flag, formatPlace, initial, masks, parsePlace, read, text, texts, whole, word, write } from "../../src/state/codec";
import type { Fields } from "../../src/state/codec";

interface Sample {
  shape: number[];
  element: string;
  kind: "load" | "store";
  step: number;
  open: boolean;
  folds: number[];
  loads: string[];
}

const fields: Fields<Sample> = {
  shape: extents(16, 32),
  element: text("f32"),
  kind: word("load", "store"),
  step: whole(0),
  open: flag(),
  folds: masks(),
  loads: texts("a", "b"),
};

/** The same numbers in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("states in addresses", () => {
  test("defaults are left out", () => {
    expect(write(fields, initial(fields))).toBe("");
    expect(read(fields, "")).toEqual(initial(fields));
  });

  test("an address says what is special", () => {
    const state = { ...initial(fields), folds: [2, 4, 8, 16], kind: "store" as const };
    expect(write(fields, state)).toBe("kind=store&folds=2.4.8.10");
  });

  test("what is written is read back, whatever it is", () => {
    const next = random(7);
    const pick = <T>(...all: T[]): T => all[Math.floor(next() * all.length)] as T;
    const alphabet = ["", "a", "&", "=", "#ttg.blocked<{order = [1, 0]}>", "%00", "+ ü ⊕\n", "?", "-", "--", "0"];
    for (let round = 0; round < 2000; round++) {
      const state: Sample = {
        shape: Array.from({ length: 1 + Math.floor(next() * 3) }, () => 2 ** Math.floor(next() * 8)),
        element: pick(...alphabet),
        kind: pick("load", "store"),
        step: Math.floor(next() * 1000),
        open: next() < 0.5,
        folds: Array.from({ length: Math.floor(next() * 5) }, () => Math.floor(next() * 64)),
        loads: Array.from({ length: Math.floor(next() * 4) }, () => pick(...alphabet)),
      };
      // A single empty or dashed text is the one thing that stands for something else.
      if (state.loads.length === 1 && ["", "-"].includes(state.loads[0] ?? "")) continue;
      const hash = formatPlace({ view: "swizzle", query: write(fields, state) });
      const place = parsePlace(hash);
      expect(place.view).toBe("swizzle");
      expect(read(fields, place.query)).toEqual(state);
    }
  });

  test("what cannot be read takes its default", () => {
    const broken = "shape=3x5&kind=both&step=-4&open=yes&folds=x.y&what=1";
    expect(read(fields, broken)).toEqual(initial(fields));
    expect(read(fields, "step=99999999999999").step).toBe(0);
  });

  test("places stand behind the hash", () => {
    expect(parsePlace("")).toEqual({ view: "", query: "" });
    expect(parsePlace("#/tour")).toEqual({ view: "tour", query: "" });
    expect(parsePlace("#swizzle?a=b?c")).toEqual({ view: "swizzle", query: "a=b?c" });
    expect(formatPlace({ view: "tour", query: "" })).toBe("#/tour");
  });
});
