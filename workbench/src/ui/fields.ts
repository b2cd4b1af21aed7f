/** Labelled inputs. Each has `set`, which shows a value without telling anybody. */

import type { Checked } from "./checks";
import { fill, freshId, h } from "./dom";

export interface Control<T> {
  readonly element: HTMLElement;
  set(value: T): void;
}

interface TextOptions {
  hint?: string;
  lines?: number;
  /** Tells values to choose from, at once or later. */
  list?: (told: (values: string[]) => void) => void;
}

export type TextField = Control<string> & { input: HTMLInputElement | HTMLTextAreaElement };

/** A line of text; told when it is left or Enter is pressed. */
export function textField(
  label: string,
  told: (value: string) => void,
  options: TextOptions = {},
): TextField {
  const id = freshId("field");
  const list = options.list ? h("datalist", { id: freshId("list") }) : null;
  options.list?.((values) => list && fill(list, values.map((value) => h("option", { value }))));
  const common = { id, spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
  const input =
    (options.lines ?? 1) > 1
      ? h("textarea", { ...common, rows: options.lines })
      : h("input", { ...common, type: "text", list: list?.id ?? null });
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
    list,
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

/** How long typing rests before what is typed is checked. */
const REST = 150;

/**
 * A line of text that is checked as one types; what is wrong is told below it, in the words of its label.
 *
 * @param told what was entered and is right
 * @param options `anyway` instead is told whatever was entered, for somebody else tells in full what is wrong
 */
export function checkedField<T>(
  label: string,
  check: (written: string) => Checked<T> | Promise<Checked<T>>,
  told: (value: T) => void,
  options: TextOptions & { anyway?: (written: string) => void } = {},
): TextField {
  const note = h("p.wrong", { id: freshId("wrong"), "aria-live": "polite", hidden: true });
  let turn = 0;
  let last: string | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  const settle = async (entered: boolean) => {
    clearTimeout(rest);
    const mine = ++turn;
    const written = field.input.value;
    if (entered) options.anyway?.(written);
    const found = await check(written);
    if (mine !== turn) return;
    show("wrong" in found ? found : undefined);
    if (entered && !options.anyway && "value" in found) told(found.value);
  };
  let shown = "";
  const show = (found?: { wrong: string; instead?: string }) => {
    // What is said already stays: a click on its button may be on its way.
    const says = found ? JSON.stringify(found) : "";
    if (says === shown) return;
    shown = says;
    field.input.setAttribute("aria-invalid", String(found !== undefined));
    note.hidden = found === undefined;
    fill(note, found && `${label}: ${found.wrong}. `, found?.instead !== undefined && use(found.instead));
  };
  const use = (instead: string) =>
    h("button.quiet.instead", { type: "button", onclick: () => ((field.input.value = instead), void settle(true)) }, `Use ${instead}`);
  const field = textField(label, () => void settle(true), options);
  field.input.setAttribute("aria-describedby", note.id);
  field.input.addEventListener("input", () => {
    clearTimeout(rest);
    rest = setTimeout(() => void settle(false), REST);
  });
  field.element.append(note);
  return {
    ...field,
    set(value) {
      // What was typed and is wrong stays, until something else is to be shown.
      if (value === last) return;
      last = value;
      if (field.input.value === value) return;
      turn++;
      field.set(value);
      show();
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
