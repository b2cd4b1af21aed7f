/**
 * A tile coloured by bank, and beneath it what each bank serves.
 *
 * The page draws this one itself, for it moves: words glide within their row when the memory changes,
 * and from the tile into the queues of the banks when an instruction is played. Where an element lies,
 * which bank that is and when it is served are the engine's.
 */

import type { Place, WavefrontsAnswer } from "../../engine/requests";
import { fill, freshId, h, s } from "../../ui/dom";
import { glide, mayMove } from "../../ui/motion";
import { english } from "../../ui/say";
import type { Say } from "../../ui/say";
import { bankColour } from "./colours";
import { axisName } from "./model";

/** What a tile shows. */
export interface Shown {
  name: string;
  answer: WavefrontsAnswer;
  shape: number[];
  /** The banks of the machine. */
  banks: number;
  /** The most wavefronts of the tiles that stand side by side. */
  most: number;
  /** The language of the sentence beneath it. */
  say?: Say;
}

/** The part of a tile that is seen: its first row and column, and how often it was halved. */
export interface Window {
  top: number;
  left: number;
  zoom: number;
}

/** An element as an instruction moves it. */
interface Moved {
  lane: number;
  register: number;
  /** The wavefront, over all phases. */
  wave: number;
}

/** A word that a bank serves. */
interface Hit {
  bank: number;
  wave: number;
  lanes: number[];
  /** The element of the tile that begins it, where it is one of the tile. */
  element: number | undefined;
}

const MARGIN = 24;
/** How tall a tile may be, if nobody says; where it is wide it grows, up to so much. */
const TALL = 188;
const [ASPECT, GROWTH] = [0.45, 1.6];
/** The room of the queues, and where the page is narrow. */
const [QUEUES, FEWER_QUEUES] = [56, 48];
const NARROW = 380;
const AXIS = 18;
const GAP = 12;
/** The least columns that are zoomed into, and the most that are seen at once. */
const [LEAST, MOST] = [8, 64];
/** Rows that are not so tall keep to pixels. */
const LOW = 6;
/** From this size on a cell has text. */
const TEXT_FROM = [24, 18] as const;

export class Tile {
  readonly element: HTMLElement;
  readonly head = h("header.tile-head");
  /** What the queues show, in words, until an element is pointed at. */
  readonly #tale = h("p.tale");
  readonly #frame: HTMLElement;
  readonly #says = h("p.says");
  readonly #pointed: (element: number | null) => void;
  readonly #tall: number;
  #shown: Shown | undefined;
  #window: Window = { top: 0, left: 0, zoom: 0 };
  /** Of the frame, kept since to ask for it in the midst of changes has the browser lay out the page. */
  #width = 0;
  #wave = 0;
  #cursor: number | null = null;
  #moved = new Map<number, Moved>();
  #hits: Hit[] = [];
  #isLabelled = false;
  #cells = new Map<number, SVGGElement>();
  /** What of the drawing stays when the memory alone is another one. */
  #grounds = "";
  #words: [SVGElement, Hit][] = [];

  /**
   * @param pointed told which element is pointed at
   * @param pan told by how many cells the window is dragged
   * @param tall how many pixels the tile may be tall where it is not wide
   */
  constructor(name: string, pointed: (element: number | null) => void, pan: (rows: number, columns: number) => void, tall = TALL) {
    this.#pointed = pointed;
    this.#tall = tall;
    const says = freshId("says");
    this.#says.id = says;
    this.#frame = h("div.frame", { tabindex: 0, role: "group", "aria-label": name, "aria-describedby": says });
    this.element = h("figure.tile", null, this.head, this.#frame, this.#says, this.#tale);
    this.#frame.addEventListener("pointerover", (event) => this.#pointed(elementOf(event.target)));
    this.#frame.addEventListener("pointerleave", () => this.#pointed(null));
    this.#frame.addEventListener("blur", () => (this.#says.removeAttribute("aria-live"), this.#pointed(null)));
    this.#frame.addEventListener("keydown", (event) => this.#key(event, pan));
    this.#drag(pan);
    new ResizeObserver(() => {
      const width = this.#frame.clientWidth;
      // Of a frame that is not on the page there is none.
      if (width === 0 || width === this.#width) return;
      this.#width = width;
      if (this.#shown) this.#draw();
    }).observe(this.#frame);
  }

  /** Whether its cells are large enough to name their banks and lanes. */
  get isLabelled(): boolean {
    return this.#isLabelled;
  }

  get #extents(): [rows: number, columns: number] {
    const shape = this.#shown?.shape ?? [];
    return [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  }

  /** Rows and columns that are seen. */
  get #seen(): [rows: number, columns: number] {
    return seen(this.#extents, this.#window.zoom);
  }

  /** Shows another memory; what lies elsewhere in its row glides there. */
  show(shown: Shown): void {
    const { answer, most } = this.#shown ?? {};
    const taken = waves(shown.answer);
    const says = `${shown.name}: a tile of ${shown.shape.join("×")} coloured by bank; the ${shown.answer.kind} takes ${taken} wavefront${taken === 1 ? "" : "s"}`;
    this.#frame.setAttribute("aria-label", says);
    if (answer === shown.answer && most === shown.most) return;
    const before = answer?.places;
    const same = this.#shown?.shape.join() === shown.shape.join();
    this.#shown = shown;
    [this.#moved, this.#hits] = served(shown);
    this.#tale.textContent = tale(this.#hits, shown);
    this.#draw();
    if (same && before && before !== shown.answer.places) this.#slide(before, 10);
  }

  clear(): void {
    this.#shown = undefined;
    this.#grounds = "";
    this.#cells.clear();
    fill(this.#frame);
    fill(this.head);
    fill(this.#tale);
    this.#says.textContent = "";
  }

  look(window: Window): void {
    const { top, left, zoom } = this.#window;
    if (top === window.top && left === window.left && zoom === window.zoom) return;
    this.#window = window;
    if (this.#shown) this.#draw();
  }

  /** Builds the tile up from another memory, row by row. */
  build(from: (Place | null)[]): void {
    this.#slide(from, 90);
  }

  /** Shows the words up to a wavefront, from 1, and the last of them as it arrives; 0 is all. */
  wave(wave: number): void {
    const arrives = wave === this.#wave + 1;
    this.#wave = wave;
    this.#mark();
    if (!arrives || !mayMove()) return;
    for (const [word, hit] of this.#words) {
      if (hit.wave + 1 === wave) this.#fly(word, hit);
    }
  }

  /** Points at an element of the tile. */
  point(element: number | null): void {
    if (this.#cursor !== null) this.#cells.get(this.#cursor)?.classList.remove("pointed");
    this.#cursor = element;
    if (element !== null) this.#cells.get(element)?.classList.add("pointed");
    for (const [word, hit] of this.#words) word.classList.toggle("pointed", element !== null && hit.element === element);
    this.#says.textContent = element === null ? "" : this.#describe(element);
  }

  #describe(element: number): string {
    const [, columns] = this.#extents;
    const [row, column] = [Math.floor(element / columns), element % columns];
    const rank = Math.max(2, this.#shown?.shape.length ?? 2);
    const name = `${axisName(rank - 2, rank)} ${row}, ${axisName(rank - 1, rank)} ${column}`;
    const place = this.#shown?.answer.places?.[element];
    if (!place) return `${name}: held by nobody`;
    const moved = this.#moved.get(element);
    const now = moved ? `, lane ${moved.lane}, register ${moved.register}, wavefront ${moved.wave}` : "";
    return `${name}: offset ${place.offset}, bank ${place.bank}${now}`;
  }

  #draw(): void {
    const { answer, banks, most } = this.#shown!;
    const width = Math.max(200, (this.#width ||= this.#frame.clientWidth));
    const [rows, columns] = this.#seen;
    const [wide, high] = [(width - MARGIN) / columns, whole(Math.min((width - MARGIN) / columns, this.#most(width) / rows))];
    const tall = Math.round(high * rows);
    const room = width < NARROW ? FEWER_QUEUES : QUEUES;
    const bottom = tall + AXIS + GAP + room;
    const { top, left } = this.#window;
    const grounds = [width, rows, columns, top, left, this.#extents, banks].join();
    const anew = grounds !== this.#grounds;
    this.#grounds = grounds;
    if (anew) this.#cells.clear();
    for (const element of this.#visible()) {
      const place = answer.places?.[element.index] ?? null;
      const known = this.#cells.get(element.index);
      if (known && recoloured(known, place, this.#moved.get(element.index), banks)) continue;
      const cell = this.#cell(element, place, [wide, high], banks);
      known?.replaceWith(cell);
      this.#cells.set(element.index, cell);
    }
    const queues = this.#queues([bottom, room], (width - MARGIN) / banks, banks, most);
    if (anew) {
      const cells = s("g", { class: "cells", transform: `translate(${MARGIN} 0)` });
      // Rings of many small cells leave their colours to be seen.
      const style = `--ring: ${Math.min(1.7, Math.min(wide, high) * 0.16).toFixed(2)}px`;
      const drawing = s("svg", { class: high < LOW ? "board low" : "board", width, height: bottom + AXIS, style, "aria-hidden": "true" });
      cells.append(...this.#cells.values());
      drawing.append(cells, ...this.#axes([rows, columns], [wide, high], tall), queues);
      fill(this.#frame, drawing);
    } else this.#frame.querySelector(".queues")?.replaceWith(queues);
    this.#isLabelled = isLabelled([wide, high]);
    this.#frame.classList.toggle("zoomed", this.#window.zoom > 0);
    this.#mark();
    this.point(this.#cursor);
  }

  #most(width: number): number {
    return Math.min(GROWTH * this.#tall, Math.max(this.#tall, ASPECT * (width - MARGIN)));
  }

  *#visible(): Generator<{ index: number; row: number; column: number }> {
    const [, columns] = this.#extents;
    const [down, across] = this.#seen;
    const { top, left } = this.#window;
    for (let row = 0; row < down; row++) {
      for (let column = 0; column < across; column++) yield { index: (top + row) * columns + left + column, row, column };
    }
  }

  /** A cell: its bank's colour, and who moves it now. */
  #cell(
    { index, row, column }: { index: number; row: number; column: number },
    place: Place | null,
    [wide, high]: [number, number],
    banks: number,
  ): SVGGElement {
    const gap = wide > 5 && high > 5 ? 0.7 : 0;
    const [x, y] = [column * wide, row * high];
    const moved = this.#moved.get(index);
    const cell = s("g", { "data-element": index, "data-bank": place?.bank, "data-wave": moved?.wave, "data-lane": moved?.lane });
    cell.append(
      s("rect", { x, y, width: wide - gap, height: high - gap, fill: place ? bankColour(place.bank, banks) : "none" }),
    );
    const texts = isLabelled([wide, high]);
    if (moved && texts) cell.append(s("rect", { class: "ring frame", x: x + 1.5, y: y + 1.5, width: wide - 3 - gap, height: high - 3 - gap }));
    else if (moved) cell.append(mark(this.#half(moved.lane), [x, y], [wide - gap, high - gap]));
    if (texts && place) {
      const text = moved ? `T${moved.lane}` : String(place.bank);
      cell.append(s("text", { x: x + wide / 2, y: y + high / 2, class: moved ? "moved" : undefined }, text));
    }
    return cell;
  }

  /** Which half of the lanes of the instruction a lane is of. */
  #half(lane: number): 0 | 1 {
    const lanes = this.#shown?.answer.phases.reduce((sum, { lanes }) => sum + lanes.length, 0) ?? 0;
    return lane < lanes / 2 ? 0 : 1;
  }

  #axes([rows, columns]: [number, number], [wide, high]: [number, number], tall: number): SVGElement[] {
    const { top, left } = this.#window;
    const label = (x: number, y: number, text: string | number, end: boolean) =>
      s("text", { class: end ? "axis end" : "axis", x, y }, String(text));
    const every = (count: number, size: number, room: number) => {
      let step = 1;
      while (step * size < room && step < count) step *= 2;
      return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
    };
    return [
      // The first of many low rows is named a little below it, where nothing cuts its number.
      ...every(rows, high, 24).map((row) => label(MARGIN - 6, Math.max(6, (row + 0.5) * high), top + row, true)),
      ...every(columns, wide, 30).map((column) => label(MARGIN + (column + 0.5) * wide, tall + AXIS / 2 + 1, left + column, false)),
    ];
  }

  /** What each bank serves: a column a bank, as tall as it is busy. */
  #queues([bottom, room]: [number, number], wide: number, banks: number, most: number): SVGElement {
    const high = Math.min(this.#tall / 16, room / Math.max(1, most));
    const gap = high > 3 ? 0.8 : 0;
    const group = s("g", { class: "queues", transform: `translate(${MARGIN} ${bottom})` });
    this.#words = this.#hits.map((hit) => {
      const word = s("rect", {
        x: hit.bank * wide,
        y: -(hit.wave + 1) * high,
        width: wide - 0.7,
        height: high - gap,
        fill: bankColour(hit.bank, banks),
        "data-hit": hit.bank,
        "data-wave": hit.wave,
      });
      return [word, hit];
    });
    const ticks = Array.from({ length: Math.ceil(banks / 4) }, (_, index) => index * 4);
    group.append(
      ...this.#words.map(([word]) => word),
      s("line", { class: "ground", x1: 0, x2: wide * banks, y1: 0.5, y2: 0.5 }),
      ...ticks.map((bank) => s("text", { class: "axis", x: (bank + 0.5) * wide, y: AXIS / 2 + 1 }, String(bank))),
    );
    return group;
  }

  /** Marks what the wavefront that is looked at moves. */
  #mark(): void {
    const all = this.#wave === 0 || this.#wave > waves(this.#shown?.answer);
    this.element.classList.toggle("selecting", !all);
    for (const cell of this.#cells.values()) {
      cell.classList.toggle("meant", !all && cell.dataset["wave"] === String(this.#wave - 1));
    }
    for (const [word, hit] of this.#words) {
      word.classList.toggle("waiting", !all && hit.wave >= this.#wave);
      word.classList.toggle("meant", !all && hit.wave === this.#wave - 1);
    }
  }

  /** Each cell comes from where its offset was in another memory. */
  #slide(from: (Place | null)[], pace: number): void {
    if (!mayMove()) return;
    const [, columns] = this.#extents;
    const { top, left } = this.#window;
    const [down, across] = this.#seen;
    const wide = (this.#width - MARGIN) / across;
    const before = new Map(from.map((place, element) => [place?.offset, element]));
    for (const [element, cell] of this.#cells) {
      const old = before.get(this.#shown?.answer.places?.[element]?.offset);
      if (old === undefined) continue;
      const row = Math.floor(element / columns);
      const inside = Math.floor(old / columns) === row && old % columns >= left && old % columns < left + across;
      const colour = cell.firstElementChild;
      if (inside && row - top < down && colour instanceof SVGElement) {
        glide(colour, [((old % columns) - (element % columns)) * wide, 0], { delay: (row - top) * pace });
      }
    }
  }

  /** A word comes from its element, or from the tile's lower edge. */
  #fly(word: SVGElement, { element }: Hit): void {
    const [there, here] = [element === undefined ? undefined : this.#cells.get(element), word].map((e) => e?.getBoundingClientRect());
    if (there && here) glide(word, [there.left - here.left, there.top - here.top], { time: 380 });
  }

  #key(event: KeyboardEvent, pan: (rows: number, columns: number) => void): void {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (event.key === "Escape") this.#pointed(null);
    if (!step || !this.#shown) return;
    event.preventDefault();
    this.#says.setAttribute("aria-live", "polite");
    const [rows, columns] = this.#extents;
    const { top, left } = this.#window;
    const from = this.#cursor ?? top * columns + left;
    const [row, column] = this.#cursor === null ? [top, left] : [Math.floor(from / columns) + step[0], (from % columns) + step[1]];
    if (row < 0 || column < 0 || row >= rows || column >= columns) return;
    const [down, across] = this.#seen;
    const over = (at: number, start: number, count: number) => (at < start ? at - start : Math.max(0, at - start - count + 1));
    const [by, beside] = [over(row, top, down), over(column, left, across)];
    if (by !== 0 || beside !== 0) pan(by, beside);
    this.#pointed(row * columns + column);
  }

  #drag(pan: (rows: number, columns: number) => void): void {
    let start: { x: number; y: number } | undefined;
    this.#frame.addEventListener("pointerdown", ({ clientX: x, clientY: y }) => (start = this.#window.zoom > 0 ? { x, y } : undefined));
    addEventListener("pointerup", () => (start = undefined));
    this.#frame.addEventListener("pointermove", ({ clientX, clientY }) => {
      const cell = this.#cells.values().next().value?.firstElementChild?.getBoundingClientRect();
      if (!start || !cell) return;
      const [rows, columns] = [Math.trunc((start.y - clientY) / cell.height), Math.trunc((start.x - clientX) / cell.width)];
      if (rows === 0 && columns === 0) return;
      start = { x: clientX, y: clientY };
      pan(rows, columns);
    });
  }
}

/** Rows and columns that a window shows of so many: at first all, then squares in a window of two to one. */
export function seen([rows, columns]: [number, number], zoom: number): [rows: number, columns: number] {
  const across = Math.min(columns, Math.max(LEAST, Math.min(columns, MOST) / 2 ** zoom));
  return [Math.min(rows, zoom === 0 ? MOST : Math.max(1, across / 2)), across];
}

/** The height of a row: a low one has whole pixels, lest its colour and those beside it become one grey. */
function whole(high: number): number {
  return high < LOW ? Math.max(1, Math.round(high)) : high;
}

function isLabelled([wide, high]: [number, number]): boolean {
  return wide >= TEXT_FROM[0] && high >= TEXT_FROM[1];
}

/** How often a tile can be halved. */
export function deepest(columns: number): number {
  return Math.max(0, Math.log2(Math.min(columns, MOST) / LEAST));
}

/** The wavefronts of the instruction that an answer shows. */
export function waves(answer: WavefrontsAnswer | undefined): number {
  return answer?.phases.reduce((sum, { wavefronts }) => sum + wavefronts, 0) ?? 0;
}

/** What the queues show, as a sentence. */
export function tale(hits: Hit[], { answer, banks, say = english }: Shown): string {
  const deep = new Map<number, number>();
  for (const { bank } of hits) deep.set(bank, (deep.get(bank) ?? 0) + 1);
  const one = deep.size === 1;
  if (waves(answer) === answer.phases.length) {
    return say(one ? "{} of {} banks works, and nobody waits" : "{} of {} banks work, and nobody waits", deep.size, banks);
  }
  const queues = one ? "{} of {} banks does all the work, up to {} words deep" : "{} of {} banks do all the work, up to {} words deep";
  return say(queues, deep.size, banks, Math.max(0, ...deep.values()));
}

/** Who moves which element of the tile, and what the banks serve. */
function served({ answer, shape }: Shown): [Map<number, Moved>, Hit[]] {
  const [moved, hits] = [new Map<number, Moved>(), [] as Hit[]];
  const columns = shape.at(-1) ?? 1;
  // The tile is of the last two axes, where all others are 0.
  const place = (element: number[]) =>
    element.slice(0, -2).some((at) => at !== 0) ? undefined : (element.at(-2) ?? 0) * columns + (element.at(-1) ?? 0);
  let before = 0;
  for (const phase of answer.phases) {
    for (const word of phase.words) {
      const wave = before + word.wavefront;
      const elements = word.moved.map(({ element, lane, register }) => ({ at: place(element), lane, register }));
      for (const { at, lane, register } of elements) if (at !== undefined) moved.set(at, { lane, register, wave });
      hits.push({ bank: word.bank, wave, lanes: [...new Set(elements.map(({ lane }) => lane))], element: elements[0]?.at });
    }
    before += phase.wavefronts;
  }
  return [moved, hits];
}

/**
 * Gives a cell the colour of another bank, which is quicker than to draw it again, and says whether that is all
 * that differs: another lane has another mark, and a text names the bank.
 */
function recoloured(cell: SVGGElement, place: Place | null, moved: Moved | undefined, banks: number): boolean {
  const { bank, wave, lane } = cell.dataset;
  const said = (value: number | undefined) => (value === undefined ? undefined : String(value));
  if (bank === undefined || !place || lane !== said(moved?.lane) || cell.lastElementChild?.tagName === "text") return false;
  if (bank !== String(place.bank)) {
    cell.dataset["bank"] = String(place.bank);
    cell.firstElementChild?.setAttribute("fill", bankColour(place.bank, banks));
  }
  if (moved && wave !== said(moved.wave)) cell.dataset["wave"] = String(moved.wave);
  return true;
}

/** A ring for the first half of the lanes, a dot for the second. */
function mark(half: 0 | 1, [x, y]: [number, number], [wide, high]: [number, number]): SVGElement {
  const size = Math.min(wide, high);
  if (half === 1) return s("circle", { class: "dot", cx: x + wide / 2, cy: y + high / 2, r: size * 0.24 });
  const inset = size * 0.17;
  return s("rect", { class: "ring", x: x + inset, y: y + inset, width: wide - 2 * inset, height: high - 2 * inset });
}

function elementOf(target: EventTarget | null): number | null {
  const cell = target instanceof Element ? target.closest<SVGGElement>("[data-element]") : null;
  return cell ? Number(cell.dataset["element"]) : null;
}
