/** What the colours and the marks of tiles mean. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { h } from "../../ui/dom";
import { english } from "../../ui/say";
import { bankColour } from "./colours";

/** @param labelled whether cells name what they are */
export function legends({ phases }: WavefrontsAnswer, banks: number, labelled: boolean, say = english): HTMLElement[] {
  const lanes = phases.reduce((sum, { lanes }) => sum + lanes.length, 0);
  const swatch = (bank: number) => h("span.swatch", { style: `background: ${bankColour(bank, banks)}` });
  return [
    h("span.legend", null, swatch(0), swatch(1), swatch(2), swatch(3), say(" hue = bank ÷ 2, darker = odd bank")),
    labelled
      ? h("span.legend", null, h("span.key.ring"), say(" T5: lane 5 moves it; another number is the bank"))
      : h("span.legend", null, h("span.key.ring"), say(" lanes {}–{}", 0, lanes / 2 - 1), h("span.key.dot"), say(" lanes {}–{}", lanes / 2, lanes - 1)),
    h("span.legend", null, say("beneath a tile: a column is a bank, a row a wavefront")),
  ];
}
