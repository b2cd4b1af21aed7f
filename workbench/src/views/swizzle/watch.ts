/** One instruction: what it touches, and how the banks serve it. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { segmented, slider } from "../../ui/fields";
import type { Control } from "../../ui/fields";
import { Picture } from "../../ui/picture";
import type { CellPlace } from "../../ui/picture";
import type { Context } from "../view";
import type { State } from "./state";
import { accesses, chosen } from "./state";

/** Milliseconds of a wavefront in the animation. */
const PACE = 700;

export class Watch {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #which = h("div");
  readonly #step;
  readonly #warp;
  readonly #wave;
  readonly #play;
  readonly #tile;
  readonly #banks;
  #access: Control<string> | undefined;
  #named = "";
  #timer: ReturnType<typeof setInterval> | undefined;
  #waves: { phase: number; wavefront: number }[] = [];
  #state: State | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    this.#step = slider("Instruction", (step) => context.set({ step, wave: 0 }, "drag"));
    this.#warp = slider("Warp", (warp) => context.set({ warp, wave: 0 }, "drag"));
    this.#wave = slider("Wavefront", (wave) => (this.stop(), context.set({ wave }, "drag")));
    this.#play = h("button", { type: "button", onclick: () => this.#toggle() }, "Play");
    this.#tile = new Picture({ name: "What one instruction moves", pointed: (cell) => this.#link(cell, this.#tile, this.#banks) });
    this.#banks = new Picture({ name: "How the banks serve it", pointed: (cell) => this.#link(cell, this.#banks, this.#tile) });
    this.#tile.element.classList.add("moving");
    this.element = h(
      "section.card.watch",
      { "aria-label": "One instruction" },
      h("header", null, h("h2", null, "One instruction, wavefront by wavefront")),
      h("div.controls", null, this.#which, this.#step.element, this.#warp.element),
      this.#tile.element,
      h("div.controls", null, this.#wave.element, this.#play),
      this.#banks.element,
    );
  }

  update(state: State): void {
    this.#state = state;
    const all = accesses(state);
    const named = all.map(({ name }) => name).join();
    if (named !== this.#named) {
      this.#named = named;
      this.#access = segmented(
        "Access",
        all.map(({ index, name }) => ({ value: String(index), label: name })),
        (index) => this.#context.set({ access: Number(index), step: 0, wave: 0 }),
      );
      fill(this.#which, this.#access.element);
    }
    this.#access?.set(String(chosen(state).index));
    this.#step.set(state.step);
    this.#warp.set(state.warp);
    this.#wave.set(state.wave);
    this.#select();
  }

  show(answer: WavefrontsAnswer, state: State): void {
    const { instructions, warps, phases } = answer;
    this.#step.reach(instructions - 1);
    this.#step.set(state.step);
    this.#step.say(`${answer.instruction} of 0–${instructions - 1}`);
    this.#warp.reach(warps - 1);
    this.#warp.set(state.warp);
    this.#warp.say(`${answer.warp} of 0–${warps - 1}`);
    this.#warp.element.hidden = warps === 1;
    this.#waves = phases.flatMap(({ wavefronts }, phase) =>
      Array.from({ length: wavefronts }, (_, wavefront) => ({ phase, wavefront })),
    );
    this.#wave.reach(this.#waves.length);
    this.#wave.set(state.wave);
    this.#tile.show(answer.tile ?? "");
    this.#banks.show(answer.banks ?? "");
    this.#select();
  }

  clear(): void {
    this.stop();
    this.#tile.clear();
    this.#banks.clear();
    this.#waves = [];
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = "Play";
  }

  /** The wavefront alone that the state says, or all. */
  #select(): void {
    const wave = this.#state?.wave ?? 0;
    const now = this.#waves[wave - 1];
    for (const { element, ...picture } of [this.#tile, this.#banks].map((p) => ({ element: p.element, p }))) {
      element.classList.toggle("selecting", now !== undefined);
      for (const [cell] of picture.p.cells()) {
        const { phase, wavefront } = cell.dataset;
        const here = now && phase === String(now.phase) && wavefront === String(now.wavefront);
        cell.classList.toggle("meant", here === true);
      }
    }
    const count = this.#waves.length;
    this.#wave.say(now ? `${wave} of ${count}` : `all ${count}`);
  }

  #toggle(): void {
    if (this.#timer !== undefined) return this.stop();
    this.#play.textContent = "Stop";
    const advance = () => {
      const wave = this.#state?.wave ?? 0;
      const next = wave >= this.#waves.length ? 0 : wave + 1;
      this.#context.set({ wave: next }, "drag");
      if (next === 0) this.stop();
    };
    advance();
    this.#timer = setInterval(advance, PACE);
  }

  /** What is pointed at in one picture is outlined in the other: the cells of the same lanes. */
  #link(place: CellPlace | null, from: Picture, to: Picture): void {
    const lanes = place ? lanesOf(from.cell(place)) : new Set<string>();
    for (const [cell] of to.cells()) {
      const own = lanes.size > 0 ? lanesOf(cell) : new Set<string>();
      cell.classList.toggle("linked", [...own].some((lane) => lanes.has(lane)));
    }
  }
}

/** The lanes that a served cell names, with its phase: `T5` of phase 0 is lane 5. */
function lanesOf(cell: SVGGElement | null): Set<string> {
  if (!cell?.dataset["wavefront"]) return new Set();
  const said = cell.querySelector("title")?.textContent ?? "";
  return new Set([...said.matchAll(/lane ((?:\d+ ?)+)/g)].flatMap(([, lanes]) => (lanes ?? "").trim().split(" ")));
}
