/**
 * Makes an element a sheet on phones, which opens and closes by a tap on its handle or by pulling it. On wide screens the
 * style sheet shows the element beside the board.
 */
export function makeSheet(/** @type {HTMLElement} */ element, /** @type {HTMLElement} */ handle) {
  const setOpen = (/** @type {boolean} */ isOpen) => {
    element.classList.toggle("is-open", isOpen);
    handle.setAttribute("aria-expanded", String(isOpen));
  };
  /** @type {number|null} the y coordinate at which pulling began */
  let startY = null;
  let isPulled = false;
  handle.addEventListener("pointerdown", (event) => {
    startY = event.clientY;
    isPulled = false;
    handle.setPointerCapture(event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (startY === null || Math.abs(event.clientY - startY) < 24) return;
    isPulled = true;
    setOpen(event.clientY < startY);
  });
  handle.addEventListener("pointerup", () => {
    startY = null;
  });
  handle.addEventListener("click", () => {
    if (!isPulled) setOpen(!element.classList.contains("is-open"));
    isPulled = false;
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.classList.contains("is-open")) return;
    setOpen(false);
    handle.focus();
  });
  return { open: () => setOpen(true), close: () => setOpen(false) };
}
