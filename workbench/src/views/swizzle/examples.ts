/** The problems to begin with, as pictures: which elements the first instruction of the load touches. */

import { fill, h, s } from "../../ui/dom";
import type { Context } from "../view";
import { PRESETS } from "./presets";
import type { Preset } from "./presets";
import type { State } from "./state";
import { afresh } from "./state";

const [WIDTH, HEIGHT] = [112, 18];

export class Examples {
  readonly element: HTMLElement;
  readonly #buttons: HTMLButtonElement[];
  readonly #pictures = new Map<Preset, HTMLElement>();
  readonly #context: Context<State>;
  #drawn = false;
  /** What the example is about. */
  readonly about = h("p.about", { "aria-live": "polite" });

  constructor(context: Context<State>) {
    this.#context = context;
    this.#buttons = PRESETS.map((preset) => {
      const picture = h("span.thumbnail", { "aria-hidden": "true" });
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
    );
  }

  /** Draws the pictures, one after the other: once what is asked first has been answered. */
  async draw(): Promise<void> {
    if (this.#drawn) return;
    this.#drawn = true;
    for (const [preset, picture] of this.#pictures) await draw(preset, picture, this.#context);
  }

  update(state: State): void {
    const now = presetOf(state);
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset["example"] === now?.id));
    this.about.textContent = now?.about ?? "Your own accesses.";
  }
}

/** The state that shows a preset. */
function take({ shape, element, store, loads, memory = "", target = "sm_90" }: Preset): Partial<State> {
  return { ...afresh, shape, element, store, loads, memory, target, fold: [], access: 1, top: 0, left: 0, zoom: 0 };
}

/** The preset that a state is about; the memory and the machine tell apart those with the same accesses. */
function presetOf(state: State): Preset | undefined {
  const alike = PRESETS.filter(
    ({ shape, element, store, loads }) =>
      store === state.store && element === state.element && shape.join() === state.shape.join() && loads.join("\0") === state.loads.join("\0"),
  );
  const exact = alike.find(({ memory = "", target = "sm_90" }) => memory === state.memory && target === state.target);
  return exact ?? alike.find(({ memory, target }) => memory === undefined && target === undefined) ?? alike[0];
}

async function draw({ shape, element, loads, target }: Preset, into: HTMLElement, { engine }: Context<State>): Promise<void> {
  const [rows = 1, columns = 1] = shape.slice(-2);
  const [wide, high] = [WIDTH / columns, HEIGHT / rows];
  const memory = `(${rows},${columns}):(${columns},1)`;
  try {
    const { phases } = await engine.invokeAside({
      request: "wavefronts", registers: loads[0]!, memory, shape, element, kind: "load", ...(target ? { target } : {}),
    });
    const cells = phases.flatMap(({ words }) => words.flatMap(({ moved }) => moved.map(({ element }) => element)));
    const path = cells.map(([row = 0, column = 0]) => `M${column * wide} ${row * high}h${wide}v${high}h${-wide}z`).join("");
    fill(into, s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" }, s("path", { d: path })));
  } catch {
    // The name is enough.
  }
}
