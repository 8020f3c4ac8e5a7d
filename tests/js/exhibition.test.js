import assert from "node:assert/strict";
import { before, mock, test } from "node:test";

import { Exhibition } from "../../static/js/exhibition.js";
import { partsOf } from "./stand_ins.js";

before(() => {
  globalThis.document = { activeElement: null };
  mock.timers.enable({ apis: ["setTimeout"] });
});

function begun() {
  const asked = [];
  const parts = partsOf("tools", "step", "run", "speed", "finish");
  parts.speed.value = "1000";
  const exhibition = new Exhibition(parts, (step) => Boolean(asked.push([step.ply, step.plies])));
  const show = (ply, status = "playing") =>
    exhibition.show({ ply, version: ply, status, exhibition: true }, /* isHost */ true);
  show(0);
  return { asked, parts, exhibition, show };
}

test("one move is asked for at a time", () => {
  const { asked, parts, show } = begun();
  parts.step.click();
  show(1);
  mock.timers.tick(5000);
  assert.deepEqual(asked, [[0, 1]]);
});

test("while they play on, the next move is asked for when the last has been shown and a while has passed", () => {
  const { asked, parts, show } = begun();
  parts.run.click();
  mock.timers.tick(5000);
  assert.deepEqual(asked, [[0, 1]], "not before the state has come");
  show(1);
  mock.timers.tick(999);
  assert.equal(asked.length, 1);
  mock.timers.tick(1);
  assert.deepEqual(asked.at(-1), [1, 1]);
  assert.equal(parts.run.textContent, "Pause");
});

test("who pauses is asked for no more", () => {
  const { asked, parts, show } = begun();
  parts.run.click();
  parts.run.click();
  show(1);
  mock.timers.tick(5000);
  assert.equal(asked.length, 1);
  assert.equal(parts.run.textContent, "Play on");
});

test("to the end it goes in large steps, until the match is over", () => {
  const { asked, parts, show } = begun();
  parts.finish.click();
  show(100);
  show(130, "finished");
  assert.deepEqual(asked, [
    [0, 100],
    [100, 100],
  ]);
  assert.equal(parts.tools.hidden, true);
});

test("a refusal because a move was under way already is none while they play on", () => {
  const { parts, exhibition } = begun();
  assert.equal(exhibition.isOvertaken("stale_ply"), false);
  parts.run.click();
  assert.equal(exhibition.isOvertaken("stale_ply"), true);
  assert.equal(exhibition.isOvertaken("match_finished"), false);
});
