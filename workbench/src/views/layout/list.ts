/** The named layouts, and the operators that make more of them. */

import type { LayoutAnswer, Operator } from "../../engine/requests";
import { checkExtents, checkLayout, checkName, checkOrder, checkReshape } from "../../ui/checks";
import type { Checked } from "../../ui/checks";
import { copyButton } from "../../ui/copy";
import { fill, h } from "../../ui/dom";
import { checkedField, choice } from "../../ui/fields";
import { elementNames } from "../../ui/machines";
import { oneLine } from "../../ui/texts";
import type { Context } from "../view";
import { OPERATORS, formatNamed, formatOperation, freshName, isMemory, parseNamed, parseOperation } from "./names";
import type { Named } from "./names";
import type { State } from "./state";

/** What the field of a layout's text is called, also where it is refused. */
export const DEFINITION = "Definition";

export class List {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #shape;
  readonly #element;
  readonly #rows = h("div.named", { role: "radiogroup", "aria-label": "Layouts" });
  readonly #text;
  readonly #is = h("p.note.layout");
  readonly #made = h("div.stack.tight");
  readonly #operator;
  readonly #first;
  readonly #second;
  readonly #order;
  readonly #extents;
  readonly #name;
  #state: State | undefined;
  #told = "";

  constructor(context: Context<State>) {
    this.#context = context;
    this.#shape = checkedField("Shape of the tensor", checkExtents, (shape) => context.set({ shape, at: "" }), {
      hint: "For Triton attributes; other layouts carry their own.",
    });
    this.#element = choice<string>("Element", [], (element) => context.set({ element }));
    elementNames(context.engine, (names) => {
      this.#element.offer(names.map((value) => ({ value, label: value })));
      if (this.#state) this.#element.set(this.#state.element);
    });
    const check = (written: string): Promise<Checked<string>> | Checked<string> =>
      parseOperation(written) ? { value: oneLine(written) } : checkLayout(written, this.#state?.shape ?? [], context.engine);
    this.#text = checkedField(DEFINITION, check, (text) => this.#change(text), {
      lines: 4,
      hint: "A Triton attribute, bases such as [lane: (0,1) (1,0)] -> [dim0: 2, dim1: 2], CuTe, or an operator: compose(A, B).",
      anyway: (text) => this.#change(oneLine(text)),
    });
    const named = (written: string) =>
      checkName(written, this.#state?.shown ?? "", this.#all().map(({ name }) => name), freshName(this.#all()));
    this.#name = checkedField("Name", named, (name) => this.#rename(name));
    this.#operator = choice<Operator>("Operator", OPERATORS, () => this.#offer());
    this.#first = choice<string>("A", [], () => undefined);
    this.#second = choice<string>("B", [], () => undefined);
    this.#order = checkedField("Axes in their new order", (written) => checkOrder(written, this.#state?.shape.length ?? 0), () => undefined);
    this.#extents = checkedField("New shape", (written) => checkReshape(written, this.#state?.shape ?? []), () => undefined);
    const take = copyButton("Copy bases", () => this.#told);
    this.element = h(
      "section.card",
      { "aria-label": "Named layouts" },
      h("header", null, h("h2", null, "Named layouts")),
      h(
        "div.stack.tight",
        null,
        this.#shape.element,
        this.#element.element,
        this.#rows,
        this.#name.element,
        this.#text.element,
        this.#is,
        h(
          "div.row",
          null,
          take,
          h("button.quiet", { type: "button", onclick: () => this.#add() }, "Add a layout"),
          h("button.quiet", { type: "button", onclick: () => this.#remove() }, "Remove"),
        ),
        h("h3", null, "Derive a layout"),
        this.#operator.element,
        this.#made,
        h("div", null, h("button", { type: "button", onclick: () => this.#make() }, "Derive")),
      ),
    );
  }

  update(state: State): void {
    this.#state = state;
    const all = this.#all();
    this.#shape.set(state.shape.join("x"));
    this.#element.set(state.element);
    fill(
      this.#rows,
      all.map(({ name, text }) => {
        const input = h("input", {
          type: "radio",
          name: "shown",
          value: name,
          onchange: () => this.#context.set({ shown: name, at: "" }),
        });
        input.checked = name === state.shown;
        return h("label", null, input, h("strong", null, name), h("code", { title: text }, text));
      }),
    );
    const shown = all.find(({ name }) => name === state.shown);
    this.#text.set(shown?.text ?? "");
    this.#name.set(shown?.name ?? "");
    const names = all.map(({ name }) => ({ value: name, label: name }));
    for (const operand of [this.#first, this.#second]) {
      const taken = operand.select.value;
      operand.offer(names);
      operand.set(all.some(({ name }) => name === taken) ? taken : (names[operand === this.#second ? 1 : 0]?.value ?? ""));
    }
    this.#offer();
  }

  /** Says what the layout that is shown is. */
  tell(answer: LayoutAnswer | undefined): void {
    this.#told = answer?.text ?? "";
    // Of registers it decides nothing.
    this.#element.element.hidden = answer === undefined || !isMemory(answer);
    this.#is.textContent = this.#told;
  }

  #all(): Named[] {
    return (this.#state?.layouts ?? []).flatMap((written) => parseNamed(written) ?? []);
  }

  #set(all: Named[], change: Partial<State> = {}): void {
    this.#context.set({ ...change, layouts: all.map(formatNamed) });
  }

  #change(text: string): void {
    const shown = this.#state?.shown;
    this.#set(this.#all().map((named) => (named.name === shown ? { ...named, text } : named)), { at: "" });
  }

  /** A new name, also where other layouts are made of this one. */
  #rename(name: string): void {
    const shown = this.#state?.shown ?? "";
    const renamed = this.#all().map((named) => {
      const operation = parseOperation(named.text);
      const text = operation
        ? formatOperation({ ...operation, of: operation.of.map((part) => (part === shown ? name : part)) })
        : named.text;
      return { name: named.name === shown ? name : named.name, text };
    });
    this.#set(renamed, { shown: name });
  }

  #add(): void {
    const all = this.#all();
    const name = freshName(all);
    const text = all.find((named) => named.name === this.#state?.shown)?.text ?? "[lane: 1] -> [dim0: 2]";
    this.#set([...all, { name, text }], { shown: name, at: "" });
  }

  #remove(): void {
    const rest = this.#all().filter(({ name }) => name !== this.#state?.shown);
    if (rest.length > 0) this.#set(rest, { shown: rest[0]!.name, at: "" });
  }

  /** Shows what the operator takes. */
  #offer(): void {
    const takes = OPERATORS.find(({ value }) => value === this.#operator.select.value)?.takes ?? "nothing";
    const { shape } = this.#state ?? { shape: [] };
    this.#order.set(shape.map((_, axis) => shape.length - 1 - axis).join(" "));
    this.#extents.set([...shape].reverse().join("x"));
    const second = { other: this.#second, order: this.#order, shape: this.#extents, nothing: undefined }[takes];
    fill(this.#made, h("div.columns", null, this.#first.element, second?.element));
  }

  #make(): void {
    const operator = this.#operator.select.value as Operator;
    const takes = OPERATORS.find(({ value }) => value === operator)?.takes;
    const parts = [this.#first.select.value];
    if (takes === "other") parts.push(this.#second.select.value);
    const { shape } = this.#state ?? { shape: [] };
    const to = takes === "order" ? checkOrder(this.#order.input.value, shape.length) : takes === "shape" && checkReshape(this.#extents.input.value, shape);
    if (to) {
      // What is wrong stands below the field.
      if ("wrong" in to) return;
      parts.push(to.value);
    }
    const operation = parseOperation(`${operator}(${parts.join(", ")})`);
    if (!operation) return;
    const all = this.#all();
    const name = freshName(all);
    this.#set([...all, { name, text: formatOperation(operation) }], { shown: name, at: "" });
  }
}
