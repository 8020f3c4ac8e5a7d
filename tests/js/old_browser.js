/**
 * Style sheets as the oldest browsers read them: without unknown features, and without the rules that query them.
 *
 * Prints a JSON object that maps each given path to the remaining style sheet.
 */

import { readFile } from "node:fs/promises";
import stylelint from "stylelint";
import { OLDEST_RULES } from "./stylelint.config.js";

/** Returns the part of a style sheet that the oldest browsers read. */
export async function styleSheetOfOldest(code) {
  const { results } = await stylelint.lint({ code, config: OLDEST_RULES });
  const { root, messages } = results[0]._postcssResult;
  for (const { node } of messages) node.remove();
  root.walkAtRules("supports", (rule) => {
    rule.remove();
  });
  return root.toString();
}

if (import.meta.main) {
  const sheets = process.argv
    .slice(2)
    .map(async (path) => [path, await styleSheetOfOldest(await readFile(path, "utf8"))]);
  process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(sheets))));
}
