/** The page of a box: draws the open matchbox, the table of its beads, and the beads in the list of its changes. */

import { beadPicture } from "./beads.js";
import { byId, find, html, pageData } from "./dom.js";
import { matchbox } from "./matchbox.js";
import { withBeads } from "./wall.js";
import { capitalise, decimalPercents, formatNumber, joinWithOr } from "./words.js";

const game = pageData("game");
const layout = game.layout ?? game;
const box = pageData("box");
const slots = withBeads(box);
const total = slots.reduce((sum, { beads }) => sum + beads, 0);
const chances = decimalPercents(slots.map(({ beads }) => beads));

byId("matchbox").replaceChildren(
  matchbox(layout, { ...box, slots, slot: null, title: find("[data-title]").dataset.title }),
);

const columns = ["Bead", "Square", "Beads", "Chance", "Drawn"];
byId("odds").replaceChildren(
  html("caption", {}, "Its beads, as printed"),
  html(
    "thead",
    {},
    html(
      "tr",
      {},
      columns.map((text, index) => html("th", { scope: "col", class: index > 1 ? "figure" : null }, text)),
    ),
  ),
  html(
    "tbody",
    {},
    slots.map((slot, index) =>
      html(
        "tr",
        {},
        html(
          "th",
          { scope: "row" },
          beadPicture(slot),
          html("span", { class: "visually-hidden" }, `bead ${slot.mark}`),
        ),
        html("td", {}, capitalise(joinWithOr(slot.names))),
        html("td", { class: "figure" }, formatNumber(slot.beads)),
        html(
          "td",
          { class: "figure", title: total ? `probability ${slot.beads / total}` : null },
          total ? chances[index] : "none",
        ),
        html("td", { class: "figure" }, formatNumber(box.draws?.[index] ?? 0)),
      ),
    ),
  ),
);

for (const place of document.querySelectorAll(".bead-slot")) {
  place.replaceChildren(
    beadPicture(/** @type {BeadLook} */ ({ colour: place.dataset.colour, mark: place.dataset.mark }), 28),
    html("span", { class: "visually-hidden" }, `bead ${place.dataset.mark}`),
  );
}

for (const place of document.querySelectorAll(".life-delta"))
  place.textContent = place.textContent.replace("-", "\u2212");
