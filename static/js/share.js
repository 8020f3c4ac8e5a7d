/** Pages that show a link or a token once, with a button that copies it. */

import { copyFrom } from "./copy.js";
import { byId } from "./dom.js";

const button = document.getElementById("copy-link");
button?.addEventListener("click", async () => {
  await copyFrom(byId(button.dataset.copy ?? ""));
  byId("copied").textContent = button.dataset.copied ?? "";
});
