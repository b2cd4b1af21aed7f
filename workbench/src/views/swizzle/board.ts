/** Three memories side by side: their tiles, and one instruction as the banks serve it. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { segmented, slider } from "../../ui/fields";
import type { Control } from "../../ui/fields";
import type { Context } from "../view";
import { legends } from "./legends";
import type { State } from "./state";
import { accesses, chosen } from "./state";
import { Tile, deepest, seen, waves } from "./tile";
import type { Verdict } from "./verdicts";
import { verdicts } from "./verdicts";

/** Milliseconds of a wavefront in the animation. */
const PACE = 420;

/** A memory on the board. */
export interface Candidate {
  name: string;
  /** Whether it is the one that the rest of the page is about. */
  current: boolean;
  /** By machine. */
  verdicts: Verdict[];
  /** The instruction that is looked at. */
  answer: WavefrontsAnswer;
}

const TILES = ["left", "middle", "right"] as const;

export class Board {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #which = h("div");
  readonly #step;
  readonly #warp;
  readonly #wave;
  readonly #play;
  readonly #tiles: Tile[];
  readonly #legend = h("p.legends");
  readonly #zoom: { closer: HTMLButtonElement; wider: HTMLButtonElement; pans: HTMLElement };
  #access: Control<string> | undefined;
  #named = "";
  #timer: ReturnType<typeof setInterval> | undefined;
  #most = 1;
  #shown: Candidate[] = [];
  #built = false;
  #legends = () => undefined as void;
  #state: State | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    this.#step = slider("Instruction", (step) => context.set({ step, wave: 0 }, "drag"));
    this.#warp = slider("Warp", (warp) => context.set({ warp, wave: 0 }, "drag"));
    this.#wave = slider("Wavefront", (wave) => (this.stop(), context.set({ wave }, "drag")));
    this.#play = h("button.primary", { type: "button", onclick: () => this.#toggle() }, "Play");
    const build = h("button", { type: "button", onclick: () => this.#build() }, "Build up");
    const pan = (rows: number, columns: number) => this.#pan(rows, columns);
    this.#tiles = TILES.map((name) => new Tile(`The tile on the ${name}`, (element) => this.#tiles.forEach((tile) => tile.point(element)), pan));
    const button = (text: string, name: string, onclick: () => void) => h("button", { type: "button", "aria-label": name, title: name, onclick }, text);
    const closer = button("+", "Zoom in", () => this.#look(1));
    const wider = button("−", "Zoom out", () => this.#look(-1));
    const pans = h(
      "span.row",
      null,
      button("←", "Move left", () => pan(0, -4)),
      button("→", "Move right", () => pan(0, 4)),
      button("↑", "Move up", () => pan(-2, 0)),
      button("↓", "Move down", () => pan(2, 0)),
    );
    this.#zoom = { closer, wider, pans };
    this.element = h(
      "section.card.watch",
      { "aria-label": "One instruction" },
      h(
        "div.controls",
        null,
        this.#which,
        this.#step.element,
        this.#warp.element,
        this.#wave.element,
        h("div.row", null, this.#play, build, h("div.row.zoom", null, wider, closer, pans)),
      ),
      h("div.tiles", null, this.#tiles.map(({ element }) => element)),
      this.#legend,
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

  show(candidates: Candidate[], state: State, banks: number): void {
    this.#shown = candidates;
    this.#most = Math.max(...candidates.map(({ answer }) => waves(answer)));
    const own = candidates.find(({ current }) => current)?.answer ?? candidates[0]!.answer;
    const { instructions, warps } = own;
    this.#step.reach(instructions - 1);
    this.#step.set(state.step);
    this.#step.say(`${own.instruction} of 0–${instructions - 1}`);
    this.#warp.reach(warps - 1);
    this.#warp.set(state.warp);
    this.#warp.say(`${own.warp} of 0–${warps - 1}`);
    this.#warp.element.hidden = warps === 1;
    this.#wave.reach(this.#most);
    this.#wave.set(state.wave);
    const shape = state.shape;
    for (const [index, { name, current, verdicts: found, answer }] of candidates.entries()) {
      const tile = this.#tiles[index]!;
      tile.element.dataset["current"] = String(current);
      const each = waves(answer);
      fill(
        tile.head,
        // The reader's own memory is always the one that is selected.
        h("h2", null, name, current && !name.startsWith("Yours") && h("span.now", { title: "The toggles, the algebra and the matrix are about this one" }, "selected")),
        verdicts(this.#context, found),
        h(`p.waves.${each === answer.phases.length ? "good" : "bad"}` as "p", { title: `wavefronts of this ${answer.kind}` }, each),
      );
      tile.show({ name, answer, shape, banks, most: this.#most });
    }
    this.#legends = () => fill(this.#legend, legends(own, banks, this.#tiles[0]!.isLabelled));
    this.#select();
    if (!this.#built) this.#build();
    this.#built = true;
  }

  clear(): void {
    this.stop();
    this.#shown = [];
    for (const tile of this.#tiles) tile.clear();
    this.#legends = () => fill(this.#legend);
    this.#legends();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = "Play";
  }

  /** Shows the wavefront that the state says, or all, and the part of the tiles. */
  #select(): void {
    const { wave = 0, top = 0, left = 0, zoom = 0, shape = [] } = this.#state ?? {};
    const most = deepest(shape.at(-1) ?? 1);
    const depth = Math.min(zoom, most);
    for (const tile of this.#tiles) {
      tile.look({ ...this.#within(top, left, depth), zoom: depth });
      tile.wave(wave);
    }
    this.#legends();
    this.#zoom.closer.disabled = depth >= most;
    this.#zoom.wider.disabled = depth === 0;
    this.#zoom.pans.hidden = !this.#movable(depth);
    this.#wave.say(wave > 0 && wave <= this.#most ? `${wave - 1} of 0–${this.#most - 1}` : `all, 0–${this.#most - 1}`);
  }

  get #extents(): [number, number] {
    const { shape = [] } = this.#state ?? {};
    return [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  }

  #movable(zoom: number): boolean {
    const [extents, part] = [this.#extents, seen(this.#extents, zoom)];
    return part[0] < extents[0] || part[1] < extents[1];
  }

  /** A place of the window that is inside the tile. */
  #within(top: number, left: number, zoom: number): { top: number; left: number } {
    const [rows, columns] = this.#extents;
    const [down, across] = seen([rows, columns], zoom);
    const inside = (at: number, most: number) => Math.max(0, Math.min(at, most));
    return { top: inside(top, rows - down), left: inside(left, columns - across) };
  }

  #look(by: number): void {
    const { zoom = 0, top = 0, left = 0 } = this.#state ?? {};
    const depth = Math.max(0, zoom + by);
    this.#context.set({ zoom: depth, ...this.#within(top, left, depth) }, "drag");
  }

  #pan(rows: number, columns: number): void {
    const { zoom = 0, top = 0, left = 0 } = this.#state ?? {};
    this.#context.set(this.#within(top + rows, left + columns, zoom), "drag");
  }

  /** Lets the tiles arise from the first one, row by row. */
  #build(): void {
    const plain = this.#shown[0]?.answer.places;
    if (plain) for (const tile of this.#tiles.slice(1)) tile.build(plain);
  }

  #toggle(): void {
    if (this.#timer !== undefined) return this.stop();
    this.#play.textContent = "Stop";
    const advance = () => {
      const wave = this.#state?.wave ?? 0;
      const next = wave >= this.#most ? 0 : wave + 1;
      this.#context.set({ wave: next }, "drag");
      if (next === 0) this.stop();
    };
    this.#context.set({ wave: 0 }, "drag");
    advance();
    this.#timer = setInterval(advance, PACE);
  }
}
