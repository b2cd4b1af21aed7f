/** What is asked: the tensor, the machine, the accesses. */

import type { Fault } from "../../engine/requests";
import { checkElement, checkExtents, checkLayout } from "../../ui/checks";
import { fill, h } from "../../ui/dom";
import { parameterOf } from "../../ui/fault";
import { checkedField } from "../../ui/fields";
import type { TextField } from "../../ui/fields";
import { elementNames, machineChoice } from "../../ui/machines";
import { oneLine } from "../../ui/texts";
import type { Context } from "../view";
import type { State } from "./state";
import { afresh } from "./state";

interface LayoutOptions {
  lines?: number;
  hint?: string;
  /** Whether there may be none. */
  empty?: boolean;
}

const [STORE, MEMORY] = ["Store from", "Memory"];

function loadLabel(access: number, loads: string[]): string {
  return loads.length > 1 ? `Load ${access} into` : "Load into";
}

export class Problem {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #shape;
  readonly #dtype;
  readonly #target;
  readonly #against;
  readonly #store;
  readonly #loads = h("div.stack.tight");
  readonly #texts: HTMLDetailsElement;
  readonly #memory;
  #extents: number[] = [];

  constructor(context: Context<State>) {
    this.#context = context;
    const set = (change: Partial<State>) => context.set({ ...afresh, ...change });
    const { engine } = context;
    this.#shape = checkedField("Shape", checkExtents, (shape) => set({ shape }));
    this.#dtype = checkedField("Element", (written) => checkElement(written, engine), (element) => set({ element }), {
      list: (told) => elementNames(engine, told),
    });
    this.#target = machineChoice("Machine", context.engine, (target) => set({ target }));
    this.#against = machineChoice("Compare with", context.engine, (against) => context.set({ against }), "none");
    this.#store = this.#layoutField(STORE, (store) => set({ store }));
    this.#memory = this.#layoutField(MEMORY, (memory) => set({ memory }), {
      lines: 2,
      hint: "Empty: the folds above. Or a Triton attribute, bases, or CuTe: Swizzle<4,1,4> o 0 o (16,32):(32,1)",
      empty: true,
    });
    this.#texts = h(
      "details",
      null,
      h("summary", null, "Store, loads and memory as texts"),
      h("div.stack.tight", null, this.#store.element, this.#loads, this.#memory.element),
    );
    this.element = h(
      "section.card.problem",
      { "aria-label": "The problem" },
      h("header", null, h("h2", null, "The problem")),
      h(
        "div.stack.tight",
        null,
        h("div.columns", null, this.#shape.element, this.#dtype.element, this.#target.element, this.#against.element),
        this.#texts,
      ),
    );
  }

  /** A field for a layout of the tensor; what is wrong with it is shown in full beside the pictures too. */
  #layoutField(label: string, told: (text: string) => void, { empty = false, ...options }: LayoutOptions = {}): TextField {
    const check = (written: string) =>
      empty && written.trim() === "" ? { value: "" } : checkLayout(written, this.#extents, this.#context.engine);
    return checkedField(label, check, told, { lines: 3, ...options, anyway: (text) => told(oneLine(text)) });
  }

  update(state: State): void {
    this.#extents = state.shape;
    this.#shape.set(state.shape.join("x"));
    this.#dtype.set(state.element);
    this.#target.set(state.target);
    this.#against.set(state.against);
    this.#store.set(state.store);
    this.#memory.set(state.memory);
    this.#showLoads(state);
  }

  /** The text that a fault's place is in, of the question about an access; the texts are opened. */
  source(state: State, access: number, fault: Fault): string | undefined {
    const label = this.label(state, access, fault);
    if (label === undefined) return undefined;
    this.#texts.open = true;
    if (label === MEMORY) return state.memory;
    return access === 0 ? state.store : state.loads[access - 1];
  }

  /** The label of the field that a fault is about. */
  label({ loads }: State, access: number, fault: Fault): string | undefined {
    const parameter = parameterOf(fault);
    if (parameter === "memory") return MEMORY;
    if (parameter !== "registers") return undefined;
    return access === 0 ? STORE : loadLabel(access, loads);
  }

  #showLoads(state: State): void {
    const shown = [...this.#loads.querySelectorAll("textarea")].map((input) => input.value);
    if (shown.length === state.loads.length && shown.every((text, index) => text === state.loads[index])) return;
    const change = (loads: string[]) =>
      this.#context.set({ ...afresh, loads, access: Math.min(state.access, loads.length) });
    const parts = state.loads.map((load, index) => {
      const field = this.#layoutField(loadLabel(index + 1, state.loads), (text) =>
        change(state.loads.map((old, other) => (other === index ? text : old))),
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
