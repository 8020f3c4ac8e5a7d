/**
 * Speed of the kernel of "Watch it learn" in Node, for tests/bench/first_seconds.py.
 *
 * Reads `{view, plan, games}` on stdin and prints the figures.
 */

import { readFileSync } from "node:fs";
import { kernel } from "./learn_kernel_run.js";

const N_MACHINES = 200;
const { view, plan, games } = JSON.parse(readFileSync(0, "utf8"));
const compiled = kernel.compilePlan(kernel.openGraph(view), plan);

/** Returns the seconds that a call takes. */
function secondsOf(call) {
  const begin = performance.now();
  call();
  return (performance.now() - begin) / 1000;
}

const train = (n) => secondsOf(() => kernel.train(kernel.newRun(compiled, 1), n));
train(200_000); // Node compiles the kernel
const gamesPerS = games / train(games);
const nGames = kernel.BAND_GAMES[kernel.BAND_GAMES.length - 1];
const band = secondsOf(() => {
  for (let seed = 0; seed < N_MACHINES; seed += 1) kernel.scoresAtGames(compiled, seed, kernel.MEASURED_OPPONENTS[0]);
});
process.stdout.write(JSON.stringify({ games_per_s: gamesPerS, band: band / train(N_MACHINES * nGames) }));
