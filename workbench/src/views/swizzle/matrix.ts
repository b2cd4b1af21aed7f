/** The memory as a matrix, drawn by the engine. */

import { fill, h, latest } from "../../ui/dom";
import { Picture } from "../../ui/picture";
import type { Context } from "../view";
import type { State } from "./state";
import { axisName, matrixInLetters, tensorBits } from "./model";
import { memoryOf } from "./state";

export class Matrix {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #picture = new Picture({ name: "Matrix of the memory", bare: true });
  readonly #text = h("p.note.layout");
  readonly #axes = h("span.axes");
  readonly #legend = h(
    "p.note.parts",
    { hidden: true },
    h("span", null, h("span.swatch.bank"), " bank bits"),
    h("span", null, h("span.swatch.segment"), " segment bits"),
    this.#axes,
  );
  readonly #ask = latest();
  #segments: number | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    this.element = h(
      "section.card",
      { "aria-label": "Matrix" },
      h("header", null, h("h2", null, "The memory as a matrix")),
      this.#picture.element,
      this.#legend,
      h("details", null, h("summary", null, "As a text"), this.#text),
    );
  }

  update(state: State): void {
    const rank = state.shape.length;
    fill(this.#axes, state.shape.map((_, axis) => h("span", null, `${axisName(axis, rank)} is dim${axis}`)));
    this.#ask(async (current) => {
      try {
        const { picture, text } = await this.#context.engine.invoke({
          request: "layout",
          attribute: memoryOf(state),
          shape: state.shape,
          format: "svg",
          picture: "matrix",
        });
        if (!current()) return;
        this.#picture.show(matrixInLetters(picture ?? "", rank));
        // What is folded: a column bit that a row bit flips too.
        const { columns } = tensorBits(state.shape);
        this.#picture.mark("folded", ({ row, column }) => row < columns && column >= columns);
        this.#parts();
        this.#text.textContent = text;
      } catch {
        // The view says what is wrong; here is nothing to draw.
        if (current()) this.#picture.clear();
      }
    });
  }

  /** Says how many bits of the offset choose the segment: the highest ones; nothing where that is no law of bits. */
  segments(count: number | undefined): void {
    this.#segments = count;
    this.#parts();
  }

  #parts(): void {
    const columns = [...this.#picture.cells()].map(([, { column }]) => column);
    const first = this.#segments === undefined ? Infinity : Math.max(-1, ...columns) + 1 - this.#segments;
    this.#legend.hidden = this.#segments === undefined;
    this.#picture.mark("segment", ({ column }) => column >= first);
    this.#picture.mark("bank", ({ column }) => this.#segments !== undefined && column < first);
  }
}
