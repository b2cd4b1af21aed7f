/** The problems to begin with, as pictures: the tile's first rows by bank, and which elements the first load touches. */

import { h } from "../../ui/dom";
import type { Context } from "../view";
import { bankColour } from "./colours";
import { PRESETS } from "./presets";
import type { Preset } from "./presets";
import type { State } from "./state";
import { afresh } from "./state";

/** So many rows are drawn. */
const ROWS = 8;
/** How much of its colour an element keeps that is not touched. */
const FAINT = 0.42;

export class Examples {
  readonly element: HTMLElement;
  readonly #buttons: HTMLButtonElement[];
  readonly #pictures = new Map<Preset, HTMLCanvasElement>();
  readonly #context: Context<State>;
  #drawn = false;
  readonly #about = h("p.about", { "aria-live": "polite" });

  constructor(context: Context<State>) {
    this.#context = context;
    this.#buttons = PRESETS.map((preset) => {
      const picture = h("canvas.thumbnail", { "aria-hidden": "true", width: preset.shape.at(-1), height: ROWS });
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

  /** Draws the pictures, one after the other: once what is asked first has been answered. */
  async draw(): Promise<void> {
    if (this.#drawn) return;
    this.#drawn = true;
    for (const [preset, picture] of this.#pictures) await draw(preset, picture, this.#context);
  }

  update(state: State): void {
    const now = presetOf(state);
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset["example"] === now?.id));
    this.#about.textContent = now?.about ?? "Your own accesses.";
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

async function draw({ shape, element, loads, memory, target = "sm_90" }: Preset, into: HTMLCanvasElement, { engine }: Context<State>): Promise<void> {
  const paint = into.getContext("2d")!;
  const columns = into.width;
  try {
    const [{ phases, places = [] }, { machines }] = await Promise.all([
      engine.invokeAside({
        request: "wavefronts", registers: loads[0]!, memory: memory ?? rowMajor(shape), shape, element, target, kind: "load", places: true,
      }),
      engine.invoke({ request: "machines" }),
    ]);
    const banks = machines.find(({ name }) => name === target)?.banks ?? 32;
    const moved = phases.flatMap(({ words }) => words.flatMap(({ moved }) => moved));
    const touched = new Set(moved.map(({ element: [row = 0, column = 0] }) => row * columns + column));
    for (let at = 0; at < ROWS * columns; at++) {
      const place = places[at];
      if (!place) continue;
      paint.fillStyle = bankColour(place.bank, banks);
      paint.globalAlpha = touched.has(at) ? 1 : FAINT;
      paint.fillRect(at % columns, Math.floor(at / columns), 1, 1);
    }
    into.dataset["drawn"] = "true";
  } catch {
    // The name is enough.
  }
}

function rowMajor([rows = 1, columns = 1]: number[]): string {
  return `(${rows},${columns}):(${columns},1)`;
}
