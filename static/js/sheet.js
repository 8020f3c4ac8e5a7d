/** The box as a sheet on a phone, with a handle to tap or pull. On wide screens the CSS shows it beside the board. */

export function sheet(/** @type {HTMLElement} */ element, /** @type {HTMLElement} */ handle) {
  const set = (/** @type {boolean} */ isOpen) => {
    element.classList.toggle("is-open", isOpen);
    handle.setAttribute("aria-expanded", String(isOpen));
  };
  /** @type {number|null} */
  let start = null;
  let moved = false;
  handle.addEventListener("pointerdown", (event) => {
    start = event.clientY;
    moved = false;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (start === null || Math.abs(event.clientY - start) < 24) return;
    moved = true;
    set(event.clientY < start);
  });
  handle.addEventListener("pointerup", () => {
    start = null;
  });
  handle.addEventListener("click", () => {
    if (!moved) set(!element.classList.contains("is-open"));
    moved = false;
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.classList.contains("is-open")) return;
    set(false);
    handle.focus();
  });
  return { open: () => set(true), close: () => set(false) };
}
