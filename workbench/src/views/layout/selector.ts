/** What is selected, in words, and the fields that select without a pointer. */

import type { LayoutAnswer } from "../../engine/requests";
import { count } from "../../ui/amounts";
import { fill, freshId, h } from "../../ui/dom";
import type { Context } from "../view";
import { basisInWords, binary, formatSelection, inBits, parseSelection } from "./selection";
import type { Pair, Selection } from "./selection";
import type { State } from "./state";

/** An axis with its bits. */
interface Axis {
  name: string;
  bits: number;
}

/** The most values that a list of choices has. */
const MAX_CHOICES = 1024;

/** The axes of both sides of a layout, from its text: `[lane: 1 2] -> [dim0: 4]`. */
export function axesOf({ bases, text }: LayoutAnswer): { ins: Axis[]; outs: Axis[] } {
  const outs = /-> \[([^\]]*)\]/.exec(text)?.[1] ?? "";
  return {
    ins: Object.entries(bases).map(([name, images]) => ({ name, bits: images.length })),
    outs: outs.split(", ").flatMap((part) => {
      const one = /^(\w+): (\d+)$/.exec(part);
      return one ? [{ name: one[1]!, bits: Math.round(Math.log2(Number(one[2]))) }] : [];
    }),
  };
}

/** What is selected of a layout; nothing where it has no such axis. */
export function selectionOf({ at }: State, answer: LayoutAnswer): Selection | undefined {
  const selection = parseSelection(at);
  const { ins, outs } = axesOf(answer);
  const known = (axis: string) => [...ins, ...outs].some(({ name }) => name === axis);
  const named = !selection ? [] : "axis" in selection ? [selection.axis] : Object.keys(selection.at);
  return named.every(known) ? selection : undefined;
}

export class Selector {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #fields = h("div.axes");
  readonly #says = h("p.said", { "aria-live": "polite", "data-said": "" });
  readonly #clear;
  #answer: LayoutAnswer | undefined;
  #bits: Record<string, number> = {};
  #selection: Selection | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    this.#clear = h("button.quiet", { type: "button", onclick: () => context.set({ at: "" }) }, "Select nothing");
    this.element = h(
      "section.card.selector",
      { "aria-label": "Selection" },
      h("header", null, h("h2", null, "Selected"), this.#clear),
      this.#fields,
      this.#says,
    );
  }

  show(answer: LayoutAnswer, state: State): void {
    this.#answer = answer;
    this.#selection = selectionOf(state, answer);
    const { ins, outs } = axesOf(answer);
    const all = [...ins, ...outs].filter(({ bits }) => bits > 0);
    this.#bits = Object.fromEntries(all.map(({ name, bits }) => [name, bits]));
    this.element.hidden = false;
    this.#clear.disabled = !this.#selection;
    fill(this.#fields, all.map((axis) => this.#axis(axis)));
    this.say(undefined);
  }

  clear(): void {
    this.element.hidden = true;
  }

  /** Selects, or takes back what was selected so before. */
  choose(selection: Selection): void {
    const written = formatSelection(selection);
    const before = formatSelection(this.#selection);
    this.#context.set({ at: written === before ? "" : written });
  }

  /** Says what a cell is, or what is selected where nothing is pointed at. */
  say(pair: Pair | Selection | undefined, cells?: number): void {
    const said = pair ?? this.#selection;
    this.#says.textContent = said ? this.#words(said, cells) : "Nothing. Point at a cell, or choose a coordinate or a bit here.";
  }

  #words(said: Pair | Selection, cells?: number): string {
    if ("element" in said) {
      const element = inBits(said.element, this.#bits);
      return said.place ? `${inBits(said.place, this.#bits)} holds ${element}` : `${element}: held by nobody`;
    }
    const many = cells === undefined ? "" : `: ${count(cells, "element")}`;
    if ("axis" in said) {
      const { axis, bit } = said;
      const does = this.#answer && basisInWords(this.#answer.bases, axesOf(this.#answer).outs.map(({ name }) => name), axis, bit);
      return does ? `Bit ${bit} of ${axis} ${does}${many}` : `Bit ${bit} of ${axis}${many}`;
    }
    return Object.entries(said.at).map(([axis, value]) => binary(axis, value, this.#bits[axis] ?? 0)).join(", ") + many;
  }

  #axis({ name, bits }: Axis): HTMLElement {
    const id = freshId("axis");
    const chosen = this.#selection;
    const at = chosen && "at" in chosen ? chosen.at : {};
    const set = (value: string) => {
      const { [name]: _, ...rest } = at;
      const next = value === "" ? rest : { ...rest, [name]: Number(value) };
      this.#context.set({ at: formatSelection({ at: next }) });
    };
    const size = 2 ** bits;
    const field =
      size <= MAX_CHOICES
        ? h("select", { id, onchange: (event: Event) => set((event.target as HTMLSelectElement).value) }, [
            h("option", { value: "" }, "any"),
            ...Array.from({ length: size }, (_, value) => h("option", { value }, `${value} = ${value.toString(2).padStart(bits, "0")}`)),
          ])
        : h("input", { id, type: "text", inputmode: "numeric", onchange: (event: Event) => set((event.target as HTMLInputElement).value.replace(/\D/g, "")) });
    field.value = at[name] === undefined ? "" : String(at[name]);
    const isOn = (bit: number) => chosen !== undefined && "axis" in chosen && chosen.axis === name && chosen.bit === bit;
    return h(
      "div.axis",
      { "data-axis": name },
      h("div.field", null, h("label", { for: id }, name), field),
      h(
        "div.row.bits",
        { role: "group", "aria-label": `Bits of ${name}` },
        Array.from({ length: bits }, (_, bit) =>
          h(
            "button",
            {
              type: "button",
              "aria-pressed": String(isOn(bit)),
              "aria-label": `Bit ${bit} of ${name}`,
              onclick: () => this.choose({ axis: name, bit }),
            },
            String(bit),
          ),
        ),
      ),
    );
  }
}
