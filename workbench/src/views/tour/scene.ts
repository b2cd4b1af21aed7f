/**
 * The picture of the tour: a tile, and one instruction as the banks serve it.
 *
 * It stays when the page is turned: the words of the tile glide to where the next memory has them.
 */

import type { WavefrontsAnswer } from "../../engine/requests";
import { fill, h } from "../../ui/dom";
import { english } from "../../ui/say";
import type { Phrase } from "../../ui/say";
import { legends } from "../swizzle/legends";
import { Tile, waves } from "../swizzle/tile";

/** Milliseconds of a wavefront. */
const PACE = 420;
const TALL = 352;

export class Scene {
  readonly element: HTMLElement;
  readonly #caption = h("h2");
  readonly #waves = h("p.waves");
  readonly #play = h("button", { type: "button", onclick: () => this.#toggle() });
  readonly #legend = h("p.legends");
  readonly #tile: Tile = new Tile("The tile", (element) => this.#tile.point(element), () => undefined, TALL);
  #most = 0;
  #say = english;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param before what stands above the tile */
  constructor(...before: HTMLElement[]) {
    fill(this.#tile.head, this.#caption, this.#waves);
    this.element = h("section.card.scene", null, before, this.#tile.element, h("div.row", null, this.#play), this.#legend);
  }

  show(phrase: Phrase, answer: WavefrontsAnswer, shape: number[], banks: number, say = english): void {
    this.#say = say;
    this.stop();
    const caption = say(phrase);
    this.#most = waves(answer);
    this.#caption.textContent = caption;
    const free = this.#most === answer.phases.length;
    this.#waves.className = `waves ${free ? "good" : "bad"}`;
    const [count, unit = ""] = say(this.#most === 1 ? "{} wavefront" : "{} wavefronts", this.#most).split(/(?<=\d)(?= )/);
    fill(this.#waves, count, h("small", null, unit));
    this.#tile.show({ name: caption, answer, shape, banks, most: this.#most, say });
    fill(this.#legend, legends(answer, banks, this.#tile.isLabelled, say));
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = this.#say("Play");
    this.#tile.wave(0);
  }

  /** Lets the banks serve wavefront after wavefront. */
  #toggle(): void {
    if (this.#timer !== undefined) return this.stop();
    this.#play.textContent = this.#say("Stop");
    let wave = 0;
    const advance = () => (wave < this.#most ? this.#tile.wave(++wave) : this.stop());
    this.#tile.wave(0);
    advance();
    this.#timer = setInterval(advance, PACE);
  }
}
