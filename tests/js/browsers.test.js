/** `make check` refuses features newer than the oldest browsers of docs/browsers.md. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { ESLint } from "eslint";
import stylelint from "stylelint";
import { OLDEST_BROWSERS } from "./browsers.js";
import { styleSheetOfOldest } from "./old_browser.js";
import styles from "./stylelint.config.js";

const eslint = new ESLint({ cwd: import.meta.dirname, overrideConfigFile: "eslint.config.js" });

async function scriptMessages(text, filePath) {
  const [{ messages }] = await eslint.lintText(text, { filePath });
  return messages.map(({ message }) => message);
}

async function styleMessages(code) {
  const { results } = await stylelint.lint({ code, config: styles });
  return results[0].warnings.map(({ text }) => text);
}

const NEW_STYLES = [
  ":root { --paper: light-dark(#fff, #000); }",
  "a { color: light-dark(#fff, #000); }",
  "a:has(b) { color: red; }",
  "a { color: color-mix(in srgb, red, blue); }",
  "a { color: rgb(from red r g b); }",
  "a { color: oklch(50% 0.1 20); }",
  "a { height: 80dvh; }",
  "a { & b { color: red; } }",
  "a { b { color: red; } }",
  "@layer base { a { color: red; } }",
  "@container (min-width: 30rem) { a { color: red; } }",
  "@media (width >= 40rem) { a { color: red; } }",
  "@property --x { syntax: '<number>'; inherits: false; initial-value: 1; }",
  "a { translate: 1px 2px; }",
  "a { overflow: clip; }",
  "a { scrollbar-gutter: stable; }",
  "a { animation-timeline: scroll(); }",
  "a:modal { color: red; }",
  "a { grid-template-columns: subgrid; }",
  "a:nth-child(1 of .b) { color: red; }",
];
const OLD_STYLES = [
  ":root { --light: initial; --dark: ; --paper: var(--light, #fff) var(--dark, #000); }",
  "@supports selector(:has(a)) { a:has(b) { color: red; } }",
  "a:is(.b, .c):focus-visible { inset: 0; aspect-ratio: 1; accent-color: red; padding-inline: 1px; gap: 2px; }",
  "@media (min-width: 40rem) and (prefers-reduced-motion: reduce) { a { transform: rotate(4deg); } }",
];
const NEW_SCRIPTS = [
  "export const last = (all) => all.findLast(Boolean);",
  "export const last = (all) => all.findLastIndex(Boolean);",
  "export const sorted = (all) => all.toSorted();",
  "export const changed = (all) => all.with(0, 1);",
  "export const groups = (all) => Object.groupBy(all, String);",
  "export const groups = (all) => Map.groupBy(all, String);",
  "export const { promise } = Promise.withResolvers();",
  "export const signal = AbortSignal.timeout(1);",
  "export const signal = (all) => AbortSignal.any(all);",
  "export class A { static { A.first = 1; } }",
  "export const end = /(?<=a)b/;",
  "export const letter = /a/v;",
  "export const send = (form) => form.requestSubmit();",
  "export const isSeen = (element) => element.checkVisibility();",
  "export const open = (element) => element.showPopover();",
  "export const name = (element) => { element.ariaLabel = 'Board'; };",
  "export const change = () => document.startViewTransition();",
  "export const packed = new CompressionStream('gzip');",
  "export const long = new Intl.DurationFormat('en');",
  "export const isAddress = (text) => URL.canParse(text);",
];
const OLD_SCRIPTS = [
  "export class A { #x = 1; static y = 2; has(other) { return #x in other; } }",
  "export const last = (all) => all.at(-1) ?? Object.hasOwn(all, 'x');",
  "export const copy = (all) => structuredClone(all).flatMap(String).filter(Boolean);",
  "export const show = (dialog, board, layout) => { dialog.showModal(); board.layout = layout.lines; board.draw(); };",
];
const NEW_PAGES = [
  "<div inert></div>",
  '<div popover class="{% if a %}b{% endif %}"></div>',
  '<details name="one"><summary>{{ a }}</summary></details>',
  "<search></search>",
  '<script type="importmap">{}</script>',
];
const OLD_PAGES = ['<dialog id="a"{% if b %} hidden{% endif %}>{{ c|json_script:"d" }}</dialog>'];

const GROUPS = [
  ["style", styleMessages, NEW_STYLES, OLD_STYLES],
  ["script", (text) => scriptMessages(text, "new.js"), NEW_SCRIPTS, OLD_SCRIPTS],
  ["page", (text) => scriptMessages(text, "new.html"), NEW_PAGES, OLD_PAGES],
];
for (const [kind, check, refusedTexts, acceptedTexts] of GROUPS) {
  for (const text of refusedTexts)
    test(`too new for old browsers, ${kind}: ${text}`, async () => assert.notDeepEqual(await check(text), []));
  for (const text of acceptedTexts)
    test(`accepted, ${kind}: ${text}`, async () => assert.deepEqual(await check(text), []));
}

test("an old browser skips unknown features and queries for them", async () => {
  const sheet = `a { color: light-dark(#fff, #000); margin: 0 }
    b:has(i), b { color: red } @supports (color: red) { c { color: red } } d { text-wrap: balance; top: 0 }`;
  assert.equal((await styleSheetOfOldest(sheet)).replace(/\s+/g, " "), "a { margin: 0 } d { top: 0 }");
});

test("the document and the page name the oldest browsers", async () => {
  const page = await readFile(new URL("../../docs/browsers.md", import.meta.url), "utf8");
  const template = await readFile(new URL("../../templates/_browsers.html", import.meta.url), "utf8");
  const names = { safari: "Safari", ios_saf: "iOS", chrome: "Chrome", edge: "Edge", firefox: "Firefox" };
  for (const one of OLDEST_BROWSERS.map((each) => each.split(" "))) {
    assert.match(page, new RegExp(`${names[one[0]]} ${one[1]}`));
    if (one[0] !== "ios_saf") assert.match(template, new RegExp(`${names[one[0]]} ${one[1]}`));
  }
});
