/** Two answers side by side: another machine, Triton's own layouts, another version of the text. */

import type { ExplainAnswer } from "../../engine/requests";
import { cycles } from "../../ui/amounts";
import { fill, h } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { choice, textField } from "../../ui/fields";
import type { Context } from "../view";
import { Sources } from "./links";
import { presetOf, sourceOf } from "./state";
import type { State } from "./state";

/** What stands for Triton's own layouts, and for another text. */
export const TRITON = "triton";
export const TEXT = "text";

/** What a state compares its kernel with: a text and a machine; none where it compares nothing. */
export function opponent(state: State): { name: string; ttir?: string; target: string } | undefined {
  const { against, other, target } = state;
  if (against === "") return undefined;
  if (against === TEXT) return other === "" ? undefined : { name: "the other text", ttir: other, target };
  if (against !== TRITON) return { name: against, target: against };
  const triton = presetOf(state)?.triton;
  return triton === undefined ? undefined : { name: "Triton's layouts", ttir: triton, target };
}

export class Against {
  readonly element: HTMLElement;
  /** The choice of what to compare with, which stands where the question is asked. */
  readonly pick;
  readonly fault = new FaultBox();
  readonly #context: Context<State>;
  readonly #table = h("table.data");
  readonly #note = h("p.note");
  readonly #scroll: HTMLElement;
  readonly #other;
  #machines: string[] = [];

  constructor(context: Context<State>) {
    this.#context = context;
    this.pick = choice<string>("Compare with", [{ value: "", label: "nothing" }], (against) => context.set({ against }));
    context.engine.invoke({ request: "machines" }).then(({ machines }) => {
      this.#machines = machines.map(({ name }) => name);
      this.#offer();
    }, () => undefined);
    this.#other = textField("The other text", (other) => context.set({ other: other.trim() === "" ? "" : other }), {
      lines: 6, hint: "Triton IR of another version, or Triton's TTGIR; lines are matched through their Python source.",
    });
    this.#scroll = h("div.scroll", { tabindex: 0, role: "group", "aria-label": "Side by side" }, this.#table);
    this.element = h(
      "section.card.against",
      { "aria-label": "Comparison" },
      h("header", null, h("h2", null, "Side by side")),
      h("div.stack.tight", null, this.#other.element, this.fault.element, this.#scroll, this.#note),
    );
  }

  #state: State | undefined;

  update(state: State): void {
    this.#state = state;
    this.element.hidden = state.against === "";
    this.#other.element.hidden = state.against !== TEXT;
    this.#other.set(state.other);
    this.#offer();
    if (opponent(state) === undefined) this.clear(state.against === TRITON ? "No TTGIR of this kernel is recorded here: paste one as another text." : "");
  }

  clear(note = ""): void {
    this.#scroll.hidden = true;
    this.#note.textContent = note;
  }

  #offer(): void {
    const state = this.#state;
    if (!state) return;
    this.pick.offer([
      { value: "", label: "nothing" },
      ...(presetOf(state)?.triton !== undefined || state.against === TRITON ? [{ value: TRITON, label: "Triton 3.9's layouts" }] : []),
      { value: TEXT, label: "another text…" },
      ...this.#machines.filter((name) => name !== state.target).map((name) => ({ value: name, label: name })),
    ]);
    this.pick.set(state.against);
  }

  show(state: State, here: ExplainAnswer, there: ExplainAnswer, name: string): void {
    this.fault.clear();
    this.#scroll.hidden = false;
    const texts = new Map(new Sources(here.lines).shown(sourceOf(state), here.name).map(({ number, text }) => [number, text.trim()]));
    const costs = (answer: ExplainAnswer) => {
      const sources = new Sources(answer.lines);
      const all = new Map<number, number>();
      for (const { line, cost } of answer.lines ?? []) {
        const python = sources.of(line);
        if (python !== undefined && cost > 0) all.set(python, (all.get(python) ?? 0) + cost);
      }
      return all;
    };
    const [own, other] = [costs(here), costs(there)];
    const lines = [...new Set([...own.keys(), ...other.keys()])].sort((a, b) => a - b);
    const largest = Math.max(1, ...own.values(), ...other.values());
    const cell = (value: number, bar: boolean) => h("td.number.bar", { style: bar ? `--share: ${(value / largest).toFixed(3)}` : null }, value === 0 ? "–" : cycles(value));
    const row = (head: (Node | string)[], [a, b]: [number, number], line?: number) => {
      const tone = b > a ? "better" : b < a ? "worse" : "same";
      const times = a === b ? "the same" : a === 0 || b === 0 ? "" : b > a ? `${(b / a).toFixed(2)} × less here` : `${(a / b).toFixed(2)} × more here`;
      return h("tr", { class: line === undefined ? "sum" : null, "data-python": line ?? "all" }, h("th", { scope: "row" }, head), cell(a, line !== undefined), cell(b, line !== undefined), h("td", { class: tone }, times));
    };
    const sum = (all: Map<number, number>) => [...all.values()].reduce((sum, one) => sum + one, 0);
    const whole = ({ lines = [] }: ExplainAnswer) => lines.reduce((sum, { cost }) => sum + cost, 0);
    fill(
      this.#table,
      h("caption.spoken", null, `Cycles per block, here and with ${name}`),
      h("thead", null, h("tr", null, ["line", `${here.target}, Weft`, there.target === here.target ? name : there.target, ""].map((text, index) => h(index === 0 ? "th" : "th.number", { scope: "col" }, text)))),
      h(
        "tbody",
        null,
        lines.map((line) => {
          const go = h("button.quiet.instead", { type: "button", onclick: () => this.#context.set({ python: line, line: 0 }) }, String(line));
          return row([go, " ", h("code", null, texts.get(line) ?? "")], [own.get(line) ?? 0, other.get(line) ?? 0], line);
        }),
        row(["all lines"], [whole(here), whole(there)]),
      ),
    );
    const lost = whole(there) - sum(other) + whole(here) - sum(own);
    this.#note.textContent = `Cycles per block over all rounds of loops, as Weft prices both.${lost > 0 ? " Some of the costs are at lines that name no place." : ""}`;
  }
}
