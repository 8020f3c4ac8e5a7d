/** The form of a new class: asks the site what its machines will learn, whenever the form changes. */

import { byId } from "./dom.js";

const form = byId("class-form", HTMLFormElement);
let asked = 0;

async function propose() {
  asked += 1;
  const mine = asked;
  const data = new FormData(form);
  data.set("propose", "1");
  const answer = await fetch(form.action, { method: "POST", body: data });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  // A later answer counts, even if it came first.
  if (mine === asked) byId("proposal").replaceChildren(...(page.getElementById("proposal")?.childNodes ?? []));
}

form.addEventListener("change", () => void propose().catch(() => {}));
void propose().catch(() => {});
