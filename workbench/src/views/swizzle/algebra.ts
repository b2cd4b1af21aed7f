/** The rank law beside the count: live, for what the toggles say. */

import type { Algebra as Law, Coordinates, SwizzleAnswer, WavefrontsAnswer } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { direction, directions, subscript, tensorBits } from "./model";
import type { State } from "./state";
import { chosen } from "./state";
import { superscript } from "./toggles";

export class Algebra {
  readonly element: HTMLElement;
  readonly #name = h("h2");
  readonly #body = h("div.law");

  constructor() {
    this.element = h("section.card.algebra", { "aria-label": "Algebra" }, h("header", null, this.#name), this.#body);
  }

  /** @param best what the engine found, where it was asked */
  show(answer: WavefrontsAnswer, state: State, best: SwizzleAnswer | undefined): void {
    const { algebra } = answer;
    this.element.hidden = false;
    const counted = answer.phases.reduce((sum, { wavefronts }) => sum + wavefronts, 0);
    this.#name.textContent = `Why the ${chosen(state).name} takes ${counted}: a conflict is an intersection`;
    if (!algebra) {
      fill(
        this.#body,
        h("p.note", null, "Padding carries: this memory is not a matrix over F₂, and has no rank."),
        row("counted", "by address", `${counted} wavefronts`),
      );
      return;
    }
    const { segment, phase, meet, dimension } = algebra;
    const power = `2${superscript(dimension)}`;
    const law = algebra.phases > 1 ? `${algebra.phases} phases × ${power} = ${algebra.wavefronts}` : `${power} = ${algebra.wavefronts}`;
    const agree = algebra.wavefronts === counted;
    fill(
      this.#body,
      row("segment", "S: same bank, another segment", directions(segment)),
      row("phase", "T: same time, another lane", directions(phase)),
      row("meet", "S ∩ T: both", meet.length === 0 ? "only 0" : directions(meet)),
      row("rank", "Its dimension", `${segment.length} + ${phase.length} − rank ${segment.length + phase.length - dimension} = ${dimension}`),
      h(
        "div.both",
        { "data-agree": agree },
        h("div", null, h("p.label", null, "by algebra"), h("p.count", { "data-law": algebra.wavefronts }, law)),
        h("div", null, h("p.label", null, "by counting addresses"), h("p.count", { "data-counted": counted }, counted)),
        h("p.mark", { role: "img", "aria-label": agree ? "equal" : "different" }, agree ? "=" : "≠"),
      ),
      rule(algebra, state),
      room(state, best),
    );
  }

  clear(): void {
    this.element.hidden = true;
  }
}

/** When nothing collides: as masks where the law is one of masks, else as ranks. */
function rule({ phase, dimension }: Law, state: State): HTMLElement {
  const free = dimension === 0;
  const busy = columnsBesideAllRows(phase, state.shape);
  const masks = state.memory === "" && busy !== undefined;
  const what = masks ? `the masks${busy.length > 0 ? ` and ${busy.join(", ")}` : ""}` : "S and T together";
  return h(
    "p.rule",
    { "data-free": free },
    h("strong", null, free ? "✓ " : "✗ "),
    `No conflict where ${what} are linearly independent. Here they are${free ? "" : " not"}.`,
  );
}

/** The column bits that a phase steps along, where it steps along every row bit too and along no sums. */
function columnsBesideAllRows(phase: Coordinates[], shape: number[]): string[] | undefined {
  const names = phase.map(direction);
  const { rows } = tensorBits(shape);
  if (shape.length !== 2 || names.some((name) => name.includes("⊕"))) return undefined;
  const all = Array.from({ length: rows }, (_, bit) => `m${subscript(bit)}`);
  return all.every((name) => names.includes(name)) ? names.filter((name) => !all.includes(name)) : undefined;
}

/** How many segment directions both accesses leave free. */
function room({ shape }: State, best: SwizzleAnswer | undefined): HTMLElement | false {
  const trace = best?.trace;
  if (!trace) return false;
  const { rows, columns } = tensorBits(shape);
  const [a, b] = [trace.store_phase.length, trace.load_phase.length];
  return h(
    "p.note",
    { "data-line": "room" },
    `Room for segments: ${rows + columns} − max(${a}, ${b}) = ${trace.most_segment_bits}; needed: ${trace.segment_bits}.`,
  );
}

function row(id: string, label: string, value: string): HTMLElement {
  return h("div.fact", { "data-line": id }, h("span.label", null, label), h("code", null, value));
}
