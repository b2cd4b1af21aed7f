/** The memory as a matrix, drawn by the engine. */

import { h, latest } from "../../ui/dom";
import { Picture } from "../../ui/picture";
import type { Context } from "../view";
import type { State } from "./state";
import { tensorBits } from "./model";
import { memoryOf } from "./state";

export class Matrix {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #picture = new Picture({ name: "Matrix of the memory" });
  readonly #text = h("p.note.layout");
  readonly #ask = latest();

  constructor(context: Context<State>) {
    this.#context = context;
    this.element = h(
      "section.card",
      { "aria-label": "Matrix" },
      h("header", null, h("h2", null, "The memory as a matrix")),
      this.#picture.element,
      this.#text,
    );
  }

  update(state: State): void {
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
        this.#picture.show(picture ?? "");
        // What is folded: a column bit that a row bit flips too.
        const { columns } = tensorBits(state.shape);
        this.#picture.mark("folded", ({ row, column }) => row < columns && column >= columns);
        this.#text.textContent = text;
      } catch {
        // The view says what is wrong; here is nothing to draw.
        if (current()) this.#picture.clear();
      }
    });
  }
}
