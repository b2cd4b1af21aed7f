/** Text that can be taken away. */

import { h } from "./dom";

/** A button that puts a text on the clipboard and says so. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h("button.quiet", { type: "button" }, label);
  let back: ReturnType<typeof setTimeout> | undefined;
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(text()).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "The browser refuses"),
    );
    clearTimeout(back);
    back = setTimeout(() => (button.textContent = label), 1600);
  });
  return button;
}
