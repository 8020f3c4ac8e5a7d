// Scripts and templates use only features of the oldest browsers (docs/browsers.md): es-x checks the language, Baseline
// checks HTML, and MDN's data the interfaces for scripts. Biome checks format and faults (style.jsonc).
import html from "@html-eslint/eslint-plugin";
import bcd from "@mdn/browser-compat-data" with { type: "json" };
import esx from "eslint-plugin-es-x";
import { BASELINE_YEAR, OLDEST_BROWSERS } from "./browsers.js";

const OLDEST_VERSIONS = OLDEST_BROWSERS.map((one) => one.split(" ")).map(([name, version]) => [
  name.replace("ios_saf", "safari_ios"),
  version,
]);
const INTERFACES = { ...bcd.api, ...bcd.javascript.builtins };
/** Interfaces of the DOM whose members are checked by name on any object. Other members have ambiguous names. */
const DOM_INTERFACES = /Element$|^(Node|Document|DocumentFragment|Event|Animation|Response|Request|Blob|URL)$/;

function isKnown({ __compat: { support } }) {
  return OLDEST_VERSIONS.every(([browser, oldest]) =>
    [support[browser]]
      .flat()
      .some(
        ({ version_added: since, flags, prefix, alternative_name: alias, version_removed: until }) =>
          !(flags || prefix || alias || until) && parseFloat(String(since).replace("≤", "")) <= parseFloat(oldest),
      ),
  );
}

/** Names of members of the language and the DOM that at least one of the oldest browsers lacks in every object. */
const UNKNOWN_MEMBERS = new Set();
const knownMembers = new Set();
for (const [owner, members] of Object.entries(INTERFACES))
  for (const [name, { __compat: compat }] of Object.entries(members))
    if (compat && isKnown({ __compat: compat })) knownMembers.add(name);
    else if (compat && !compat.status?.deprecated && (owner in bcd.javascript.builtins || DOM_INTERFACES.test(owner)))
      UNKNOWN_MEMBERS.add(name);
for (const name of knownMembers) UNKNOWN_MEMBERS.delete(name);

/** @type {import("eslint").Rule.RuleModule} */
const browserHasIt = {
  create(context) {
    const report = (node, name) =>
      context.report({ node, message: `${name} is newer than the oldest browser of docs/browsers.md.` });
    return {
      MemberExpression(node) {
        const { object, property, computed, parent } = node;
        if (computed || property.type === "PrivateIdentifier") return;
        const { name } = property;
        const owner =
          object.type === "Identifier" && Object.hasOwn(INTERFACES, object.name) ? INTERFACES[object.name] : {};
        const member = owner[`${name}_static`] ?? owner[name];
        const isUsed = (parent.type === "CallExpression" && parent.callee === node) || /^aria[A-Z]/.test(name);
        if (member?.__compat ? !isKnown(member) : isUsed && UNKNOWN_MEMBERS.has(name)) report(property, name);
      },
      "Program:exit"(node) {
        for (const { identifier } of context.sourceCode.getScope(node).through)
          if (INTERFACES[identifier.name]?.__compat && !isKnown(INTERFACES[identifier.name]))
            report(identifier, identifier.name);
      },
    };
  },
};

export default [
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["**/*.js"], ...esx.configs["flat/restrict-to-es2022"] },
  {
    files: ["**/*.js"],
    plugins: { "es-x": esx, site: { rules: { "browser-has-it": browserHasIt } } },
    rules: {
      "site/browser-has-it": "error",
      // ECMAScript 2022 or older, but missing in the oldest Safari.
      "es-x/no-class-static-block": "error",
      "es-x/no-regexp-lookbehind-assertions": "error",
    },
  },
  {
    files: ["**/*.html"],
    plugins: { html },
    language: "html/html",
    languageOptions: { templateEngineSyntax: { "{{": "}}", "{%": "%}", "{#": "#}" } },
    rules: {
      // <dialog> came to Safari with 15.4, in the next year.
      "html/use-baseline": ["error", { available: BASELINE_YEAR + 1 }],
    },
  },
];
