/** How the tensor moves, what it costs, and what else was weighed. */

import type { ConvertAnswer, Way } from "../../engine/requests";
import { count, cycles } from "../../ui/amounts";
import { fill, h } from "../../ui/dom";
import type { State } from "./state";

export class Ways {
  readonly verdict = h("section.verdicts", { "aria-label": "The plan in short", "aria-live": "polite" });
  readonly element = h("section.card", { "aria-label": "The plan" });

  show(answer: ConvertAnswer, state: State): void {
    const { strategy, cost, bound, least, wavefronts, ideal_wavefronts } = answer;
    const free = wavefronts === ideal_wavefronts;
    const badge = (good: boolean, name: string, value: string, more = "") =>
      h("span", { class: `badge ${good ? "good" : "bad"}`, "data-badge": name }, h("span", null, name), h("strong", null, value), more);
    fill(
      this.verdict,
      h(
        "div.badges",
        null,
        badge(true, "by", strategy),
        badge(cost <= bound, "costs", `${cycles(cost)} cycles`, `a warp, bound ${cycles(bound)}`),
        wavefronts > 0 && badge(free, free ? "✓ banks" : "✗ banks", count(wavefronts, "wavefront"), `of at least ${ideal_wavefronts}`),
        answer.verified && badge(true, "✓ witness", "every element arrives"),
      ),
    );
    const steps = h("pre", { tabindex: 0, "aria-label": "The steps of the plan" }, answer.outline);
    fill(
      this.element,
      h("header", null, h("h2", null, "What was weighed"), h("p", null, `${state.shape.join(" × ")} of ${state.element} on ${state.target}`)),
      h("div.scroll", { tabindex: 0, role: "group", "aria-label": "Ways to move the tensor" }, this.#table(answer, answer.alternatives ?? [])),
      least !== undefined &&
        h("p.note", null, `No plan can cost less than ${cycles(least)} cycles, which it takes to bring elements to the threads and warps that lack them.`),
      h("details", null, h("summary", null, "The steps"), h("div.code", null, steps)),
    );
  }

  clear(): void {
    fill(this.verdict);
    fill(this.element);
    this.element.hidden = true;
  }

  #table(best: Way, others: Way[]): HTMLElement {
    this.element.hidden = false;
    const number = (value: string | number) => h("td.number", null, String(value));
    const row = (way: Way, chosen: boolean) =>
      h(
        "tr",
        { class: chosen ? "chosen" : null, "data-strategy": way.strategy },
        h("th", { scope: "row" }, way.strategy, chosen && " ✓"),
        number(cycles(way.cost)),
        number(way.instructions),
        number(way.shuffles),
        number(way.wavefronts),
        number(way.barriers),
        number(way.shared_bytes),
      );
    const head = (text: string, number = true) => h(number ? "th.number" : "th", { scope: "col" }, text);
    return h(
      "table.data",
      null,
      h("caption.spoken", null, "The chosen way first, then the runners-up"),
      h("thead", null, h("tr", null, head("way", false), ...["cycles", "instructions", "shuffles", "wavefronts", "barriers", "shared bytes"].map((text) => head(text)))),
      h("tbody", null, row(best, true), others.map((way) => row(way, false))),
    );
  }
}
