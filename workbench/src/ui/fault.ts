/** Errors, as the command tells them: the sentence, where, and what would be right. */

import type { Fault } from "../engine/requests";
import { Refusal } from "../engine/engine";
import { fill, h } from "./dom";

/** A line of a text with a caret under a column, both from one; empty where there is no such line. */
export function caret(text: string, line: number, column: number): string {
  const source = text.split("\n")[line - 1];
  if (source === undefined) return "";
  // What is drawn as several columns would move the caret.
  const shown = source.replace(/\t/g, " ");
  const number = String(line);
  const bar = " ".repeat(number.length);
  const under = " ".repeat(Math.max(0, column - 1));
  return `${number} | ${shown}\n${bar} | ${under}^`;
}

/** A fault of a text as lines. */
export function tell(fault: Fault, source?: string): string {
  const all = fault.all ?? [fault];
  return all
    .map(({ message, hint, line, column }) => {
      const place = source !== undefined && line !== undefined && column !== undefined;
      const drawn = place ? caret(source, line, column) : "";
      const lines = [`error: ${message}`, drawn, hint ? `help: ${hint}` : ""];
      return lines.filter((part) => part !== "").join("\n");
    })
    .join("\n\n");
}

/** A place for one error. */
export class FaultBox {
  readonly element = h("div.fault", { role: "alert", hidden: true });

  clear(): void {
    this.element.hidden = true;
    fill(this.element);
  }

  /**
   * Shows what went wrong.
   *
   * @param source the text that the error's line and column are of
   */
  show(error: unknown, source?: (fault: Fault) => string | undefined): void {
    const message =
      error instanceof Refusal
        ? tell(error.fault, source?.(error.fault))
        : `error: ${error instanceof Error ? error.message : String(error)}`;
    fill(this.element, h("pre", null, message));
    this.element.hidden = false;
  }
}
