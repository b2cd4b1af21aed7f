/** Which kernel, for which machine. */

import { h } from "../../ui/dom";
import { choice, textField } from "../../ui/fields";
import { machineChoice } from "../../ui/machines";
import type { Context } from "../view";
import { PRESETS } from "./presets";
import { AFRESH, textOf } from "./state";
import type { State } from "./state";

export class Question {
  readonly element: HTMLElement;
  readonly #preset;
  readonly #target;
  readonly #warps;
  readonly #kernel;
  readonly #text;
  readonly #own: HTMLDetailsElement;

  constructor(context: Context<State>) {
    this.#preset = choice(
      "Kernel",
      [...PRESETS.map(({ id, name }) => ({ value: id, label: name })), { value: "", label: "your own" }],
      (preset) => {
        if (preset !== "") context.set({ ...AFRESH, preset, text: "" });
        else this.open();
      },
    );
    this.#target = machineChoice("Machine", context.engine, (target) => context.set({ target, pins: [] }));
    this.#warps = choice(
      "Warps",
      [
        { value: "0", label: "as the text says" },
        ...(["1", "2", "4", "8", "16", "32"] as const).map((value) => ({ value, label: value })),
      ],
      (warps) => context.set({ warps, pins: [] }),
    );
    this.#kernel = textField("Name", (kernel) => context.set({ ...AFRESH, kernel: kernel.trim() }), {
      hint: "Where the text has several kernels.",
    });
    this.#text = textField(
      "Triton IR",
      (text) => {
        // A text that is a preset's is that preset: the address stays short.
        const preset = PRESETS.find((preset) => preset.text.trim() === text.trim());
        context.set({ ...AFRESH, ...(preset ? { preset: preset.id, text: "" } : { text }) });
      },
      { lines: 14, hint: "Leave the field, or press Enter with Ctrl, to have it read. It becomes part of the address." },
    );
    this.#own = h(
      "details",
      null,
      h("summary", null, "Paste or change the text"),
      h("div.stack.tight", null, this.#text.element, this.#kernel.element),
    );
    this.element = h(
      "section.card",
      { "aria-label": "The kernel" },
      h(
        "div.stack.tight",
        null,
        h("div.columns", null, this.#preset.element, this.#target.element, this.#warps.element),
        this.#own,
      ),
    );
  }

  open(): void {
    this.#own.open = true;
  }

  update(state: State): void {
    this.#preset.set(state.text === "" ? state.preset : "");
    this.#target.set(state.target);
    this.#warps.set(state.warps);
    this.#kernel.set(state.kernel);
    this.#text.set(textOf(state));
  }
}
