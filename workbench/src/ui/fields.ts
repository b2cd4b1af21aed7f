/** Labelled inputs. Each has `set`, which shows a value without telling anybody. */

import { fill, freshId, h } from "./dom";

export interface Control<T> {
  readonly element: HTMLElement;
  set(value: T): void;
}

/** A line of text; told when it is left or Enter is pressed. */
export function textField(
  label: string,
  told: (value: string) => void,
  options: { hint?: string; lines?: number; list?: string[] } = {},
): Control<string> & { input: HTMLInputElement | HTMLTextAreaElement } {
  const id = freshId("field");
  const list = options.list ? freshId("list") : null;
  const common = { id, spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
  const input =
    (options.lines ?? 1) > 1
      ? h("textarea", { ...common, rows: options.lines })
      : h("input", { ...common, type: "text", list });
  input.addEventListener("change", () => told(input.value));
  input.addEventListener("keydown", (event) => {
    const key = event as KeyboardEvent;
    if (key.key === "Enter" && (input instanceof HTMLInputElement || key.ctrlKey || key.metaKey)) {
      told(input.value);
    }
  });
  const element = h(
    "div.field",
    null,
    h("label", { for: id }, label),
    input,
    list && h("datalist", { id: list }, options.list!.map((value) => h("option", { value }))),
    options.hint && h("p.hint", null, options.hint),
  );
  return {
    element,
    input,
    set(value) {
      if (input.value !== value) input.value = value;
    },
  };
}

/** One of some choices. */
export function choice<T extends string>(
  label: string,
  options: readonly { value: T; label: string }[],
  told: (value: T) => void,
): Control<T> & { select: HTMLSelectElement; offer(options: readonly { value: T; label: string }[]): void } {
  const id = freshId("field");
  const select = h("select", { id });
  const offer = (offered: readonly { value: T; label: string }[]) =>
    fill(select, offered.map(({ value, label }) => h("option", { value }, label)));
  offer(options);
  select.addEventListener("change", () => told(select.value as T));
  const element = h("div.field", null, h("label", { for: id }, label), select);
  return {
    element,
    select,
    offer,
    set(value) {
      select.value = value;
    },
  };
}

/** Some choices side by side, of which one is taken; arrow keys go from one to the next. */
export function segmented<T extends string>(
  label: string,
  options: readonly { value: T; label: string }[],
  told: (value: T) => void,
): Control<T> {
  const name = freshId("segmented");
  const inputs = new Map<T, HTMLInputElement>();
  const element = h("fieldset.segmented", null, h("legend", null, label));
  for (const { value, label } of options) {
    const input = h("input", { type: "radio", name, value, onchange: () => told(value) });
    inputs.set(value, input);
    element.append(h("label", null, input, h("span", null, label)));
  }
  return {
    element,
    set(value) {
      for (const [own, input] of inputs) input.checked = own === value;
    },
  };
}

/** A number on a scale. */
export function slider(
  label: string,
  told: (value: number) => void,
): Control<number> & { input: HTMLInputElement; reach(most: number): void; say(text: string): void } {
  const id = freshId("field");
  const input = h("input", { id, type: "range", min: 0, max: 0, step: 1, value: 0 });
  const output = h("output", { for: id });
  input.addEventListener("input", () => told(Number(input.value)));
  const element = h("div.field.slider", null, h("label", { for: id }, label), input, output);
  return {
    element,
    input,
    set(value) {
      input.value = String(value);
    },
    reach(most) {
      input.max = String(most);
      input.disabled = most <= 0;
    },
    say(text) {
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    },
  };
}

/** On or off. */
export function toggle(label: string, told: (value: boolean) => void): Control<boolean> {
  const input = h("input", { type: "checkbox", role: "switch", onchange: () => told(input.checked) });
  const element = h("label.switch", null, input, h("span", null, label));
  return {
    element,
    set(value) {
      input.checked = value;
    },
  };
}
