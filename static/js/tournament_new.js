/** The form of a new tournament: Enter in the search field searches, and in any other field sends the form. */

import { byId } from "./dom.js";

const form = byId("tournament-form");

form.addEventListener("keydown", (event) => {
  // On Enter the browser presses the first button of the form, which belongs to the search.
  const { target } = event;
  if (event.key !== "Enter" || !(target instanceof HTMLInputElement) || target.closest("[role=search]")) return;
  event.preventDefault();
  byId("begin").click();
});
