/** Words of a program in their colours. */

import { h } from "../../ui/dom";

export type Language = "python" | "mlir" | "ptx" | "c" | "sass";

/** Parts of a line by kind: a comment, a text, a value, a number, a word of the language. */
const KINDS = ["comment", "string", "value", "digits", "word"] as const;
const PARTS: Record<Language, RegExp> = {
  python: /(#.*)|("(?:[^"\\]|\\.)*"?)|(@\w[\w.]*)|\b(\d[\w.]*)\b|\b(def|for|in|if|else|elif|while|return|and|or|not|None|True|False|import|from|as|lambda)\b/g,
  mlir: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%\w+|#\w[\w.]*)|\b(\d[\w.]*)\b|\b((?:tt|ttg|arith|math|scf|cf|func)\.\w[\w.]*)/g,
  ptx: /(\/\/.*)|("(?:[^"\\]|\\.)*")|(%\w[\w.]*)|\b(0[fxd][\dA-Fa-f]+|\d+)\b|^\s*(?:@!?%\w+\s+)?(\.?[a-z][\w.:]*)/g,
  c: /(\/\/.*|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*")|(#\w+)|\b(\d[\w.]*)\b|\b(const|float|double|int|unsigned|char|short|long|bool|void|if|else|for|while|do|return|asm|volatile|__\w+__)\b/g,
  sass: /(\/\*.*?\*\/|\/\/.*)|("[^"]*")|\b(U?[RP]\d+|U?RZ|U?PT)\b|\b(0x[\da-f]+|\d+)\b|\b([A-Z][A-Z\d]*(?:\.[\w.]+)?)\b/g,
};

export function inked(text: string, language: Language): (HTMLElement | string)[] {
  const shown: (HTMLElement | string)[] = [];
  let done = 0;
  for (const found of text.matchAll(PARTS[language])) {
    const kind = found.slice(1).findIndex((part) => part !== undefined);
    const part = found[kind + 1];
    if (part === undefined) continue;
    const from = found.index + found[0].lastIndexOf(part);
    if (from > done) shown.push(text.slice(done, from));
    shown.push(h("i", { class: KINDS[kind] }, part));
    done = from + part.length;
  }
  if (done < text.length) shown.push(text.slice(done));
  return shown;
}
