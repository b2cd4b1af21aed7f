/** The names of all types of elements, wide ones first, as soon as the engine has told them. */
export function elementNames(engine: Engine, told: (names: string[]) => void): void {
  engine.invoke({ request: "machines" }).then(({ elements }) => told(elements.map(({ name }) => name).reverse()), () => undefined);
}

/** The choice of a machine, offered as soon as the engine has named them. */

import type { Engine } from "../engine/engine";
import { choice } from "./fields";
import type { Control } from "./fields";

/** @param none what stands for no machine, where there need not be one */
export function machineChoice(
  label: string,
  engine: Engine,
  told: (target: string) => void,
  none?: string,
): Control<string> {
  const control = choice<string>(label, [], told);
  let shown = "";
  engine.invoke({ request: "machines" }).then(({ machines }) => {
    const names = machines.map(({ name }) => ({ value: name, label: name }));
    control.offer(none === undefined ? names : [{ value: "", label: none }, ...names]);
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
