/** What is known of a line, in short. */

import type { AccessCount, Finding, MemoryAccess, Movement, Product, RunAnswer, SharedAccess } from "../../engine/requests";
import { cycles } from "../../ui/amounts";
import { h } from "../../ui/dom";
import { inLines, lineOf, shortName, sizeOf } from "./model";
import type { LayoutNames, Marks } from "./model";

const often = (times: number) => (times > 1 ? ` × ${times}` : "");
const told = (times: number) => (times > 1 ? `, ${times} times` : "");

/** Where values live. */
export function homesOf({ homes }: Marks, names: LayoutNames): HTMLElement[] {
  return homes.map(({ value, layout, buffers, reason }) => {
    const memory = buffers ? ` in shared memory (${sizeOf(buffers)})` : "";
    return h(
      "span",
      { class: `mark home${reason === "pinned" ? " pinned" : ""}`, title: `${value} lives${memory} in ${names.of(layout)}: ${layout}` },
      buffers ? `shared ${names.of(layout)}` : names.of(layout),
    );
  });
}

/** What a line does. */
export function marksOf({ products, movements, accesses, shared, barriers }: Marks, names: LayoutNames): HTMLElement[] {
  const moves = ({ from, to, cost, times, value }: Movement) =>
    h(
      "span.mark.moves",
      { title: `${value} moves from ${names.of(from)} to ${names.of(to)}: ${cycles(cost)} cycles a warp${told(times)}` },
      `${names.of(from)} → ${names.of(to)} ${cycles(cost)}${often(times)}`,
    );
  const touches = ({ vector_bytes, instructions, sectors, ideal_sectors, layout, times }: MemoryAccess) =>
    h(
      "span.mark.touches",
      {
        class: `mark touches${sectors > ideal_sectors ? " wasteful" : ""}`,
        title: `${vector_bytes} bytes a lane in ${names.of(layout)}, ${instructions} instructions a warp, ${sectors} sectors each of at least ${ideal_sectors}${told(times)}`,
      },
      `${vector_bytes} B × ${instructions} in ${names.of(layout)}${often(times)}`,
    );
  const multiplies = ({ how, runs, layout, times }: Product) =>
    h(
      "span.mark.multiplies",
      { title: `${how}, ${runs} a warp, its sum in ${names.of(layout)}${told(times)}` },
      `${shortName(how)} × ${runs}${often(times)}`,
    );
  const shares = ({ kind, memory, wavefronts, ideal, times }: SharedAccess) =>
    h(
      "span",
      {
        class: `mark touches shared${(wavefronts ?? 0) > (ideal ?? 0) ? " wasteful" : ""}`,
        title: `${kind} of ${memory}${wavefronts === undefined ? "" : `: ${wavefronts} wavefronts of all warps, at least ${ideal}`}${told(times)}`,
      },
      `shared ${kind}${wavefronts === undefined ? "" : `, ${wavefronts} wavefronts`}${often(times)}`,
    );
  return [
    ...movements.map(moves),
    ...accesses.map(touches),
    ...shared.map(shares),
    ...products.map(multiplies),
    ...barriers.map(({ scope, cost, reasons }) =>
      h("span.mark.waits", { title: `the ${scope} waits, ${cycles(cost)} cycles: ${inLines(reasons.join("; "))}` }, scope === "block" ? "barrier" : "warp barrier"),
    ),
  ];
}

/** What a run found at the lines of the text. */
export class Found {
  readonly #findings = new Map<number, Finding[]>();
  readonly #accesses = new Map<number, AccessCount[]>();

  constructor(answer?: RunAnswer) {
    const add = <T>(to: Map<number, T[]>, place: string | null | undefined, one: T) => {
      const line = lineOf(place ?? null);
      if (line !== undefined && !to.get(line)?.includes(one)) to.set(line, [...(to.get(line) ?? []), one]);
    };
    for (const finding of answer?.findings ?? []) {
      add(this.#findings, finding.actor.place, finding);
      add(this.#findings, finding.other?.place, finding);
    }
    for (const access of answer?.accesses ?? []) add(this.#accesses, access.place, access);
  }

  /** The findings at any of these lines, each once. */
  findings(of: readonly number[]): Finding[] {
    return [...new Set(of.flatMap((line) => this.#findings.get(line) ?? []))];
  }

  accesses(of: readonly number[]): AccessCount[] {
    return of.flatMap((line) => this.#accesses.get(line) ?? []);
  }

  /** Findings, sectors and wavefronts of these lines as marks. */
  marks(of: readonly number[]): HTMLElement[] {
    const kinds = [...new Set(this.findings(of).map(({ kind }) => kind))];
    const counted = (space: AccessCount["space"], unit: string) => {
      const all = this.accesses(of).filter((access) => access.space === space);
      const [cost, ideal] = [all.reduce((sum, one) => sum + one.cost, 0), all.reduce((sum, one) => sum + one.ideal, 0)];
      if (cost === 0) return [];
      const title = `on the simulator ${cost} ${unit} of ${space} memory, at least ${ideal}`;
      return [h("span", { class: `mark counted${cost > ideal ? " wasteful" : ""}`, title }, `${cost}${cost > ideal ? ` of ${ideal}` : ""} ${unit}`)];
    };
    return [
      ...kinds.map((kind) => h("span.mark.found", { title: this.findings(of).filter((one) => one.kind === kind).map(({ message }) => message).join("; ") }, kind)),
      ...counted("global", "sectors"),
      ...counted("shared", "wavefronts"),
    ];
  }
}
