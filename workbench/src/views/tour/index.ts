/** The tour: one page of words and a live picture at a time. */

import type { WavefrontsAnswer } from "../../engine/requests";
import { masks, whole, word } from "../../state/codec";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import { Picture, wordsOf } from "../../ui/picture";
import { chinese, english } from "../../ui/say";
import type { Phrase, Say } from "../../ui/say";
import { recoloured } from "../swizzle/colours";
import { direction, directions, inLetters, matrixInLetters, memorySource } from "../swizzle/model";
import { superscript, Toggles } from "../swizzle/toggles";
import type { Context, Mounted, View } from "../view";
import { CHINESE_STEPS } from "./chinese";
import { ELEMENT, EXERCISE, LOAD, SHAPE, STEPS, STORE } from "./steps";
import type { Figure } from "./steps";
import { Scene } from "./scene";

interface State {
  step: number;
  /** The reader's own folds. */
  fold: number[];
  language: "en" | "zh";
}

/** A context with the language of what is drawn. */
interface Speaking extends Context<State> {
  say: Say;
  /** Has a link lead to a change of what the state is when it is followed. */
  leads(link: HTMLAnchorElement, change: Partial<State>): HTMLAnchorElement;
}

/** The tour in its languages, each by the name that its readers know. */
const LANGUAGES = {
  en: { name: "English", tag: "en", say: english, words: STEPS as readonly { title: string; words: string[] }[] },
  zh: { name: "中文", tag: "zh-Hans", say: chinese, words: CHINESE_STEPS },
};

function mount(host: HTMLElement, silent: Context<State>): Mounted<State> {
  const body = h("div.tour");
  fill(host, body);
  let shown = "";
  let exercise: ((fold: number[]) => void) | undefined;
  let links: [HTMLAnchorElement, Partial<State>][] = [];
  const scene = new Scene();
  const staged = latest();
  return {
    update({ step, fold, language }) {
      const page = `${step} ${language}`;
      if (page !== shown) {
        shown = page;
        scene.stop();
        const { figures } = STEPS[step - 1]!;
        const { tag, say, words: all } = LANGUAGES[language];
        const { title, words } = all[step - 1]!;
        links = [];
        const leads: Speaking["leads"] = (link, change) => (links.push([link, change]), link);
        const context = { ...silent, say, leads };
        body.lang = tag;
        const heading = h("h1", { tabindex: -1 }, title);
        const drawn = figures.some(({ show }) => show === "exercise") ? challenge(context) : undefined;
        exercise = drawn?.update;
        fill(
          body,
          h(
            "article",
            null,
            h("div.where", null, h("p.label", null, say("Step {} of {}", step, STEPS.length)), other(language, context)),
            heading,
            words.map((paragraph) => h("p", null, paragraph)),
            drawn?.toggles,
            steps(step, all.map(({ title }) => title), context),
          ),
          h(
            "div.beside",
            null,
            figures.map((figure) => {
              if (figure.show === "access") return stage(figure, scene, context, staged);
              return figure.show === "exercise" ? drawn?.scene : draw(figure, context);
            }),
          ),
        );
        // Whoever turned the page by keyboard reads on from here.
        if (document.activeElement === document.body) heading.focus({ preventScroll: true });
        scrollTo({ top: 0 });
      }
      for (const [link, change] of links) link.href = silent.link(change);
      exercise?.(fold);
    },
    unmount: () => scene.stop(),
  };
}

/** An access, on the scene that the steps share. */
function stage(
  { layout, memory, kind, caption }: Extract<Figure, { show: "access" }>,
  scene: Scene,
  context: Speaking,
  run: ReturnType<typeof latest>,
): HTMLElement {
  const fault = new FaultBox();
  run(async (current) => {
    try {
      const [answer, banks] = await Promise.all([asked(context, layout, memory, kind), banksOf(context)]);
      if (current()) scene.show(caption, answer, SHAPE, banks, context.say);
    } catch (error) {
      if (current()) fault.show(error);
    }
  });
  return h("div.stack", null, fault.element, scene.element);
}

/** The same step in the other language. */
function other(now: State["language"], { leads }: Speaking): HTMLElement {
  const language = now === "en" ? "zh" : "en";
  const { name, tag } = LANGUAGES[language];
  return leads(h("a.language", { lang: tag, hreflang: tag }, name), { language });
}

/** Back, forward, and where one is. */
function steps(step: number, titles: string[], { leads, say }: Speaking): HTMLElement {
  const to = (number: number, phrase: Phrase, name: string) => leads(h(`a.${name}` as "a", null, say(phrase)), { step: number });
  return h(
    "nav.turn",
    { "aria-label": say("Steps of the tour") },
    step > 1 ? to(step - 1, "Back", "button") : h("span", null),
    h(
      "ol",
      null,
      titles.map((title, index) =>
        h("li", null, leads(h("a", { "aria-label": title, title, ...(index + 1 === step ? { "aria-current": "step" } : {}) }), { step: index + 1 })),
      ),
    ),
    step < STEPS.length ? to(step + 1, "Next", "button.primary") : h("a.button.primary", { href: "#/swizzle" }, say("Workbench")),
  );
}

/** A figure that asks the engine what it shows. */
function draw(figure: Exclude<Figure, { show: "exercise" | "access" }>, context: Speaking): HTMLElement {
  const { say } = context;
  const fault = new FaultBox();
  const card = h("section.card", null, fault.element);
  const ask = async () => {
    switch (figure.show) {
      case "layout": {
        const { layout, picture: which, ringed, caption } = figure;
        const picture = new Picture({ name: say(caption), bare: true });
        card.classList.toggle("matrix", which === "matrix");
        card.append(h("header", null, h("h2", null, say(caption))), picture.element);
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
        card.append(h("header", null, h("h2", null, say("Three memories, one law"))), h("div.scroll", null, table));
        const answers = await Promise.all(figure.memories.map(({ memory }) => asked(context, LOAD, memory, "load")));
        const heads = (["memory", "segment directions", "shared with the load's lanes", "by algebra", "counted"] as const).map((head) => say(head));
        fill(
          table,
          h("thead", null, h("tr", null, heads.map((head) => h("th", null, head)))),
          h("tbody", null, answers.map((answer, index) => law(figure.memories[index]!.name, answer, say))),
        );
        return;
      }
      case "construction": {
        const table = h("table.pairing");
        const says = h("p.note");
        card.append(h("header", null, h("h2", null, say("Sums of one and one"))), h("div.scroll", null, table), says);
        const { trace, wavefronts, bound } = await context.engine.invoke({
          request: "swizzle", store: STORE, loads: [LOAD], shape: SHAPE, element: ELEMENT, trace: true,
        });
        if (!trace) return;
        const row = (name: Phrase, cells: string[]) =>
          h("tr", null, h("th", { scope: "row" }, say(name)), cells.map((cell) => h("td", null, cell)));
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
        says.textContent = say(
          "offset = {}. Store and load together take {} wavefronts, and no memory takes fewer than {}.",
          inLetters(trace.xor, SHAPE.length), wavefronts, bound,
        );
      }
    }
  };
  ask().catch((error: unknown) => fault.show(error));
  return card;
}

function law(name: string, { algebra, phases }: WavefrontsAnswer, say: Say): HTMLElement {
  const counted = phases.reduce((sum, { wavefronts }) => sum + wavefronts, 0);
  if (!algebra) return h("tr");
  const cells = [
    name === "row-major" ? say(name) : name,
    h("code", null, directions(algebra.segment)),
    h("code", null, algebra.meet.length === 0 ? say("only 0") : directions(algebra.meet)),
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
function challenge(context: Speaking): { toggles: HTMLElement; scene: HTMLElement; update(fold: number[]): void } {
  const { say } = context;
  const toggles = new Toggles((folds) => context.set({ fold: folds.some((mask) => mask !== 0) ? folds : [] }));
  const verdict = h("p.verdict-line", { role: "status" });
  const fault = new FaultBox();
  const scene = new Scene(fault.element, verdict);
  const latestOf = latest();
  return {
    toggles: toggles.element,
    scene: scene.element,
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
          scene.show("One load instruction of your memory.", load, SHAPE, banks, say);
          const each = load.wavefronts / load.instructions;
          const free = load.wavefronts === load.ideal && store.wavefronts === store.ideal;
          verdict.dataset["solved"] = String(free);
          const meet = directions(load.algebra?.meet ?? []);
          fill(
            verdict,
            h("strong", null, free ? say("Solved. ") : say("{} wavefronts an instruction. ", each)),
            free
              ? say("One wavefront for every store and every load, and the algebra proves it for all of them.")
              : say("The load's lanes and the segments share {}: this is the direction to get rid of.", meet),
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
  fields: { step: whole(1, 1, STEPS.length), fold: masks(), language: word("en", "zh") },
  mount,
};
