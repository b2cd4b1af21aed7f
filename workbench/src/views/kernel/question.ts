/** Which kernel, for which machine. */

import { fill, h } from "../../ui/dom";
import { checkKernel } from "../../ui/checks";
import { checkedField, choice, textField } from "../../ui/fields";
import { machineChoice } from "../../ui/machines";
import type { Context } from "../view";
import { PRESETS } from "./presets";
import { AFRESH, presetOf, textOf } from "./state";
import type { State } from "./state";

export class Question {
  readonly element: HTMLElement;
  readonly #examples = new Map<string, HTMLButtonElement>();
  readonly #teaches = h("p.teaches");
  readonly #target;
  readonly #warps;
  readonly #kernel;
  readonly #text;
  readonly #own: HTMLDetailsElement;

  /** @param against what the kernel is compared with */
  constructor(context: Context<State>, against: HTMLElement) {
    for (const { id, name } of PRESETS) {
      const take = () => context.set({ ...AFRESH, preset: id, text: "" });
      this.#examples.set(id, h("button.example", { type: "button", "data-example": id, onclick: take }, name));
    }
    const own = h("button.example", { type: "button", "data-example": "", onclick: () => (this.open(), this.#text.input.focus()) }, "Your own…");
    this.#examples.set("", own);
    this.#target = machineChoice("Machine", context.engine, (target) => context.set({ target, pins: [], run: false }));
    this.#warps = choice(
      "Warps",
      [
        { value: "0", label: "as the text says" },
        ...(["1", "2", "4", "8", "16", "32"] as const).map((value) => ({ value, label: value })),
      ],
      (warps) => context.set({ warps, pins: [], run: false }),
    );
    this.#kernel = checkedField("Name", (written) => checkKernel(written, this.#text.input.value), (kernel) => context.set({ ...AFRESH, kernel }), {
      hint: "If the IR has several kernels.",
    });
    this.#text = textField(
      "Triton IR",
      (text) => {
        // A text that is a preset's is that preset: the address stays short.
        const preset = PRESETS.find((preset) => preset.text.trim() === text.trim());
        context.set({ ...AFRESH, ...(preset ? { preset: preset.id, text: "" } : { text }) });
      },
      { lines: 14, hint: "What `kernel.asm[\"ttir\"]` holds, or `python examples/record.py` writes. It is read when you leave the field or press Ctrl+Enter, and becomes part of the address." },
    );
    this.#own = h(
      "details",
      null,
      h("summary", null, "The text"),
      h("div.stack.tight", null, this.#text.element, this.#kernel.element),
    );
    this.element = h(
      "section.card.asked",
      { "aria-label": "The kernel" },
      h("div.strip", { role: "group", "aria-label": "Examples" }, [...this.#examples.values()]),
      h("div.columns", null, this.#target.element, this.#warps.element, against),
      h("div.told", null, this.#teaches, this.#own),
    );
  }

  open(): void {
    this.#own.open = true;
  }

  update(state: State): void {
    const preset = presetOf(state);
    for (const [id, button] of this.#examples) button.setAttribute("aria-pressed", String(id === (preset?.id ?? "")));
    fill(this.#teaches, preset?.teaches ?? "Your own kernel. Point at a line of any pane to see where it came from and what became of it.");
    this.#target.set(state.target);
    this.#warps.set(state.warps);
    this.#kernel.set(state.kernel);
    this.#text.set(textOf(state));
  }
}
