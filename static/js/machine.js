/** A machine's page: the wall of boxes, live while the machine plays or trains. */

import { byId, pageData } from "./dom.js";
import { unpack } from "./packed.js";
import { Socket } from "./socket.js";
import { Wall } from "./wall.js";
import { figure } from "./words.js";

const page = document.querySelector("[data-machine]");
const game = pageData("game");
const title = document.querySelector("h1").textContent;
const boxes = unpack(pageData("packed"), page.dataset.machine);
const wall = new Wall(byId("wall"), game.layout ?? game, boxes, pageData("drawn"), title);
const live = byId("live");
let isBack = false;

/** Takes one frame of the machine's socket; the socket calls it, and so may a test. */
export function receive({ type, data }) {
  if (type === "joined" && isBack) refresh();
  if (type !== "boxes") return;
  wall.update(data.boxes, data.drawn);
  totals(data.totals);
  // Where not every box hangs here, what all of them hold is known again when the page is.
  if (!document.getElementById("not-all")) totals({ beads: wall.beads() });
  say("Changed just now");
}

function totals(figures) {
  for (const [name, value] of Object.entries(figures ?? {})) {
    const place = page.querySelector(`[data-total="${name}"]`);
    if (place) place.textContent = figure(value);
  }
  if (figures?.games)
    page.querySelector('[data-total="win_rate"]').textContent =
      `${Math.round((100 * figures.wins) / figures.games)}\u00a0%`;
}

function say(words) {
  live.hidden = !words;
  live.textContent = words;
}

/** After a break the page's own data tells what was missed. */
async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const now = unpack(JSON.parse(fresh.getElementById("packed").textContent), page.dataset.machine);
  wall.update(now, JSON.parse(fresh.getElementById("drawn").textContent));
  for (const place of page.querySelectorAll("[data-total]")) {
    place.textContent = fresh.querySelector(`[data-total="${place.dataset.total}"]`).textContent;
  }
}

new Socket(`/api/machines/${page.dataset.machine}/ws`, receive, (status) => {
  if (status === "lost") {
    isBack = true;
    say("The connection is gone; trying again. What you see may be a little old.");
  } else if (isBack) say("");
});
