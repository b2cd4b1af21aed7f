/** The layouts to begin with, as pictures: each as its matrix. */

import type { LayoutAnswer } from "../../engine/requests";
import { bitsOf } from "../swizzle/model";
import { fill, h, s } from "../../ui/dom";
import type { Context } from "../view";
import { parseNamed } from "./names";
import { PRESETS } from "./presets";
import type { Preset } from "./presets";
import { fields } from "./state";
import type { State } from "./state";

export class Examples {
  readonly element: HTMLElement;
  readonly #about = h("p.about", { "aria-live": "polite" });
  readonly #buttons: HTMLButtonElement[];
  readonly #pictures = new Map<Preset, HTMLElement>();
  readonly #context: Context<State>;
  #drawn = false;

  constructor(context: Context<State>) {
    this.#context = context;
    this.#buttons = PRESETS.map((preset) => {
      const picture = h("span.thumbnail.matrix", { "aria-hidden": "true" });
      this.#pictures.set(preset, picture);
      return h(
        "button.example",
        { type: "button", title: preset.about, "data-example": preset.id, onclick: () => context.set(take(preset)) },
        picture,
        h("span", null, preset.name),
      );
    });
    this.element = h(
      "section.examples",
      { "aria-label": "Examples" },
      h("div.strip", { role: "group", "aria-label": "Examples" }, this.#buttons),
      this.#about,
    );
  }

  /** Draws the pictures, once what is asked first has been answered. */
  async draw(): Promise<void> {
    if (this.#drawn) return;
    this.#drawn = true;
    for (const [preset, picture] of this.#pictures) await draw(preset, picture, this.#context);
  }

  update(state: State): void {
    const now = PRESETS.find(({ layouts, shape }) => layouts.join("\0") === state.layouts.join("\0") && shape.join() === state.shape.join());
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset["example"] === now?.id));
    this.#about.textContent = now?.about ?? "Your own layouts.";
  }
}

/** The state that shows an example. */
function take({ shape, element = fields.element.initial, layouts }: Preset): Partial<State> {
  return { shape, element, layouts, shown: parseNamed(layouts[0] ?? "")?.name ?? "", at: "" };
}

async function draw({ shape, layouts }: Preset, into: HTMLElement, { engine }: Context<State>): Promise<void> {
  const attribute = parseNamed(layouts[0] ?? "")?.text ?? "";
  try {
    const answer = await engine.invokeAside({ request: "layout", attribute, ...(attribute.startsWith("[") ? {} : { shape }) });
    const { rows, ones, ends } = matrixOf(answer);
    const columns = ends.at(-1) ?? 0;
    const cells = ones.map(([row, column]) => `M${column + 0.08} ${row + 0.08}h.84v.84h-.84z`).join("");
    const rules = ends.slice(0, -1).map((end) => `M${end} 0v${rows}`).join("");
    fill(into, s("svg", { viewBox: `0 0 ${columns} ${rows}` }, s("path", { class: "rules", d: rules }), s("path", { d: cells })));
  } catch {
    // The name is enough.
  }
}

/** Where a layout's matrix has ones, from its bases: the bits of the last axis above, as in the pictures. */
export function matrixOf({ bases, shape }: Pick<LayoutAnswer, "bases" | "shape">): { rows: number; ones: [row: number, column: number][]; ends: number[] } {
  const first = shape.map((_, axis) => shape.slice(axis + 1).reduce((sum, extent) => sum + bitsOf(extent), 0));
  const ones: [number, number][] = [];
  const ends: number[] = [];
  let column = 0;
  for (const images of Object.values(bases)) {
    for (const image of images) {
      for (const [axis, value] of image.entries()) {
        for (let bit = 0; value >> bit > 0; bit++) if ((value >> bit) & 1) ones.push([(first[axis] ?? 0) + bit, column]);
      }
      column++;
    }
    if (images.length > 0) ends.push(column);
  }
  return { rows: shape.reduce((sum, extent) => sum + bitsOf(extent), 0), ones, ends };
}
