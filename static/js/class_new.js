/** The form of a new class. Whenever the form changes, the script asks the site what the machines will learn. */

import { byId } from "./dom.js";

const form = byId("class-form", HTMLFormElement);
let nRequests = 0;

async function updateProposal() {
  nRequests += 1;
  const requestNumber = nRequests;
  const data = new FormData(form);
  data.set("propose", "1");
  const answer = await fetch(form.action, { method: "POST", body: data });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  // Answers may arrive in another order than their requests. Only the answer to the latest request is shown.
  if (requestNumber === nRequests)
    byId("proposal").replaceChildren(...(page.getElementById("proposal")?.childNodes ?? []));
}

form.addEventListener("change", () => void updateProposal().catch(() => {}));
void updateProposal().catch(() => {});
