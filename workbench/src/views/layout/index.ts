/** The layout view: named layouts, each as a grid, as registers and lanes, and as a matrix. */

import type { LayoutAnswer } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox } from "../../ui/fault";
import type { Context, Mounted, View } from "../view";
import { Examples } from "./examples";
import { DEFINITION, List } from "./list";
import { findMissing, parseNamed, parseOperation } from "./names";
import type { Named } from "./names";
import { Pictures } from "./pictures";
import { Selector } from "./selector";
import { fields } from "./state";
import type { State } from "./state";

/** The layouts of a state that have a name. */
export function namedOf(state: State): Named[] {
  return state.layouts.flatMap((written) => parseNamed(written) ?? []);
}

/** What a named layout is; an operator's layouts are asked for first. */
async function resolve(context: Context<State>, state: State, name: string): Promise<LayoutAnswer> {
  const all = namedOf(state);
  const missing = findMissing(name, all);
  if (missing) throw new Error(missing);
  const of = async (name: string): Promise<LayoutAnswer> => {
    const { text } = all.find((named) => named.name === name)!;
    const operation = parseOperation(text);
    if (!operation) {
      const own = text.startsWith("[");
      return context.engine.invoke({ request: "layout", attribute: text, ...(!own && { shape: state.shape }) });
    }
    const [layout, other] = await Promise.all(operation.of.map(of));
    return context.engine.invoke({
      request: "operate",
      operator: operation.operator,
      layout: layout!.text,
      ...(other && { other: other.text }),
      to: operation.to,
    });
  };
  return of(name);
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const examples = new Examples(context);
  const list = new List(context);
  const selector = new Selector(context);
  const pictures = new Pictures(context, selector);
  const fault = new FaultBox();
  fill(
    host,
    h(
      "div.intro.wide",
      null,
      h("h1", null, "Layout"),
      h(
        "p",
        null,
        "Which register of which lane, or which word of memory, holds each element: a matrix of zeros and ones. Point at anything to see it everywhere.",
      ),
    ),
    examples.element,
    h(
      "div.workbench.layouts",
      null,
      h("div.stack", null, list.element),
      h("div.stack.shown", null, fault.element, h("div.stack.selection", null, selector.element, pictures.element)),
    ),
  );
  const ask = latest();

  return {
    update(state) {
      examples.update(state);
      list.update(state);
      ask(async (current) => {
        try {
          const answer = await resolve(context, state, state.shown);
          if (!current()) return;
          list.tell(answer);
          selector.show(answer, state);
          await pictures.show(answer, state, current);
          if (current()) fault.clear();
        } catch (error) {
          if (!current()) return;
          const text = namedOf(state).find(({ name }) => name === state.shown)?.text;
          fault.show(error, () => (text !== undefined && !parseOperation(text) ? text : undefined), () => DEFINITION);
          list.tell(undefined);
          selector.clear();
          pictures.clear();
          if (!(error instanceof Error)) throw error;
          if (!(error instanceof Refusal)) return;
        }
        void examples.draw();
      });
    },
  };
}

export const layout: View<State> = { id: "layout", title: "Layout", fields, mount };
