/** The tour: one page of words and a live picture at a time. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { masks, whole } from "../../state/codec";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { Picture, wordsOf } from "../../ui/picture";
import { recoloured } from "../swizzle/colours";
import { direction, directions, inLetters, matrixInLetters, memorySource } from "../swizzle/model";
import { superscript, Toggles } from "../swizzle/toggles";
import type { Context, Mounted, View } from "../view";
import { ELEMENT, EXERCISE, LOAD, SHAPE, STEPS, STORE } from "./steps";
import type { Figure } from "./steps";
import { Scene } from "./scene";

interface State {
  step: number;
  /** The reader's own folds. */
  fold: number[];
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const body = h("div.tour");
  fill(host, body);
  let shown = -1;
  let exercise: ((fold: number[]) => void) | undefined;
  const scene = new Scene();
  const staged = latest();
  return {
    update({ step, fold }) {
      if (step !== shown) {
        shown = step;
        exercise = undefined;
        scene.stop();
        const { title, words, figures } = STEPS[step - 1] ?? STEPS[0]!;
        const heading = h("h1", { tabindex: -1 }, title);
        fill(
          body,
          h(
            "article",
            null,
            h("p.label", null, `Step ${step} of ${STEPS.length}`),
            heading,
            words.map((paragraph) => h("p", null, paragraph)),
            steps(step, context),
          ),
          h(
            "div.beside",
            null,
            figures.map((figure) => {
              if (figure.show === "access") return stage(figure, scene, context, staged);
              if (figure.show !== "exercise") return draw(figure, context);
              const drawn = challenge(context);
              exercise = drawn.update;
              return drawn.element;
            }),
          ),
        );
        // Whoever turned the page by keyboard reads on from here.
        if (document.activeElement === document.body) heading.focus({ preventScroll: true });
        scrollTo({ top: 0 });
      }
      exercise?.(fold);
    },
    unmount: () => scene.stop(),
  };
}

/** An access, on the scene that the steps share. */
function stage(
  { layout, memory, kind, caption }: Extract<Figure, { show: "access" }>,
  scene: Scene,
  context: Context<State>,
  run: ReturnType<typeof latest>,
): HTMLElement {
  const fault = new FaultBox();
  run(async (current) => {
    try {
      const [answer, banks] = await Promise.all([asked(context, layout, memory, kind), banksOf(context)]);
      if (current()) scene.show(caption, answer, SHAPE, banks);
    } catch (error) {
      if (current()) fault.show(error);
    }
  });
  return h("div.stack", null, fault.element, scene.element);
}

/** Back, forward, and where one is. */
function steps(step: number, { link }: Context<State>): HTMLElement {
  const to = (number: number, text: string, name: string) =>
    h(`a.${name}` as "a", { href: link({ step: number }) }, text);
  return h(
    "nav.turn",
    { "aria-label": "Steps of the tour" },
    step > 1 ? to(step - 1, "Back", "button") : h("span", null),
    h(
      "ol",
      null,
      STEPS.map(({ title }, index) =>
        h("li", null, h("a", { href: link({ step: index + 1 }), "aria-label": title, title, ...(index + 1 === step ? { "aria-current": "step" } : {}) })),
      ),
    ),
    step < STEPS.length ? to(step + 1, "Next", "button.primary") : h("a.button.primary", { href: "#/swizzle" }, "Workbench"),
  );
}

/** A figure that asks the engine what it shows. */
function draw(figure: Exclude<Figure, { show: "exercise" | "access" }>, context: Context<State>): HTMLElement {
  const fault = new FaultBox();
  const card = h("section.card", null, fault.element);
  const ask = async () => {
    switch (figure.show) {
      case "layout": {
        const { layout, picture: which, ringed, caption } = figure;
        const picture = new Picture({ name: caption, bare: true });
        card.classList.toggle("matrix", which === "matrix");
        card.append(h("header", null, h("h2", null, caption)), picture.element);
        const request = { request: "layout", attribute: layout, shape: SHAPE, format: "svg", picture: which } as const;
        const drawing = (await context.engine.invoke(request)).picture ?? "";
        picture.show(which === "matrix" ? matrixInLetters(drawing, SHAPE.length) : recoloured(inLetters(drawing, SHAPE.length), "lane", await banksOf(context)));
        for (const [cell] of picture.cells()) {
          cell.classList.toggle("ringed", ringed !== undefined && new RegExp(`\\b${ringed}\\b`).test(wordsOf(cell)));
        }
        return;
      }
      case "law": {
        const table = h("table.data.laws");
        card.append(h("header", null, h("h2", null, "Three memories, one law")), h("div.scroll", null, table));
        const answers = await Promise.all(figure.memories.map(({ memory }) => asked(context, LOAD, memory, "load")));
        const heads = ["memory", "segment directions", "shared with the load's lanes", "by algebra", "counted"];
        fill(
          table,
          h("thead", null, h("tr", null, heads.map((head) => h("th", null, head)))),
          h("tbody", null, answers.map((answer, index) => law(figure.memories[index]?.name ?? "", answer))),
        );
        return;
      }
      case "construction": {
        const table = h("table.pairing");
        const says = h("p.note");
        card.append(h("header", null, h("h2", null, "Sums of one and one")), h("div.scroll", null, table), says);
        const { trace, wavefronts, bound } = await context.engine.invoke({
          request: "swizzle", store: STORE, loads: [LOAD], shape: SHAPE, element: ELEMENT, trace: true,
        });
        if (!trace) return;
        const row = (name: string, cells: string[]) =>
          h("tr", null, h("th", { scope: "row" }, name), cells.map((cell) => h("td", null, cell)));
        fill(
          table,
          h(
            "tbody",
            null,
            row("both, untouchable", trace.shared.map(direction)),
            row("only the store", trace.only_store.map(direction)),
            row("only the load", trace.only_load.map(direction)),
            row("the sums: segments", trace.sums.map(direction)),
          ),
        );
        says.textContent = `offset = ${inLetters(trace.xor, SHAPE.length)}. Store and load together take ${wavefronts} wavefronts, and no memory takes fewer than ${bound}.`;
      }
    }
  };
  ask().catch((error: unknown) => fault.show(error));
  return card;
}

function law(name: string, { algebra, phases }: WavefrontsAnswer): HTMLElement {
  const counted = phases.reduce((sum, { wavefronts }) => sum + wavefronts, 0);
  if (!algebra) return h("tr");
  const cells = [
    name,
    h("code", null, directions(algebra.segment)),
    h("code", null, algebra.meet.length === 0 ? "only 0" : directions(algebra.meet)),
    `2${superscript(algebra.dimension)} = ${algebra.wavefronts}`,
    counted,
  ];
  return h("tr", null, cells.map((cell) => h("td", null, cell)));
}

function asked(
  { engine }: Context<State>,
  registers: string,
  memory: ReturnType<typeof memorySource>,
  kind: "load" | "store",
): Promise<WavefrontsAnswer> {
  return engine.invoke({ request: "wavefronts", registers, memory, shape: SHAPE, element: ELEMENT, kind, places: true });
}

/** The banks of the machine that is asked about where nobody names one. */
async function banksOf({ engine }: Context<State>): Promise<number> {
  const { machines } = await engine.invoke({ request: "machines", target: "sm_90" });
  return machines[0]?.banks ?? 32;
}

/** The reader's own swizzle. */
function challenge(context: Context<State>): { element: HTMLElement; update(fold: number[]): void } {
  const toggles = new Toggles((folds) => context.set({ fold: folds.some((mask) => mask !== 0) ? folds : [] }));
  const verdict = h("p.verdict-line", { role: "status" });
  const fault = new FaultBox();
  const scene = new Scene(fault.element, verdict);
  const latestOf = latest();
  return {
    element: h("div.stack", null, toggles.element, scene.element),
    update(fold) {
      toggles.update({ shape: SHAPE, fold, memory: "" });
      latestOf(async (current) => {
        try {
          const memory = memorySource("", fold, SHAPE);
          const [load, store, banks] = await Promise.all([
            asked(context, EXERCISE, memory, "load"),
            asked(context, STORE, memory, "store"),
            banksOf(context),
          ]);
          if (!current()) return;
          fault.clear();
          scene.show("One load instruction of your memory.", load, SHAPE, banks);
          const each = load.wavefronts / load.instructions;
          const free = load.wavefronts === load.ideal && store.wavefronts === store.ideal;
          verdict.dataset["solved"] = String(free);
          const meet = directions(load.algebra?.meet ?? []);
          fill(
            verdict,
            h("strong", null, free ? "Solved. " : `${each} wavefronts an instruction. `),
            free
              ? "One wavefront for every store and every load, and the algebra proves it for all of them."
              : `The load's lanes and the segments share ${meet}: this is the direction to get rid of.`,
          );
        } catch (error) {
          if (current()) fault.show(error);
        }
      });
    },
  };
}

export const tour: View<State> = {
  id: "tour",
  title: "Tour",
  fields: { step: whole(1, 1, STEPS.length), fold: masks() },
  mount,
};
