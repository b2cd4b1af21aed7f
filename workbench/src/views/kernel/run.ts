/** A run on the simulator, with arrays of random numbers. */

import type { Finding, RunAnswer, RunRequest } from "../../engine/requests";
import { count } from "../../ui/amounts";
import { copyButton } from "../../ui/copy";
import { checkArgument, checkGrid } from "../../ui/checks";
import { fill, h } from "../../ui/dom";
import type { Current } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { checkedField } from "../../ui/fields";
import type { TextField } from "../../ui/fields";
import type { Context } from "../view";
import { inLines, lineOf } from "./model";
import { commandOf, parameters, valuesOf } from "./arguments";
import { textOf } from "./state";
import type { State } from "./state";

export class Run {
  readonly element: HTMLElement;
  readonly #context: Context<State>;
  readonly #fields = h("div.columns.arguments");
  readonly #answer = h("div.stack.tight", { "aria-live": "polite" });
  readonly #fault = new FaultBox();
  readonly #grid: TextField;
  readonly #button: HTMLButtonElement;
  /** The same run as a command. */
  readonly #command = h("code");
  #inputs = new Map<string, TextField>();
  /** The arguments that have fields. */
  #shown = "";
  /** What a run begins with where nobody says anything. */
  #usual: Record<string, string> = {};
  #state: State | undefined;
  #asked = "";

  constructor(context: Context<State>) {
    this.#context = context;
    this.#grid = checkedField("Blocks", checkGrid, (grid) => context.set({ grid, run: false }), { hint: "8, or 4x2 along x and y" });
    this.#button = h("button.primary", { type: "button", onclick: () => this.#start() }, "Run on the simulator");
    this.element = h(
      "section.card.runner",
      { "aria-label": "A run" },
      h(
        "header",
        null,
        h("h2", null, "Run it"),
        h("p", null, "Thread by thread, without a GPU: every access is checked, wavefronts and sectors are counted from the addresses, and the result is compared with what the IR computes."),
      ),
      h("div.stack.tight", null, this.#fields, h("div.row", null, this.#button), this.#fault.element, this.#answer,
        h(
          "div.as-command",
          null,
          h("p.label", null, "The same in a shell or in CI; the exit status tells whether it passed"),
          h("div.code", null, this.#command, copyButton("Copy", () => this.#command.textContent ?? "")),
        ),
      ),
    );
  }

  /** Shows what the fields hold. */
  update(state: State, name: string): void {
    this.#state = state;
    const values = valuesOf(state, name);
    this.#usual = valuesOf({ ...state, args: [] }, name).args;
    const known = parameters(textOf(state), name);
    const shown = known.map(({ name, type }) => `${name}: ${type}`).join();
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#inputs = new Map(
        known.map(({ name, type }) => {
          const check = (written: string) => checkArgument(written, type, this.#usual[name] ?? "");
          return [name, checkedField(`${name}: ${type}`, check, (value) => this.#set(name, value))];
        }),
      );
      fill(this.#fields, this.#grid.element, [...this.#inputs.values()].map(({ element }) => element));
    }
    this.#grid.set(values.grid);
    for (const [name, field] of this.#inputs) field.set(values.args[name] ?? "");
    this.#command.textContent = commandOf(state, name);
  }

  /** Asks for the run that a state wants; none where it wants none. */
  async run(state: State, name: string, current: Current): Promise<RunAnswer | undefined> {
    this.element.setAttribute("aria-busy", "false");
    if (!state.run) {
      this.#fault.clear();
      fill(this.#answer);
      this.#asked = "";
      return undefined;
    }
    const { grid, args } = valuesOf(state, name);
    const request: RunRequest = {
      request: "run",
      ttir: textOf(state),
      ...(state.kernel !== "" && { kernel: state.kernel }),
      target: state.target,
      ...(state.warps !== "0" && { warps: Number(state.warps) }),
      ...(state.pins.length > 0 && { pins: state.pins }),
      grid: grid.split(/[x×,]/).map((part) => Number(part.trim())),
      args,
      seed: state.seed,
      text_places: true,
    };
    const asked = JSON.stringify(request);
    if (asked !== this.#asked) {
      this.element.setAttribute("aria-busy", "true");
      fill(this.#answer, h("p.note", null, "The simulator runs…"));
    }
    try {
      const answer = await this.#context.engine.invoke(request, current.unwanted);
      if (!current()) return undefined;
      this.#asked = asked;
      this.#fault.clear();
      this.#tell(answer);
      return answer;
    } catch (error) {
      if (!current()) return undefined;
      this.#asked = "";
      fill(this.#answer);
      this.#fault.show(error);
      return undefined;
    } finally {
      if (current()) this.element.setAttribute("aria-busy", "false");
    }
  }

  #start(): void {
    // Another run has other random numbers.
    const again = this.#state?.run === true;
    this.#context.set({ run: true, ...(again && { seed: (this.#state?.seed ?? 0) + 1 }) });
  }

  #set(name: string, value: string): void {
    const rest = (this.#state?.args ?? []).filter((arg) => !arg.startsWith(`${name}=`));
    this.#context.set({ args: [...rest, `${name}=${value}`], run: false });
  }

  #tell(answer: RunAnswer): void {
    const { passed, counts, buffers, findings, findings_dropped, evaluator, printed = [], grid, threads } = answer;
    this.#button.textContent = "Run again, with other numbers";
    const verdict = passed ? "Correct: every element is as the IR computes it, and no error was found." : findings.length > 0 ? `${count(findings.length + findings_dropped, "finding")}.` : "Wrong.";
    const counted = (name: string, amount: number, ideal?: number) =>
      h("div", null, h("dt", null, name), h("dd.value", null, amount.toLocaleString("en")), ideal !== undefined && h("dd.note", null, amount > ideal ? `at least ${ideal.toLocaleString("en")}` : "none wasted"));
    fill(
      this.#answer,
      h("p.badges", null, h("span", { class: `badge ${passed ? "good" : "bad"}`, "data-passed": passed }, h("strong", null, verdict))),
      findings.length > 0 && h("ul.findings", null, findings.map((finding) => h("li", null, this.#finding(finding)))),
      evaluator !== null && findings.length === 0 && h("p", null, inLines(evaluator)),
      h(
        "dl.figures",
        { "aria-label": "Counted" },
        counted("Global memory sectors", counts.global_sectors, counts.ideal_global_sectors),
        counted("Shared memory wavefronts", counts.shared_wavefronts, counts.ideal_shared_wavefronts),
        counted("Warp instructions", counts.instructions),
        counted("Exchanges between lanes", counts.shuffles),
        counted("Blocks", grid.reduce((all, one) => all * one, 1)),
        counted("Threads per block", threads),
      ),
      buffers.length > 0 &&
        h(
          "div.scroll",
          { tabindex: 0, role: "group", "aria-label": "Buffers" },
          h(
            "table.data",
            null,
            h("caption.spoken", null, "Buffers after the run"),
            h("thead", null, h("tr", null, ["buffer", "holds", "after the run"].map((head) => h("th", { scope: "col" }, head)))),
            h(
              "tbody",
              null,
              buffers.map((buffer) =>
                h(
                  "tr",
                  { "data-buffer": buffer.name },
                  h("th", { scope: "row" }, buffer.name),
                  h("td", null, `${buffer.elements.toLocaleString("en")} × ${buffer.element}`),
                  h(
                    "td",
                    { class: buffer.agrees ? null : "worse" },
                    !buffer.agrees ? (buffer.mismatch ?? "differs") : !buffer.changed ? "unchanged" : buffer.exact ? "as expected, bit for bit" : `as expected, within ${(buffer.max_relative_error ?? 0).toExponential(1)}`,
                  ),
                ),
              ),
            ),
          ),
        ),
      printed.length > 0 && h("div.code", null, h("pre", { tabindex: 0, "aria-label": "Printed" }, printed.join("\n"))),
    );
  }

  #finding({ kind, message, actor, other, count: times, hint }: Finding): Node[] {
    const lines = [...new Set([lineOf(actor.place), lineOf(other?.place ?? null)])].filter((line) => line !== undefined);
    const go = (line: number) => h("button.quiet.instead", { type: "button", onclick: () => this.#context.set({ line, python: 0 }) }, `Line ${line}`);
    return [
      h("p", null, h("span.mark.found", null, kind), ` ${inLines(message)}${times > 1 ? `, ${times} times` : ""}.`),
      h("p.note", null, `${hint.charAt(0).toUpperCase()}${hint.slice(1)}. `, lines.map(go)),
    ];
  }
}
