/** Who still wants what is on its way to the engine. */

/** A request that several may wait for: it ends once none of them does. */
export class Wanted {
  readonly #end = new AbortController();
  #count = 0;

  /** Aborted once nobody wants the answer any more. */
  get unwanted(): AbortSignal {
    return this.#end.signal;
  }

  /** Somebody wants the answer, until a signal says otherwise; without one, whatever happens. */
  add(unwanted?: AbortSignal): void {
    this.#count++;
    const leave = () => --this.#count === 0 && this.#end.abort(unwanted?.reason);
    unwanted?.addEventListener("abort", leave, { once: true });
  }
}
