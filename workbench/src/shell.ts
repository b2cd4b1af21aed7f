/** The page around the views: tabs, theme, address. */

import type { Engine } from "./engine/engine";
import { formatPlace, initial, parsePlace, read, unread, write } from "./state/codec";
import { fill, h } from "./ui/dom";
import { FaultBox } from "./ui/fault";
import { themeSwitch } from "./ui/theme";
import type { Context, Mounted, View } from "./views/view";

// The states of views differ; a view gets back only what its own fields read.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyView = View<any>;

interface Shown {
  view: AnyView;
  state: object;
  mounted: Mounted<object>;
}

/** Builds the page in an element and follows the address. */
export function shell(root: HTMLElement, engine: Engine, views: readonly AnyView[]): void {
  const host = h("main", { id: "view", tabindex: -1 });
  const spoken = h("p.spoken", { role: "status", "aria-live": "polite" });
  const fault = new FaultBox();
  const tabs = new Map(
    views.map((view) => [view.id, h("a.tab", { href: formatPlace({ view: view.id, query: "" }) }, view.title)]),
  );
  fill(
    root,
    h("a.skip", { href: "#view", onclick: (event: Event) => (event.preventDefault(), host.focus()) }, "Skip to the view"),
    h(
      "header.top",
      null,
      h("a.brand", { href: "#/" }, mark(), h("span", null, "Weft")),
      h("nav", { "aria-label": "Views" }, [...tabs.values()]),
      themeSwitch(),
    ),
    fault.element,
    host,
    h(
      "footer.bottom",
      null,
      h("p", null, "Everything here is answered by Weft itself, ", ways[engine.transport], ". Nothing leaves this machine."),
    ),
    spoken,
  );
  let shown: Shown | null = null;
  let followed = "";

  function context(view: AnyView): Context<object> {
    const address = (change: object) => {
      const now = shown?.view === view ? shown.state : initial(view.fields);
      return formatPlace({ view: view.id, query: write(view.fields, { ...now, ...change }) });
    };
    return {
      engine,
      link: address,
      announce: (sentence) => (spoken.textContent = sentence),
      set(change, how = "step") {
        const to = address(change);
        if (to === location.hash) return;
        if (how === "step") history.pushState(null, "", to);
        else history.replaceState(null, "", to);
        follow();
      },
    };
  }

  /** Shows what the address says. */
  function follow(): void {
    followed = location.hash;
    const place = parsePlace(followed);
    const view = views.find((view) => view.id === place.view) ?? views[0];
    if (!view) return;
    const state = read(view.fields, place.query) as object;
    const strange = [
      ...(place.view !== "" && place.view !== view.id ? [`there is no page \`${place.view}\`; this is ${view.title}`] : []),
      ...unread(view.fields, place.query).map((part) => `\`${part}\` cannot be read and is ignored`),
    ];
    if (strange.length > 0) fault.show(new Error(`the address: ${strange.join("; ")}`));
    else fault.clear();
    if (shown?.view !== view) {
      shown?.mounted.unmount?.();
      fill(host);
      host.dataset["view"] = view.id;
      document.title = `${view.title} · Weft workbench`;
      for (const [id, tab] of tabs) {
        if (id === view.id) tab.setAttribute("aria-current", "page");
        else tab.removeAttribute("aria-current");
      }
      shown = { view, state, mounted: view.mount(host, context(view)) as Mounted<object> };
    }
    shown.state = state;
    shown.mounted.update(state);
  }

  engine.onbusy = (busy) => host.setAttribute("aria-busy", String(busy));
  addEventListener("popstate", follow);
  addEventListener("hashchange", () => location.hash === followed || follow());
  follow();
}

const ways = {
  wasm: "as WebAssembly in this tab",
  http: "in the program that serves this page",
};

function mark(): SVGElement {
  const drawn =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 24" width="28" height="24" aria-hidden="true">' +
    '<path class="warp" d="M6 1v22M14 1v22M22 1v22"/>' +
    '<path class="woof" d="M1 6h3m4 0h12m4 0h3M1 12h11m4 0h11M1 18h3m4 0h12m4 0h3"/></svg>';
  const parsed = new DOMParser().parseFromString(drawn, "image/svg+xml").documentElement;
  return document.importNode(parsed, true) as unknown as SVGElement;
}
