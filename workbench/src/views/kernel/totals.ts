/** What everything costs, before and after pins, side by side. */

import type { ExplainAnswer, Spent } from "../../engine/requests";
import { count, cycles } from "../../ui/amounts";
import { fill, h } from "../../ui/dom";
import type { Context } from "../view";
import { total } from "./model";
import type { LayoutNames } from "./model";
import { pinned } from "./state";
import type { State } from "./state";

export class Totals {
  readonly element = h("section.card.totals", { "aria-label": "What it costs", "aria-live": "polite" });
  readonly #context: Context<State>;

  constructor(context: Context<State>) {
    this.#context = context;
  }

  show(state: State, free: ExplainAnswer, now: ExplainAnswer, names: LayoutNames): void {
    const both = state.pins.length > 0 && now !== free;
    fill(
      this.element,
      h(
        "header",
        null,
        h("h2", null, "What it costs"),
        h(
          "p",
          null,
          `${now.name} for ${now.target}, ${count(now.warps, "warp")} a block. Cycles per block, over all rounds of loops.`,
        ),
      ),
      h(
        "div.sides",
        null,
        h(
          "div",
          null,
          h("div.scroll", { tabindex: 0, role: "group", "aria-label": "Costs" }, this.#table(free, now, both)),
          this.#bound(now),
        ),
        state.pins.length > 0 && h("div", null, this.#pins(state, names), both && this.#changes(free, now, names)),
      ),
    );
  }

  #table(free: ExplainAnswer, now: ExplainAnswer, both: boolean): HTMLElement {
    const { greedy } = free;
    const difference = (before: number, after: number) => {
      const sign = after > before ? "+" : after < before ? "−" : "±";
      const tone = after > before ? "worse" : after < before ? "better" : "same";
      return h("td.number", { class: `number ${tone}` }, `${sign}${cycles(Math.abs(after - before))}`);
    };
    const row = (name: string, id: string, of: ((spent: Spent) => number) | undefined, [before, after]: [number, number], all = false) =>
      h(
        "tr",
        { "data-row": id, class: all ? "sum" : null },
        h("th", { scope: "row" }, name),
        h("td.number", { "data-column": "before" }, cycles(before)),
        both && h("td.number", { "data-column": "after" }, cycles(after)),
        both && difference(before, after),
        greedy && h("td.number", null, of ? cycles(of(greedy)) : ""),
      );
    const part = (name: string, key: keyof Spent) =>
      row(name, key, (spent) => spent[key], [free.spent[key], now.spent[key]]);
    // What the arithmetic costs that homes decide on, which the greedy choice is not asked for.
    const rest = (answer: ExplainAnswer) => total(answer) - answer.spent.movements - answer.spent.accesses - answer.spent.work;
    const arithmetic: [number, number] = [rest(free), rest(now)];
    const head = (text: string) => h("th.number", { scope: "col" }, text);
    return h(
      "table.data",
      null,
      h("caption.spoken", null, both ? "Costs before and after the pins" : "Costs"),
      h(
        "thead",
        null,
        h("tr", null, h("td", null, ""), head(both ? "before" : "chosen"), both && head("pinned"), both && head("change"), greedy && head("greedy")),
      ),
      h(
        "tbody",
        null,
        part("movements", "movements"),
        part("accesses", "accesses"),
        part("work", "work"),
        arithmetic.some((cost) => cost > 0) && row("arithmetic", "arithmetic", undefined, arithmetic),
        row("together", "total", undefined, [total(free), total(now)], true),
      ),
    );
  }

  /** How far the choice may be from the best. */
  #bound({ choice, greedy }: ExplainAnswer): HTMLElement | null {
    if (!choice) return h("p.note", null, "The IR itself says where its values live: nothing was chosen.");
    const { cost, bound } = choice;
    const best =
      cost === bound
        ? "No choice among the candidates costs less."
        : `No choice among the candidates costs less than ${cycles(bound)} cycles.`;
    return h("p.note", null, best, greedy ? " “Greedy” chooses as Triton does." : "");
  }

  #pins({ pins }: State, names: LayoutNames): HTMLElement | null {
    if (pins.length === 0) return null;
    const remove = (pin: string) => this.#context.set({ pins: pins.filter((other) => other !== pin) });
    const chip = (pin: string) => {
      const value = pinned(pin);
      const layout = pin.slice(pin.indexOf("=") + 1).trim();
      const name = names.of(layout);
      return h(
        "li",
        null,
        h("code", { title: layout }, `${value} in ${name === "?" ? layout : name}`),
        h("button.quiet", { type: "button", onclick: () => remove(pin), "aria-label": `Unpin ${value}` }, "Unpin"),
      );
    };
    return h(
      "div.pins",
      null,
      h("h3", null, "Pinned"),
      h("ul", null, pins.map(chip)),
      pins.length > 1 && h("button.quiet", { type: "button", onclick: () => this.#context.set({ pins: [] }) }, "Unpin all"),
    );
  }

  /** The values that live elsewhere, and the movements before and after. */
  #changes(free: ExplainAnswer, now: ExplainAnswer, names: LayoutNames): HTMLElement {
    const before = new Map(free.homes.map(({ value, memory, layout }) => [`${value} ${memory}`, layout]));
    const moved = now.homes.filter(({ value, memory, layout }) => before.get(`${value} ${memory}`) !== layout);
    const movements = (answer: ExplainAnswer) =>
      answer.movements.map(({ value, from, to, cost, times }) =>
        h("li", null, h("code", null, value), ` ${names.of(from)} → ${names.of(to)}, ${cycles(cost)} a warp${times > 1 ? `, ${times} times` : ""}`),
      );
    const side = (name: string, answer: ExplainAnswer) => {
      const all = movements(answer);
      return h("div", null, h("h3", null, name), all.length > 0 ? h("ul.plain", null, all) : h("p.note", null, "nothing moves"));
    };
    return h(
      "div.changes",
      null,
      h(
        "div",
        null,
        h("h3", null, "Homes that changed"),
        moved.length > 0
          ? h(
              "ul.plain",
              null,
              moved.map(({ value, memory, layout }) => {
                const old = before.get(`${value} ${memory}`);
                return h("li", null, h("code", null, value), ` ${old ? names.of(old) : "nowhere"} → ${names.of(layout)}`);
              }),
            )
          : h("p.note", null, "none"),
      ),
      side("Movements without pins", free),
      side("Movements with pins", now),
    );
  }
}
