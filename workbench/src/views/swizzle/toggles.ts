/** The grid of toggles: which row bits are folded into which column bits. */

import { fill, h } from "../../ui/dom";
import { axisName, fitFolds, namedFolds, subscript, tensorBits } from "./model";
import type { TensorBits } from "./model";

/** What the grid shows. */
export interface Folded {
  shape: number[];
  fold: number[];
  /** A memory that is given as a text instead; else empty. */
  memory: string;
}

export class Toggles {
  readonly element: HTMLElement;
  readonly #grid = h("div.toggles", { role: "group", "aria-label": "Row bits folded into column bits" });
  readonly #presets = h("div.row");
  readonly #says = h("p.note");
  readonly #set: (folds: number[]) => void;
  #masks: HTMLElement[] = [];
  #built = "";
  #folds: number[] = [];

  /**
   * @param set told when somebody folds otherwise
   * @param more what stands beside the folds with names
   */
  constructor(set: (folds: number[]) => void, more: HTMLElement[] = []) {
    this.#set = set;
    this.element = h(
      "section.card.folds",
      { "aria-label": "Folds" },
      h("header", null, h("h2", null, "Fold row bits into column bits")),
      h("div.row", null, this.#presets, more),
      h("div.scroll", null, this.#grid),
      this.#says,
    );
    this.#grid.addEventListener("keydown", (event) => this.#move(event));
  }

  update(state: Folded): void {
    const tensor = tensorBits(state.shape);
    this.#folds = fitFolds(state.fold, tensor);
    this.#build(tensor, state.shape.length);
    for (const button of this.#grid.querySelectorAll<HTMLButtonElement>("button")) {
      const { row, column } = button.dataset;
      const on = (((this.#folds[Number(row)] ?? 0) >> Number(column)) & 1) === 1;
      const pressed = String(on && state.memory === "");
      // Most stay as they are, and cost nothing then.
      if (button.getAttribute("aria-pressed") === pressed) continue;
      button.setAttribute("aria-pressed", pressed);
      button.textContent = pressed === "true" ? "1" : "·";
    }
    for (const [index, { folds }] of namedFolds(tensor).entries()) {
      const same = state.memory === "" && folds.join() === this.#folds.join();
      this.#presets.children[index]?.setAttribute("aria-pressed", String(same));
    }
    const toggles = tensor.rows * tensor.columns;
    const rank = state.shape.length;
    const [row, column] = [rank === 2 ? axisName(0, rank) : "row", axisName(rank - 1, rank)];
    this.#says.textContent =
      state.memory === ""
        ? `offset = ${2 ** tensor.columns}·${row} + (${column} ⊕ mask(${row})). ${toggles} toggles, 2${superscript(toggles)} memories.`
        : "The memory is given as a text. A toggle replaces it.";
    for (const [bit, element] of this.#masks.entries()) {
      element.textContent = state.memory === "" ? this.#flips(this.#folds[bit] ?? 0, rank) : "";
    }
  }

  #build(tensor: TensorBits, rank: number): void {
    const key = `${tensor.rows} ${tensor.columns} ${rank}`;
    if (key === this.#built) return;
    this.#built = key;
    const letter = (axis: number) => axisName(axis, rank);
    const column = letter(rank - 1);
    const rowName = rank === 2 ? (bit: number) => letter(0) + subscript(bit) : (bit: number) => `row${subscript(bit)}`;
    const cells = [h("span.corner")];
    this.#masks = Array.from({ length: tensor.rows }, () => h("span.mask"));
    for (let bit = 0; bit < tensor.columns; bit++) cells.push(h("span.head", { "aria-hidden": "true" }, column + subscript(bit)));
    cells.push(h("span.head.mask", { "aria-hidden": "true" }, "mask"));
    for (let row = 0; row < tensor.rows; row++) {
      cells.push(h("span.head", { "aria-hidden": "true" }, rowName(row)));
      for (let bit = 0; bit < tensor.columns; bit++) {
        cells.push(
          h("button", {
            type: "button",
            "data-row": row,
            "data-column": bit,
            "aria-label": `fold row bit ${row} into column bit ${bit}`,
            onclick: () => this.#flip(row, bit),
          }),
        );
      }
      cells.push(this.#masks[row]!);
    }
    this.#grid.style.setProperty("--columns", String(tensor.columns));
    fill(this.#grid, cells);
    fill(
      this.#presets,
      namedFolds(tensor).map(({ name, folds }) =>
        h("button", { type: "button", onclick: () => this.#set(folds) }, name),
      ),
    );
  }

  /** The column bits of a mask, by name. */
  #flips(mask: number, rank: number): string {
    const column = axisName(rank - 1, rank);
    const bits = Array.from({ length: 31 }, (_, bit) => bit).filter((bit) => (mask >> bit) & 1);
    return bits.length === 0 ? "0" : bits.map((bit) => column + subscript(bit)).join("⊕");
  }

  #flip(row: number, bit: number): void {
    const folds = [...this.#folds];
    folds[row] = (folds[row] ?? 0) ^ (1 << bit);
    this.#set(folds);
  }

  #move(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    if (!step || !(event.target instanceof HTMLButtonElement)) return;
    const { row, column } = event.target.dataset;
    const to = this.#grid.querySelector<HTMLButtonElement>(
      `button[data-row="${Number(row) + step[0]}"][data-column="${Number(column) + step[1]}"]`,
    );
    to?.focus();
    event.preventDefault();
  }
}

export function superscript(number: number): string {
  return [...String(number)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? digit).join("");
}
