/** The page of a machine: shows its boxes, and updates them while the machine plays or trains. */

import { byId, find, isPhone, pageData } from "./dom.js";
import { unpack } from "./packed.js";
import { loadProgress } from "./progress.js";
import { Socket, troubleWords } from "./socket.js";
import { Wall } from "./wall.js";
import { formatNumber } from "./words.js";

const page = find("[data-machine]");
const game = pageData("game");
const title = find("h1").textContent;
const boxes = unpack(pageData("packed"), page.dataset.machine);
const wall = new Wall(byId("wall"), game.layout ?? game, boxes, pageData("drawn"), title, { folds: isPhone() });
const liveMessage = byId("live");
loadProgress(byId("progress"), page.dataset.machine);
/** Whether the connection has been lost since the page was loaded. */
let wasLost = false;
/** The last message about the connection. */
let connectionWords = "";
/** The number of the latest lesson that the page shows. */
let lastLesson = Number(page.dataset.lesson);
/** Frames received while the page's data is being reloaded. The data may be older than these frames. */
/** @type {Frame[]|null} */
let pendingFrames = null;
let nReloads = 0;

/** Handles a frame of the machine's socket. */
export function receive(/** @type {Frame} */ { type, data }) {
  // No frame contains the lessons between the rendering of the page and the connection, or during a lost connection.
  if (type === "joined" && (wasLost || data.lesson !== lastLesson)) reloadData();
  if (type !== "boxes") return;
  if (pendingFrames) {
    pendingFrames.push({ type, data });
    return;
  }
  lastLesson = data.lesson;
  wall.update(data.boxes, data.drawn);
  showTotals(data.totals);
  // A page that shows only a part of the boxes cannot count all beads.
  if (!document.getElementById("not-all")) showTotals({ beads: wall.countBeads() });
  showMessage("Changed just now");
}

function showTotals(/** @type {Record<string, number>|undefined} */ figures) {
  for (const [name, value] of Object.entries(figures ?? {})) {
    const place = page.querySelector(`[data-total="${name}"]`);
    if (place) place.textContent = formatNumber(value);
  }
  document.getElementById("no-games")?.toggleAttribute("hidden", Boolean(figures?.games));
  if (figures?.games)
    find('[data-total="win_rate"]', HTMLElement, page).textContent =
      `${Math.round((100 * figures.wins) / figures.games)}\u00a0%`;
}

function showMessage(/** @type {string} */ words) {
  liveMessage.hidden = !words;
  liveMessage.textContent = words;
}

/** Reloads the page's data, which contains the missed lessons, and then applies the frames received meanwhile. */
async function reloadData() {
  pendingFrames ??= [];
  nReloads += 1;
  const reloadNumber = nReloads;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (response.ok && reloadNumber === nReloads)
      showReloaded(new DOMParser().parseFromString(await response.text(), "text/html"));
  } finally {
    if (reloadNumber === nReloads) {
      const frames = pendingFrames;
      pendingFrames = null;
      for (const frame of frames ?? []) receive(frame);
    }
  }
}

/** Shows the data of a reloaded page. */
function showReloaded(/** @type {Document} */ reloaded) {
  const newBoxes = unpack(
    JSON.parse(/** @type {HTMLElement} */ (reloaded.getElementById("packed")).textContent),
    page.dataset.machine,
  );
  lastLesson = Number(find("[data-machine]", HTMLElement, reloaded).dataset.lesson);
  wall.update(newBoxes, JSON.parse(/** @type {HTMLElement} */ (reloaded.getElementById("drawn")).textContent));
  loadProgress(byId("progress"), page.dataset.machine);
  for (const place of page.querySelectorAll("[data-total]")) {
    place.textContent = find(`[data-total="${place.dataset.total}"]`, HTMLElement, reloaded).textContent;
  }
}

const apiUrl = `/api/machines/${page.dataset.machine}`;
const rest = {
  pollUrl: apiUrl,
  frame: (/** @type {{lessons: number}} */ { lessons }) => ({ type: "joined", data: { lesson: lessons } }),
  slowness: () => 3, // because each change reloads the whole page
};
/** Shows whether the socket is connected. */
function showConnection(/** @type {SocketStatus} */ status) {
  const words = troubleWords(status, "The connection is lost. The page tries again. The boxes may be a little old.");
  if (status === "lost") wasLost = true;
  if (words !== connectionWords) showMessage(words);
  connectionWords = words;
}
new Socket(`${apiUrl}/ws`, receive, showConnection, rest);
