/** What is asked: the tensor, the machine, the accesses. */

import type { Fault } from "../../engine/requests";
import { parseExtents } from "../../state/codec";
import { fill, h } from "../../ui/dom";
import { choice, textField } from "../../ui/fields";
import { machineChoice } from "../../ui/machines";
import { ELEMENTS, oneLine } from "../../ui/texts";
import type { Context } from "../view";
import { PRESETS } from "./model";
import type { State } from "./state";

/** What a change of the problem takes back: what was looked at is of another problem. */
const AFRESH: Partial<State> = { step: 0, warp: 0, wave: 0, solve: 0 };

export class Problem {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #shape;
  readonly #dtype;
  readonly #target;
  readonly #against;
  readonly #store;
  readonly #loads = h("div.stack.tight");
  readonly #preset;
  readonly #about = h("p.note");
  readonly #memory;

  constructor(context: Context<State>) {
    this.#context = context;
    const set = (change: Partial<State>) => context.set({ ...AFRESH, ...change });
    this.#preset = choice(
      "Example",
      [...PRESETS.map(({ id, name }) => ({ value: id, label: name })), { value: "", label: "your own" }],
      (id) => {
        const preset = PRESETS.find((preset) => preset.id === id);
        if (!preset) return;
        const { shape, element, store, loads } = preset;
        set({ shape, element, store, loads, memory: "", fold: [], access: 1 });
      },
    );
    this.#shape = textField("Shape", (written) => {
      const shape = parseExtents(written);
      this.#shape.input.setAttribute("aria-invalid", String(!shape));
      if (shape) set({ shape });
    });
    this.#dtype = textField("Element", (element) => set({ element: element.trim() }), { list: ELEMENTS });
    this.#target = machineChoice("Machine", context.engine, (target) => set({ target }));
    this.#against = machineChoice("Beside it", context.engine, (against) => context.set({ against }), "none");
    this.#store = textField("Store from", (store) => set({ store: oneLine(store) }), { lines: 3 });
    this.#memory = textField("Memory", (memory) => set({ memory: oneLine(memory) }), {
      lines: 2,
      hint: "Empty: the folds below. Or a Triton attribute, bases, or CuTe: Swizzle<4,1,4> o 0 o (16,32):(32,1)",
    });
    this.element = h(
      "section.card.problem",
      { "aria-label": "The problem" },
      h("header", null, h("h2", null, "The problem")),
      h(
        "div.stack.tight",
        null,
        this.#preset.element,
        this.#about,
        h("div.columns", null, this.#shape.element, this.#dtype.element, this.#target.element, this.#against.element),
        this.#store.element,
        this.#loads,
        this.#memory.element,
      ),
    );
  }

  update(state: State): void {
    this.#shape.set(state.shape.join("x"));
    this.#shape.input.setAttribute("aria-invalid", "false");
    this.#dtype.set(state.element);
    this.#target.set(state.target);
    this.#against.set(state.against);
    this.#store.set(state.store);
    this.#memory.set(state.memory);
    const preset = PRESETS.find(
      (preset) =>
        preset.store === state.store &&
        preset.element === state.element &&
        preset.shape.join() === state.shape.join() &&
        preset.loads.join("\0") === state.loads.join("\0"),
    );
    this.#preset.set(preset?.id ?? "");
    this.#about.textContent = preset?.about ?? "Layouts of your own: Triton attributes, bases or CuTe.";
    this.#showLoads(state);
  }

  /** The text that a fault's place is in, of the question about an access. */
  source(state: State, access: number, fault: Fault): string | undefined {
    const parameter = /^`(\w+)`/.exec(fault.message)?.[1];
    if (parameter === "memory") return state.memory;
    if (parameter !== "registers") return undefined;
    return access === 0 ? state.store : state.loads[access - 1];
  }

  #showLoads(state: State): void {
    const shown = [...this.#loads.querySelectorAll("textarea")].map((input) => input.value);
    if (shown.length === state.loads.length && shown.every((text, index) => text === state.loads[index])) return;
    const change = (loads: string[]) =>
      this.#context.set({ ...AFRESH, loads, access: Math.min(state.access, loads.length) });
    const parts = state.loads.map((load, index) => {
      const field = textField(
        state.loads.length > 1 ? `Load ${index + 1} into` : "Load into",
        (text) => change(state.loads.map((old, other) => (other === index ? oneLine(text) : old))),
        { lines: 3 },
      );
      field.set(load);
      const remove = h(
        "button.quiet",
        { type: "button", onclick: () => change(state.loads.filter((_, other) => other !== index)) },
        `Remove load ${index + 1}`,
      );
      return h("div", null, field.element, state.loads.length > 1 && remove);
    });
    const add = h(
      "button.quiet",
      { type: "button", onclick: () => change([...state.loads, state.loads.at(-1) ?? state.store]) },
      "Add a load",
    );
    fill(this.#loads, parts, h("div", null, add));
  }
}
