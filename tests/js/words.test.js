import assert from "node:assert/strict";
import { test } from "node:test";

import { count, either, errorWords, figure, ordinal, percent, sentence, tenths } from "../../static/js/words.js";

test("small numbers are words, large ones figures in groups of three", () => {
  assert.equal(count(1, "bead"), "one bead");
  assert.equal(count(3, "bead"), "three beads");
  assert.equal(count(0, "box", "boxes"), "no boxes");
  assert.equal(count(1063, "box", "boxes"), "1,063 boxes");
  assert.equal(figure(50_000), "50,000");
  assert.equal(ordinal(2), "second");
  assert.equal(ordinal(12), "12th");
});

test("a chance is never rounded to nothing or to certainty", () => {
  assert.equal(percent(0), "0\u00a0%");
  assert.equal(percent(0.0004), "< 0.1\u00a0%");
  assert.equal(percent(0.034), "3.4\u00a0%");
  assert.equal(percent(0.5), "50\u00a0%");
  assert.equal(percent(0.9999), "> 99.9\u00a0%");
  assert.equal(percent(1), "100\u00a0%");
});

test("in a column each chance has one decimal", () => {
  assert.equal(tenths(0), "0.0\u00a0%");
  assert.equal(tenths(0.0004), "< 0.1\u00a0%");
  assert.equal(tenths(0.5), "50.0\u00a0%");
});

test("names are joined as one says them", () => {
  assert.equal(either([]), "");
  assert.equal(either(["top left"]), "top left");
  assert.equal(either(["a", "b", "c"]), "a, b or c");
});

test("a sentence begins large, but the name of a square stays as it is", () => {
  assert.equal(sentence("top left"), "Top left");
  assert.equal(sentence("a1 to a2"), "a1 to a2");
  assert.equal(sentence(""), "");
});

test("an error that is not known keeps the server's own sentence", () => {
  assert.equal(errorWords({ code: "stale_ply" }), "The board had already changed. Have a look, then choose again.");
  assert.match(errorWords({ code: "news", detail: "So it is." }), /The server said: So it is\.$/);
  assert.match(errorWords({ code: "news" }), /The server said: news$/);
  assert.match(errorWords(), /something went wrong$/);
});
