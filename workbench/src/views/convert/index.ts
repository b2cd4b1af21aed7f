/** The convert view: two layouts of one tensor, the plan between them, and code that does it. */

import type { ConvertRequest, Fault } from "../../engine/requests";
import { Refusal } from "../../engine/engine";
import { fill, h, latest } from "../../ui/dom";
import { FaultBox, parameterOf } from "../../ui/fault";
import { Picture } from "../../ui/picture";
import type { Context, Mounted, View } from "../view";
import { Code } from "./code";
import { follow } from "./elements";
import { Question } from "./question";
import { fields } from "./state";
import type { State } from "./state";
import { Ways } from "./ways";

/** What the engine is asked. */
export function question({ from, to, shape, element, target }: State): ConvertRequest {
  return { request: "convert", from, to, shape, element, target };
}

/** The text that a fault's place is in. */
function source(state: State, fault: Fault): string | undefined {
  const parameter = parameterOf(fault);
  return parameter === "from" ? state.from : parameter === "to" ? state.to : undefined;
}

/** What the page calls what a fault is about. */
function label(fault: Fault): string | undefined {
  return { from: "From", to: "To" }[parameterOf(fault) ?? ""];
}

function mount(host: HTMLElement, context: Context<State>): Mounted<State> {
  const asked = new Question(context);
  const ways = new Ways();
  const code = new Code(context);
  const picture: Picture = new Picture({
    name: "A conversion, movement by movement",
    pointed: (place) => follow(picture, place),
  });
  const drawing = h(
    "section.card",
    { "aria-label": "The movement" },
    h("header", null, h("h2", null, "Movement by movement"), h("p", null, "Point at a register or a word of memory, or walk with the arrow keys: its elements are marked wherever they pass.")),
    picture.element,
  );
  const unseen = h("p.note");
  const fault = new FaultBox();
  fill(
    host,
    h(
      "div.intro.wide",
      null,
      h("h1", null, "Convert"),
      h(
        "p",
        null,
        "A tensor is held in registers in one layout and needed in another. Weft plans the movement, shows the alternatives it weighed, and writes the code.",
      ),
    ),
    h(
      "div.workbench",
      null,
      h("div.stack", null, asked.element),
      h("div.stack", null, fault.element, ways.verdict, ways.element, drawing, code.element),
    ),
  );
  const ask = latest();

  return {
    update(state) {
      asked.update(state);
      code.update(state);
      ask(async (current) => {
        const request = question(state);
        try {
          const answer = await context.engine.invoke(request, current.unwanted);
          if (!current()) return;
          fault.clear();
          ways.show(answer, state);
        } catch (error) {
          if (!current()) return;
          fault.show(error, (fault) => source(state, fault), label);
          ways.clear();
          picture.clear();
          code.clear();
          if (!(error instanceof Refusal)) throw error;
          return;
        }
        // A picture or a text may be refused by itself: too many cells, or no such language here.
        await Promise.all([
          code.show(request, current),
          context.engine.invoke({ ...request, emit: "svg" }).then(
            ({ text }) => {
              if (!current()) return;
              picture.show(text ?? "");
              fill(drawing, drawing.firstElementChild!, picture.element);
            },
            (error: unknown) => {
              if (!current()) return;
              unseen.textContent = error instanceof Refusal ? error.fault.message : String(error);
              fill(drawing, drawing.firstElementChild!, unseen);
            },
          ),
        ]);
      });
    },
  };
}

export const convert: View<State> = { id: "convert", title: "Convert", fields, mount };
