/** The kernel's text, each line with what is known of it. */

import type { Barrier, MemoryAccess, Movement, Product, SharedAccess } from "../../engine/requests";
import { cycles } from "../../ui/amounts";
import { fill, h } from "../../ui/dom";
import type { Context } from "../view";
import { inLines, isPlace, shortName, shownLine } from "./model";
import type { LayoutNames, Marks } from "./model";
import type { State } from "./state";

/** The most marks beside a line; more would hide its text. */
const MOST_BESIDE = 3;

export class Listing {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #lines = h("div.listing", { role: "group", "aria-label": "The text, line by line" });
  readonly #byNumber = new Map<number, HTMLElement>();

  constructor(context: Context<State>) {
    this.#context = context;
    this.element = h(
      "section.card",
      { "aria-label": "The text" },
      h(
        "header",
        null,
        h("h2", null, "The text"),
        h(
          "p.key",
          null,
          h("span.mark.home", null, "L0"),
          " lives there ",
          h("span.mark.moves", null, "L0 → L1"),
          " moves, cycles a warp ",
          h("span.mark.touches", null, "16 B"),
          " memory ",
          h("span.mark.multiplies", null, "mma"),
          " product ",
          h("span.mark.waits", null, "wait"),
          " barrier",
        ),
      ),
      this.#lines,
    );
  }

  show(text: string, marks: Map<number, Marks>, names: LayoutNames, selected: number): void {
    this.#byNumber.clear();
    const lines = text.split("\n").flatMap((line, index): HTMLElement[] => {
      if (line.trim() === "" || isPlace(line)) return [];
      const number = index + 1;
      const known = marks.get(number);
      const found = known ? this.#marks(known, names) : [];
      const parts = [
        h("span.number", { "aria-hidden": "true" }, String(number)),
        h("code", null, shownLine(line)),
        h("span.marks", null, found),
      ];
      if (!known) return [h("div.line", null, parts)];
      const button = h(
        found.length > MOST_BESIDE ? "button.line.many" : "button.line",
        { type: "button", "data-line": number, onclick: () => this.#choose(number) },
        parts,
      );
      this.#byNumber.set(number, button);
      return [button];
    });
    fill(this.#lines, lines);
    this.select(selected);
  }

  select(line: number): void {
    for (const [number, element] of this.#byNumber) {
      element.setAttribute("aria-pressed", String(number === line));
    }
  }

  #choose(line: number): void {
    this.#context.set({ line });
  }

  #marks({ homes, products, movements, accesses, shared, barriers }: Marks, names: LayoutNames): HTMLElement[] {
    const often = (times: number) => (times > 1 ? ` × ${times}` : "");
    const moves = ({ from, to, cost, times, value }: Movement) =>
      h(
        "span.mark.moves",
        { title: `${value} moves from ${names.of(from)} to ${names.of(to)}: ${cycles(cost)} cycles a warp${times > 1 ? `, ${times} times` : ""}` },
        `${names.of(from)} → ${names.of(to)} ${cycles(cost)}${times > 1 ? ` × ${times}` : ""}`,
      );
    const touches = ({ vector_bytes, instructions, sectors, ideal_sectors, layout, times }: MemoryAccess) =>
      h(
        "span.mark.touches",
        {
          class: `mark touches${sectors > ideal_sectors ? " wasteful" : ""}`,
          title: `${vector_bytes} bytes a lane in ${names.of(layout)}, ${instructions} instructions a warp, ${sectors} sectors each of at least ${ideal_sectors}${times > 1 ? `, ${times} times` : ""}`,
        },
        `${vector_bytes} B × ${instructions} in ${names.of(layout)}${times > 1 ? ` × ${times}` : ""}`,
      );
    const multiplies = ({ how, runs, layout, times }: Product) =>
      h(
        "span.mark.multiplies",
        { title: `${how}, ${runs} a warp, its sum in ${names.of(layout)}${times > 1 ? `, ${times} times` : ""}` },
        `${shortName(how)} × ${runs}${often(times)}`,
      );
    const shares = ({ kind, memory, wavefronts, ideal, times }: SharedAccess) =>
      h(
        "span",
        {
          class: `mark touches shared${(wavefronts ?? 0) > (ideal ?? 0) ? " wasteful" : ""}`,
          title: `${kind} of ${memory}${wavefronts === undefined ? "" : `: ${wavefronts} wavefronts of all warps, at least ${ideal}`}${times > 1 ? `, ${times} times` : ""}`,
        },
        `${kind}${wavefronts === undefined ? "" : ` ${wavefronts} wavefronts`}${often(times)}`,
      );
    const waits = ({ scope, cost, reasons }: Barrier) =>
      h("span.mark.waits", { title: `the ${scope} waits, ${cycles(cost)} cycles: ${inLines(reasons.join("; "))}` }, scope === "block" ? "wait" : "warp waits");
    return [
      ...homes.map(({ value, layout, reason }) =>
        h("span", { class: `mark home${reason === "pinned" ? " pinned" : ""}`, title: `${value} lives in ${names.of(layout)}` }, names.of(layout)),
      ),
      ...movements.map(moves),
      ...accesses.map(touches),
      ...shared.map(shares),
      ...products.map(multiplies),
      ...barriers.map(waits),
    ];
  }
}
