/** The chosen lines: their values, what moves, how memory is touched, and why; and the pin of a value. */

import type { Barrier, ExplainAnswer, Home, MemoryAccess, Movement, Next, Product, SharedAccess } from "../../engine/requests";
import { count, cycles } from "../../ui/amounts";
import { fill, h, latest } from "../../ui/dom";
import { checkLayout } from "../../ui/checks";
import { checkedField, choice } from "../../ui/fields";
import { Picture } from "../../ui/picture";
import { oneLine } from "../../ui/texts";
import { layoutAddress } from "../layout/address";
import type { Context } from "../view";
import { byLine, inLines, isOf, shapeOf, sizeOf } from "./model";
import type { LayoutNames } from "./model";
import { pinned } from "./state";
import type { State } from "./state";

const OWN = "own";

export class Details {
  readonly element = h("section.card.details", { "aria-label": "What is chosen", "aria-live": "polite" });
  readonly #context: Context<State>;
  readonly #picture = new Picture({ name: "Layout of a value", bare: true });
  readonly #caption = h("h3");
  readonly #see = h("a", { href: "#/layout" }, "All pictures of this layout");
  readonly #ask = latest();

  constructor(context: Context<State>) {
    this.#context = context;
  }

  show(state: State, chosen: readonly number[], answer: ExplainAnswer, names: LayoutNames): void {
    const marks = byLine(answer);
    const known = chosen.flatMap((line) => marks.get(line) ?? []);
    const all = <T>(of: (marks: (typeof known)[number]) => T[]): T[] => known.flatMap(of);
    const title = state.python > 0 ? `Line ${state.python} of the source` : `Line ${chosen.join(", ")}`;
    const cost = (answer.lines ?? []).reduce((sum, line) => sum + (chosen.includes(line.line) ? line.cost : 0), 0);
    const [accesses, movements, shared, products] = [all((one) => one.accesses), all((one) => one.movements), all((one) => one.shared), all((one) => one.products)];
    const homes = all((one) => one.homes);
    const shown = homes[0]?.layout ?? accesses[0]?.layout ?? movements[0]?.to ?? shared[0]?.layout ?? products[0]?.layout;
    fill(
      this.element,
      h("header", null, h("h2", null, title), cost > 0 && h("p", null, `${cycles(cost)} cycles per block, over all rounds`)),
      known.length === 0 && h("p.note", null, "No value of this line has registers or memory of its own, and nothing moves."),
      h("div.halves", null, h(
        "div.stack.tight",
        null,
        homes.map((home) => this.#home(state, home, names)),
        movements.map((movement) => this.#movement(movement, names)),
        accesses.map((access) => this.#access(access, names)),
        shared.map((access) => this.#shared(access, names)),
        products.map((product) => this.#product(product, names)),
        all((one) => one.barriers).map((barrier) => this.#barrier(barrier)),
        this.#layouts(names),
      ), shown !== undefined && h("div.seen", null, this.#caption, this.#picture.element, h("p.note", null, this.#see))),
    );
    if (shown !== undefined) this.#draw(shown, names);
  }

  #home(state: State, home: Home, names: LayoutNames): HTMLElement {
    const { value, type, layout, buffers, reason, next } = home;
    return h(
      "div.known",
      { "data-value": value },
      h("h3", null, h("code", null, value), buffers ? " lives in shared memory, in " : " lives in ", names.of(layout)),
      h("p.note", null, type),
      buffers && h("p", null, `${capital(sizeOf(buffers))}.`),
      buffers && h("p.note", null, h("code", null, buffers.attribute)),
      h("p", null, why(reason)),
      this.#next(next, names),
      // What lies in memory follows from who fills and reads it.
      !buffers && this.#pin(state, home, names),
    );
  }

  #pin(state: State, { value, type, layout, next }: Home, names: LayoutNames): HTMLElement {
    const shape = shapeOf(type);
    const others = names.all.filter((other) => isOf(other, shape));
    const set = (to: string) => {
      const rest = state.pins.filter((pin) => pinned(pin) !== value);
      this.#context.set({ pins: to === "" ? rest : [...rest, `${value}=${to}`] });
    };
    const held = state.pins.find((pin) => pinned(pin) === value);
    const take = (text: string) => text.trim() !== "" && set(oneLine(text));
    const own = checkedField(`Layout of your own for ${value}`, (written) => checkLayout(written, shape, this.#context.engine), take, {
      lines: 3,
      anyway: take,
      hint: "A Triton attribute, or bases as below; applied when you leave the field.",
    });
    own.element.hidden = true;
    const pick = choice<string>(
      `Pin ${value}`,
      [
        { value: "", label: "where Weft puts it" },
        ...others.map((other) => ({
          value: other,
          label: `${names.of(other)}${other === layout ? " (here)" : other === next?.layout ? ` (next best, +${cycles(next.more)})` : ""}`,
        })),
        { value: OWN, label: "a layout of your own…" },
      ],
      (to) => {
        own.element.hidden = to !== OWN;
        if (to === OWN) own.input.focus();
        else set(to);
      },
    );
    const at = held?.slice(held.indexOf("=") + 1).trim();
    if (at !== undefined && !others.includes(at)) {
      pick.set(OWN);
      own.element.hidden = false;
      own.set(at);
    } else pick.set(at ?? "");
    return h("div.stack.tight", null, pick.element, own.element);
  }

  #movement({ value, from, to, operation, strategy, cost, bound, times, outline }: Movement, names: LayoutNames): HTMLElement {
    return h(
      "div.known",
      null,
      h("h3", null, h("code", null, value), ` moves from ${names.of(from)} to ${names.of(to)}`),
      h("p", null, `By ${strategy}, for the ${operation}: ${cycles(cost)} cycles a warp, bound ${cycles(bound)}${times > 1 ? `, ${times} times` : ""}.`),
      h("details", null, h("summary", null, "The steps"), h("div.code", null, h("pre", { tabindex: 0, "aria-label": `How ${value} moves` }, outline))),
    );
  }

  #access({ operation, layout, vector_bytes, instructions, sectors, ideal_sectors, reasons, times, next }: MemoryAccess, names: LayoutNames): HTMLElement {
    return h(
      "div.known",
      null,
      h("h3", null, `The ${operation} runs in ${names.of(layout)}`),
      h(
        "p",
        null,
        `${count(vector_bytes, "byte")} a lane, ${count(instructions, "instruction")} a warp, ${count(sectors, "sector")} each (ideal ${ideal_sectors})${times > 1 ? `, ${times} times` : ""}.`,
      ),
      because(reasons),
      this.#next(next, names),
    );
  }

  #shared({ operation, kind, value, layout, memory, times, ...counts }: SharedAccess, names: LayoutNames): HTMLElement {
    const { matrix_moves, vector_bytes, instructions, wavefronts, ideal } = counts;
    const by = matrix_moves ? " by matrix moves" : "";
    return h(
      "div.known",
      null,
      h("h3", null, `The ${operation} of `, h("code", null, value), ` ${kind}s in ${names.of(layout)}`),
      h("p.note", null, h("code", null, memory)),
      vector_bytes !== undefined &&
        h(
          "p",
          null,
          `${count(vector_bytes, "byte")} a lane${by}, ${count(instructions ?? 0, "instruction")} and ${count(wavefronts ?? 0, "wavefront")} of all warps (ideal ${ideal})${times > 1 ? `, ${times} times` : ""}.`,
        ),
      because(counts.reasons),
    );
  }

  #product({ how, runs, layout, cost, bound, times, next }: Product, names: LayoutNames): HTMLElement {
    return h(
      "div.known",
      null,
      h("h3", null, `The product accumulates in ${names.of(layout)}`),
      h("p", null, h("code", null, how), `, ${runs} a warp: ${cycles(cost)} cycles of the block, the cheapest way alone ${cycles(bound)}${times > 1 ? `, ${times} times` : ""}.`),
      this.#next(next, names),
    );
  }

  #barrier({ scope, loops, cost, reasons }: Barrier): HTMLElement {
    const rounds = loops.length > 0 ? " in each round" : "";
    return h(
      "div.known",
      null,
      h("h3", null, `The ${scope} waits${rounds}`),
      h("p", null, `${cycles(cost)} cycles. Without it there would be a race:`),
      h("ul", null, reasons.map((reason) => h("li", null, why(reason)))),
    );
  }

  #next(next: Next | undefined, names: LayoutNames): HTMLElement | null {
    if (!next) return null;
    return h("p.note", null, `Next best ${names.of(next.layout)}: ${cycles(next.more)} cycles more in all.`);
  }

  #layouts(names: LayoutNames): HTMLElement | null {
    if (names.all.length === 0) return null;
    return h(
      "details.layouts",
      null,
      h("summary", null, count(names.all.length, "layout")),
      h("dl.names", null, names.all.flatMap((layout, index) => [h("dt", null, `L${index}`), h("dd", null, h("code", null, layout))])),
    );
  }

  #draw(layout: string, names: LayoutNames): void {
    // A tensor of one axis would be one long row.
    const picture = layout.includes("dim1") ? "grid" : "hardware";
    this.#caption.textContent = `${names.of(layout)}, ${picture === "grid" ? "who holds each element" : "what each register holds"}`;
    const all = [layout, ...names.all.filter((other) => other !== layout)];
    this.#see.setAttribute("href", layoutAddress(all.map((text) => ({ name: names.of(text), text })), []));
    this.#ask(async (current) => {
      try {
        const { picture: drawn } = await this.#context.engine.invoke({ request: "layout", attribute: layout, format: "svg", picture });
        if (current()) this.#picture.show(drawn ?? "");
      } catch (error) {
        if (!current()) return;
        this.#picture.clear();
        this.#caption.textContent = error instanceof Error ? error.message : String(error);
      }
    });
  }
}

/** Why something takes more than it would have to. */
function because(reasons: string[] = []): HTMLElement[] {
  return reasons.map((reason) => h("p.because", null, why(reason)));
}

function why(reason: string): string {
  return `${capital(inLines(reason))}.`;
}

function capital(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
