/** Whether each access is served without conflicts, on each machine. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h } from "../../ui/dom";
import type { Context } from "../view";
import type { State } from "./state";
import { accesses } from "./state";

export class Verdicts {
  readonly element = h("section.verdicts", { "aria-label": "Verdicts", "aria-live": "polite" });
  readonly #context: Context<State>;

  constructor(context: Context<State>) {
    this.#context = context;
  }

  show(state: State, targets: string[], taken: unknown[][]): void {
    const named = accesses(state);
    const rows = targets.map((target, row) =>
      h(
        "div.verdict",
        { "data-target": target },
        targets.length > 1 && h("h3", null, target),
        h(
          "div.badges",
          null,
          named.map((access, index) => this.#badge(access.name, access.index, taken[row]?.[index])),
        ),
      ),
    );
    fill(this.element, rows);
  }

  #badge(name: string, index: number, answer: unknown): HTMLElement {
    if (!(typeof answer === "object" && answer !== null && "wavefronts" in answer)) {
      const why = answer instanceof Refusal ? answer.fault.message : String(answer);
      return h("span.badge.bad", { "data-access": name, title: why }, name, h("strong", null, "refused"));
    }
    const { wavefronts, ideal, instructions } = answer as WavefrontsAnswer;
    const each = wavefronts / instructions;
    const good = wavefronts === ideal;
    const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
    const says = good ? "no conflicts" : `${wavefronts / ideal}-way conflict`;
    return h(
      "a.badge",
      {
        class: `badge ${good ? "good" : "bad"}`,
        href: this.#context.link({ access: index, step: 0, wave: 0 }),
        "data-access": name,
        "data-wavefronts": wavefronts,
        "data-each": each,
        "data-ideal": ideal,
        title: `${plural(instructions, "instruction")}, ${plural(wavefronts, "wavefront")} of at least ${ideal}`,
      },
      h("span", null, good ? "✓" : "✗", " ", name),
      h("strong", null, plural(each, "wavefront")),
      h("span", null, "an instruction, ", says),
    );
  }
}
