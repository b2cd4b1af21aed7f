/** Light, dark, or as the system is. */

import { h } from "./dom";

type Theme = "system" | "light" | "dark";

const ORDER: Theme[] = ["system", "light", "dark"];
const KEY = "weft-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme {
  const kept = localStorage.getItem(KEY);
  return ORDER.find((theme) => theme === kept) ?? "system";
}

/** Gives the page its theme, now and when the system's changes. */
export function applyTheme(): void {
  const apply = () => {
    const theme = chosen();
    document.documentElement.dataset["theme"] =
      theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  };
  apply();
  dark.addEventListener("change", apply);
  addEventListener("weft-theme", apply);
}

/** The button that goes from one theme to the next. */
export function themeSwitch(): HTMLElement {
  const label = () => `Theme: ${chosen()}`;
  const button = h("button.quiet.theme", { type: "button" }, label());
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length] ?? "system";
    localStorage.setItem(KEY, next);
    dispatchEvent(new Event("weft-theme"));
    button.textContent = label();
  });
  return button;
}
