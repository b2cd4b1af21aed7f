/** Whether each access is served without conflicts, on each machine. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { h } from "../../ui/dom";
import type { Context } from "../view";
import type { State } from "./state";

/** What the accesses take on a machine. */
export interface Verdict {
  target: string;
  /** Whether another machine stands beside it. */
  beside: boolean;
  /** By access: an answer, or why there is none. */
  accesses: { index: number; name: string; answer: unknown }[];
}

export function verdicts(context: Context<State>, all: Verdict[]): HTMLElement {
  return h(
    "div.verdicts",
    null,
    all.map(({ target, beside, accesses }) =>
      h(
        "div.verdict",
        { "data-target": target },
        beside && h("h3", null, target),
        h("div.badges", null, accesses.map(({ index, name, answer }) => badge(context, name, index, answer))),
      ),
    ),
  );
}

function badge(context: Context<State>, name: string, index: number, answer: unknown): HTMLElement {
  if (!isAnswer(answer)) {
    const why = answer instanceof Refusal ? answer.fault.message : String(answer);
    return h("span.badge.bad", { "data-access": name, title: why }, name, h("strong", null, "refused"));
  }
  const { wavefronts, ideal, instructions } = answer;
  const each = wavefronts / instructions;
  const good = wavefronts === ideal;
  const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const says = good ? "no conflicts" : `${wavefronts / ideal} times as many as without conflicts`;
  return h(
    "a.badge",
    {
      class: `badge ${good ? "good" : "bad"}`,
      href: context.link({ access: index, step: 0, wave: 0 }),
      "data-access": name,
      "data-wavefronts": wavefronts,
      "data-each": each,
      "data-ideal": ideal,
      title: `${plural(instructions, "instruction")} of ${plural(each, "wavefront")}: ${wavefronts} of at least ${ideal}, ${says}`,
    },
    h("span", null, good ? "✓" : "✗", " ", name),
    h("strong", null, each),
    h("span.spoken", null, `${each === 1 ? "wavefront" : "wavefronts"} an instruction, ${says}`),
  );
}

export function isAnswer(value: unknown): value is WavefrontsAnswer {
  return typeof value === "object" && value !== null && "wavefronts" in value;
}
