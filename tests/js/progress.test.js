import "./fakes.js";

import assert from "node:assert/strict";
import { test } from "node:test";

const { axisOf } = await import("../../static/js/progress.js");

test("the axis of a curve covers all values and at least two steps", () => {
  assert.deepEqual(axisOf([0.67, 0.73]), [0.65, 0.75]);
  assert.deepEqual(axisOf([0.66, 0.66]), [0.6, 0.75]);
  assert.deepEqual(axisOf([0, 0]), [0, 0.1]);
  assert.deepEqual(axisOf([1, 1]), [0.9, 1]);
  assert.deepEqual(axisOf([0.05, 0.9]), [0.05, 0.9]);
  for (let low = 0; low <= 100; low += 1)
    for (let high = low; high <= 100; high += 1) {
      const [from, to] = axisOf([low / 100, high / 100]);
      assert.ok(from <= low / 100 && to >= high / 100 && to - from > 0.099, `${low} ${high}: ${from} ${to}`);
    }
});
