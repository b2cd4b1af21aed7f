/** The swizzle view: a store and its loads, the memory between them, and whether they collide. */

import type { WavefrontsAnswer, WavefrontsRequest } from "../../engine/requests";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context, Mounted, View } from "../view";
import { Algebra } from "./algebra";
import { Matrix } from "./matrix";
import { Problem } from "./problem";
import { Solve } from "./solve";
import { fields, accesses, chosen, memoryOf } from "./state";
import type { Access, State } from "./state";
import { Sweep } from "./sweep";
import { Toggles } from "./toggles";
import { Verdicts } from "./verdicts";
import { Watch } from "./watch";

/** What the engine is asked about an access on a machine. */
function question(state: State, access: Access, target: string): WavefrontsRequest {
  return {
    request: "wavefronts",
    registers: access.layout,
    memory: memoryOf(state),
    shape: state.shape,
    element: state.element,
    target,
    kind: access.kind,
  };
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const problem = new Problem(context);
  const toggles = new Toggles((folds) =>
    context.set({ fold: folds.some((mask) => mask !== 0) ? folds : [], memory: "", wave: 0 }),
  );
  const verdicts = new Verdicts(context);
  const watch = new Watch(context);
  const algebra = new Algebra(context);
  const matrix = new Matrix(context);
  const solve = new Solve(context);
  const sweep = new Sweep(context);
  const fault = new FaultBox();
  fill(
    host,
    h(
      "div.intro",
      null,
      h("h1", null, "Swizzle"),
      h(
        "p",
        null,
        "A tensor is stored to shared memory in one order and loaded in another. Where must its elements lie so that neither waits for a bank? ",
        h("a", { href: "#/tour" }, "New here? Take the tour."),
      ),
    ),
    h(
      "div.workbench.toggled",
      null,
      h("div.stack", null, problem.element, toggles.element, sweep.element),
      h("div.stack", null, verdicts.element, fault.element, watch.element, h("div.pair", null, algebra.element, matrix.element), solve.element),
    ),
  );
  const ask = latest();

  async function answerAll(state: State, current: () => boolean): Promise<void> {
    const all = accesses(state);
    const targets = [state.target, ...(state.against ? [state.against] : [])];
    const taken = await Promise.all(
      targets.map((target) =>
        Promise.all(
          all.map(async (access): Promise<WavefrontsAnswer | unknown> => {
            try {
              return await context.engine.invoke(question(state, access, target));
            } catch (error) {
              return error;
            }
          }),
        ),
      ),
    );
    if (!current()) return;
    verdicts.show(state, targets, taken);
    const now = chosen(state);
    const wrong = taken.flatMap((row) => row.map((answer, index) => ({ answer, index }))).find(({ answer }) => !isAnswer(answer));
    if (wrong) fault.show(wrong.answer, (fault) => problem.source(state, wrong.index, fault));
    else fault.clear();
    const own = taken[0]?.[now.index];
    if (!isAnswer(own)) {
      watch.clear();
      algebra.clear();
      return;
    }
    // A step that this access does not have is its last one.
    const step = Math.min(state.step, own.instructions - 1);
    const warp = Math.min(state.warp, own.warps - 1);
    const shown = await context.engine.invoke({
      ...question(state, now, state.target),
      instruction: step,
      warp,
      pictures: true,
    });
    if (!current()) return;
    watch.show(shown, { ...state, step, warp });
    algebra.show(shown, state);
  }

  return {
    update(state) {
      problem.update(state);
      toggles.update(state);
      watch.update(state);
      algebra.update(state);
      matrix.update(state);
      solve.update(state);
      sweep.update(state);
      ask(async (current) => {
        try {
          await answerAll(state, current);
        } catch (error) {
          // Each access was asked about before: what fails now is the way to the engine.
          if (current()) fault.show(error);
        }
      });
    },
    unmount() {
      watch.stop();
      sweep.stop();
    },
  };
}

export function isAnswer(value: unknown): value is WavefrontsAnswer {
  return typeof value === "object" && value !== null && "wavefronts" in value;
}

export const swizzle: View<State> = { id: "swizzle", title: "Swizzle", fields, mount };
