import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket } from "../../static/js/socket.js";
import { FakeWebSocket } from "./fakes.js";

let notice;
let nLoads = 0;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  FakeWebSocket.instances = [];
  Socket.isUsed = false;
  notice = { hidden: true, textContent: "" };
  const events = new EventTarget();
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: false }),
    WebSocket: FakeWebSocket,
    location: { protocol: "https:", href: "https://beadbox.example/machines" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible", getElementById: () => notice }),
    addEventListener: (name, listener) => events.addEventListener(name, listener),
    dispatchEvent: (event) => events.dispatchEvent(event),
  });
});

/** Loads a page and waits until it opens its socket. */
async function loadPage(run = () => {}) {
  nLoads += 1;
  await import(`../../static/js/site.js?${nLoads}`);
  dispatchEvent(new Event("pageshow"));
  assert.equal(FakeWebSocket.instances.length, 0, "a page that is left at once opens no socket");
  run();
  mock.timers.tick(500);
}

function setVisibility(visibilityState) {
  Object.assign(document, { visibilityState });
  document.dispatchEvent(new Event("visibilitychange"));
  mock.timers.tick(0);
}

const simulateDatabase = (database) =>
  FakeWebSocket.instances.at(-1).simulateMessage({ type: "site", data: { database, spectators: "ok" } });
const OUTAGE_TEXT = "The site cannot reach its memory now. Nothing is lost, and it goes on by itself.";

test("the page shows an outage and its end", async () => {
  await loadPage();
  const [connection] = FakeWebSocket.instances;
  assert.equal(connection.url.href, "wss://beadbox.example/api/site/ws");
  connection.simulateOpen();
  mock.timers.tick(1_000);
  assert.deepEqual(notice, { hidden: true, textContent: "" }, "the normal state is not shown");
  simulateDatabase("away");
  assert.deepEqual(notice, { hidden: false, textContent: OUTAGE_TEXT });
  simulateDatabase("ok");
  mock.timers.tick(300);
  assert.deepEqual(notice, { hidden: false, textContent: "Everything works again." });
  mock.timers.tick(5_000);
  assert.deepEqual(notice, { hidden: true, textContent: "" });
});

test("a hidden page closes its socket and reopens it when shown", async () => {
  await loadPage();
  const [connection] = FakeWebSocket.instances;
  connection.simulateOpen();
  setVisibility("hidden");
  assert.equal(connection.readyState, FakeWebSocket.CLOSED);
  dispatchEvent(new Event("offline"));
  dispatchEvent(new Event("online"));
  mock.timers.tick(120_000);
  assert.equal(FakeWebSocket.instances.length, 1);
  setVisibility("visible");
  FakeWebSocket.instances[1].simulateOpen();
  simulateDatabase("away");
  assert.equal(notice.textContent, OUTAGE_TEXT);
  // The outage continues, and the page shows it without interruption.
  setVisibility("hidden");
  setVisibility("visible");
  FakeWebSocket.instances[2].simulateOpen();
  assert.equal(notice.textContent, OUTAGE_TEXT);
  mock.timers.tick(100);
  simulateDatabase("away");
  mock.timers.tick(10_000);
  assert.equal(notice.textContent, OUTAGE_TEXT);
});

test("a broken socket keeps the notice, a new socket updates it", async () => {
  await loadPage();
  FakeWebSocket.instances[0].simulateOpen();
  simulateDatabase("away");
  FakeWebSocket.instances[0].simulateClose();
  assert.equal(notice.textContent, OUTAGE_TEXT);
  mock.timers.tick(700);
  FakeWebSocket.instances[1].simulateOpen();
  mock.timers.tick(300);
  assert.equal(notice.textContent, "Everything works again.");
});

test("the message of recovery ends when the socket breaks", async () => {
  const showRecovery = async () => {
    await loadPage();
    FakeWebSocket.instances.at(-1).simulateOpen();
    simulateDatabase("away");
    simulateDatabase("ok");
    mock.timers.tick(300);
    assert.equal(notice.textContent, "Everything works again.");
  };
  await showRecovery();
  FakeWebSocket.instances.at(-1).simulateClose();
  assert.deepEqual(notice, { hidden: true, textContent: "" });
});

test("a page without spectators does not mention spectators", async () => {
  await loadPage();
  FakeWebSocket.instances[0].simulateOpen();
  simulateDatabase("away");
  FakeWebSocket.instances[0].simulateMessage({ type: "site", data: { database: "ok", spectators: "late" } });
  mock.timers.tick(300);
  assert.deepEqual(notice, { hidden: true, textContent: "" });
});

test("a page loaded while hidden opens its socket when shown", async () => {
  document.visibilityState = "hidden";
  await loadPage();
  assert.equal(FakeWebSocket.instances.length, 0);
  setVisibility("visible");
  mock.timers.tick(500);
  assert.equal(FakeWebSocket.instances.length, 1);
});

test("a page with its own socket opens no second socket", async () => {
  await loadPage(
    () =>
      new Socket(
        "/api/rooms/abc/ws",
        () => {},
        () => {},
      ),
  );
  assert.deepEqual(
    FakeWebSocket.instances.map(({ url }) => url.pathname),
    ["/api/rooms/abc/ws"],
  );
});
