/**
 * The style sheets as the oldest browsers read them: what these do not know, and all that asks for it, is left out.
 *
 * Prints a JSON object, from each path that it was given to what is left of the style sheet.
 */

import { readFile } from "node:fs/promises";
import stylelint from "stylelint";
import { OLD } from "./stylelint.config.js";

/** What is left of a style sheet. */
export async function read(code) {
  const { results } = await stylelint.lint({ code, config: OLD });
  const { root, messages } = results[0]._postcssResult;
  for (const { node } of messages) node.remove();
  root.walkAtRules("supports", (rule) => {
    rule.remove();
  });
  return root.toString();
}

if (import.meta.main) {
  const sheets = process.argv.slice(2).map(async (path) => [path, await read(await readFile(path, "utf8"))]);
  process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(sheets))));
}
