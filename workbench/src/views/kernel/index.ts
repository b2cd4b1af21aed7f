/** The kernel view: a kernel from its source to its code, what the compiler decided, and what another choice costs. */

import type { CompileRequest, ExplainAnswer, ExplainRequest, Fault } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h, latest } from "../../ui/dom";
import type { Current } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context, Mounted, View } from "../view";
import { Against, opponent } from "./against";
import { Details } from "./details";
import { LayoutNames, byLine } from "./model";
import { Panes } from "./panes";
import type { Told } from "./panes";
import { Question } from "./question";
import { Rounds } from "./rounds";
import { Run } from "./run";
import { fields, textOf } from "./state";
import type { State } from "./state";
import { Strip } from "./strip";
import { Totals } from "./totals";

/** What is compiled of a state, with these pins. */
function compiled(state: State, pins: string[]) {
  const { kernel, target, warps } = state;
  return {
    ttir: textOf(state),
    ...(kernel !== "" && { kernel }),
    target,
    ...(warps !== "0" && { warps: Number(warps) }),
    ...(pins.length > 0 && { pins }),
    text_places: true,
  };
}

/** What the engine is asked of a state, with these pins. */
export function question(state: State, pins: string[]): ExplainRequest {
  return { request: "explain", ...compiled(state, pins) };
}

/** The code of a state; AMD's machines have HIP alone. */
function codeOf(state: State, pins: string[]): CompileRequest {
  return { request: "compile", ...compiled(state, pins), emit: [state.target.startsWith("gfx") ? "hip" : state.code] };
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const against = new Against(context);
  const asked = new Question(context, against.pick.element);
  const strip = new Strip();
  const panes = new Panes(context);
  const totals = new Totals(context);
  const details = new Details(context);
  const rounds = new Rounds(context);
  const run = new Run(context);
  const fault = new FaultBox();
  const pinFault = new FaultBox();
  const codeFault = new FaultBox();
  const answered = h(
    "div.kernel",
    { hidden: true },
    strip.element,
    codeFault.element,
    panes.element,
    h("div.read", null, details.element, against.element, rounds.element, totals.element, run.element),
  );
  fill(
    host,
    h(
      "div.intro.wide",
      null,
      h("h1", null, "Kernel"),
      h("p", null, "From Python to code, line by line: where every value lives, what moves, what each line costs. Point at a line to see what belongs to it."),
    ),
    h("div.kernel", null, asked.element, fault.element, pinFault.element, answered),
  );
  const ask = latest();
  /** What is shown, while nothing but the chosen line changes. */
  let shown: { asked: string; told: Omit<Told, "state" | "chosen"> } | undefined;

  /** The lines that are looked at. */
  function chosen(state: State, now: ExplainAnswer): number[] {
    if (state.python > 0) return panes.from(now, state.python);
    // Where nothing was chosen, the line that costs most, or where none costs anything the first of which something is said.
    const dearest = [...(now.lines ?? [])].sort((a, b) => b.cost - a.cost)[0];
    const first = dearest && dearest.cost > 0 ? dearest.line : Math.min(...byLine(now).keys());
    return [state.line > 0 ? state.line : first];
  }

  function look(state: State): void {
    if (!shown) return;
    const { now, names } = shown.told;
    const of = chosen(state, now);
    panes.arrange(state);
    panes.select(of);
    details.show(state, of, now, names);
  }

  async function answer(state: State, asking: string, current: Current): Promise<void> {
    const text = textOf(state);
    const { pins } = state;
    // With and without pins, and the code: asked in one go, shown at once and drawn once.
    const [asFree, asPinned, asCode, asBefore] = await context.engine.together(
      [question(state, []), question(state, pins), codeOf(state, pins), codeOf(state, [])],
      current.unwanted,
    );
    if (!current()) return;
    if (asFree.status === "rejected") {
      const error: unknown = asFree.reason;
      answered.hidden = true;
      shown = undefined;
      asked.open();
      pinFault.clear();
      fault.show(error, (fault: Fault) => (fault.kind === "ttir" ? text : undefined));
      if (!(error instanceof Refusal)) throw error;
      return;
    }
    fault.clear();
    const free = asFree.value;
    const pinned = asPinned.status === "fulfilled" && pins.length > 0;
    const now = asPinned.status === "fulfilled" ? asPinned.value : free;
    if (asPinned.status === "fulfilled") pinFault.clear();
    else {
      // The kernel stands without its pins.
      pinFault.show(asPinned.reason, (fault) => (/^`pin`/.test(fault.message) ? layoutOf(pins.at(-1)) : undefined));
      if (!(asPinned.reason instanceof Refusal)) throw asPinned.reason;
    }
    const names = new LayoutNames(free, now);
    const of = chosen(state, now);
    const told: Omit<Told, "state" | "chosen"> = { now, names };
    const code = pinned ? asCode : asBefore;
    if (code.status === "fulfilled") {
      codeFault.clear();
      told.code = code.value;
    } else codeFault.show(code.reason);
    if (pinned && asBefore.status === "fulfilled") told.before = asBefore.value;
    const show = () => {
      shown = { asked: asking, told };
      panes.show({ state, chosen: of, ...told });
    };
    answered.hidden = false;
    strip.show(now, state.sass);
    totals.show(state, free, now, names);
    details.show(state, of, now, names);
    rounds.show(now);
    run.update(state, now.name);
    show();
    answered.classList.remove("waiting");
    // What takes longer comes after.
    const [simulated, other] = await Promise.all([run.run(state, now.name, current), compare(state, now, current)]);
    if (!current() || !(simulated || other)) return;
    if (simulated) told.run = simulated;
    if (other) told.other = other;
    show();
  }

  async function compare(state: State, now: ExplainAnswer, current: Current): Promise<Told["other"]> {
    const other = opponent(state);
    if (!other) return undefined;
    try {
      const { name, ttir = textOf(state), target } = other;
      // Another text may call its kernel otherwise.
      const { kernel: _, ...plain } = question({ ...state, target }, []);
      const answer = await context.engine.invoke(ttir === textOf(state) ? question({ ...state, target }, []) : { ...plain, ttir }, current.unwanted);
      if (!current()) return undefined;
      strip.show(now, state.sass, { name, answer });
      against.show(state, now, answer, name);
      return other.ttir === undefined ? undefined : { name, text: other.ttir, answer };
    } catch (error) {
      if (!current()) return undefined;
      against.clear();
      against.fault.show(error, (fault) => (fault.kind === "ttir" ? other.ttir : undefined));
      return undefined;
    }
  }

  return {
    update(state) {
      asked.update(state);
      against.update(state);
      // Another line, another pane are shown at once, and ask nothing.
      const asking = JSON.stringify({ ...state, line: 0, python: 0, away: [] });
      if (shown?.asked === asking) {
        look(state);
        return;
      }
      answered.classList.add("waiting");
      ask((current) => answer(state, asking, current));
    },
    unmount: () => ask.end(),
  };
}

/** The text of the layout in a pin. */
function layoutOf(pin: string | undefined): string | undefined {
  return pin?.slice(pin.indexOf("=") + 1);
}

export const kernel: View<State> = { id: "kernel", title: "Kernel", fields, mount };
