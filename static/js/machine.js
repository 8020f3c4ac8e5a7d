/** A machine's page: the wall of boxes, live while the machine plays or trains. */

import { byId, find, isPhone, pageData } from "./dom.js";
import { unpack } from "./packed.js";
import { loadProgress } from "./progress.js";
import { Socket, trouble } from "./socket.js";
import { Wall } from "./wall.js";
import { figure } from "./words.js";

const page = find("[data-machine]");
const game = pageData("game");
const title = find("h1").textContent;
const boxes = unpack(pageData("packed"), page.dataset.machine);
const wall = new Wall(byId("wall"), game.layout ?? game, boxes, pageData("drawn"), title, { folds: isPhone() });
const live = byId("live");
loadProgress(byId("progress"), page.dataset.machine);
let isBack = false;
// Messages about the connection.
let told = "";
/** The machine's lesson up to which everything is shown. */
let lesson = Number(page.dataset.lesson);
/** Frames received while the page's data is reloaded; the data may be older than the frames. */
/** @type {Frame[]|null} */
let held = null;
let asked = 0;

/** Takes one frame of the machine's socket; the socket calls it, and so may a test. */
export function receive(/** @type {Frame} */ { type, data }) {
  // What it learnt after the page was made and before it was listened to, no frame tells.
  if (type === "joined" && (isBack || data.lesson !== lesson)) refresh();
  if (type !== "boxes") return;
  if (held) {
    held.push({ type, data });
    return;
  }
  lesson = data.lesson;
  wall.update(data.boxes, data.drawn);
  totals(data.totals);
  // If the page does not show every box, the total of beads is only known after a reload of its data.
  if (!document.getElementById("not-all")) totals({ beads: wall.beads() });
  say("Changed just now");
}

function totals(/** @type {Record<string, number>|undefined} */ figures) {
  for (const [name, value] of Object.entries(figures ?? {})) {
    const place = page.querySelector(`[data-total="${name}"]`);
    if (place) place.textContent = figure(value);
  }
  document.getElementById("no-games")?.toggleAttribute("hidden", Boolean(figures?.games));
  if (figures?.games)
    find('[data-total="win_rate"]', HTMLElement, page).textContent =
      `${Math.round((100 * figures.wins) / figures.games)}\u00a0%`;
}

function say(/** @type {string} */ words) {
  live.hidden = !words;
  live.textContent = words;
}

/** The reloaded data contains the missed lessons; frames received meanwhile are applied afterwards. */
async function refresh() {
  held ??= [];
  asked += 1;
  const turn = asked;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok && turn === asked) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } finally {
    if (turn === asked) {
      const frames = held;
      held = null;
      for (const frame of frames ?? []) receive(frame);
    }
  }
}

function show(/** @type {Document} */ fresh) {
  const now = unpack(
    JSON.parse(/** @type {HTMLElement} */ (fresh.getElementById("packed")).textContent),
    page.dataset.machine,
  );
  lesson = Number(find("[data-machine]", HTMLElement, fresh).dataset.lesson);
  wall.update(now, JSON.parse(/** @type {HTMLElement} */ (fresh.getElementById("drawn")).textContent));
  loadProgress(byId("progress"), page.dataset.machine);
  for (const place of page.querySelectorAll("[data-total]")) {
    place.textContent = find(`[data-total="${place.dataset.total}"]`, HTMLElement, fresh).textContent;
  }
}

const api = `/api/machines/${page.dataset.machine}`;
const rest = {
  news: api,
  frame: (/** @type {{lessons: number}} */ { lessons }) => ({ type: "joined", data: { lesson: lessons } }),
  slowness: () => 3, // the whole page is asked for again
};
/** Shows whether the socket is connected. */
function connection(/** @type {SocketStatus} */ status) {
  const words = trouble(status, "The connection is lost. The page tries again. The boxes may be a little old.");
  if (status === "lost") isBack = true;
  if (words !== told) say(words);
  told = words;
}
new Socket(`${api}/ws`, receive, connection, rest);
