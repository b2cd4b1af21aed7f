/** Motion, for those who have not asked for less of it. */

const less = typeof matchMedia === "function" ? matchMedia("(prefers-reduced-motion: reduce)") : undefined;

export function mayMove(): boolean {
  return less?.matches !== true;
}

/** Lets a shape glide to where it stands from somewhere else, after a while. */
export function glide(shape: SVGElement, [x, y]: [number, number], { delay = 0, time = 420 } = {}): void {
  if (!mayMove() || (x === 0 && y === 0)) return;
  shape.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], {
    delay,
    duration: time,
    easing: "cubic-bezier(0.3, 0.7, 0.2, 1)",
    fill: "backwards",
  });
}
