/** Runs the cases of tests/beadbox/test_learn_kernel.py in JavaScript: cases on stdin, results on stdout. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";

const file = fileURLToPath(new URL("../../static/js/learn_kernel.js", import.meta.url));
runInThisContext(readFileSync(file, "utf8"));
/** The script is not a module, so its functions are global. */
export const { learnKernel: kernel } = globalThis;

/** Returns the result of a case: the machine after all games, with a trace of the last game. */
function caseResult(graphs, { graph, plan, seed, games }) {
  const compiled = kernel.compilePlan(graphs[graph], plan);
  const run = kernel.newRun(compiled, seed);
  kernel.train(run, games - 1);
  const game = kernel.traceGame(run);
  return {
    ...{ game, tally: [...run.tally], state: [...run.state], beads: [...run.beads] },
    keys: compiled.boxes.map(({ node }) => graphs[graph].keys[node]),
    strengths: kernel.MEASURED_OPPONENTS.map((measure) => kernel.strength(run, measure)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { views, cases, band } = JSON.parse(readFileSync(0, "utf8"));
  const graphs = Object.fromEntries(Object.entries(views).map(([name, view]) => [name, kernel.openGraph(view)]));
  const compiled = band && kernel.compilePlan(graphs[band.graph], band.plan);
  const scores =
    band && Array.from({ length: band.machines }, (_, seed) => kernel.scoresAtGames(compiled, seed, band.measure));
  const output = {
    results: cases.map((kernelCase) => caseResult(graphs, kernelCase)),
    band: band && { scores, ...kernel.quantiles(scores) },
    curve_marks: kernel.CURVE_GAMES,
    band_marks: kernel.BAND_GAMES,
  };
  process.stdout.write(JSON.stringify(output));
}
