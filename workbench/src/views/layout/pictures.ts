/** The three pictures of a layout, linked: what is pointed at or selected in one is marked in all. */

import type { LayoutAnswer } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h } from "../../ui/dom";
import { segmented } from "../../ui/fields";
import { Picture, wordsOf } from "../../ui/picture";
import type { CellPlace } from "../../ui/picture";
import type { Context } from "../view";
import { isMemory } from "./names";
import { elementKey, enters, holds, parseEntry, parsePair } from "./selection";
import type { Entry, Pair, Selection } from "./selection";
import { selectionOf } from "./selector";
import type { Selector } from "./selector";
import type { State } from "./state";

type Kind = "grid" | "hardware" | "matrix";
const KINDS: readonly { kind: Kind; title: string; about: string }[] = [
  { kind: "grid", title: "The tensor", about: "Each element with who holds it: T5:2 is register 2 of thread 5." },
  { kind: "hardware", title: "The hardware", about: "Each place with the coordinates of the element that it holds." },
  { kind: "matrix", title: "The matrix", about: "Columns are bits of places, rows bits of elements." },
];

/** A picture with what its cells say. */
interface Seen {
  kind: Kind;
  card: HTMLElement;
  picture: Picture;
  note: HTMLElement;
  about: HTMLElement;
  /** What is said of it, unless something else is. */
  says: string;
  /** Both are read where something is pointed at or selected, for a drawing may have thousands of cells. */
  pairs: Map<SVGGElement, Pair>;
  entries: Map<SVGGElement, Entry>;
  isRead: boolean;
}

export class Pictures {
  readonly element: HTMLElement;
  readonly #engine;
  readonly #selector: Selector;
  readonly #see;
  readonly #seen: Seen[];
  readonly #cards = h("div.pictures");
  #selection: Selection | undefined;

  constructor(context: Context<State>, selector: Selector) {
    this.#engine = context.engine;
    this.#selector = selector;
    this.#see = segmented<State["see"]>(
      "Pictures",
      [{ value: "all", label: "All" }, ...KINDS.map(({ kind, title }) => ({ value: kind, label: title }))],
      (see) => context.set({ see }),
    );
    this.#seen = KINDS.map(({ kind, title, about }) => {
      const note = h("p.note", { hidden: true });
      const picture: Picture = new Picture({
        name: `${title} of a layout`,
        bare: true,
        pointed: (place) => this.#point(kind, place),
        chosen: (place) => this.#choose(kind, place),
      });
      picture.element.classList.add("choosable", "headed");
      picture.element.addEventListener("pointerover", (event) => this.#head(kind, event.target, (known) => this.#show(known)));
      picture.element.addEventListener("pointerout", (event) => this.#head(kind, event.target, () => this.#show(undefined)));
      picture.element.addEventListener("click", (event) =>
        this.#head(kind, event.target, (known) => this.#selector.choose(known)),
      );
      const saying = h("p", null, about);
      const card = h(
        "section.card",
        { "aria-label": title, "data-kind": kind },
        h("header", null, h("h2", null, title), saying),
        note,
        picture.element,
      );
      return { kind, card, picture, note, about: saying, says: about, pairs: new Map(), entries: new Map(), isRead: false };
    });
    this.element = h("div.stack", null, h("div.controls", null, this.#see.element), this.#cards);
  }

  async show(answer: LayoutAnswer, state: State, current: () => boolean): Promise<void> {
    this.#see.set(state.see);
    this.#selection = selectionOf(state, answer);
    this.element.hidden = false;
    const wanted = this.#seen.filter(({ kind }) => state.see === "all" || state.see === kind);
    const cards = wanted.map(({ card }) => card);
    if (cards.length !== this.#cards.children.length || cards.some((card, index) => this.#cards.children[index] !== card)) {
      fill(this.#cards, cards);
    }
    await Promise.all(
      wanted.map(async (seen) => {
        try {
          // Of memory the tensor shows banks, which depend on the elements.
          const banks = seen.kind === "grid" && isMemory(answer);
          seen.about.textContent = banks ? `Each element with its offset and its bank, as ${state.element}.` : seen.says;
          const { picture } = await this.#engine.invoke({
            request: "layout",
            attribute: answer.text,
            format: "svg",
            ...(banks ? { picture: "banks", element: state.element } : { picture: seen.kind }),
          });
          if (!current()) return;
          seen.note.hidden = true;
          seen.picture.element.hidden = false;
          seen.picture.show(picture ?? "");
        } catch (error) {
          if (!current()) return;
          if (!(error instanceof Refusal)) throw error;
          seen.picture.clear();
          seen.picture.element.hidden = true;
          seen.note.textContent = error.fault.message;
          seen.note.hidden = false;
        }
        seen.isRead = false;
      }),
    );
    if (!current()) return;
    const cells = this.#mark("meant", this.#selection);
    for (const { picture } of this.#seen) picture.element.classList.toggle("selecting", this.#selection !== undefined);
    this.#selector.say(undefined, this.#selection && cells);
  }

  clear(): void {
    this.element.hidden = true;
    for (const seen of this.#seen) {
      seen.picture.clear();
      seen.isRead = false;
    }
  }

  /** The pictures, with what their cells say. */
  #all(): readonly Seen[] {
    for (const seen of this.#seen) if (!seen.isRead) this.#read(seen);
    return this.#seen;
  }

  #read(seen: Seen): void {
    const { kind, picture, pairs, entries } = seen;
    pairs.clear();
    entries.clear();
    for (const [cell] of picture.cells()) {
      const label = wordsOf(cell);
      if (kind === "matrix") {
        const entry = parseEntry(label);
        if (entry) entries.set(cell, entry);
      } else pairs.set(cell, parsePair(label, kind === "grid"));
    }
    seen.isRead = true;
  }

  /** Marks in every picture what a selection is; how many elements that are. */
  #mark(mark: string, selection: Selection | undefined): number {
    if (!selection) {
      for (const { picture } of this.#seen) for (const cell of picture.element.querySelectorAll(`.${mark}`)) cell.classList.remove(mark);
      return 0;
    }
    const elements = new Set<string>();
    const all = this.#all();
    // An element may have several places, of which the grid names the lowest.
    for (const { pairs } of all) {
      for (const pair of pairs.values()) if (holds(selection, pair)) elements.add(elementKey(pair));
    }
    for (const { kind, pairs, entries } of all) {
      for (const [cell, pair] of pairs) {
        cell.classList.toggle(mark, kind === "grid" ? elements.has(elementKey(pair)) : holds(selection, pair));
      }
      for (const [cell, entry] of entries) cell.classList.toggle(mark, enters(selection, entry));
    }
    return elements.size;
  }

  /** What a cell selects: a bit in the matrix, elsewhere the element, or the place that holds it. */
  #of(kind: Kind, place: CellPlace): { selection: Selection; pair?: Pair } | undefined {
    const seen = this.#all().find((seen) => seen.kind === kind);
    const cell = seen?.picture.cell(place);
    const entry = cell && seen?.entries.get(cell);
    if (entry) return { selection: entry.column };
    const pair = cell && seen?.pairs.get(cell);
    if (!pair) return undefined;
    return { selection: { at: kind === "grid" ? pair.element : (pair.place ?? pair.element) }, pair };
  }

  #point(kind: Kind, place: CellPlace | null): void {
    const known = place && this.#of(kind, place);
    if (!known) return this.#show(undefined);
    const { selection, pair } = known;
    // Both sides of the cell: its element with all its places, and the bits that are one in either.
    const cells = this.#mark("linked", pair ? { at: pair.element } : selection);
    if (pair) {
      for (const { entries } of this.#all()) {
        const both: Selection = { at: { ...pair.element, ...pair.place } };
        for (const [cell, entry] of entries) cell.classList.toggle("linked", enters(both, entry));
      }
    }
    this.#selector.say(pair ?? selection, cells);
  }

  /** Points at a selection, or at nothing. */
  #show(selection: Selection | undefined): void {
    const cells = this.#mark("linked", selection);
    if (selection) this.#selector.say(selection, cells);
    else this.#selector.say(undefined, this.#selection && this.#mark("meant", this.#selection));
  }

  /** Does something with what a heading is of: a row, a column, in the matrix a bit. */
  #head(kind: Kind, target: EventTarget | null, then: (selection: Selection) => void): void {
    if (!(target instanceof SVGTextElement) || target.closest("g[data-row]")) return;
    const seen = this.#all().find((seen) => seen.kind === kind);
    if (!seen) return;
    const { head, row, column } = target.dataset;
    const panel = target.parentElement?.querySelector<SVGGElement>("g[data-panel]")?.dataset["panel"];
    if (head === undefined || panel === undefined) return;
    const cell = seen.picture.cell({ panel: Number(panel), row: Number(row ?? 0), column: Number(column ?? 0) });
    const entry = cell && seen.entries.get(cell);
    if (entry) return then(row === undefined ? entry.column : entry.row);
    const pair = cell && seen.pairs.get(cell);
    const axis = /^\w+/.exec(head)?.[0] ?? "";
    const value = pair?.place?.[axis] ?? pair?.element[axis];
    // Of memory a row is a part of an axis: its heading is no coordinate.
    if (value !== undefined && axis !== "offset") then({ at: { [axis]: value } });
  }

  #choose(kind: Kind, place: CellPlace): void {
    const known = this.#of(kind, place);
    if (known) this.#selector.choose(known.selection);
  }
}
