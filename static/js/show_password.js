/** A button beside each password shows what is typed, until the form is sent. */

import { byId } from "./dom.js";

for (const button of document.querySelectorAll(".secret button")) {
  const field = byId(button.getAttribute("aria-controls") ?? "", HTMLInputElement);
  const show = (/** @type {boolean} */ isShown) => {
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  button.addEventListener("click", () => show(field.type === "password"));
  // A browser keeps what was sent as text, to offer it again.
  field.form?.addEventListener("submit", () => show(false));
}
