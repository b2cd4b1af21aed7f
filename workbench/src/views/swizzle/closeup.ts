/** One instruction close up: every cell with its bank and its lane, drawn by the engine. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { h } from "../../ui/dom";
import { Picture, wordsOf } from "../../ui/picture";
import type { CellPlace } from "../../ui/picture";
import type { Context } from "../view";
import { recoloured } from "./colours";
import { inLetters } from "./model";
import type { State } from "./state";

export class CloseUp {
  readonly element: HTMLDetailsElement;
  readonly #tile;
  readonly #banks;
  #waves: { phase: number; wavefront: number }[] = [];

  constructor(context: Context<State>) {
    this.#tile = new Picture({ name: "What one instruction moves", pointed: (cell) => this.#link(cell, this.#tile, this.#banks) });
    this.#banks = new Picture({ name: "How the banks serve it", pointed: (cell) => this.#link(cell, this.#banks, this.#tile) });
    this.#tile.element.classList.add("moving");
    this.element = h(
      "details.card.closeup",
      null,
      h("summary", null, "Close-up: every element with its bank and lane, to save as a file"),
      this.#tile.element,
      this.#banks.element,
    );
    this.element.addEventListener("toggle", () => context.set({ close: this.element.open }, "drag"));
  }

  update(state: State): void {
    this.element.open = state.close;
    this.#select(state.wave);
  }

  /** @param count the machine's banks */
  show({ phases, tile, banks }: WavefrontsAnswer, { wave, shape }: State, count: number): void {
    this.#waves = phases.flatMap(({ wavefronts }, phase) =>
      Array.from({ length: wavefronts }, (_, wavefront) => ({ phase, wavefront })),
    );
    const drawn = (svg = "") => recoloured(inLetters(svg, shape.length), "bank", count);
    this.#tile.show(drawn(tile));
    this.#banks.show(drawn(banks));
    this.#select(wave);
  }

  clear(): void {
    this.#tile.clear();
    this.#banks.clear();
    this.#waves = [];
  }

  /** The wavefront alone that the state says, or all. */
  #select(wave: number): void {
    const now = this.#waves[wave - 1];
    for (const picture of [this.#tile, this.#banks]) {
      picture.element.classList.toggle("selecting", now !== undefined);
      for (const [cell] of picture.cells()) {
        const { phase, wavefront } = cell.dataset;
        const here = now && phase === String(now.phase) && wavefront === String(now.wavefront);
        cell.classList.toggle("meant", here === true);
      }
    }
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
  const said = wordsOf(cell);
  return new Set([...said.matchAll(/lane ((?:\d+ ?)+)/g)].flatMap(([, lanes]) => (lanes ?? "").trim().split(" ")));
}
