/**
 * On every page: folds what is secondary on a phone, and says that the site cannot reach its memory, and that it can again.
 *
 * A page with a socket of its own is told there. Any other has a small one while somebody looks at it, and none while it
 * is hidden or kept for the way back.
 */

import { isPhone, noteInput } from "./dom.js";
import { Socket, trouble } from "./socket.js";

/** Whoever is gone again by then has asked for nothing. */
const AFTER_LOAD_MS = 500;
/** A socket that opens is told at once what is wrong; by then nothing is. */
const TOLD_MS = 300;
const SAID_MS = 5_000;
/** Where sockets are blocked: whether this site could play just now. */
const REST = {
  news: "/api/health/ready",
  frame: () => ({ type: "site", data: { database: "ok", spectators: "ok" } }),
  slowness: () => 3,
};
noteInput();
if (isPhone()) for (const part of document.querySelectorAll("details.folds")) part.removeAttribute("open");
const place = /** @type {HTMLElement} */ (document.getElementById("site-trouble"));
/** @type {Socket|null} */
let socket = null;
let opening = 0;
let saying = 0;
let isWell = false;

function look() {
  clearTimeout(opening);
  if (document.visibilityState === "visible") opening = setTimeout(open, socket ? 0 : AFTER_LOAD_MS);
  else socket?.leave();
}

function open() {
  if (socket) socket.rejoin();
  else if (!Socket.isUsed) socket = new Socket("/api/site/ws", () => {}, hear, REST);
}

/** Without a connection nobody knows: what was said last stays. */
function hear(/** @type {SocketStatus} */ status) {
  clearTimeout(saying);
  if (status === "away") say(trouble(status, ""));
  else if (isWell || status === "late") say("");
  else if (status !== "lost" && !place.hidden) saying = setTimeout(over, TOLD_MS);
}

function over() {
  say("Everything works again.");
  isWell = true;
  saying = setTimeout(say, SAID_MS, "");
}

function say(/** @type {string} */ words) {
  isWell = false;
  place.hidden = !words;
  place.textContent = words;
}

document.addEventListener("visibilitychange", look);
addEventListener("pageshow", look);
