/**
 * A picture that the engine drew, with what can be done to it.
 *
 * The engine draws, the page only points: each cell of a drawing is a group that carries
 * `data-panel`, `data-row` and `data-column`, and a `title` that says it in words.
 */

import { fill, h, s } from "./dom";
import { morph } from "./morph";
import { Readout } from "./readout";

/** What a cell says of itself. */
export function wordsOf(cell: Element | null): string {
  return cell?.getAttribute("data-says") ?? "";
}

/** A cell of a picture: which panel, row and column, all from zero. */
export interface CellPlace {
  panel: number;
  row: number;
  column: number;
}

export interface PictureOptions {
  /** What it shows: the name of its files, and its label where the drawing has no title. */
  name: string;
  /** Whether its sentences are left out, since what stands around it says them. */
  bare?: boolean;
  /** Told when a cell is pointed at or reached by keyboard; `null` when it is left. */
  pointed?: (cell: CellPlace | null) => void;
  /** Told when a cell is clicked, or Enter is pressed on it. */
  chosen?: (cell: CellPlace) => void;
}

export class Picture {
  readonly element: HTMLElement;
  readonly #frame: HTMLElement;
  readonly #says: HTMLElement;
  readonly #readout = new Readout();
  readonly #options: PictureOptions;
  readonly #enlarge = h("button.quiet", { type: "button", hidden: true, "aria-pressed": "false", onclick: () => this.#fit(!this.#large) }, "Enlarge");
  #large = false;
  /** Of the frame, kept since to ask for it in the midst of changes has the browser lay out the page. */
  #width = 0;
  #drawn = "";
  /** The drawing as it was put into the page, before the page marks its cells. */
  #parsed: Element | undefined;
  /** Whether what is shown has its cells without their texts. */
  #lean = false;
  #cursor: SVGGElement | null = null;

  constructor(options: PictureOptions) {
    this.#options = options;
    this.#frame = h("div.frame", { tabindex: 0, role: "group", "aria-label": options.name });
    this.#says = h("p.says", { "aria-live": "polite" });
    const save = (label: string, kind: "svg" | "png") =>
      h("button.quiet", { type: "button", onclick: () => void this.save(kind) }, label);
    this.element = h(
      "figure.picture",
      null,
      this.#frame,
      this.#readout.element,
      h("figcaption", null, this.#says, h("span.exports", null, this.#enlarge, save("SVG", "svg"), save("PNG", "png"))),
    );
    new ResizeObserver(() => {
      this.#width = this.#frame.clientWidth;
      this.#fit(this.#large);
    }).observe(this.#frame);
    this.#frame.addEventListener("pointerover", (event) => this.#point(cellOf(event.target)));
    this.#frame.addEventListener("pointermove", (event) => this.#readout.beside(event.clientX, event.clientY));
    this.#frame.addEventListener("pointerleave", () => this.#point(null));
    this.#frame.addEventListener("blur", () => this.#point(null));
    this.#frame.addEventListener("click", (event) => {
      const cell = cellOf(event.target);
      if (cell) this.#choose(cell);
    });
    this.#frame.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows a drawing; the cell that was pointed at stays pointed at. */
  show(svg: string): void {
    if (svg === this.#drawn) return;
    const place = this.#cursor && placeOf(this.#cursor);
    this.#drawn = svg;
    this.#cursor?.classList.remove("pointed");
    this.#cursor = null;
    const parsed = this.#parse(svg);
    // The frame is what is labelled; a drawing of a thousand cells is not read out.
    parsed.setAttribute("aria-hidden", "true");
    const title = parsed.querySelector(":scope > title");
    if (title) this.#frame.setAttribute("aria-label", title.textContent ?? "");
    // A title of the whole drawing would pop up over every cell.
    title?.remove();
    const shown = this.#frame.firstElementChild;
    const before = this.#parsed;
    this.#parsed = parsed;
    if (shown instanceof SVGSVGElement && before) {
      this.#natural(shown);
      morph(shown, before, parsed);
    } else fill(this.#frame, document.importNode(parsed, true));
    if (place) this.#point(this.cell(place));
    this.#fit(this.#large);
  }

  /**
   * The elements of a drawing. Texts of its cells that nobody could read are left out: they would be half of all elements,
   * and are added where the drawing grows.
   */
  #parse(svg: string): Element {
    const width = this.#across();
    const parsed = (whole: boolean): SVGSVGElement => {
      const drawing = elementsOf(whole ? svg : svg.replaceAll(TEXTS, ""));
      // The page has rules of its own for every drawing; each sheet more has it look at all its elements again.
      drawing.querySelector(":scope > style")?.remove();
      if (this.#options.bare) withoutSentences(drawing);
      return drawing;
    };
    // Without its sentences a drawing may be narrower than it says.
    const lean = !this.#large && isSmall(width, widthOf(svg)) ? parsed(false) : undefined;
    this.#lean = lean !== undefined && isSmall(width, lean.viewBox.baseVal.width);
    return this.#lean ? lean! : parsed(true);
  }

  /** Gives the cells their texts, which were left out. */
  #complete(): void {
    if (!this.#lean) return;
    this.#lean = false;
    const shown = [...this.cells()].map(([cell]) => cell);
    for (const [index, whole] of elementsOf(this.#drawn).querySelectorAll("g[data-row]").entries()) {
      for (const [place, part] of [...whole.children].filter(({ tagName }) => tagName !== "title").entries()) {
        if (part.tagName === "text") shown[index]?.insertBefore(document.importNode(part, true), shown[index].children[place] ?? null);
      }
    }
    // What comes next is another drawing: nothing is known of this one that it could be held against.
    this.#parsed = undefined;
  }

  #across(): number {
    return (this.#width ||= this.#frame.clientWidth);
  }

  /**
   * Shows a drawing as wide as its frame. Where texts would be too small to read, the cells alone are shown, and
   * say themselves when they are pointed at; enlarged, the drawing has its own size and is moved in its frame.
   */
  #fit(large: boolean): void {
    const drawing = this.#frame.querySelector("svg");
    const width = this.#across();
    if (!drawing || width === 0) return;
    drawing.dataset["box"] ??= drawing.getAttribute("viewBox") ?? "";
    const [x = 0, y = 0, natural = 0, height = 0] = drawing.dataset["box"].split(" ").map(Number);
    const small = isSmall(width, natural);
    this.#large = large;
    this.#enlarge.hidden = !small;
    this.#enlarge.setAttribute("aria-pressed", String(large));
    this.#enlarge.textContent = large ? "Fit" : "Enlarge";
    this.#frame.classList.toggle("large", large);
    const bare = small && !large;
    if (!bare) this.#complete();
    if (bare === drawing.classList.contains("bare")) return;
    drawing.classList.toggle("bare", bare);
    sized(drawing, bare ? around(drawing) : { x, y, width: natural, height });
    if (bare) stretched(drawing, width);
  }

  /** Takes back what {@link #fit} made of a drawing. */
  #natural(drawing: SVGSVGElement): void {
    const [x = 0, y = 0, width = 0, height = 0] = (drawing.dataset["box"] ?? "").split(" ").map(Number);
    if (drawing.classList.contains("bare")) sized(drawing, { x, y, width, height });
    drawing.classList.remove("bare");
    delete drawing.dataset["box"];
  }

  /** Shows nothing. */
  clear(): void {
    this.#drawn = "";
    this.#parsed = undefined;
    this.#cursor = null;
    this.#says.textContent = "";
    this.#readout.show("");
    fill(this.#frame);
  }

  /** The group that draws a cell. */
  cell({ panel, row, column }: CellPlace): SVGGElement | null {
    return this.#frame.querySelector(
      `g[data-panel="${panel}"][data-row="${row}"][data-column="${column}"]`,
    );
  }

  /** Every cell with its place. */
  *cells(): Generator<[SVGGElement, CellPlace]> {
    for (const cell of this.#frame.querySelectorAll<SVGGElement>("g[data-row]")) {
      yield [cell, placeOf(cell)];
    }
  }

  /** Gives the cells for which a class is meant this class, and takes it from all others. */
  mark(mark: string, meant: (place: CellPlace) => boolean): void {
    for (const [cell, place] of this.cells()) cell.classList.toggle(mark, meant(place));
  }

  #point(cell: SVGGElement | null): void {
    if (cell === this.#cursor) return;
    this.#cursor?.classList.remove("pointed");
    this.#cursor = cell;
    cell?.classList.add("pointed");
    const words = wordsOf(cell);
    this.#says.textContent = words;
    this.#readout.show(words);
    this.#options.pointed?.(cell && placeOf(cell));
  }

  #choose(cell: SVGGElement): void {
    this.#point(cell);
    this.#options.chosen?.(placeOf(cell));
  }

  #key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (move) {
      const from = this.#cursor && placeOf(this.#cursor);
      const to = from
        ? this.cell({ panel: from.panel, row: from.row + move[0], column: from.column + move[1] })
        : this.cell({ panel: 0, row: 0, column: 0 });
      if (to) {
        this.#point(to);
        to.scrollIntoView({ block: "nearest", inline: "nearest" });
        const { right, bottom } = to.getBoundingClientRect();
        this.#readout.beside(right, bottom);
      }
      event.preventDefault();
    } else if ((event.key === "Enter" || event.key === " ") && this.#cursor) {
      this.#choose(this.#cursor);
      event.preventDefault();
    } else if (event.key === "Escape") this.#point(null);
  }

  /** Hands the picture over as a file. */
  async save(kind: "svg" | "png"): Promise<void> {
    this.#complete();
    const drawing = this.#frame.querySelector("svg");
    if (!drawing) return;
    const text = standalone(drawing);
    const blob = kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await raster(text);
    const address = URL.createObjectURL(blob);
    const stem = this.#options.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    h("a", { href: address, download: `${stem}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}

/** How small a drawing may be beside its own size, which has texts of 12 pixels. */
const SMALLEST = 0.55;
/** How much taller the cells of a small drawing may get, and to how many pixels in all. */
const [SQUARE, ROOM] = [2, 150];
const isSmall = (width: number, natural: number): boolean => width < SMALLEST * natural;

/** The text of a cell, with the ink that it has on its ground. */
const TEXTS = /<g class="([\w-]+)"><text ([^>]*>[^<]*<\/text>)<\/g>/g;

/** How wide a drawing says that it is. */
const widthOf = (svg: string): number => Number(/ width="([\d.]+)"/.exec(svg)?.[1] ?? 0);

/**
 * The elements of a drawing, outside the page. As HTML they are read in a fraction of the time that the browser takes for
 * them as XML; the engine writes nothing that the two tell apart.
 */
function elementsOf(svg: string): SVGSVGElement {
  // What a cell says stands beside the pointer at once; as a title the browser would show it late, and once more.
  const named = svg.replaceAll(/(<g [^>]*data-row="[^>]*)><title>([^<]*)<\/title>/g, (_, cell: string, says: string) => `${cell} data-says="${says.replaceAll('"', "&quot;")}">`);
  const read = h("template");
  // A text that says its ink needs no group that does.
  read.innerHTML = named.replaceAll(TEXTS, '<text class="$1" $2');
  return read.content.firstElementChild as SVGSVGElement;
}

/** Shows so much of a drawing, in its own size. */
function sized(drawing: SVGSVGElement, { x, y, width, height }: { x: number; y: number; width: number; height: number }): void {
  drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  drawing.setAttribute("width", String(width));
  drawing.setAttribute("height", String(height));
  drawing.removeAttribute("preserveAspectRatio");
  drawing.style.removeProperty("aspect-ratio");
}

/** Cells are wide for their texts; without these those of a low drawing are as tall as there is room. */
function stretched(drawing: SVGSVGElement, across: number): void {
  const { width, height } = drawing.viewBox.baseVal;
  const tall = (height * across) / width;
  const factor = Math.max(1, Math.min(SQUARE, ROOM / tall));
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.style.aspectRatio = `${width} / ${height * factor}`;
}

/** What all cells of a drawing take, in its own measure: as their frames say, for to measure cells takes the browser long. */
function around(drawing: SVGSVGElement): { x: number; y: number; width: number; height: number } {
  const tables = [...drawing.querySelectorAll<SVGGElement>(":scope > g[transform]")].filter((part) => part.querySelector("g[data-row]"));
  const framed = tables.map((part) => {
    const [left, top] = originOf(part);
    return [...part.querySelectorAll<SVGRectElement>(":scope > rect.block")].map((frame): [number, number, number, number] => {
      const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(frame.getAttribute(name) ?? 0)) as [number, number, number, number];
      return [left + x, top + y, left + x + width, top + y + height];
    });
  });
  if (framed.length > 0 && framed.every((frames) => frames.length > 0)) {
    const [x, y, right, bottom] = framed.flat().reduce(([a, b, c, d], [e, f, g, h]) => [Math.min(a, e), Math.min(b, f), Math.max(c, g), Math.max(d, h)]);
    return { x: x - 2, y: y - 2, width: right - x + 4, height: bottom - y + 4 };
  }
  const scale = drawing.getScreenCTM();
  const boxes = [...drawing.querySelectorAll<SVGGElement>("g[data-row]")].map((cell) => cell.getBoundingClientRect());
  if (!scale || boxes.length === 0) return drawing.viewBox.baseVal;
  const inverse = scale.inverse();
  const edge = (pick: (...all: number[]) => number, of: (box: DOMRect) => number) => boxes.reduce((most, box) => pick(most, of(box)), of(boxes[0]!));
  const from = new DOMPoint(edge(Math.min, (box) => box.left), edge(Math.min, (box) => box.top)).matrixTransform(inverse);
  const to = new DOMPoint(edge(Math.max, (box) => box.right), edge(Math.max, (box) => box.bottom)).matrixTransform(inverse);
  return { x: from.x - 2, y: from.y - 2, width: to.x - from.x + 4, height: to.y - from.y + 4 };
}

/** Where a part of a drawing begins. */
function originOf(part: Element | undefined): [x: number, y: number] {
  const [x = 0, y = 0] = /\((\d+) (\d+)\)/.exec(part?.getAttribute("transform") ?? "")?.slice(1).map(Number) ?? [];
  return [x, y];
}

/** Where a table of cells ends: at its last frame. Of other parts only the browser could tell, which takes it long. */
function rightOf(part: SVGGElement): number {
  const frames = [...part.querySelectorAll<SVGRectElement>(":scope > rect.block")];
  const number = (frame: Element, name: string) => Number(frame.getAttribute(name) ?? 0);
  return frames.length === 0 ? Infinity : Math.max(...frames.map((frame) => number(frame, "x") + number(frame, "width")));
}

/** Takes away the sentences at the top of a drawing, which are its first part, and the room that they alone need. */
function withoutSentences(drawing: Element): void {
  const [sentences, ...rest] = drawing.querySelectorAll<SVGGElement>(":scope > g[transform]");
  const [left, top] = originOf(sentences);
  const cut = originOf(rest[0])[1] - top;
  if (!sentences || cut <= 0) return;
  sentences.remove();
  const [whole = 0, height = 0] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  const right = Math.max(...rest.map((part) => originOf(part)[0] + rightOf(part)));
  const width = Math.min(whole, Math.ceil(right) + left);
  drawing.setAttribute("viewBox", `0 ${cut} ${width} ${height - cut}`);
  drawing.setAttribute("width", String(width));
  drawing.setAttribute("height", String(height - cut));
}

function cellOf(target: EventTarget | null): SVGGElement | null {
  return target instanceof Element ? target.closest<SVGGElement>("g[data-row]") : null;
}

function placeOf(cell: SVGGElement): CellPlace {
  const { panel, row, column } = cell.dataset;
  return { panel: Number(panel), row: Number(row), column: Number(column) };
}

/** What the page's style sheet says of parts of a drawing, and a file has to say itself. */
const CARRIED = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family",
  "font-size", "font-weight", "text-anchor",
] as const;

/** A drawing as it is seen, as a file of its own. */
function standalone(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const from = drawing.querySelectorAll("rect, path, text, circle, line, g");
  const to = copy.querySelectorAll<SVGElement>("rect, path, text, circle, line, g");
  from.forEach((element, index) => {
    const seen = getComputedStyle(element);
    for (const property of CARRIED) {
      const value = seen.getPropertyValue(property);
      if (value) to[index]?.style.setProperty(property, value);
    }
  });
  for (const cell of copy.querySelectorAll("[data-says]")) {
    cell.prepend(s("title", {}, wordsOf(cell)));
    cell.removeAttribute("data-says");
  }
  copy.querySelector("style")?.remove();
  copy.classList.remove("bare");
  const box = drawing.dataset["box"]?.split(" ");
  if (box) {
    copy.removeAttribute("preserveAspectRatio");
    copy.style.removeProperty("aspect-ratio");
    copy.setAttribute("viewBox", box.join(" "));
    copy.setAttribute("width", box[2]!);
    copy.setAttribute("height", box[3]!);
    delete copy.dataset["box"];
  }
  copy.removeAttribute("aria-hidden");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const page = copy.querySelector<SVGElement>("rect.page");
  const ground = getComputedStyle(document.documentElement).getPropertyValue("--card").trim();
  page?.style.setProperty("fill", ground || "#ffffff");
  return new XMLSerializer().serializeToString(copy);
}

/** The same as PNG, two pixels for one. */
async function raster(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large for PNG"))));
  });
}
