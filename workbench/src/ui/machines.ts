/** The choice of a machine, offered as soon as the engine has named them. */

import type { Engine } from "../engine/engine";
import { choice } from "./fields";
import type { Control } from "./fields";

export function machineChoice(
  label: string,
  engine: Engine,
  told: (target: string) => void,
): Control<string> {
  const control = choice<string>(label, [], told);
  let shown = "";
  engine.invoke({ request: "machines" }).then(({ machines }) => {
    control.offer(
      machines.map(({ name, lanes, banks }) => ({ value: name, label: `${name} · ${lanes} lanes, ${banks} banks` })),
    );
    control.set(shown);
  }, () => undefined);
  return {
    element: control.element,
    set(target) {
      shown = target;
      control.set(target);
    },
  };
}
