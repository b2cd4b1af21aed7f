/**
 * What a view is.
 *
 * A view has a state, which is all in the address. `mount` builds its elements once; `update` is
 * called with the state whenever it has changed, by the view itself (`context.set`), by the back
 * button or by an address that somebody opened. A view keeps nothing else that it could not work out
 * again, so that an address shows to others what it showed.
 */

import type { Engine } from "../engine/engine";
import type { Fields } from "../state/codec";

export interface Context<S> {
  readonly engine: Engine;
  /**
   * Changes some fields. `"step"` (the default) can be taken back with the back button; `"drag"`
   * replaces the current entry, for sliders and the like.
   */
  set(change: Partial<S>, how?: "step" | "drag"): void;
  /** The address that shows this state. */
  link(change: Partial<S>): string;
  /** Has a sentence read to those who listen instead of look. */
  announce(sentence: string): void;
}

export interface Mounted<S> {
  update(state: S): void;
  /** Stops what runs. */
  unmount?(): void;
}

export interface View<S extends object> {
  /** The view's name in addresses. */
  readonly id: string;
  /** Its tab. */
  readonly title: string;
  readonly fields: Fields<S>;
  mount(host: HTMLElement, context: Context<S>): Mounted<S>;
}
