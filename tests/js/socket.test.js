import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket, trouble } from "../../static/js/socket.js";
import { Connection } from "./stand_ins.js";

let events;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  Connection.all = [];
  events = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: Connection,
    location: { protocol: "https:", host: "beadbox.example", href: "https://beadbox.example/rooms/abc" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible" }),
    addEventListener: (name, heard) => events.addEventListener(name, heard),
  });
});

function begun() {
  const noted = { frames: [], status: [] };
  const socket = new Socket(
    "/api/rooms/abc/ws",
    (frame) => noted.frames.push(frame.type),
    (status) => noted.status.push(status),
  );
  return { noted, socket };
}

test("frames come in and go out, and who is too early is not refused", () => {
  const { noted, socket } = begun();
  const [connection] = Connection.all;
  assert.equal(socket.send("move", { move: "5" }), true);
  assert.deepEqual(connection.sent, []);
  connection.opens();
  connection.says({ type: "joined", data: {} });
  socket.send("resign");
  assert.deepEqual(connection.sent, ["move", "resign"]);
  assert.deepEqual(noted, { frames: ["joined"], status: ["open"] });
});

test("what the site says of itself is no frame of the page", () => {
  const { noted } = begun();
  const [connection] = Connection.all;
  connection.opens();
  for (const [database, spectators] of [
    ["away", "late"],
    ["ok", "late"],
    ["ok", "ok"],
  ])
    connection.says({ type: "site", data: { database, spectators } });
  assert.deepEqual(noted, { frames: [], status: ["open", "away", "late", "open"] });
  assert.deepEqual(
    noted.status.map((status) => Boolean(trouble(status, "gone"))),
    [false, true, true, false],
  );
  assert.equal(trouble("lost", "gone"), "gone");
});

test("what breaks is tried again, later each time, and nothing is sent meanwhile", () => {
  const { noted, socket } = begun();
  Connection.all[0].opens();
  Connection.all[0].breaks();
  assert.equal(socket.send("resign"), false);
  mock.timers.tick(700);
  assert.equal(Connection.all.length, 2);
  Connection.all[1].breaks();
  mock.timers.tick(700);
  assert.equal(Connection.all.length, 3);
  Connection.all[2].breaks();
  mock.timers.tick(550);
  assert.equal(Connection.all.length, 3, "half as long again as before");
  mock.timers.tick(400);
  assert.equal(Connection.all.length, 4);
  Connection.all[3].opens();
  assert.deepEqual(noted.status, ["open", "lost", "lost", "lost", "open"]);
});

test("a room that is gone is not asked for again", () => {
  begun();
  Connection.all[0].opens();
  Connection.all[0].breaks(4404);
  mock.timers.tick(120_000);
  assert.equal(Connection.all.length, 1);
});

test("a connection that has been given up can be joined again at once", () => {
  const { noted, socket } = begun();
  Connection.all[0].opens();
  events.dispatchEvent(new Event("offline"));
  assert.deepEqual(noted.status, ["open", "lost"]);
  socket.rejoin();
  assert.equal(Connection.all.length, 2);
  Connection.all[1].opens();
  assert.equal(noted.status.at(-1), "open");
});

test("who leaves before they are answered closes when they are, since browsers complain of it before", () => {
  const { noted, socket } = begun();
  const [connection] = Connection.all;
  socket.leave();
  assert.equal(connection.readyState, Connection.CONNECTING);
  connection.opens();
  assert.equal(connection.readyState, Connection.CLOSED);
  assert.deepEqual(noted, { frames: [], status: [] });
});
