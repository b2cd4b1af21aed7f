/** The solver: the construction step by step, the certificate, and other names of what it found. */

import type { Coordinates, SwizzleAnswer, Trace } from "../../engine/requests";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { slider } from "../../ui/fields";
import type { Context } from "../view";
import { basesText, direction, directions, foldsOf, inLetters, tensorBits } from "./model";
import type { State } from "./state";

export const STEPS = 7;

export class Solve {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #button;
  readonly #step;
  readonly #body = h("div.stack.tight");
  readonly #fault = new FaultBox();
  readonly #ask = latest();

  constructor(context: Context<State>) {
    this.#context = context;
    this.#button = h(
      "button.primary",
      { type: "button", onclick: () => context.set({ solve: STEPS }) },
      "Solve",
    );
    this.#step = slider("Step of the construction", (solve) => context.set({ solve: solve }, "drag"));
    this.element = h(
      "section.card.solve",
      { "aria-label": "Solve" },
      h(
        "header",
        null,
        h("h2", null, "Let the algebra find it"),
        h("p", null, "Seven steps from the accesses to a memory, with a proof that none is better."),
      ),
      h("div.row", null, this.#button),
      this.#fault.element,
      this.#body,
    );
  }

  update(state: State): void {
    this.#button.hidden = state.solve > 0;
    this.element.classList.toggle("open", state.solve > 0);
    if (state.solve === 0) {
      this.#fault.clear();
      fill(this.#body);
      return;
    }
    this.#ask(async (current) => {
      try {
        const answer = await this.#answer(state, current.unwanted);
        if (!current()) return;
        this.#fault.clear();
        this.#show(answer, state);
      } catch (error) {
        if (!current()) return;
        fill(this.#body);
        this.#fault.show(error);
      }
    });
  }

  /** The answer; the construction is one of a store and a load. */
  async #answer(state: State, unwanted: AbortSignal): Promise<SwizzleAnswer> {
    const { store, loads, shape, element, target, against } = state;
    return this.#context.engine.invoke({
      request: "swizzle",
      store,
      loads,
      shape,
      element,
      target,
      ...(against ? { also: [against] } : {}),
      trace: loads.length === 1,
    }, unwanted);
  }

  #show(answer: SwizzleAnswer, state: State): void {
    const { trace } = answer;
    const open = trace ? Math.min(state.solve, STEPS) : STEPS;
    this.#step.reach(STEPS);
    this.#step.input.min = "1";
    this.#step.set(open);
    this.#step.say(`${open} of ${STEPS}`);
    const walk = h(
      "div.row",
      null,
      h("button", { type: "button", disabled: open >= STEPS, onclick: () => this.#context.set({ solve: open + 1 }) }, "Next step"),
      h("button.quiet", { type: "button", onclick: () => this.#context.set({ solve: 1 }) }, "From the first step"),
      h("button.quiet", { type: "button", onclick: () => this.#context.set({ solve: 0 }) }, "Close"),
    );
    fill(
      this.#body,
      this.#found(answer, state),
      h("div.walk", null, trace ? [h("h3", null, "How it is found"), this.#step.element, walk, h("ol.steps", null, steps(trace, state.shape.length).slice(0, open))] : walk),
    );
  }

  #found(answer: SwizzleAnswer, state: State): HTMLElement {
    const { trace, certificate, cute, triton, tma, xor } = answer;
    const use = (bases: Record<string, Coordinates[]>) => {
      const fold = foldsOf(bases, tensorBits(state.shape));
      this.#context.set(fold ? { fold, memory: "", wave: 0 } : { memory: basesText(bases, state.shape), wave: 0 });
    };
    const constructed = trace && { offset: [...trace.vector, ...trace.bank, ...trace.segment] };
    const names: [string, string | null | undefined][] = [
      ["offset", `offset = ${inLetters(xor, state.shape.length)}`],
      ["CuTe", cute],
      ["Triton", triton],
      ["TMA", tma && `${tma.swizzle_bytes === 0 ? "no" : `${tma.swizzle_bytes}-byte`} swizzle${tma.as_few ? "" : `: ${tma.wavefronts} wavefronts`}`],
    ];
    return h(
      "div.found",
      null,
      h(
        "p.certificate",
        { "data-certificate": certificate.kind, "data-optimal": certificate.optimal },
        h("strong", null, `${answer.wavefronts} wavefronts, bound ${answer.bound}: `),
        proof(certificate),
      ),
      h(
        "div.scroll",
        null,
        h(
          "table.data",
          null,
          h("thead", null, h("tr", null, ["access", "by", "instructions", "wavefronts", "lower bound"].map((head) => h("th", null, head)))),
          h(
            "tbody",
            null,
            answer.accesses.map((use) =>
              h("tr", null, [use.access, use.matrix ?? `${use.vector_bytes} bytes a lane`, use.instructions, use.wavefronts, use.floor].map((cell) => h("td", null, cell))),
            ),
          ),
        ),
      ),
      answer.portable &&
        h(
          "p.note",
          null,
          `On every machine asked for: ${answer.portable.machines.map(({ machine, wavefronts, alone }) => `${machine} ${wavefronts} wavefronts (${alone} on a memory of its own)`).join(", ")}.`,
        ),
      h(
        "dl.names",
        null,
        names.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", null, name), h("dd", null, h("code", null, value))]),
      ),
      h(
        "div.row",
        null,
        constructed &&
          h("button.primary", { type: "button", onclick: () => use(constructed) }, "Take the construction's memory"),
        h("button", { type: "button", onclick: () => use(answer.bases) }, "Take the best with vectors and matrix moves"),
      ),
    );
  }
}

function proof({ kind, optimal, candidates }: SwizzleAnswer["certificate"]): string {
  if (!optimal) return "nothing better was found, and nothing shows that there is none.";
  if (kind === "exhausted" || kind === "modes") return `the fewest of all ${candidates ?? ""} candidates.`;
  if (kind === "floors") return "the fewest possible: each access takes as few as it would alone.";
  return "the fewest possible, by counting dimensions.";
}

/** The seven steps, each as an item with what it found. */
function steps(trace: Trace, rank: number): HTMLElement[] {
  const item = (title: string, why: string, ...found: (HTMLElement | string)[]) =>
    h("li", null, h("h3", null, title), h("p.note", null, why), found.map((part) => (typeof part === "string" ? h("code.fact", null, part) : part)));
  const [stored, loaded] = trace.phases;
  return [
    item(
      "Vectors",
      "Directions that are registers on both sides can be contiguous, and move together.",
      `V = ${directions(trace.vector)}, v = ${trace.vector.length}`,
    ),
    item(
      "Sizes",
      "One segment is one row over all banks; the rest of the offset counts segments.",
      `b = ${trace.bank_bits} bank bits, s = ${trace.segment_bits} segment bits`,
    ),
    item(
      "Phases",
      "Only lanes that are served together can collide.",
      `store: ${stored} phase${stored === 1 ? "" : "s"}, A = ${directions(trace.store_phase)}`,
      `load: ${loaded} phase${loaded === 1 ? "" : "s"}, B = ${directions(trace.load_phase)}`,
    ),
    item(
      "Sorting",
      "What both sides need at once is left alone. The others belong to one side.",
      `I = ${directions(trace.shared)}`,
      `E = ${directions(trace.only_store)}`,
      `F = ${directions(trace.only_load)}`,
      `segments without conflicts: at most ${trace.most_segment_bits} bits`,
    ),
    item(
      "Pairing",
      "One of E plus one of F is a direction that neither side can step along.",
      pairing(trace),
    ),
    item(
      "Topping up",
      "Directions that no phase reaches may be segments too.",
      `C = ${directions(trace.rest)}`,
      `segments = ${directions(trace.segment)}`,
    ),
    item(
      "Banks",
      "Whatever completes the basis: banks cannot make conflicts.",
      `banks = ${directions(trace.bank)}`,
      `offset = ${inLetters(trace.xor, rank)}`,
      `${trace.wavefronts} wavefronts`,
    ),
  ];
}

/** E above F, and their sums beneath. */
function pairing(trace: Trace): HTMLElement {
  const same = (a: Coordinates, b: Coordinates) => a.every((value, axis) => value === b[axis]);
  const pairs = trace.sums.map((sum) => {
    for (const e of trace.only_store) {
      for (const f of trace.only_load) {
        if (same(e.map((value, axis) => value ^ (f[axis] ?? 0)), sum)) return [e, f, sum];
      }
    }
    return [null, null, sum];
  });
  const line = (name: string, index: number) =>
    h("tr", null, h("th", { scope: "row" }, name), pairs.map((pair) => h("td", null, pair[index] ? direction(pair[index]) : "")));
  return h(
    "div.scroll",
    null,
    h("table.pairing", null, h("tbody", null, line("E, only the store", 0), line("F, only the load", 1), line("H = E ⊕ F", 2))),
  );
}
