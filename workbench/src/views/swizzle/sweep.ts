/** Every memory of the toggle grid, each counted and held against the algebra. */

import { atOnce } from "../../engine/engine";
import type { SweepAnswer, SweepRequest } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context } from "../view";
import { tensorBits } from "./model";
import type { State } from "./state";
import { superscript } from "./toggles";

/** Memories of one request: short enough for the bar to move. */
const CHUNK = 1 << 13;
/** The most toggles of which all memories are tried. */
const MOST = 24;

export class Sweep {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #button;
  readonly #bar = h("progress", { max: 1, value: 0, "aria-label": "Memories counted", hidden: true });
  readonly #says = h("p.note");
  readonly #found = h("div");
  readonly #fault = new FaultBox();
  #running = 0;
  #ended = new AbortController();
  #about = "";
  #state: State | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    this.#button = h("button", { type: "button", onclick: () => void this.#run() }, "Try every memory");
    this.element = h(
      "section.card.sweep",
      { "aria-label": "Every memory" },
      h("header", null, h("h2", null, "Every swizzle these toggles can make")),
      this.#says,
      h("div.row", null, this.#button),
      this.#bar,
      this.#fault.element,
      this.#found,
    );
  }

  update(state: State): void {
    this.#state = state;
    const { store, loads, shape, element, target } = state;
    const about = JSON.stringify([store, loads, shape, element, target]);
    if (about === this.#about) return;
    this.#about = about;
    this.stop();
    fill(this.#found);
    this.#fault.clear();
    const { rows, columns } = tensorBits(shape);
    const toggles = rows * columns;
    this.#button.disabled = toggles > MOST;
    this.#says.textContent =
      toggles > MOST
        ? `2${superscript(toggles)} memories are too many to try.`
        : `Counts all ${(2 ** toggles).toLocaleString("en")} memories address by address, and asks the algebra about each.`;
  }

  stop(): void {
    this.#running++;
    this.#ended.abort();
    this.#bar.hidden = true;
    this.#button.textContent = "Try every memory";
  }

  async #run(): Promise<void> {
    if (!this.#bar.hidden || !this.#state) return this.stop();
    const mine = ++this.#running;
    const { signal } = (this.#ended = new AbortController());
    const { store, loads, shape, element, target } = this.#state;
    const { rows, columns } = tensorBits(shape);
    const all = 2 ** (rows * columns);
    this.#button.textContent = "Stop";
    this.#bar.hidden = false;
    this.#fault.clear();
    fill(this.#found);
    const sums: SweepAnswer[] = [];
    const start = performance.now();
    let [next, counted] = [0, 0];
    const turns = async () => {
      while (next < all) {
        const from = next;
        const count = Math.min(CHUNK, all - from);
        next += count;
        const request: SweepRequest = { request: "sweep", store, loads, shape, element, target, from, count };
        sums.push(await this.#context.engine.invokeAside(request, signal));
        if (mine !== this.#running) return;
        counted += count;
        this.#bar.value = counted / all;
        this.#bar.textContent = `${Math.round((100 * counted) / all)} %`;
      }
    };
    try {
      await Promise.all(Array.from({ length: atOnce() }, turns));
      if (mine !== this.#running) return;
      const seconds = (performance.now() - start) / 1000;
      fill(this.#found, tables(merged(sums), all, seconds));
      this.#context.announce(`${all} memories counted`);
    } catch (error) {
      if (mine === this.#running) this.#fault.show(error);
    }
    if (mine === this.#running) this.stop();
  }
}

interface Taken {
  instructions: number;
  wavefronts: number;
  memories: number;
}
export interface Swept {
  accesses: { access: string; taken: Taken[] }[];
  disagreements: number;
}

/** The sum of the answers about some memories. */
export function merged(answers: SweepAnswer[]): Swept {
  const accesses = (answers[0]?.accesses ?? []).map(({ access }, index) => {
    const taken = new Map<string, Taken>();
    for (const answer of answers) {
      for (const row of answer.accesses[index]?.taken ?? []) {
        const key = `${row.wavefronts} ${row.instructions}`;
        const before = taken.get(key)?.memories ?? 0;
        taken.set(key, { ...row, memories: before + row.memories });
      }
    }
    const order = (a: Taken, b: Taken) => a.wavefronts - b.wavefronts || a.instructions - b.instructions;
    return { access, taken: [...taken.values()].sort(order) };
  });
  return { accesses, disagreements: answers.reduce((sum, { disagreements }) => sum + disagreements, 0) };
}

function tables({ accesses, disagreements }: Swept, all: number, seconds: number): HTMLElement {
  const table = ({ access, taken }: Swept["accesses"][number]) =>
    h(
      "table.data.histogram",
      { "data-access": access },
      h("caption", null, access),
      h("thead", null, h("tr", null, h("th.number", null, "wavefronts an instruction"), h("th.number", null, "memories"), h("th", null, ""))),
      h(
        "tbody",
        null,
        taken.map(({ instructions, wavefronts, memories }) =>
          h(
            "tr",
            { "data-each": wavefronts / instructions, "data-memories": memories },
            h("td.number", null, wavefronts / instructions),
            h("td.number", null, memories.toLocaleString("en")),
            h("td.bar", null, h("span", { style: `--share: ${memories / all}` })),
          ),
        ),
      ),
    );
  return h(
    "div.stack.tight",
    { "data-disagreements": disagreements },
    accesses.map(table),
    h(
      "p.note",
      null,
      disagreements === 0
        ? `Algebra and count agree on all ${all.toLocaleString("en")} memories. ${seconds.toFixed(1)} s.`
        : `Algebra and count differ ${disagreements} times.`,
    ),
  );
}
