/** The teacher's page for the trial before a lesson: keeps the list of the devices' test results up to date. */

import { byId } from "./dom.js";

const POLL_MS = 2_000;

setInterval(async () => {
  if (document.visibilityState !== "visible") return;
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [shownList, newList] = [byId("tried"), page.getElementById("tried")];
  if (newList && newList.innerHTML !== shownList.innerHTML) shownList.replaceChildren(...newList.childNodes);
}, POLL_MS);
