/** A round of a loop on the clock, without the page. Times are hundredths of a cycle. */

import type { Round, Span } from "../../engine/requests";
import { cycles } from "../../ui/amounts";

/** The stretches of one kind of work, in order. */
export interface Lane {
  work: Span["work"];
  spans: Span[];
}

/** What a round is made of, a lane for each kind of work. */
export function lanes({ spans }: Round): Lane[] {
  const kinds = [...new Set(spans.map(({ work }) => work))];
  return kinds.map((work) => ({ work, spans: spans.filter((span) => span.work === work) }));
}

/** How long the round that is drawn takes. */
export function lengthOf({ spans }: Round): number {
  return Math.max(1, ...spans.map(({ end }) => end));
}

/** How long a lane's work goes on. */
export function spentOn({ spans }: Lane): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The stretch of a lane that a time lies in, or the closest one that begins or ends within so much of it. */
export function spanAt({ spans }: Lane, time: number, within = Infinity): Span | undefined {
  const away = ({ start, end }: Span) => Math.max(start - time, time - end, 0);
  const closest = spans.reduce((best: Span | undefined, span) => (best === undefined || away(span) < away(best) ? span : best), undefined);
  return closest && away(closest) <= within ? closest : undefined;
}

/** A stretch in words, with what else goes on meanwhile. */
export function spanInWords({ work, start, end }: Span, all: Lane[]): string {
  const others = all.filter((lane) => lane.work !== work && lane.spans.some((other) => other.start < end && other.end > start));
  const meanwhile = others.length > 0 ? `: meanwhile ${others.map((lane) => lane.work).join(", ")}` : "";
  return `${work}: from ${cycles(start)}, to ${cycles(end)}, cycles ${cycles(end - start)}${meanwhile}`;
}

/** The warps that run a loop. */
export function warpsOf({ first_warp: first, warps }: Round): string {
  return warps > 1 ? `warps ${first} to ${first + warps - 1}` : `warp ${first}`;
}

/** How many parts an axis has at most. */
const PARTS = 5;

/** Times at which an axis is marked: multiples of one, two or five times a power of ten cycles. */
export function marksTo(length: number): number[] {
  const least = length / PARTS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) ?? length;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
