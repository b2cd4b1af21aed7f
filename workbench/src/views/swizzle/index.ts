/** The swizzle view: a store and its loads, the memory between them, and whether they collide. */

import type { Fault, LayoutSource, SwizzleAnswer, WavefrontsAnswer, WavefrontsRequest } from "../../engine/requests";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context, Mounted, View } from "../view";
import { Algebra } from "./algebra";
import { Board } from "./board";
import type { Candidate } from "./board";
import { CloseUp } from "./closeup";
import { Examples } from "./examples";
import { Matrix } from "./matrix";
import { basesText, fitFolds, foldedBases, foldsOf, namedFolds, tensorBits } from "./model";
import { Problem } from "./problem";
import { Solve } from "./solve";
import { accesses, chosen, fields, memoryOf } from "./state";
import type { Access, State } from "./state";
import { Sweep } from "./sweep";
import { Toggles } from "./toggles";
import { isAnswer } from "./verdicts";

/** A memory with a name. */
interface Memory {
  name: string;
  memory: LayoutSource;
  current: boolean;
}

/** What a memory takes: by machine and access an answer, or why there is none. */
type Taken = unknown[][];

/** What the engine is asked about an access on a machine. */
function question(state: State, access: Access, memory: LayoutSource, target: string): WavefrontsRequest {
  const { shape, element } = state;
  return { request: "wavefronts", registers: access.layout, memory, shape, element, target, kind: access.kind };
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  let now: State;
  const use = (change: Partial<State>) => context.set({ ...change, wave: 0 });
  const problem = new Problem(context);
  const examples = new Examples(context);
  const optimal = h("button", { type: "button", onclick: () => void best(now).then((found) => found && use(found.memory)) }, "Optimal");
  const toggles = new Toggles((folds) => use({ fold: folds.some((mask) => mask !== 0) ? folds : [], memory: "" }), [optimal]);
  const board = new Board(context);
  const closeup = new CloseUp(context);
  const algebra = new Algebra();
  const matrix = new Matrix(context);
  const solve = new Solve(context);
  const sweep = new Sweep(context);
  const fault = new FaultBox();
  fill(
    host,
    h(
      "div.intro.wide",
      null,
      h("h1", null, "Swizzle"),
      h("p", null, "Words of one colour share a bank, and wait. Where must a tensor lie so that nobody waits?"),
      h("a.button", { href: "#/tour" }, "Take the tour"),
    ),
    h(
      "div.swizzle",
      null,
      examples.element,
      fault.element,
      board.element,
      h("div.reasons", null, toggles.element, algebra.element, matrix.element),
      closeup.element,
      h("div.below", null, problem.element, solve.element, sweep.element),
    ),
  );
  const ask = latest();

  /** What the engine finds best, as a change of the state; nothing where it is not to be found. */
  async function best(state: State): Promise<{ answer: SwizzleAnswer; memory: Pick<State, "fold" | "memory"> } | undefined> {
    const { store, loads, shape, element, target } = state;
    try {
      const trace = loads.length === 1;
      const answer = await context.engine.invoke({ request: "swizzle", store, loads, shape, element, target, trace });
      const { trace: found } = answer;
      const bases = found ? { offset: [...found.vector, ...found.bank, ...found.segment] } : answer.bases;
      const fold = foldsOf(bases, tensorBits(shape));
      return { answer, memory: fold ? { fold, memory: "" } : { fold: [], memory: basesText(bases, shape) } };
    } catch {
      return undefined;
    }
  }

  /** How a memory serves every access on every machine; the one that is looked at in full. */
  async function taken(state: State, memory: LayoutSource): Promise<Taken> {
    const looked = chosen(state);
    const answer = async (access: Access, target: string, first: boolean): Promise<unknown> => {
      const asked = question(state, access, memory, target);
      try {
        return first && access.index === looked.index ? await inFull(state, asked) : await context.engine.invoke(asked);
      } catch (error) {
        return error;
      }
    };
    const targets = machines(state);
    return Promise.all(targets.map((target, row) => Promise.all(accesses(state).map((access) => answer(access, target, row === 0)))));
  }

  /** The instruction that is looked at; an access that has fewer shows its last one. */
  async function inFull(state: State, asked: WavefrontsRequest): Promise<WavefrontsAnswer> {
    const at = (instruction: number, warp: number) =>
      context.engine.invoke({ ...asked, instruction, warp, places: true, pictures: state.close });
    try {
      return await at(state.step, state.warp);
    } catch (error) {
      if (state.step === 0 && state.warp === 0) throw error;
      const { instructions, warps } = await context.engine.invoke(asked);
      return at(Math.min(state.step, instructions - 1), Math.min(state.warp, warps - 1));
    }
  }

  /** The memories that stand side by side: none, XOR m, and the state's own, or the best where that is one of the two. */
  async function memories(state: State): Promise<{ all: Memory[]; best: Promise<SwizzleAnswer | undefined> }> {
    const tensor = tensorBits(state.shape);
    const bases = (folds: number[]): LayoutSource => ({ bases: foldedBases(fitFolds(folds, tensor), tensor) });
    const same = (folds: number[]) => state.memory === "" && fitFolds(state.fold, tensor).join() === fitFolds(folds, tensor).join();
    const named = namedFolds(tensor);
    const [plain, xor] = [named[0]!, named[1]!];
    const all = [
      { name: "No swizzle", memory: bases(plain.folds), current: same(plain.folds) },
      { name: "XOR m", memory: bases(xor.folds), current: same(xor.folds) && !same(plain.folds) },
    ];
    const found = best(state);
    const answer = found.then((found) => found?.answer);
    if (!all.some(({ current }) => current)) {
      const name = named.find(({ folds }) => same(folds))?.name;
      return { all: [...all, { name: name ? `Yours: ${name}` : "Yours", memory: memoryOf(state), current: true }], best: answer };
    }
    const third = await found;
    if (!third) return { all, best: answer };
    const folds = third.memory.fold.join();
    const name = named.find((one) => third.memory.memory === "" && one.folds.join() === folds)?.name;
    const memory = memoryOf({ ...state, ...third.memory });
    return { all: [...all, { name: name ? `Optimal: ${name}` : "Optimal", memory, current: false }], best: answer };
  }

  async function answerAll(state: State, current: () => boolean): Promise<void> {
    const known = context.engine.invoke({ request: "machines" });
    const { all, best: found } = await memories(state);
    const [answers, { machines: offered }] = await Promise.all([Promise.all(all.map(({ memory }) => taken(state, memory))), known]);
    if (!current()) return;
    const targets = machines(state);
    const named = accesses(state);
    const own = Math.max(0, all.findIndex(({ current }) => current));
    tellFault(answers[own]!, state);
    const looked = chosen(state).index;
    const candidates = all.map(({ name, current }, index): Candidate | undefined => {
      const answer = answers[index]?.[0]?.[looked];
      if (!isAnswer(answer)) return undefined;
      const found = targets.map((target, row) => ({
        target,
        beside: targets.length > 1,
        accesses: named.map((access, column) => ({ ...access, answer: answers[index]?.[row]?.[column] })),
      }));
      return { name, current, verdicts: found, answer };
    });
    const shown = candidates[own];
    if (!shown) {
      board.clear();
      closeup.clear();
      algebra.clear();
      return;
    }
    const banks = offered.find(({ name }) => name === state.target)?.banks ?? 32;
    const at = { ...state, step: shown.answer.instruction, warp: shown.answer.warp };
    board.show(candidates.filter((one) => one !== undefined), at, banks);
    closeup.show(shown.answer, at, banks);
    algebra.show(shown.answer, at, undefined);
    matrix.segments(shown.answer.algebra?.segment.length);
    const answer = await found;
    if (current()) algebra.show(shown.answer, at, answer);
  }

  function tellFault(answers: Taken, state: State): void {
    const wrong = answers.flatMap((row) => row.map((answer, index) => ({ answer, index }))).find(({ answer }) => !isAnswer(answer));
    const [source, label] = [
      (fault: Fault) => wrong && problem.source(state, wrong.index, fault),
      (fault: Fault) => wrong && problem.label(state, wrong.index, fault),
    ];
    if (wrong) fault.show(wrong.answer, source, label);
    else fault.clear();
  }

  return {
    update(state) {
      now = state;
      problem.update(state);
      examples.update(state);
      toggles.update(state);
      board.update(state);
      closeup.update(state);
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
        void examples.draw();
      });
    },
    unmount() {
      board.stop();
      sweep.stop();
    },
  };
}

/** The machine, and the one beside it. */
function machines({ target, against }: State): string[] {
  return against ? [target, against] : [target];
}

export const swizzle: View<State> = { id: "swizzle", title: "Swizzle", fields, mount };
