/** Elements in one expression. */

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

/**
 * An element: `h("button.primary", { onclick: save, "aria-label": "Save" }, "Save")`.
 *
 * The tag may be followed by classes. An attribute that is a function is a listener, one that is
 * `null` or `undefined` is left out. One that is `true` stands without a value and one that is `false`
 * is left out, but `aria-` and `data-` attributes say which.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K | `${K}.${string}`,
  attributes: Attributes | null = null,
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name as K);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    const said = key.startsWith("aria-") || key.startsWith("data-");
    if (value === null || value === undefined || (value === false && !said)) continue;
    if (typeof value === "function" && key.startsWith("on")) {
      element.addEventListener(key.slice(2), value as EventListener);
    } else if (value === true && !said) element.setAttribute(key, "");
    else element.setAttribute(key, String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** An element of a drawing, with its attributes. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | undefined>,
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(...nodes(children));
}

function nodes(children: (Child | Child[])[]): (Node | string)[] {
  const kept = children.flat().filter((c): c is Node | string | number => c !== null && c !== undefined && c !== false);
  return kept.map((child) => (typeof child === "number" ? String(child) : child));
}

let ids = 0;
/** A name that no other element has. */
export function freshId(stem: string): string {
  return `${stem}-${ids++}`;
}

/** Whether a task still is the latest; `unwanted` is aborted once it is not. */
export interface Current {
  (): boolean;
  readonly unwanted: AbortSignal;
}

/** Runs tasks, and ends the one before. */
export interface Latest {
  (task: (current: Current) => Promise<void>): void;
  /** Ends the last one, too. */
  end(): void;
}

/** Runs the latest of some tasks: a result that comes after another task was begun is dropped. */
export function latest(): Latest {
  let last = new AbortController();
  const run = (task: (current: Current) => Promise<void>) => {
    const before = last;
    const { signal } = (last = new AbortController());
    void task(Object.assign(() => !signal.aborted && last.signal === signal, { unwanted: signal }));
    // What the new task asks, too, goes on.
    before.abort();
  };
  return Object.assign(run, { end: () => last.abort() });
}
