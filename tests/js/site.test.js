import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Socket } from "../../static/js/socket.js";
import { Connection } from "./stand_ins.js";

let place;
let n = 0;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  Connection.all = [];
  Socket.isUsed = false;
  place = { hidden: true, textContent: "" };
  const events = new EventTarget();
  Object.assign(globalThis, {
    matchMedia: () => ({ matches: false }),
    WebSocket: Connection,
    location: { protocol: "https:", href: "https://beadbox.example/machines" },
    document: Object.assign(new EventTarget(), { visibilityState: "visible", getElementById: () => place }),
    addEventListener: (name, heard) => events.addEventListener(name, heard),
    dispatchEvent: (event) => events.dispatchEvent(event),
  });
});

/** A page that was loaded some time ago. */
async function loaded(page = () => {}) {
  n += 1;
  await import(`../../static/js/site.js?${n}`);
  dispatchEvent(new Event("pageshow"));
  assert.equal(Connection.all.length, 0, "who only passes through opens none");
  page();
  mock.timers.tick(500);
}

function turns(visibilityState) {
  Object.assign(document, { visibilityState });
  document.dispatchEvent(new Event("visibilitychange"));
  mock.timers.tick(0);
}

const says = (database) => Connection.all.at(-1).says({ type: "site", data: { database, spectators: "ok" } });
const AWAY = "The site cannot reach its memory now. Nothing is lost, and it goes on by itself.";

test("the page says what its site has lost, and that it has it again", async () => {
  await loaded();
  const [connection] = Connection.all;
  assert.equal(connection.url.href, "wss://beadbox.example/api/site/ws");
  connection.opens();
  mock.timers.tick(1_000);
  assert.deepEqual(place, { hidden: true, textContent: "" }, "that all is well is no news");
  says("away");
  assert.deepEqual(place, { hidden: false, textContent: AWAY });
  says("ok");
  mock.timers.tick(300);
  assert.deepEqual(place, { hidden: false, textContent: "Everything works again." });
  mock.timers.tick(5_000);
  assert.deepEqual(place, { hidden: true, textContent: "" });
});

test("a page that is hidden has no socket, and is told at once when it is looked at again", async () => {
  await loaded();
  const [connection] = Connection.all;
  connection.opens();
  turns("hidden");
  assert.equal(connection.readyState, Connection.CLOSED);
  dispatchEvent(new Event("offline"));
  dispatchEvent(new Event("online"));
  mock.timers.tick(120_000);
  assert.equal(Connection.all.length, 1);
  turns("visible");
  Connection.all[1].opens();
  says("away");
  assert.equal(place.textContent, AWAY);
  // The trouble is still there on return, and the page shows it all the time.
  turns("hidden");
  turns("visible");
  Connection.all[2].opens();
  assert.equal(place.textContent, AWAY);
  mock.timers.tick(100);
  says("away");
  mock.timers.tick(10_000);
  assert.equal(place.textContent, AWAY);
});

test("a connection that breaks takes back nothing, and one that comes back tells", async () => {
  await loaded();
  Connection.all[0].opens();
  says("away");
  Connection.all[0].breaks();
  assert.equal(place.textContent, AWAY);
  mock.timers.tick(700);
  Connection.all[1].opens();
  mock.timers.tick(300);
  assert.equal(place.textContent, "Everything works again.");
});

test("that all is well is not said for longer than it is", async () => {
  const well = async () => {
    await loaded();
    Connection.all.at(-1).opens();
    says("away");
    says("ok");
    mock.timers.tick(300);
    assert.equal(place.textContent, "Everything works again.");
  };
  await well();
  Connection.all.at(-1).breaks();
  assert.deepEqual(place, { hidden: true, textContent: "" });
});

test("who has no spectators beside them is not told of those", async () => {
  await loaded();
  Connection.all[0].opens();
  says("away");
  Connection.all[0].says({ type: "site", data: { database: "ok", spectators: "late" } });
  mock.timers.tick(300);
  assert.deepEqual(place, { hidden: true, textContent: "" });
});

test("a page that was loaded out of sight opens one when it is seen", async () => {
  document.visibilityState = "hidden";
  await loaded();
  assert.equal(Connection.all.length, 0);
  turns("visible");
  mock.timers.tick(500);
  assert.equal(Connection.all.length, 1);
});

test("a page with a socket of its own has no second", async () => {
  await loaded(
    () =>
      new Socket(
        "/api/rooms/abc/ws",
        () => {},
        () => {},
      ),
  );
  assert.deepEqual(
    Connection.all.map(({ url }) => url.pathname),
    ["/api/rooms/abc/ws"],
  );
});
