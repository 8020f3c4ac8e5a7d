import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import {
  apportion,
  capitalise,
  countWords,
  decimalPercents,
  errorWords,
  formatNumber,
  joinWithOr,
  ordinal,
  percent,
  percents,
  perHundred,
} from "../../static/js/words.js";

test("small numbers are words, large numbers grouped digits", () => {
  assert.equal(countWords(1, "bead"), "one bead");
  assert.equal(countWords(3, "bead"), "three beads");
  assert.equal(countWords(0, "box", "boxes"), "no boxes");
  assert.equal(countWords(1063, "box", "boxes"), "1,063 boxes");
  assert.equal(formatNumber(50_000), "50,000");
  assert.equal(ordinal(2), "second");
  assert.equal(ordinal(12), "12th");
});

test("a chance is not rounded to 0 or 100 per cent", () => {
  assert.equal(percent(0), "0\u00a0%");
  assert.equal(percent(0.0004), "< 0.1\u00a0%");
  assert.equal(percent(0.034), "3.4\u00a0%");
  assert.equal(percent(0.5), "50\u00a0%");
  assert.equal(percent(0.9999), "> 99.9\u00a0%");
  assert.equal(percent(1), "100\u00a0%");
});

test("a rare chance is not rounded to none", () => {
  const texts = [0, 1, 0.5, 0.0001234, 1.23456e-7, 0.99999, 1e-72].map(perHundred);
  assert.deepEqual(texts, ["0", "100", "50", "0.0123", "0.0000123", "100", "less than 0.000001"]);
});

test("chances in a column have one decimal and sum to 100", () => {
  assert.deepEqual(decimalPercents([0, 1]), ["0.0\u00a0%", "100.0\u00a0%"]);
  assert.deepEqual(decimalPercents([0.0004, 0.9996]), ["< 0.1\u00a0%", "100.0\u00a0%"]);
  assert.deepEqual(decimalPercents([0.5, 0.5]), ["50.0\u00a0%", "50.0\u00a0%"]);
  assert.deepEqual(decimalPercents([1, 1, 1]), ["33.4\u00a0%", "33.3\u00a0%", "33.3\u00a0%"]);
});

test("chances in whole per cent sum to 100", () => {
  assert.deepEqual(percents([1, 1, 1]), ["34\u00a0%", "33\u00a0%", "33\u00a0%"]);
  assert.deepEqual(percents([0.001, 0.999]), ["< 1\u00a0%", "100\u00a0%"]);
});

test("shares are apportioned as on the server", async () => {
  const cases = JSON.parse(await readFile(new URL("../data/shares.json", import.meta.url), "utf8"));
  for (const { parts, units, shares } of cases) assert.deepEqual(apportion(parts, units), shares);
});

test("names are joined with commas and or", () => {
  assert.equal(joinWithOr([]), "");
  assert.equal(joinWithOr(["top left"]), "top left");
  assert.equal(joinWithOr(["a", "b", "c"]), "a, b or c");
});

test("a sentence begins with a capital, except before coordinates", () => {
  assert.equal(capitalise("top left"), "Top left");
  assert.equal(capitalise("a1 to a2"), "a1 to a2");
  assert.equal(capitalise(""), "");
});

test("a refusal has the server's sentence", () => {
  assert.equal(errorWords({ code: "news", detail: "So it is." }), "So it is.");
});

test("a failed request has the page's own sentence", () => {
  const words = "That did not get through. Look at the board, then try again in a moment.";
  assert.equal(errorWords({ code: "unsent" }), words);
  assert.equal(errorWords(), words);
});

test("a busy refusal says that the page tries again", () => {
  const detail = "The engine is not ready yet. Try again in a moment.";
  assert.equal(errorWords({ code: "busy", detail }), `${detail} This page tries again by itself.`);
});
