import assert from "node:assert/strict";
import { before, mock, test } from "node:test";

import { Exhibition } from "../../static/js/exhibition.js";
import { fakeElements } from "./fakes.js";

before(() => {
  globalThis.document = { activeElement: null };
  mock.timers.enable({ apis: ["setTimeout"] });
});

function startExhibition() {
  const requests = [];
  const parts = fakeElements("tools", "step", "run", "speed", "finish");
  parts.speed.value = "1000";
  const exhibition = new Exhibition(parts, (step) => Boolean(requests.push([step.ply, step.plies])));
  const show = (ply, status = "playing") =>
    exhibition.show({ ply, version: ply, status, exhibition: true }, /* isHost */ true);
  show(0);
  return { requests, parts, exhibition, show };
}

test("one move is requested at a time", () => {
  const { requests, parts, show } = startExhibition();
  parts.step.click();
  show(1);
  mock.timers.tick(5000);
  assert.deepEqual(requests, [[0, 1]]);
});

test("in continuous play each move is requested after a pause", () => {
  const { requests, parts, show } = startExhibition();
  parts.run.click();
  mock.timers.tick(5000);
  assert.deepEqual(requests, [[0, 1]], "the next request follows only after a state");
  show(1);
  mock.timers.tick(999);
  assert.equal(requests.length, 1);
  mock.timers.tick(1);
  assert.deepEqual(requests.at(-1), [1, 1]);
  assert.equal(parts.run.textContent, "Pause");
});

test("after Pause no move is requested", () => {
  const { requests, parts, show } = startExhibition();
  parts.run.click();
  parts.run.click();
  show(1);
  mock.timers.tick(5000);
  assert.equal(requests.length, 1);
  assert.equal(parts.run.textContent, "Play on");
});

test("play to the end requests many plies at once", () => {
  const { requests, parts, show } = startExhibition();
  parts.finish.click();
  show(100);
  show(130, "finished");
  assert.deepEqual(requests, [
    [0, 100],
    [100, 100],
  ]);
  assert.equal(parts.tools.hidden, true);
});

test("a stale-ply refusal is ignored in continuous play", () => {
  const { parts, exhibition } = startExhibition();
  assert.equal(exhibition.isOvertaken("stale_ply"), false);
  parts.run.click();
  assert.equal(exhibition.isOvertaken("stale_ply"), true);
  assert.equal(exhibition.isOvertaken("match_finished"), false);
});
