import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket, trouble } from "../../static/js/socket.js";
import { Connection, settled } from "./stand_ins.js";

let events;
let asked;
/** The server's next answer, by default 304: nothing new. */
let answers;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  mock.method(Math, "random", () => 0.5);
  Connection.all = [];
  asked = [];
  answers = [];
  events = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: Connection,
    location: { protocol: "https:", href: "https://beadbox.example/rooms/abc" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible", cookie: "a=b; csrftoken=secret; c=d" }),
    addEventListener: (name, heard) => events.addEventListener(name, heard),
    fetch: async (address, { method = "GET", headers, body }) => {
      asked.push({ method, address, headers, body });
      const answer = answers.shift() ?? (method === "GET" && headers["If-None-Match"] ? nothingNew() : answered(1));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
});

const response = (status, told, headers = {}) => ({
  ok: status < 300,
  status,
  headers: new Map(Object.entries(headers)),
  json: async () => told,
});
const answered = (version) => response(200, { version }, { ETag: `W/"${version}"` });
const nothingNew = () => response(304, null);

function begun(rest = {}) {
  const noted = { frames: [], status: [] };
  const socket = new Socket(
    "/api/rooms/abc/ws",
    (frame) => noted.frames.push(frame),
    (status) => noted.status.push(status),
    {
      news: "/api/rooms/abc/joined",
      actions: "/api/rooms/abc",
      frame: (data, isAll) => ({ type: isAll ? "joined" : "state", data }),
      ...rest,
    },
  );
  return { noted, socket };
}

async function passes(ms) {
  for (let left = ms; left > 0; left -= 100) {
    mock.timers.tick(Math.min(100, left));
    await settled();
  }
}

/** The ways in which networks block sockets: the fate of each new socket. */
const FILTERS = {
  "refuse them": (connection) => connection.breaks(),
  "leave them hanging": () => {},
  "accept them and pass nothing on": (connection) => connection.opens(),
  "accept them and drop them": (connection) => {
    connection.opens();
    connection.breaks();
  },
  "let the first words through": (connection) => {
    connection.opens();
    connection.says({ type: "joined", data: { version: 1 } });
    connection.breaks();
  },
};

/** Lets time pass while the filter acts on each new socket. */
async function filtered(filter, ms) {
  let met = 0;
  for (let left = ms; left > 0; left -= 100) {
    for (; met < Connection.all.length; met += 1) filter(Connection.all[met]);
    await passes(100);
  }
}

for (const [how, filter] of Object.entries(FILTERS)) {
  test(`where filters ${how}, the page asks, says so, and plays by requests`, async () => {
    const { noted, socket } = begun();
    await filtered(filter, 40_000);
    assert.equal(noted.status.at(-1), "asking");
    assert.match(trouble("asking", ""), /asks for news instead/);
    assert.equal(noted.frames.find(({ type }) => type === "joined").data.version, 1);

    answers = [answered(2)];
    assert.equal(socket.send("move", { move: "5", ply: 0 }), true);
    await settled();
    const { method, address, headers, body } = asked.at(-1);
    assert.deepEqual([method, address, JSON.parse(body)], ["POST", "/api/rooms/abc/move", { move: "5", ply: 0 }]);
    assert.equal(headers["X-CSRFToken"], "secret");
    assert.deepEqual(noted.frames.at(-1), { type: "state", data: { version: 2 } });
  });
}

test("a browser without sockets asks", async () => {
  globalThis.WebSocket = undefined;
  const { noted } = begun();
  await passes(3_000);
  assert.equal(noted.status.at(-1), "asking");
  assert.equal(noted.frames[0].type, "joined");
});

test("a move made before it is known whether sockets work is played as soon as it is", async () => {
  const { socket } = begun();
  assert.equal(socket.send("move", { move: "5", ply: 0 }), true);
  await filtered(FILTERS["leave them hanging"], 6_000);
  assert.equal(asked.filter(({ method }) => method === "POST").length, 1);
});

test("asking is slower the longer nothing happens, and quick again after a move", async () => {
  const { noted, socket } = begun();
  await filtered(FILTERS["refuse them"], 2_000);
  const within = async (ms) => {
    const before = asked.length;
    await filtered(FILTERS["refuse them"], ms);
    return asked.length - before;
  };
  const first = await within(10_000);
  assert.ok(first >= 4 && first <= 9, `${first}`);
  await within(30_000);
  assert.ok((await within(30_000)) <= 3);
  assert.ok(asked.slice(1).every(({ headers }) => headers["If-None-Match"] === 'W/"1"'));
  assert.equal(noted.frames.length, 1, "nothing new is no frame");

  answers = [answered(2), answered(2)];
  socket.send("move", { move: "5" });
  assert.ok((await within(10_000)) >= 5);
});

test("while more is to be expected, the page asks every second", async () => {
  begun({ isLively: () => true });
  await filtered(FILTERS["refuse them"], 2_000);
  answers = Array.from({ length: 10 }, (_, n) => answered(n + 2));
  const before = asked.length;
  await passes(5_000);
  assert.ok(asked.length - before >= 4);
});

test("a page that is hidden asks for nothing, and at once when it is seen again", async () => {
  begun();
  await filtered(FILTERS["refuse them"], 3_000);
  Object.assign(document, { visibilityState: "hidden" });
  document.dispatchEvent(new Event("visibilitychange"));
  await passes(2_000); // requests already on their way
  const before = asked.length;
  await passes(60_000);
  assert.equal(asked.length, before);
  Object.assign(document, { visibilityState: "visible" });
  document.dispatchEvent(new Event("visibilitychange"));
  await passes(100);
  assert.equal(asked.length, before + 1);
});

test("sockets are tried again from time to time, and take over when they work", async () => {
  const { noted } = begun();
  await filtered(FILTERS["refuse them"], 60_000);
  const tries = Connection.all.length;
  assert.ok(tries <= 10, `${tries} tries in a minute`);
  while (Connection.all.length === tries) await passes(1_000);
  const connection = Connection.all.at(-1);
  connection.opens();
  connection.says({ type: "joined", data: { version: 9 } });
  assert.equal(noted.status.at(-1), "asking", "first words prove nothing here");
  await passes(4_500);
  assert.deepEqual(connection.sent, ["ping"]);
  connection.says({ type: "pong", data: { version: 9 } });
  assert.equal(noted.status.at(-1), "open");
  const before = asked.length;
  await passes(5_000);
  assert.equal(asked.length, before);
});

test("a refusal is told as over a socket, and so is what did not get through", async () => {
  const { noted, socket } = begun();
  await filtered(FILTERS["refuse them"], 2_000);
  answers = [response(503, { code: "busy", detail: "Very many." }, { "Retry-After": "2" })];
  socket.send("move", { move: "5" });
  await settled();
  const error = { type: "error", data: { code: "busy", detail: "Very many.", retry_after_s: 2 } };
  assert.deepEqual(noted.frames.at(-1), error);
  answers = [new TypeError("gone")];
  socket.send("move", { move: "5" });
  await settled();
  assert.equal(noted.frames.at(-1).data.code, "unsent");
});

test("whoever joins again is told all of it", async () => {
  const { noted, socket } = begun();
  await filtered(FILTERS["refuse them"], 3_000);
  socket.rejoin();
  answers = [answered(1)];
  await passes(100);
  assert.equal(asked.at(-1).headers["If-None-Match"], undefined);
  assert.deepEqual(noted.frames.at(-1), { type: "joined", data: { version: 1 } });
});

test("a room that is gone is neither asked for nor tried again", async () => {
  const { noted } = begun();
  answers = [response(404, { code: "room_not_found", detail: "There is no room with this code." })];
  await filtered(FILTERS["refuse them"], 3_000);
  assert.equal(noted.frames.at(-1).data.code, "room_not_found");
  const before = [asked.length, Connection.all.length];
  await passes(120_000);
  assert.deepEqual([asked.length, Connection.all.length], before);
});

test("an answer of a filter ends nothing", async () => {
  const { noted } = begun();
  answers = [response(403, { error: "blocked" }), response(408, {}), answered(2)];
  await filtered(FILTERS["refuse them"], 10_000);
  assert.equal(noted.status.at(-1), "asking");
  assert.equal(noted.frames.at(-1).data.version, 2);
});

test("the page waits as long as it is told to, and says that the database is away", async () => {
  const { noted } = begun();
  answers = [response(503, { code: "unavailable" }, { "Retry-After": "5" })];
  await filtered(FILTERS["refuse them"], 3_000);
  assert.equal(noted.status.at(-1), "away");
  assert.equal(asked.length, 1);
  answers = [response(429, { code: "throttled" }, { "Retry-After": "20" })];
  mock.method(Math, "random", () => 0);
  await filtered(FILTERS["refuse them"], 7_000);
  const before = asked.length;
  await filtered(FILTERS["refuse them"], 10_000);
  assert.equal(asked.length, before);
});

test("when a server starts again, the socket comes back and nothing is said of filters", async () => {
  const { noted } = begun();
  const [connection] = Connection.all;
  connection.opens();
  connection.says({ type: "joined", data: { version: 1 } });
  await passes(5_000);
  answers = Array.from({ length: 20 }, () => new TypeError("refused"));
  connection.breaks();
  for (let n = 0; n < 30; n += 1) {
    if (Connection.all.at(-1).readyState === Connection.CONNECTING) Connection.all.at(-1).breaks();
    await passes(100);
  }
  assert.equal(noted.status.at(-1), "lost");
  answers = [];
  for (let n = 0; n < 200 && Connection.all.at(-1).readyState !== Connection.CONNECTING; n += 1) await passes(100);
  Connection.all.at(-1).opens();
  Connection.all.at(-1).says({ type: "joined", data: { version: 1 } });
  assert.equal(noted.status.at(-1), "open");
  assert.ok(!noted.status.includes("asking"));
  const before = asked.length;
  await passes(5_000);
  assert.equal(asked.length, before);
});
