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

/** The parameter of the request that a fault begins with. */
export function parameterOf({ message }: Fault): string | undefined {
  return /^`(\w+)`/.exec(message)?.[1];
}

/**
 * A fault of a text as lines.
 *
 * @param label what the page calls the parameter that the fault begins with
 */
export function tell(fault: Fault, source?: string, label?: string): string {
  const all = fault.all ?? [fault];
  return all
    .map(({ message, hint, line, column }) => {
      const place = source !== undefined && line !== undefined && column !== undefined;
      const drawn = place ? caret(source, line, column) : "";
      const named = label === undefined ? message : message.replace(/^`\w+`/, label);
      const lines = [`error: ${named}`, drawn, hint ? `help: ${hint}` : ""];
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
   * @param label what the page calls what the error begins with
   */
  show(
    error: unknown,
    source?: (fault: Fault) => string | undefined,
    label?: (fault: Fault) => string | undefined,
  ): void {
    const message =
      error instanceof Refusal
        ? tell(error.fault, source?.(error.fault), label?.(error.fault))
        : `error: ${error instanceof Error ? error.message : String(error)}`;
    const lines = message.split("\n").map((line) => (/^(error|help): /.test(line) ? h("span.sentence", null, line) : line));
    fill(this.element, h("pre", null, lines.flatMap((line, index) => (index === 0 ? [line] : ["\n", line]))));
    this.element.hidden = false;
  }
}
