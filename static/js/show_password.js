/** A button beside each password field that shows the password until the form is sent. */

import { byId } from "./dom.js";

for (const button of document.querySelectorAll(".secret button")) {
  const field = byId(button.getAttribute("aria-controls") ?? "", HTMLInputElement);
  const show = (/** @type {boolean} */ isShown) => {
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  button.addEventListener("click", () => show(field.type === "password"));
  // Browsers store submitted text fields as suggestions, so the field becomes a password again before it is sent.
  field.form?.addEventListener("submit", () => show(false));
}
