/** What is asked: the tensor, the machine, the two layouts. */

import { checkElement, checkExtents, checkLayout } from "../../ui/checks";
import { h } from "../../ui/dom";
import { checkedField, choice } from "../../ui/fields";
import { elementNames, machineChoice } from "../../ui/machines";
import { oneLine } from "../../ui/texts";
import { layoutAddress } from "../layout/address";
import type { Context } from "../view";
import { PRESETS } from "./presets";
import type { State } from "./state";

export class Question {
  readonly element: HTMLElement;
  readonly #preset;
  readonly #about = h("p.note");
  readonly #shape;
  readonly #dtype;
  readonly #target;
  readonly #from;
  readonly #to;
  readonly #see = h("a", { href: "#/layout" }, "See both layouts as pictures");
  #state: State | undefined;

  constructor(context: Context<State>) {
    this.#preset = choice(
      "Example",
      [...PRESETS.map(({ id, name }) => ({ value: id, label: name })), { value: "", label: "your own" }],
      (id) => {
        const preset = PRESETS.find((preset) => preset.id === id);
        if (!preset) return;
        const { shape, element, target, from, to } = preset;
        context.set({ shape, element, target, from, to });
      },
    );
    const { engine } = context;
    this.#shape = checkedField("Shape", checkExtents, (shape) => context.set({ shape }));
    this.#dtype = checkedField("Element", (written) => checkElement(written, engine), (element) => context.set({ element }), {
      list: (told) => elementNames(engine, told),
    });
    this.#target = machineChoice("Machine", context.engine, (target) => context.set({ target }));
    const layoutField = (label: string, told: (text: string) => void, hint?: string) =>
      checkedField(label, (written) => checkLayout(written, this.#state?.shape ?? [], engine), told, {
        lines: 4,
        ...(hint ? { hint } : {}),
        anyway: (text) => told(oneLine(text)),
      });
    this.#from = layoutField("From", (from) => context.set({ from }));
    this.#to = layoutField(
      "To",
      (to) => context.set({ to }),
      "A Triton attribute, bases such as [register: (0,1), lane: (1,0)] -> [dim0: 2, dim1: 2], or CuTe. Ctrl+Enter applies it.",
    );
    const swap = () => this.#state && context.set({ from: this.#state.to, to: this.#state.from });
    this.element = h(
      "section.card",
      { "aria-label": "The conversion" },
      h("header", null, h("h2", null, "The conversion")),
      h(
        "div.stack.tight",
        null,
        this.#preset.element,
        this.#about,
        h("div.columns", null, this.#shape.element, this.#dtype.element, this.#target.element),
        this.#from.element,
        h("div", null, h("button.quiet", { type: "button", onclick: swap }, "Swap from and to")),
        this.#to.element,
        h("p.note", null, this.#see),
      ),
    );
  }

  update(state: State): void {
    this.#state = state;
    this.#shape.set(state.shape.join("x"));
    this.#dtype.set(state.element);
    this.#target.set(state.target);
    this.#from.set(state.from);
    this.#to.set(state.to);
    const both = [{ name: "From", text: state.from }, { name: "To", text: state.to }];
    this.#see.setAttribute("href", layoutAddress(both, state.shape));
    const preset = PRESETS.find(
      ({ shape, element, target, from, to }) =>
        from === state.from &&
        to === state.to &&
        element === state.element &&
        target === state.target &&
        shape.join() === state.shape.join(),
    );
    this.#preset.set(preset?.id ?? "");
    this.#about.textContent = preset?.about ?? "Two layouts of your own.";
  }
}
