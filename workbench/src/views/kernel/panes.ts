/** The texts of a kernel side by side: Python, Triton IR, code, and a disassembler's listing. */

import type { CompileAnswer, ExplainAnswer, RunAnswer } from "../../engine/requests";
import { count } from "../../ui/amounts";
import { copyButton } from "../../ui/copy";
import { fill, h } from "../../ui/dom";
import { segmented, textField } from "../../ui/fields";
import type { Context } from "../view";
import { TEXT, opponent } from "./against";
import { Sources, heat, ofCode, ofListing, ofOther, ofText } from "./links";
import type { Shown } from "./links";
import { Found, homesOf, marksOf } from "./marks";
import { byLine } from "./model";
import type { LayoutNames } from "./model";
import { Pane } from "./pane";
import { sourceOf, textOf } from "./state";
import type { State } from "./state";

/** What is shown. */
export interface Told {
  state: State;
  now: ExplainAnswer;
  names: LayoutNames;
  code?: CompileAnswer;
  /** The code without pins. */
  before?: CompileAnswer;
  run?: RunAnswer;
  /** Another text of the kernel, as an explanation of it prices it. */
  other?: { name: string; text: string; answer: ExplainAnswer };
  /** The lines of the text that are chosen. */
  chosen: readonly number[];
}

const textIn = (answer?: CompileAnswer) => answer?.ptx ?? answer?.cuda ?? answer?.hip ?? "";
/** The lines that are instructions, as far as a text shows. */
const instructions = (code: string) => code.split("\n").filter((line) => /^\s+[^/\s.].*;/.test(line)).length;

export class Panes {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #panes: Record<"python" | "ir" | "other" | "code" | "sass", Pane>;
  readonly #toggles = h("div.which", { role: "group", "aria-label": "Panes" });
  readonly #strip = h("div.panes");
  readonly #code;
  readonly #source;
  readonly #sass;
  readonly #other;
  #sources = new Sources();
  #code_text = "";
  /** The pane in which a line was chosen last: it stays where it is. */
  #origin: Pane | undefined;
  #selected: ReadonlySet<number> | undefined;

  constructor(context: Context<State>) {
    this.#context = context;
    const pointed = (of: readonly number[]) => {
      const lines = new Set(of);
      for (const pane of Object.values(this.#panes)) pane.light(lines);
    };
    const pane = (id: string, title: string, language: "python" | "mlir" | "ptx" | "sass"): Pane => {
      const own: Pane = new Pane({ id, title, language, pointed, chosen: (line) => this.#choose(own, line) });
      return own;
    };
    this.#panes = {
      python: pane("python", "Python", "python"),
      ir: pane("ir", "Triton IR", "mlir"),
      other: pane("other", "Compared with", "mlir"),
      code: pane("code", "Code", "ptx"),
      sass: pane("sass", "SASS", "sass"),
    };
    this.#code = segmented<State["code"]>("Language", [{ value: "ptx", label: "PTX" }, { value: "cuda", label: "CUDA C++" }], (code) => context.set({ code }));
    const copy = copyButton("Copy", () => this.#code_text.replace(/^\s*\/\/ text:\d+\n/gm, ""));
    fill(this.#panes.code.head, this.#code.element, copy);
    this.#source = textField("The Python source", (source) => context.set({ source: source.trim() === "" ? "" : source }), {
      lines: 6, hint: "The whole file or only the kernel's function; it is read when you leave the field.",
    });
    fill(this.#panes.python.head, h("details.paste", null, h("summary", null, "Paste"), this.#source.element));
    this.#sass = textField("A listing", (sass) => context.set({ sass: sass.trim() === "" ? "" : sass }), {
      lines: 6, hint: "The output of nvdisasm -g (a cubin of Triton's, or of weft compile --line-info) or nvdisasm -gp (other PTX, through ptxas -lineinfo). Its comments say which lines belong together.",
    });
    fill(this.#panes.sass.head, h("details.paste", null, h("summary", null, "Paste"), this.#sass.element));
    this.#other = textField("Another text of the kernel", (other) => context.set(other.trim() === "" ? { other: "", against: "" } : { other, against: TEXT }), {
      lines: 6, hint: "Triton's TTGIR (kernel.asm[\"ttgir\"]), or Triton IR of another version; lines are matched through their Python source.",
    });
    fill(this.#panes.other.head, h("details.paste", null, h("summary", null, "Paste"), this.#other.element));
    fill(this.#strip, Object.values(this.#panes).map(({ element }) => element));
    this.element = h(
      "section.card.linked",
      { "aria-label": "The texts" },
      h("header", null, this.#toggles, key()),
      this.#strip,
    );
  }

  /** The lines of the text that came from a line of the Python source. */
  from(answer: ExplainAnswer, python: number): number[] {
    return new Sources(answer.lines).from(python);
  }

  show({ state, now, names, code, before, run, other, chosen }: Told): void {
    const { python, ir, code: coded, sass, other: beside } = this.#panes;
    this.#sources = new Sources(now.lines);
    this.arrange(state);
    this.#code.set(state.code);
    this.#code.element.hidden = code?.hip !== undefined;
    this.#source.set(state.source);
    this.#sass.set(state.sass);
    this.#other.set(state.other);
    const [marks, warmth, found] = [byLine(now), heat(now), new Found(run)];
    const source = sourceOf(state);
    python.show(this.#sources.shown(source, now.name), ({ of }) => ({ heat: warmth(of), marks: found.marks(of) }));
    python.say(
      this.#sources.file === undefined
        ? "This IR has no source locations; Triton writes them unless it is told not to."
        : source === "" ? [h("code", null, this.#sources.file), " as far as the IR mentions it; paste the file to read it here."] : "",
    );
    ir.show(ofText(textOf(state)), ({ number, of }) => {
      const known = marks.get(number);
      return { heat: warmth(of), homes: known ? homesOf(known, names) : [], marks: [...(known ? marksOf(known, names) : []), ...found.marks(of)] };
    });
    ir.say("");
    if (other) {
      const [theirs, warm, both] = [byLine(other.answer), heat(other.answer), names.with(other.answer)];
      beside.show(ofOther(other.text, new Sources(other.answer.lines), this.#sources), ({ number }) => {
        const known = theirs.get(number);
        return { heat: warm([number]), homes: known ? homesOf(known, both) : [], marks: known ? marksOf(known, both) : [] };
      });
    } else beside.show([]);
    beside.say(other ? `${other.name}, priced for ${other.answer.target}; layouts of one name are the same` : state.other === "" ? "What Triton makes of the kernel: paste its TTGIR." : "");
    this.#code_text = textIn(code);
    const lines = ofCode(this.#code_text);
    coded.show(lines);
    const [all, without] = [instructions(this.#code_text), before ? instructions(textIn(before)) : undefined];
    const change = without === undefined || without === all ? "" : `, ${Math.abs(all - without)} ${all > without ? "more" : "fewer"} than without the pins`;
    coded.say(code ? `${code.hip === undefined ? "" : "HIP C++, "}${count(lines.length, "line")}, ${count(all, "instruction")}${change}` : "");
    sass.show(state.sass === "" ? [] : ofListing(state.sass, this.#sources, lines, this.#code_text));
    sass.say(state.sass === "" ? "What the assembler makes of it: paste a disassembler's listing." : "");
    this.select(chosen);
  }

  /** Marks the chosen lines in every pane. */
  select(chosen: readonly number[]): void {
    const of = new Set(chosen);
    const panes = Object.values(this.#panes);
    for (const pane of panes) pane.select(of);
    // All are measured before one is moved: the browser lays the page out once.
    const others = panes.filter((pane) => pane !== this.#origin);
    const near = () => {
      const distances = others.map((pane) => pane.distance(of));
      for (const [index, pane] of others.entries()) pane.scrollBy(distances[index]!);
      return distances.some((distance) => distance !== 0);
    };
    this.#origin = undefined;
    this.#selected = of;
    // What comes into sight is laid out in the frame after, and may be higher than it was taken to be.
    if (near()) requestAnimationFrame(() => requestAnimationFrame(() => this.#selected === of && near()));
  }

  #choose(pane: Pane, line: Shown): void {
    this.#origin = pane;
    if (pane === this.#panes.python) this.#context.set({ python: line.number, line: 0 });
    else this.#context.set({ line: line.of[0] ?? 0, python: 0 });
  }

  /** Shows the panes that a state wants. */
  arrange(state: State): void {
    const panes = Object.values(this.#panes);
    // A pane with nothing in it is shown when somebody wants it.
    const empty = (id: string) => (id === "sass" ? state.sass === "" : id === "other" && opponent(state)?.ttir === undefined);
    const away = (id: string) => (empty(id) ? !state.away.includes(`+${id}`) : state.away.includes(id));
    for (const { id, element } of panes) element.hidden = away(id);
    // Where two stand side by side, an odd one takes a row.
    const here = panes.filter(({ id }) => !away(id));
    this.#strip.classList.toggle("many", here.length > 3);
    for (const pane of panes) pane.element.classList.toggle("last", here.length % 2 === 1 && pane === here.at(-1));
    if (this.#toggles.childElementCount === 0) {
      fill(this.#toggles, panes.map(({ id, element }) => h("button.shows", { type: "button", "data-shows": id }, element.getAttribute("aria-label"))));
    }
    for (const button of this.#toggles.children as HTMLCollectionOf<HTMLButtonElement>) {
      const id = button.dataset["shows"]!;
      const word = empty(id) ? `+${id}` : id;
      button.setAttribute("aria-pressed", String(!away(id)));
      button.onclick = () =>
        this.#context.set({ away: state.away.includes(word) ? state.away.filter((other) => other !== word) : [...state.away, word] });
    }
  }
}

/** What the marks mean. */
function key(): HTMLElement {
  const entry = (mark: HTMLElement, meaning = "") => [h("span", null, mark, meaning && ` ${meaning}`), " "];
  return h(
    "p.key",
    null,
    entry(h("span.scale", { "aria-hidden": "true" }), "share of the cost"),
    entry(h("span.mark.home", null, "L0"), "lives there"),
    entry(h("span.mark.moves", null, "L0 → L1"), "moves"),
    entry(h("span.mark.touches", null, "16 B"), "memory"),
    entry(h("span.mark.multiplies", null, "mma"), "product"),
    entry(h("span.mark.waits", null, "barrier")),
  );
}
