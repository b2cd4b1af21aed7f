/** The steps in Chinese: a chapter of the book, which the check of the documents holds against the English ones. */

import chapter from "../../../../docs/src/zh/tour.md?raw";

export const CHINESE_STEPS: readonly { title: string; words: string[] }[] = chapter
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = "", ...words] = section.trim().split(/\n{2,}/);
    return { title, words };
  });
