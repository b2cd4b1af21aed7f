/** Turns what is shown into something else that differs little from it. */

/**
 * Makes `shown`, which shows what `before` says, show what `now` says: what is the same in both is left alone,
 * with whatever the page has done to it, and costs the browser nothing.
 */
export function morph(shown: Element, before: Element, now: Element): void {
  if (before.isEqualNode(now)) return;
  const [from, to] = [[...before.children], [...now.children]];
  const words = from.length === 0 && to.length === 0;
  const alike = before.tagName === now.tagName && from.length === to.length && shown.children.length === from.length;
  if (!alike) return shown.replaceWith(document.importNode(now, true));
  for (const { name } of [...before.attributes]) if (!now.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of now.attributes) if (before.getAttribute(name) !== value) shown.setAttribute(name, value);
  if (words) {
    if (before.textContent !== now.textContent) shown.textContent = now.textContent;
    return;
  }
  // Replaced children leave their places in the list, which is looked at once.
  const children = [...shown.children];
  for (const [index, child] of children.entries()) morph(child, from[index]!, to[index]!);
}
