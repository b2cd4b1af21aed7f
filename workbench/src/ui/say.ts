/** What the tour says beside its steps, also in Chinese, with the parts of pictures that it shares with other views. */

/** Phrases with their Chinese; `{}` stands for a value. */
const CHINESE = {
  "Step {} of {}": "第 {} 步，共 {} 步",
  "Steps of the tour": "导览的各步",
  Back: "上一步",
  Next: "下一步",
  Workbench: "去工作台",
  Play: "播放",
  Stop: "停止",
  "{} wavefront": "{} 个 wavefront",
  "{} wavefronts": "{} 个 wavefront",
  " hue = bank ÷ 2, darker = odd bank": " 色相 = bank ÷ 2，奇数 bank 更深",
  " T5: lane 5 moves it; another number is the bank": " T5：由 lane 5 搬运；别的数字是 bank",
  " lanes {}–{}": " lane {}–{}",
  "beneath a tile: a column is a bank, a row a wavefront": "数据块下方：一列是一个 bank，一行是一个 wavefront",
  "{} of {} banks does all the work, up to {} words deep": "{1} 个 bank 里只有 {0} 个在干活，最深 {2} 个字",
  "{} of {} banks do all the work, up to {} words deep": "{1} 个 bank 里只有 {0} 个在干活，最深 {2} 个字",
  "{} of {} banks works, and nobody waits": "{1} 个 bank 里 {0} 个在干活，谁也不用等",
  "{} of {} banks work, and nobody waits": "{1} 个 bank 里 {0} 个在干活，谁也不用等",
  "The store: lanes run along the rows.": "store：lane 沿着行走。",
  "The load: lanes run down the columns, two at a time.": "load：lane 沿着列往下走，一次两列。",
  "One load instruction, row-major: 16 wavefronts.": "按行摆放时的一条 load 指令：16 个 wavefront。",
  "The store under n ⊕ m: a permuted row, one wavefront.": "n ⊕ m 下的 store：一行换了次序，仍是 1 个 wavefront。",
  "The load under n ⊕ m: 16 banks, twice.": "n ⊕ m 下的 load：16 个 bank，每个两次。",
  "The load under n ⊕ 2m: 32 banks, one word each.": "n ⊕ 2m 下的 load：32 个 bank，每个一个字。",
  "The store: a register is a row, a lane a column.": "store：寄存器选行，lane 选列。",
  "The load: lanes take m and n₀, registers n₁ to n₄.": "load：lane 管 m 和 n₀，寄存器管 n₁ 到 n₄。",
  "The memory n ⊕ 2m: segment bit j flips mⱼ and nⱼ₊₁.": "内存 n ⊕ 2m：段位 j 翻转 mⱼ 和 nⱼ₊₁。",
  "Three memories, one law": "三种内存，一条规律",
  memory: "内存",
  "segment directions": "段的方向",
  "shared with the load's lanes": "与 load 的 lane 共有",
  "by algebra": "代数算出",
  counted: "数出",
  "row-major": "按行",
  "only 0": "只有 0",
  "Sums of one and one": "一对一的和",
  "both, untouchable": "两边都有，不能碰",
  "only the store": "只属于 store",
  "only the load": "只属于 load",
  "the sums: segments": "两者之和：段",
  "offset = {}. Store and load together take {} wavefronts, and no memory takes fewer than {}.":
    "offset = {}。store 和 load 一共要 {} 个 wavefront，没有哪种内存能少于 {} 个。",
  "The load in the memory that comes out: 32 banks, one word each.": "在求得的内存里 load：32 个 bank，每个一个字。",
  "One load instruction of your memory.": "你的内存里的一条 load 指令。",
  "Solved. ": "解出来了。",
  "One wavefront for every store and every load, and the algebra proves it for all of them.":
    "每次 store 和每次 load 都只要 1 个 wavefront，代数证明对所有指令都如此。",
  "{} wavefronts an instruction. ": "每条指令 {} 个 wavefront。",
  "The load's lanes and the segments share {}: this is the direction to get rid of.":
    "load 的 lane 与段共有 {}：要去掉的就是这个方向。",
} as const;

export type Phrase = keyof typeof CHINESE;

/** A phrase with its values, in some language. */
export type Say = (phrase: Phrase, ...values: (string | number)[]) => string;

export const english: Say = (phrase, ...values) => filled(phrase, values);
export const chinese: Say = (phrase, ...values) => filled(CHINESE[phrase], values);

/** Puts values where `{}` stands, or `{1}` where a language has another order. */
function filled(text: string, values: (string | number)[]): string {
  let next = 0;
  return text.replace(/\{(\d?)\}/g, (_, index: string) => String(values[index === "" ? next++ : Number(index)]));
}
