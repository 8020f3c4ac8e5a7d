import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket, troubleWords } from "../../static/js/socket.js";
import { FakeWebSocket } from "./fakes.js";

let events;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  FakeWebSocket.instances = [];
  events = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: FakeWebSocket,
    location: { protocol: "https:", host: "beadbox.example", href: "https://beadbox.example/rooms/abc" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible" }),
    addEventListener: (name, listener) => events.addEventListener(name, listener),
  });
});

function openSocket() {
  const received = { frames: [], status: [] };
  const socket = new Socket(
    "/api/rooms/abc/ws",
    (frame) => received.frames.push(frame.type),
    (status) => received.status.push(status),
  );
  return { received, socket };
}

test("frames are sent and received, also before the socket opens", () => {
  const { received, socket } = openSocket();
  const [connection] = FakeWebSocket.instances;
  assert.equal(socket.send("move", { move: "5" }), true);
  assert.deepEqual(connection.sent, []);
  connection.simulateOpen();
  connection.simulateMessage({ type: "joined", data: {} });
  socket.send("resign");
  assert.deepEqual(connection.sent, ["move", "resign"]);
  assert.deepEqual(received, { frames: ["joined"], status: ["open"] });
});

test("frames about the site change only the status", () => {
  const { received } = openSocket();
  const [connection] = FakeWebSocket.instances;
  connection.simulateOpen();
  for (const [database, spectators] of [
    ["away", "late"],
    ["ok", "late"],
    ["ok", "ok"],
  ])
    connection.simulateMessage({ type: "site", data: { database, spectators } });
  assert.deepEqual(received, { frames: [], status: ["open", "away", "late", "open"] });
  assert.deepEqual(
    received.status.map((status) => Boolean(troubleWords(status, "gone"))),
    [false, true, true, false],
  );
  assert.equal(troubleWords("lost", "gone"), "gone");
});

test("a broken socket reconnects with growing waits", () => {
  const { received, socket } = openSocket();
  FakeWebSocket.instances[0].simulateOpen();
  FakeWebSocket.instances[0].simulateClose();
  assert.equal(socket.send("resign"), false);
  mock.timers.tick(700);
  assert.equal(FakeWebSocket.instances.length, 2);
  FakeWebSocket.instances[1].simulateClose();
  mock.timers.tick(700);
  assert.equal(FakeWebSocket.instances.length, 3);
  FakeWebSocket.instances[2].simulateClose();
  mock.timers.tick(550);
  assert.equal(FakeWebSocket.instances.length, 3, "the wait grows by half");
  mock.timers.tick(400);
  assert.equal(FakeWebSocket.instances.length, 4);
  FakeWebSocket.instances[3].simulateOpen();
  assert.deepEqual(received.status, ["open", "lost", "lost", "lost", "open"]);
});

test("a deleted room gets no new socket", () => {
  openSocket();
  FakeWebSocket.instances[0].simulateOpen();
  FakeWebSocket.instances[0].simulateClose(4404);
  mock.timers.tick(120_000);
  assert.equal(FakeWebSocket.instances.length, 1);
});

test("a lost connection can be opened again at once", () => {
  const { received, socket } = openSocket();
  FakeWebSocket.instances[0].simulateOpen();
  events.dispatchEvent(new Event("offline"));
  assert.deepEqual(received.status, ["open", "lost"]);
  socket.rejoin();
  assert.equal(FakeWebSocket.instances.length, 2);
  FakeWebSocket.instances[1].simulateOpen();
  assert.equal(received.status.at(-1), "open");
});

test("leaving closes a socket that connects only after it opens", () => {
  const { received, socket } = openSocket();
  const [connection] = FakeWebSocket.instances;
  socket.leave();
  assert.equal(connection.readyState, FakeWebSocket.CONNECTING);
  connection.simulateOpen();
  assert.equal(connection.readyState, FakeWebSocket.CLOSED);
  assert.deepEqual(received, { frames: [], status: [] });
});
