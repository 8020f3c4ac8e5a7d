import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket, troubleWords } from "../../static/js/socket.js";
import { FakeWebSocket, settlePromises } from "./fakes.js";

let pageEvents;
let requests;
/** The server's next responses. Without any, it responds 304 (not modified) to requests with an ETag. */
let responses;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  mock.method(Math, "random", () => 0.5);
  FakeWebSocket.instances = [];
  requests = [];
  responses = [];
  pageEvents = new EventTarget();
  Object.assign(globalThis, {
    WebSocket: FakeWebSocket,
    location: { protocol: "https:", href: "https://beadbox.example/rooms/abc" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible", cookie: "a=b; csrftoken=secret; c=d" }),
    addEventListener: (name, listener) => pageEvents.addEventListener(name, listener),
    fetch: async (address, { method = "GET", headers, body }) => {
      requests.push({ method, address, headers, body });
      const answer =
        responses.shift() ?? (method === "GET" && headers["If-None-Match"] ? notModified() : stateResponse(1));
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
});

const response = (status, data, headers = {}) => ({
  ok: status < 300,
  status,
  headers: new Map(Object.entries(headers)),
  json: async () => data,
});
const stateResponse = (version) => response(200, { version }, { ETag: `W/"${version}"` });
const notModified = () => response(304, null);

function openSocket(options = {}) {
  const received = { frames: [], status: [] };
  const socket = new Socket(
    "/api/rooms/abc/ws",
    (frame) => received.frames.push(frame),
    (status) => received.status.push(status),
    {
      pollUrl: "/api/rooms/abc/joined",
      actions: "/api/rooms/abc",
      frame: (data, isAll) => ({ type: isAll ? "joined" : "state", data }),
      ...options,
    },
  );
  return { received, socket };
}

async function advance(ms) {
  for (let remaining = ms; remaining > 0; remaining -= 100) {
    mock.timers.tick(Math.min(100, remaining));
    await settlePromises();
  }
}

/** The ways in which networks block sockets: each function acts on a new socket as the network does. */
const FILTERS = {
  "refuse sockets": (connection) => connection.simulateClose(),
  "never answer": () => {},
  "accept sockets without messages": (connection) => connection.simulateOpen(),
  "accept and drop sockets": (connection) => {
    connection.simulateOpen();
    connection.simulateClose();
  },
  "drop sockets after the first message": (connection) => {
    connection.simulateOpen();
    connection.simulateMessage({ type: "joined", data: { version: 1 } });
    connection.simulateClose();
  },
};

/** Advances the time, while the filter acts on each new socket. */
async function advanceWithFilter(filter, ms) {
  let nFiltered = 0;
  for (let remaining = ms; remaining > 0; remaining -= 100) {
    for (; nFiltered < FakeWebSocket.instances.length; nFiltered += 1) filter(FakeWebSocket.instances[nFiltered]);
    await advance(100);
  }
}

for (const [effect, filter] of Object.entries(FILTERS)) {
  test(`when filters ${effect}, the page polls, says so, and sends moves by HTTP`, async () => {
    const { received, socket } = openSocket();
    await advanceWithFilter(filter, 40_000);
    assert.equal(received.status.at(-1), "asking");
    assert.match(troubleWords("asking", ""), /asks for news instead/);
    assert.equal(received.frames.find(({ type }) => type === "joined").data.version, 1);

    responses = [stateResponse(2)];
    assert.equal(socket.send("move", { move: "5", ply: 0 }), true);
    await settlePromises();
    const { method, address, headers, body } = requests.at(-1);
    assert.deepEqual([method, address, JSON.parse(body)], ["POST", "/api/rooms/abc/move", { move: "5", ply: 0 }]);
    assert.equal(headers["X-CSRFToken"], "secret");
    assert.deepEqual(received.frames.at(-1), { type: "state", data: { version: 2 } });
  });
}

test("a browser without sockets polls", async () => {
  globalThis.WebSocket = undefined;
  const { received } = openSocket();
  await advance(3_000);
  assert.equal(received.status.at(-1), "asking");
  assert.equal(received.frames[0].type, "joined");
});

test("an early move is sent when the page knows whether sockets work", async () => {
  const { socket } = openSocket();
  assert.equal(socket.send("move", { move: "5", ply: 0 }), true);
  await advanceWithFilter(FILTERS["never answer"], 6_000);
  assert.equal(requests.filter(({ method }) => method === "POST").length, 1);
});

test("polls become rarer without news, and frequent after a move", async () => {
  const { received, socket } = openSocket();
  await advanceWithFilter(FILTERS["refuse sockets"], 2_000);
  const requestsWithin = async (ms) => {
    const before = requests.length;
    await advanceWithFilter(FILTERS["refuse sockets"], ms);
    return requests.length - before;
  };
  const nFirst = await requestsWithin(10_000);
  assert.ok(nFirst >= 4 && nFirst <= 9, `${nFirst}`);
  await requestsWithin(30_000);
  assert.ok((await requestsWithin(30_000)) <= 3);
  assert.ok(requests.slice(1).every(({ headers }) => headers["If-None-Match"] === 'W/"1"'));
  assert.equal(received.frames.length, 1, "a response without news is no frame");

  responses = [stateResponse(2), stateResponse(2)];
  socket.send("move", { move: "5" });
  assert.ok((await requestsWithin(10_000)) >= 5);
});

test("a page that expects more states polls every second", async () => {
  openSocket({ isLively: () => true });
  await advanceWithFilter(FILTERS["refuse sockets"], 2_000);
  responses = Array.from({ length: 10 }, (_, n) => stateResponse(n + 2));
  const before = requests.length;
  await advance(5_000);
  assert.ok(requests.length - before >= 4);
});

test("a hidden page does not poll, and polls at once when shown", async () => {
  openSocket();
  await advanceWithFilter(FILTERS["refuse sockets"], 3_000);
  Object.assign(document, { visibilityState: "hidden" });
  document.dispatchEvent(new Event("visibilitychange"));
  await advance(2_000); // ends the requests that have begun
  const before = requests.length;
  await advance(60_000);
  assert.equal(requests.length, before);
  Object.assign(document, { visibilityState: "visible" });
  document.dispatchEvent(new Event("visibilitychange"));
  await advance(100);
  assert.equal(requests.length, before + 1);
});

test("sockets are tried again, and replace polls when they work", async () => {
  const { received } = openSocket();
  await advanceWithFilter(FILTERS["refuse sockets"], 60_000);
  const nTries = FakeWebSocket.instances.length;
  assert.ok(nTries <= 10, `${nTries} tries in a minute`);
  while (FakeWebSocket.instances.length === nTries) await advance(1_000);
  const connection = FakeWebSocket.instances.at(-1);
  connection.simulateOpen();
  connection.simulateMessage({ type: "joined", data: { version: 9 } });
  assert.equal(received.status.at(-1), "asking", "the first message does not prove that the socket works");
  await advance(4_500);
  assert.deepEqual(connection.sent, ["ping"]);
  connection.simulateMessage({ type: "pong", data: { version: 9 } });
  assert.equal(received.status.at(-1), "open");
  const before = requests.length;
  await advance(5_000);
  assert.equal(requests.length, before);
});

test("refusals and failed requests give the same frames as a socket", async () => {
  const { received, socket } = openSocket();
  await advanceWithFilter(FILTERS["refuse sockets"], 2_000);
  responses = [response(503, { code: "busy", detail: "Very many." }, { "Retry-After": "2" })];
  socket.send("move", { move: "5" });
  await settlePromises();
  const error = { type: "error", data: { code: "busy", detail: "Very many.", retry_after_s: 2 } };
  assert.deepEqual(received.frames.at(-1), error);
  responses = [new TypeError("gone")];
  socket.send("move", { move: "5" });
  await settlePromises();
  assert.equal(received.frames.at(-1).data.code, "unsent");
});

test("a page that joins again gets the whole state", async () => {
  const { received, socket } = openSocket();
  await advanceWithFilter(FILTERS["refuse sockets"], 3_000);
  socket.rejoin();
  responses = [stateResponse(1)];
  await advance(100);
  assert.equal(requests.at(-1).headers["If-None-Match"], undefined);
  assert.deepEqual(received.frames.at(-1), { type: "joined", data: { version: 1 } });
});

test("a deleted room gets no more polls and no new sockets", async () => {
  const { received } = openSocket();
  responses = [response(404, { code: "room_not_found", detail: "There is no room with this code." })];
  await advanceWithFilter(FILTERS["refuse sockets"], 3_000);
  assert.equal(received.frames.at(-1).data.code, "room_not_found");
  const before = [requests.length, FakeWebSocket.instances.length];
  await advance(120_000);
  assert.deepEqual([requests.length, FakeWebSocket.instances.length], before);
});

test("a response of a filter does not end the polls", async () => {
  const { received } = openSocket();
  responses = [response(403, { error: "blocked" }), response(408, {}), stateResponse(2)];
  await advanceWithFilter(FILTERS["refuse sockets"], 10_000);
  assert.equal(received.status.at(-1), "asking");
  assert.equal(received.frames.at(-1).data.version, 2);
});

test("the page obeys Retry-After and reports a database outage", async () => {
  const { received } = openSocket();
  responses = [response(503, { code: "unavailable" }, { "Retry-After": "5" })];
  await advanceWithFilter(FILTERS["refuse sockets"], 3_000);
  assert.equal(received.status.at(-1), "away");
  assert.equal(requests.length, 1);
  responses = [response(429, { code: "throttled" }, { "Retry-After": "20" })];
  mock.method(Math, "random", () => 0);
  await advanceWithFilter(FILTERS["refuse sockets"], 7_000);
  const before = requests.length;
  await advanceWithFilter(FILTERS["refuse sockets"], 10_000);
  assert.equal(requests.length, before);
});

test("after a server restart the socket reconnects without polls", async () => {
  const { received } = openSocket();
  const [connection] = FakeWebSocket.instances;
  connection.simulateOpen();
  connection.simulateMessage({ type: "joined", data: { version: 1 } });
  await advance(5_000);
  responses = Array.from({ length: 20 }, () => new TypeError("refused"));
  connection.simulateClose();
  for (let n = 0; n < 30; n += 1) {
    if (FakeWebSocket.instances.at(-1).readyState === FakeWebSocket.CONNECTING)
      FakeWebSocket.instances.at(-1).simulateClose();
    await advance(100);
  }
  assert.equal(received.status.at(-1), "lost");
  responses = [];
  for (let n = 0; n < 200 && FakeWebSocket.instances.at(-1).readyState !== FakeWebSocket.CONNECTING; n += 1)
    await advance(100);
  FakeWebSocket.instances.at(-1).simulateOpen();
  FakeWebSocket.instances.at(-1).simulateMessage({ type: "joined", data: { version: 1 } });
  assert.equal(received.status.at(-1), "open");
  assert.ok(!received.status.includes("asking"));
  const before = requests.length;
  await advance(5_000);
  assert.equal(requests.length, before);
});
