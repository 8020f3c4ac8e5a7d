/**
 * A script of every page. It folds secondary content on phones, and shows when the site loses its database and when it
 * works again.
 *
 * Pages without a socket of their own open a small socket for this. They close it while they are hidden or in the browser's
 * back-forward cache. Pages with a socket show the problem themselves.
 */

import { isPhone, noteInput } from "./dom.js";
import { Socket, troubleWords } from "./socket.js";

/** Milliseconds before the socket opens, so that a visitor who leaves at once causes no request. */
const OPEN_AFTER_MS = 500;
/** Milliseconds after which a connected site counts as working. It reports a problem as soon as a socket opens. */
const REPORT_DELAY_MS = 300;
/** Milliseconds for which the page shows that the site works again. */
const RECOVERY_SHOWN_MS = 5_000;
/** Polls whether the site can serve moves, on networks that block sockets. */
const REST = {
  pollUrl: "/api/health/ready",
  frame: () => ({ type: "site", data: { database: "ok", spectators: "ok" } }),
  slowness: () => 3,
};
noteInput();
if (isPhone()) for (const part of document.querySelectorAll("details.folds")) part.removeAttribute("open");
const messageElement = /** @type {HTMLElement} */ (document.getElementById("site-trouble"));
/** @type {Socket|null} */
let socket = null;
let openTimer = 0;
let messageTimer = 0;
/** Whether the page shows that the site works again. */
let showsRecovery = false;

function handleVisibility() {
  clearTimeout(openTimer);
  if (document.visibilityState === "visible") openTimer = setTimeout(openSocket, socket ? 0 : OPEN_AFTER_MS);
  else socket?.leave();
}

function openSocket() {
  if (socket) socket.rejoin();
  else if (!Socket.isUsed) socket = new Socket("/api/site/ws", () => {}, showStatus, REST);
}

/** Shows a status of the connection. If the connection is lost, the last message stays, because nothing is known. */
function showStatus(/** @type {SocketStatus} */ status) {
  clearTimeout(messageTimer);
  if (status === "away") showMessage(troubleWords(status, ""));
  else if (showsRecovery || status === "late") showMessage("");
  else if (status !== "lost" && !messageElement.hidden) messageTimer = setTimeout(showRecovery, REPORT_DELAY_MS);
}

function showRecovery() {
  showMessage("Everything works again.");
  showsRecovery = true;
  messageTimer = setTimeout(showMessage, RECOVERY_SHOWN_MS, "");
}

function showMessage(/** @type {string} */ words) {
  showsRecovery = false;
  messageElement.hidden = !words;
  messageElement.textContent = words;
}

document.addEventListener("visibilitychange", handleVisibility);
addEventListener("pageshow", handleVisibility);
