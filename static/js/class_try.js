/** The page with which a device tries the site before a lesson: a round trip, and a socket. */

import { byId } from "./dom.js";

/** Milliseconds within which the socket must answer. Filters often keep one open and pass nothing on. */
const SOCKET_MS = 5_000;

const form = byId("try", HTMLFormElement);

/** Sends what was found to the site; returns the milliseconds until its answer. */
async function send(/** @type {Record<string, string>} */ found) {
  const began = Date.now();
  const data = new FormData(form);
  for (const [name, value] of Object.entries(found)) data.set(name, value);
  const answer = await fetch(form.action, { method: "POST", body: data });
  if (!answer.ok) throw new Error(String(answer.status));
  return String(Date.now() - began);
}

/** Returns "yes" if a frame comes back over a socket, else "no". */
function socketWorks() {
  return new Promise((/** @type {(answer: string) => void} */ resolve) => {
    setTimeout(() => resolve("no"), SOCKET_MS);
    const url = new URL("/api/site/ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    try {
      const socket = new WebSocket(url);
      socket.addEventListener("open", () => socket.send('{"type": "ping", "data": {}}'));
      socket.addEventListener("message", () => {
        resolve("yes");
        socket.close();
      });
      socket.addEventListener("error", () => resolve("no"));
    } catch {
      resolve("no");
    }
  });
}

const socket = socketWorks();
try {
  const ms = await send({});
  byId("try-answer").textContent = `✓ The answer came after ${ms} ms.`;
  const works = await socket;
  byId("try-socket").textContent =
    works === "yes" ? "✓ The live connection works." : "The live connection is blocked. You can still play.";
  await send({ socket: works, ms });
} catch {
  byId("try-answer").textContent = "The answer did not come. Load this page again.";
}
