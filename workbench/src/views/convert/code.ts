/** The conversion as a device function, as `weft convert --emit` prints it. */

import type { ConvertRequest } from "../../engine/requests";
import { copyButton } from "../../ui/copy";
import { h } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { segmented } from "../../ui/fields";
import type { Context } from "../view";
import type { Language, State } from "./state";

const NAMES: Record<Language, string> = { cuda: "CUDA C++", ptx: "PTX", hip: "HIP C++" };

export class Code {
  readonly element: HTMLElement;
  readonly #engine;
  readonly #language;
  readonly #text = h("pre", { tabindex: 0, "aria-label": "Code of the conversion" });
  readonly #fault = new FaultBox();
  readonly #copy;
  #code: Language = "cuda";

  constructor(context: Context<State>) {
    this.#engine = context.engine;
    this.#language = segmented<Language>(
      "Language",
      (Object.keys(NAMES) as Language[]).map((value) => ({ value, label: NAMES[value] })),
      (code) => context.set({ code }),
    );
    this.#copy = copyButton("Copy", () => this.#text.textContent ?? "");
    this.element = h(
      "section.card",
      { "aria-label": "Code" },
      h("header", null, h("h2", null, "Code"), h("p", null, "The bytes that ", h("code", null, "weft convert --emit"), " prints.")),
      h("div.controls", null, this.#language.element, this.#copy),
      this.#fault.element,
      h("div.code", null, this.#text),
    );
  }

  update(state: State): void {
    this.#code = state.code;
    this.#language.set(state.code);
  }

  async show(request: ConvertRequest, current: () => boolean): Promise<void> {
    try {
      const { text } = await this.#engine.invoke({ ...request, emit: this.#code });
      if (!current()) return;
      this.#fault.clear();
      this.#put(text ?? "");
    } catch (error) {
      if (!current()) return;
      this.#put("");
      this.#fault.show(error);
    }
  }

  clear(): void {
    this.#fault.clear();
    this.#put("");
  }

  #put(text: string): void {
    this.#text.textContent = text;
    this.#text.parentElement!.hidden = text === "";
    this.#copy.hidden = text === "";
  }
}
