/** A text, line by line; lines that belong together in several panes light up together. */

import { fill, h } from "../../ui/dom";
import type { Shown } from "./links";
import { inked } from "./ink";
import type { Language } from "./ink";

/** What stands beside a line. */
export interface Beside {
  /** Names of layouts, before the text. */
  homes?: HTMLElement[];
  /** Marks below it. */
  marks?: HTMLElement[];
  /** Its share of the costs. */
  heat?: number;
}

export interface PaneOptions {
  id: string;
  title: string;
  language: Language;
  /** Told of the lines of the text to which the line belongs that is pointed at or reached by keyboard. */
  pointed: (of: readonly number[]) => void;
  chosen: (line: Shown) => void;
}

/** How many lines are laid out together, when the first of them comes into sight. */
const STRETCH = 24;

export class Pane {
  readonly id: string;
  readonly element: HTMLElement;
  /** What stands beside the title. */
  readonly head = h("div.head");
  readonly #note = h("p.note");
  readonly #lines: HTMLElement;
  readonly #options: PaneOptions;
  #linked: [HTMLButtonElement, Shown][] = [];
  #lit: HTMLElement[] = [];
  #shown: readonly Shown[] = [];

  constructor(options: PaneOptions) {
    const { id, title } = options;
    this.id = id;
    this.#options = options;
    this.#lines = h("div.listing", { role: "group", "aria-label": `${title}, line by line`, tabindex: -1 });
    this.element = h("section.pane", { "data-pane": id, "aria-label": title }, h("header", null, h("h2", null, title), this.head), this.#note, this.#lines);
    this.#lines.addEventListener("pointerover", (event) => this.#point(event.target));
    this.#lines.addEventListener("pointerleave", () => options.pointed([]));
    this.#lines.addEventListener("focusin", (event) => this.#point(event.target));
    this.#lines.addEventListener("focusout", () => options.pointed([]));
    this.#lines.addEventListener("keydown", (event) => this.#key(event));
  }

  get lines(): readonly Shown[] {
    return this.#shown;
  }

  /** Says something instead of a text, or above it. */
  say(note: string | (Node | string)[]): void {
    fill(this.#note, typeof note === "string" ? note : [...note]);
    this.#note.hidden = note.length === 0;
  }

  show(lines: readonly Shown[], beside: (line: Shown) => Beside = () => ({})): void {
    this.#shown = lines;
    this.#linked = [];
    this.#lit = [];
    const digits = String(lines.at(-1)?.number ?? 0).length;
    this.#lines.style.setProperty("--digits", `${Math.max(2, digits)}ch`);
    const warm = lines.map(beside);
    this.element.classList.toggle("warm", warm.some(({ heat = 0 }) => heat > 0));
    this.element.classList.toggle("housed", warm.some(({ homes = [] }) => homes.length > 0));
    const all = lines.map((line, index) => this.#line(line, warm[index]!));
    fill(this.#lines, Array.from({ length: Math.ceil(all.length / STRETCH) }, (_, index) => {
      const stretch = all.slice(index * STRETCH, (index + 1) * STRETCH);
      return h("div.stretch", { style: `--lines: ${stretch.length}` }, stretch);
    }));
    this.#lines.hidden = lines.length === 0;
    this.#reach(this.#linked[0]?.[0]);
    // Without a line to reach, the text itself can be scrolled by keys.
    this.#lines.tabIndex = this.#linked.length > 0 ? -1 : 0;
  }

  #line(line: Shown, { homes = [], marks = [], heat = 0 }: Beside): HTMLElement {
    const percent = Math.round(heat * 100);
    const parts = [
      h("span.number", { "aria-hidden": "true" }, String(line.number)),
      heat > 0 && h("span.heat", { title: `${(heat * 100).toFixed(1)} % of all that the kernel costs`, style: `--heat: ${Math.sqrt(heat).toFixed(3)}` }, percent > 0 ? `${percent} %` : ""),
      homes.length > 0 && h("span.homes", null, homes),
      h("code", { style: `--indent: ${/^ */.exec(line.text)![0].length}` }, inked(line.text, this.#options.language)),
      marks.length > 0 && h("span.marks", null, marks),
    ];
    if (line.of.length === 0) return h("div.line", { "data-line": line.number }, parts);
    const button = h("button.line", { type: "button", tabindex: -1, "data-line": line.number, onclick: () => this.#options.chosen(line) }, parts);
    this.#linked.push([button, line]);
    return button;
  }

  /** Lights up what belongs to lines of the text that something points at. */
  light(of: ReadonlySet<number>): void {
    for (const element of this.#lit) element.classList.remove("lit");
    this.#lit = of.size === 0 ? [] : this.#of(of);
    for (const element of this.#lit) element.classList.add("lit");
  }

  /** Marks what belongs to the chosen lines of the text. */
  select(of: ReadonlySet<number>): void {
    for (const [element, line] of this.#linked) {
      element.setAttribute("aria-pressed", String(line.of.some((one) => of.has(one))));
    }
    const [first] = this.#of(of);
    if (first) this.#reach(first);
  }

  /** How far the first of what belongs to lines of the text is from sight. */
  distance(of: ReadonlySet<number>): number {
    const [first] = this.#of(of);
    if (!first) return 0;
    const [seen, box] = [this.#lines.getBoundingClientRect(), first.getBoundingClientRect()];
    return box.top < seen.top || box.bottom > seen.bottom ? box.top - seen.top - seen.height / 3 : 0;
  }

  scrollBy(distance: number): void {
    if (distance !== 0) this.#lines.scrollTop += distance;
  }

  #of(of: ReadonlySet<number>): HTMLButtonElement[] {
    return this.#linked.flatMap(([element, line]) => (line.of.some((one) => of.has(one)) ? [element] : []));
  }

  #point(target: EventTarget | null): void {
    const element = target instanceof Element ? target.closest("button.line") : null;
    const found = this.#linked.find(([own]) => own === element);
    this.#options.pointed(found?.[1].of ?? []);
  }

  /** One line of all is reached by Tab; arrows go on from there. */
  #reach(element: HTMLElement | undefined): void {
    this.#lines.querySelector('button.line[tabindex="0"]')?.setAttribute("tabindex", "-1");
    element?.setAttribute("tabindex", "0");
  }

  #key(event: KeyboardEvent): void {
    const at = this.#linked.findIndex(([element]) => element === document.activeElement);
    const last = this.#linked.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    const element = to === undefined || at < 0 ? undefined : this.#linked[Math.min(last, Math.max(0, to))]?.[0];
    if (!element) return;
    event.preventDefault();
    this.#reach(element);
    element.focus();
  }
}
