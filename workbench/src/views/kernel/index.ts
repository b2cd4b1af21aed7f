/** The kernel view: a kernel's text with what the compiler decided, and what another layout costs. */

import type { ExplainAnswer, ExplainRequest, Fault } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context, Mounted, View } from "../view";
import { Details } from "./details";
import { Listing } from "./listing";
import { LayoutNames, byLine } from "./model";
import { Question } from "./question";
import { fields, textOf } from "./state";
import type { State } from "./state";
import { Totals } from "./totals";

/** What the engine is asked of a state, with these pins. */
export function question(state: State, pins: string[]): ExplainRequest {
  const { kernel, target, warps } = state;
  return {
    request: "explain",
    ttir: textOf(state),
    ...(kernel !== "" && { kernel }),
    target,
    ...(warps !== "0" && { warps: Number(warps) }),
    ...(pins.length > 0 && { pins }),
    text_places: true,
  };
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const asked = new Question(context);
  const listing = new Listing(context);
  const totals = new Totals(context);
  const details = new Details(context);
  const fault = new FaultBox();
  const pinFault = new FaultBox();
  const answered = h("div.stack", null, totals.element, h("div.read", null, listing.element, details.element));
  fill(
    host,
    h(
      "div.intro",
      null,
      h("h1", null, "Kernel"),
      h(
        "p",
        null,
        "Triton IR, with the layout that Weft chose for each value, where data moves between threads, and how memory is touched. Pin a value to another layout and see what that costs.",
      ),
    ),
    h("div.stack", null, asked.element, fault.element, pinFault.element, answered),
  );
  const ask = latest();

  function show(state: State, free: ExplainAnswer, now: ExplainAnswer): void {
    const names = new LayoutNames(free, now);
    const marks = byLine(now);
    // Where nothing was chosen, the first line that there is something to say of.
    const line = state.line > 0 ? state.line : Math.min(...marks.keys());
    totals.show(state, free, now, names);
    listing.show(textOf(state), marks, names, line);
    details.show({ ...state, line }, now, marks, names);
  }

  return {
    update(state) {
      asked.update(state);
      if (state.line > 0) listing.select(state.line);
      answered.classList.add("waiting");
      ask(async (current) => {
        const text = textOf(state);
        let free: ExplainAnswer;
        try {
          free = await context.engine.invoke(question(state, []));
        } catch (error) {
          if (!current()) return;
          answered.hidden = true;
          asked.open();
          pinFault.clear();
          fault.show(error, (fault: Fault) => (fault.kind === "ttir" ? text : undefined));
          if (!(error instanceof Refusal)) throw error;
          return;
        }
        if (!current()) return;
        fault.clear();
        let now = free;
        try {
          if (state.pins.length > 0) now = await context.engine.invoke(question(state, state.pins));
          if (!current()) return;
          pinFault.clear();
        } catch (error) {
          if (!current()) return;
          // The kernel stands without its pins.
          pinFault.show(error, (fault) => (/^`pin`/.test(fault.message) ? layoutOf(state.pins.at(-1)) : undefined));
          if (!(error instanceof Refusal)) throw error;
        }
        answered.hidden = false;
        answered.classList.remove("waiting");
        show(state, free, now);
      });
    },
  };
}

/** The text of the layout in a pin. */
function layoutOf(pin: string | undefined): string | undefined {
  return pin?.slice(pin.indexOf("=") + 1);
}

export const kernel: View<State> = { id: "kernel", title: "Kernel", fields, mount };
