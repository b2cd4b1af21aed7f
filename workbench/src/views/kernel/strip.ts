/** What matters of a kernel in figures, and beside them those of what it is compared with. */

import type { ExplainAnswer } from "../../engine/requests";
import { count } from "../../ui/amounts";
import { fill, h } from "../../ui/dom";
import { registersIn } from "./links";
import { total } from "./model";

const KIB = 1024;
const bytes = (amount: number) => (amount >= KIB && amount % 64 === 0 ? `${Number((amount / KIB).toFixed(1))} KiB` : `${amount} B`);
const rounded = (hundredths: number) => (hundredths / 100).toLocaleString("en", { maximumFractionDigits: 0 });

interface Figure {
  id: string;
  name: string;
  value: (answer: ExplainAnswer) => string;
  note: (answer: ExplainAnswer) => string;
}

export class Strip {
  readonly element = h("dl.figures", { "aria-label": "In figures" });

  /** @param sass a listing, which says how many registers a thread has */
  show(now: ExplainAnswer, sass: string, other?: { name: string; answer: ExplainAnswer }): void {
    const registers = registersIn(sass);
    const figures: Figure[] = [
      {
        id: "cycles", name: "Cycles per block", value: (answer) => rounded(total(answer)),
        note: ({ choice, greedy }) =>
          !choice ? "as the text says" : choice.cost === choice.bound ? (greedy ? "no choice costs less" : "") : `at least ${rounded(choice.bound)}`,
      },
      {
        id: "occupancy", name: "Occupancy", value: ({ occupancy: { warps, most_warps } }) => `${Math.round((warps / most_warps) * 100)} %`,
        note: ({ occupancy: { blocks, limit } }) => `${count(blocks, "block")}: no more ${limit}`,
      },
      {
        id: "registers", name: "Registers per thread",
        value: (answer) => (answer === now && registers !== undefined ? String(registers) : `≤ ${answer.occupancy.registers}`),
        note: (answer) =>
          answer === now && registers !== undefined
            ? registers <= answer.occupancy.registers ? "in the listing: all these blocks fit" : `in the listing, more than ${answer.occupancy.registers}: fewer blocks fit`
            : "keep this occupancy",
      },
      {
        id: "shared", name: "Shared memory", value: ({ shared_bytes }) => bytes(shared_bytes),
        note: ({ occupancy }) => `of ${bytes(occupancy.shared_bytes)}`,
      },
      {
        id: "barriers", name: "Barriers", value: ({ barriers }) => String(barriers.length),
        note: ({ barriers }) => {
          const inLoops = barriers.filter(({ loops }) => loops.length > 0).length;
          return inLoops > 0 ? `${inLoops} in loops` : barriers.length > 0 ? "none in a loop" : "nobody waits";
        },
      },
      {
        id: "moves", name: "Movements", value: ({ movements }) => String(movements.length),
        note: ({ movements }) => {
          const shared = movements.filter(({ strategy }) => strategy === "shared memory").length;
          return movements.length === 0 ? "every value stays" : shared > 0 ? `${shared} by shared memory` : "none by shared memory";
        },
      },
    ];
    fill(
      this.element,
      figures.map(({ id, name, value, note }) =>
        h(
          "div",
          { "data-figure": id },
          h("dt", null, name),
          h("dd.value", null, value(now)),
          h("dd.note", null, note(now)),
          other && h("dd.other", null, `${other.name}: `, h("strong", null, value(other.answer))),
        ),
      ),
    );
  }
}
