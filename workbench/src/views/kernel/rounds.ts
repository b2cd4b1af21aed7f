/** A round of each innermost loop: what its first warp does when, how busy each unit is, and what binds it. */

import type { ExplainAnswer, Round, Span } from "../../engine/requests";
import { cycles } from "../../ui/amounts";
import { fill, h, s } from "../../ui/dom";
import { Readout } from "../../ui/readout";
import type { Context } from "../view";
import { lanes, lengthOf, marksTo, spanAt, spanInWords, spentOn, warpsOf } from "./clock";
import type { Lane } from "./clock";
import { inLines, lineOf } from "./model";
import type { State } from "./state";

/** Units that work less are not told. */
const LITTLE = 0.005;
/** How far from a stretch a pointer may be, in pixels: many are thinner than one. */
const NEAR = 3;

const percent = (share: number) => `${Math.round(100 * share)} %`;

export class Rounds {
  readonly element = h("section.card.rounds", { "aria-label": "A round of each loop" });
  readonly #context: Context<State>;

  constructor(context: Context<State>) {
    this.#context = context;
  }

  show({ rounds }: ExplainAnswer): void {
    this.element.hidden = rounds.length === 0;
    fill(
      this.element,
      h(
        "header",
        null,
        h("h2", null, "A round of each loop"),
        h("p", null, "By a model: one block alone, its data in the L2 cache. Times are means of the last rounds; the last one is drawn."),
      ),
      rounds.map((round) => this.#round(round)),
    );
  }

  #round(round: Round): HTMLElement {
    const { place, time, busy, verdict, side_by_side, bytes, memories } = round;
    const line = lineOf(place);
    const go = line === undefined ? null : h("button.quiet.instead", { type: "button", onclick: () => this.#context.set({ line, python: 0 }) }, `Line ${line}`);
    return h(
      "article.round",
      { "data-round": place ?? "" },
      h("h3", null, go ?? inLines(place ?? "A loop"), h("span", null, `${warpsOf(round)}: `, h("strong", null, `${cycles(time)} cycles`))),
      h("p.verdict", null, capital(verdict)),
      h(
        "div.halves",
        null,
        new Clock(round).element,
        h(
          "div.stack.tight",
          null,
          h("h4", null, "How busy units are"),
          h(
            "dl.units",
            null,
            busy
              .filter((unit) => unit.time >= LITTLE * time)
              .flatMap(({ unit, time: works }) => [
                h("dt", null, unit),
                h("dd.meter", { style: `--share: ${(works / time).toFixed(3)}`, "aria-hidden": "true" }),
                h("dd.number", { title: `${cycles(works)} cycles` }, percent(works / time)),
              ]),
          ),
          h("p.note", null, `${capital(side_by_side)}.`),
          memories.map(({ memory, time: least, reason }) => h("p.note", { "data-memory": memory }, `${memory}: ${bytes.toLocaleString("en")} bytes, at least ${cycles(least)} cycles at ${reason}.`)),
        ),
      ),
    );
  }
}

/** The stretches of a round, a lane for each kind of work; one of them is pointed at, or reached by arrow keys. */
class Clock {
  readonly element: HTMLElement;
  readonly #lanes: Lane[];
  readonly #length: number;
  readonly #cursor = h("i.cursor", { hidden: true });
  readonly #says = h("p.says", { "aria-live": "polite" });
  readonly #readout = new Readout();
  readonly #tracks: HTMLElement;
  #at: { lane: number; span: Span } | undefined;

  constructor(round: Round) {
    this.#lanes = lanes(round);
    this.#length = lengthOf(round);
    const share = (time: number) => (100 * time) / this.#length;
    const marks = marksTo(this.#length);
    this.#tracks = h(
      "div.tracks",
      null,
      this.#lanes.map((lane) => h("div.track", { "data-work": lane.work }, this.#drawn(lane))),
      marks.map((time) => h("i.mark-line", { style: `left: ${share(time)}%` })),
      this.#cursor,
    );
    const frame = h(
      "div.clock",
      { tabindex: 0, role: "group", "aria-label": `What warp ${round.first_warp} does in a round, on a clock; arrow keys go from stretch to stretch` },
      h("ul.works", null, this.#lanes.map(({ work }) => h("li", null, work))),
      this.#tracks,
      h("ul.shares", null, this.#lanes.map((lane) => h("li", { title: `${cycles(spentOn(lane))} cycles` }, percent(spentOn(lane) / this.#length)))),
      h("div.axis", { "aria-hidden": "true" }, marks.map((time) => h("span", { style: `left: ${share(time)}%`, class: share(time) > 90 ? "last" : null }, (time / 100).toLocaleString("en")))),
    );
    this.element = h(
      "figure.stack.tight",
      null,
      h("h4", null, `What warp ${round.first_warp} does in a round of ${cycles(this.#length)} cycles`),
      frame,
      this.#readout.element,
      h("figcaption", null, this.#says),
    );
    this.#tracks.addEventListener("pointermove", (event) => this.#follow(event));
    this.#tracks.addEventListener("pointerdown", (event) => this.#follow(event));
    this.#tracks.addEventListener("pointerleave", () => this.#point(undefined));
    frame.addEventListener("blur", () => this.#point(undefined));
    frame.addEventListener("keydown", (event) => this.#key(event));
  }

  /** All stretches of a lane as one shape: there may be hundreds. */
  #drawn({ spans }: Lane): SVGElement {
    const d = spans.map(({ start, end }) => `M${start} 0H${end}V1H${start}Z`).join("");
    return s("svg", { viewBox: `0 0 ${this.#length} 1`, preserveAspectRatio: "none", "aria-hidden": "true" }, s("path", { d }));
  }

  #follow(event: PointerEvent): void {
    const { left, width } = this.#tracks.getBoundingClientRect();
    const track = event.target instanceof Element ? event.target.closest<HTMLElement>(".track") : null;
    const lane = this.#lanes.findIndex(({ work }) => work === track?.dataset["work"]);
    const found = this.#lanes[lane];
    const span = found && spanAt(found, ((event.clientX - left) / width) * this.#length, (NEAR / width) * this.#length);
    this.#point(span && { lane, span });
    this.#readout.beside(event.clientX, event.clientY);
  }

  #point(at: { lane: number; span: Span } | undefined): void {
    if (at?.span === this.#at?.span) return;
    this.#at = at;
    const words = at ? spanInWords(at.span, this.#lanes) : "";
    this.#says.textContent = words;
    this.#readout.show(words);
    this.#cursor.hidden = !at;
    for (const [index, track] of this.#tracks.querySelectorAll(".track").entries()) track.classList.toggle("pointed", index === at?.lane);
    if (!at) return;
    const { start, end } = at.span;
    this.#cursor.style.left = `${(100 * start) / this.#length}%`;
    this.#cursor.style.width = `${(100 * (end - start)) / this.#length}%`;
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.#point(undefined);
      return;
    }
    const to = this.#reached(event.key);
    if (!to) return;
    event.preventDefault();
    this.#point(to);
    const { right, bottom } = this.#cursor.getBoundingClientRect();
    this.#readout.beside(right, bottom);
  }

  /** The stretch that a key goes to; none where it goes nowhere. */
  #reached(key: string): { lane: number; span: Span } | undefined {
    const down = { ArrowUp: -1, ArrowDown: 1 }[key];
    const along = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
    if (down === undefined && along === undefined) return undefined;
    const clamp = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1);
    const lane = this.#at ? clamp(this.#at.lane + (down ?? 0), this.#lanes.length) : 0;
    const spans = this.#lanes[lane]?.spans ?? [];
    if (!this.#at) return spans[0] && { lane, span: spans[0] };
    const { start, end } = this.#at.span;
    const index = clamp(spans.indexOf(this.#at.span) + (along ?? 0), spans.length);
    const span = along === undefined ? spanAt({ work: spans[0]!.work, spans }, (start + end) / 2) : spans[index];
    return span && { lane, span };
  }
}

function capital(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
