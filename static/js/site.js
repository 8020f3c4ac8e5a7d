/**
 * For every page: folds secondary content on a phone, and shows when the site loses its database and has it again.
 *
 * A page with its own socket learns this there. Every other page has a small socket while it is visible, and none while
 * it is hidden or in the browser's back-forward cache.
 */

import { isPhone, noteInput } from "./dom.js";
import { Socket, trouble } from "./socket.js";

/** A visitor who leaves within this time causes no request. */
const AFTER_LOAD_MS = 500;
/** The server reports a problem as soon as a socket opens; without a report by then there is none. */
const TOLD_MS = 300;
const SAID_MS = 5_000;
/** Asks over HTTP whether the site can serve moves, for networks that block sockets. */
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

/** Without a connection the state is unknown, so the last message stays. */
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
