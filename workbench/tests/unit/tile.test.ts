import { expect, test } from "vitest";
import type { WavefrontsAnswer } from "../../src/engine/requests";
import { chinese, english } from "../../src/ui/say";
import { tale } from "../../src/views/swizzle/tile";

/** What the queues of an instruction say whose words lie in these banks, in phases of so many wavefronts. */
function told(banks: number[], wavefronts: number[], say = english): string {
  const answer = { phases: wavefronts.map((wavefronts) => ({ lanes: [], wavefronts, words: [] })) } as unknown as WavefrontsAnswer;
  const hits = banks.map((bank, wave) => ({ bank, wave, lanes: [], element: undefined }));
  return tale(hits, { name: "", answer, shape: [], banks: 32, most: 0, say });
}

const said = (banks: number[], ...wavefronts: number[]) => told(banks, wavefronts);

test("queues are told in a sentence, of one bank and of several", () => {
  expect(said([3, 3, 3], 3)).toBe("1 of 32 banks does all the work, up to 3 words deep");
  expect(said([0, 1, 0, 1], 2)).toBe("2 of 32 banks do all the work, up to 2 words deep");
  expect(said([7], 1)).toBe("1 of 32 banks works, and nobody waits");
  // Each phase has its turn: that is no waiting.
  expect(said([0, 1, 0, 1], 1, 1)).toBe("2 of 32 banks work, and nobody waits");
});

test("in Chinese the numbers come in another order", () => {
  expect(told([0, 1, 0, 1], [2], chinese)).toBe("32 个 bank 里只有 2 个在干活，最深 2 个字");
  expect(told([7], [1], chinese)).toBe("32 个 bank 里 1 个在干活，谁也不用等");
});
