/** What a cell says, beside the pointer: `register 2, lane 9: dim0 1, dim1 4` as a small table. */

import { fill, h } from "./dom";

/** How far it keeps from the pointer, and from the edges of the window. */
const AWAY = 14;
const EDGE = 6;

/** The two sides of what a cell says, each a list of names and values; what is no number is a name alone. */
export function parts(words: string): [string, string][][] {
  const one = (part: string): [string, string] => {
    const found = /^(.*?[a-z]\w*) (\d[\d ]*(?:\.\d+)?)$/.exec(part);
    return found ? [found[1]!, found[2]!] : [part, ""];
  };
  // `register 0 of lane 19` names two.
  const side = (said: string) => said.replace(/(\w+ \d+) of (?=\w+ \d)/g, "$1, ").split(", ").map(one);
  return words.split(": ").filter((said) => said !== "").map(side);
}

export class Readout {
  // Those who listen are told below the picture.
  readonly element = h("div.readout", { "aria-hidden": "true", hidden: true });

  show(words: string): void {
    this.element.hidden = words === "";
    fill(
      this.element,
      parts(words).map((side) => h("dl", null, side.flatMap(([name, value]) => [h("dt", value === "" ? { class: "alone" } : null, name), value !== "" && h("dd", null, value)]))),
    );
  }

  /** Stands beside a point of the window, on the side where there is room. */
  beside(x: number, y: number): void {
    if (this.element.hidden) return;
    const { width, height } = this.element.getBoundingClientRect();
    const place = (at: number, size: number, room: number) => {
      const after = at + AWAY;
      return Math.max(EDGE, after + size + EDGE > room ? at - AWAY - size : after);
    };
    const { clientWidth, clientHeight } = document.documentElement;
    this.element.style.translate = `${place(x, width, clientWidth)}px ${place(y, height, clientHeight)}px`;
  }
}
