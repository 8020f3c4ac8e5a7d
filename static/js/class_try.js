/** The page with which a pupil's device tests the connection before a lesson at school: whether a request and a socket get an answer. */

import { byId } from "./dom.js";

/** Milliseconds within which the socket must answer. Network filters often keep a socket open but pass no messages on. */
const SOCKET_TIMEOUT_MS = 5_000;

const form = byId("try", HTMLFormElement);

/** Posts the form with these results, which may be empty; returns the milliseconds until the answer. */
async function send(/** @type {Record<string, string>} */ results) {
  const began = Date.now();
  const data = new FormData(form);
  for (const [name, value] of Object.entries(results)) data.set(name, value);
  const answer = await fetch(form.action, { method: "POST", body: data });
  if (!answer.ok) throw new Error(String(answer.status));
  return String(Date.now() - began);
}

/** Returns "yes" if a frame comes back over a socket, else "no". */
function testSocket() {
  return new Promise((/** @type {(answer: string) => void} */ resolve) => {
    setTimeout(() => resolve("no"), SOCKET_TIMEOUT_MS);
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

const socketTest = testSocket();
try {
  const ms = await send({});
  byId("try-answer").textContent = `✓ The answer came after ${ms} ms.`;
  const socketWorks = await socketTest;
  byId("try-socket").textContent =
    socketWorks === "yes" ? "✓ The live connection works." : "The live connection is blocked. You can still play.";
  await send({ socket: socketWorks, ms });
} catch {
  byId("try-answer").textContent = "The answer did not come. Load this page again.";
}
