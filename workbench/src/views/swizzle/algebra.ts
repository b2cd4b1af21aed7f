/** The rank law beside the count. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { toggle } from "../../ui/fields";
import type { Context } from "../view";
import { directions } from "./model";
import type { State } from "./state";
import { superscript } from "./toggles";

export class Algebra {
  readonly element: HTMLElement;
  readonly #open;
  readonly #body = h("div.law");

  constructor(context: Context<State>) {
    this.#open = toggle("Show the algebra", (algebra) => context.set({ algebra }));
    this.element = h(
      "section.card.algebra",
      { "aria-label": "Algebra" },
      h("header", null, h("h2", null, "A conflict is an intersection"), this.#open.element),
      this.#body,
    );
  }

  update(state: State): void {
    this.#open.set(state.algebra);
    this.#body.hidden = !state.algebra;
  }

  show(answer: WavefrontsAnswer, state: State): void {
    this.update(state);
    const { algebra } = answer;
    const counted = answer.phases.reduce((sum, { wavefronts }) => sum + wavefronts, 0);
    if (!algebra) {
      fill(
        this.#body,
        h("p.note", null, "Padding carries, so that this memory is no matrix and has no ranks."),
        row("counted", "by address", `${counted} wavefronts`),
      );
      return;
    }
    const power = `2${superscript(algebra.dimension)}`;
    const law = algebra.phases > 1 ? `${algebra.phases} phases × ${power} = ${algebra.wavefronts}` : `${power} = ${algebra.wavefronts}`;
    const agree = algebra.wavefronts === counted;
    fill(
      this.#body,
      row("segment", "Same bank: segment directions", directions(algebra.segment)),
      row("phase", "Same time: directions of one phase", directions(algebra.phase)),
      row("meet", "Both: same bank, same time", algebra.meet.length === 0 ? "only 0" : directions(algebra.meet)),
      h(
        "div.both",
        { "data-agree": agree },
        h("div", null, h("p.label", null, "by algebra"), h("p.count", { "data-law": algebra.wavefronts }, law)),
        h("div", null, h("p.label", null, "by counting addresses"), h("p.count", { "data-counted": counted }, counted)),
        h("p.mark", { role: "img", "aria-label": agree ? "equal" : "different" }, agree ? "=" : "≠"),
      ),
    );
  }

  clear(): void {
    fill(this.#body);
  }
}

function row(id: string, label: string, value: string): HTMLElement {
  return h("div.fact", { "data-line": id }, h("span.label", null, label), h("code", null, value));
}
