/** The page of an experiment: draws its charts, and shows its progress while a worker runs it. */

import { Curve, dashPattern } from "./curve.js";
import { byId, find, pageData } from "./dom.js";
import { formatNumber } from "./words.js";

const POLL_MS = 1_000;
const title = find("h1").textContent;
const announcement = byId("said");
let result = byId("result");

/** @typedef {{slug: string, title: string, x: string, y: string, xs: number[], is_bars: boolean, is_stretched: boolean, lines: ChartLine[]}} Chart */
/** @typedef {{name: string, values: number[], low?: number[], high?: number[]}} ChartLine */

/** Draws all charts of the result. */
function draw() {
  for (const { chart } of /** @type {{chart: Chart}[]} */ (pageData("charts", []))) {
    const curve = new Curve(byId(`chart-${chart.slug}`), {
      x: chart.x,
      y: chart.y,
      label: chart.title,
      pointWords: (x) => `${formatNumber(x)} ${chart.x}`,
      ...(chart.is_bars ? barAxes(chart) : {}),
    });
    curve.show(
      chart.xs,
      chart.lines.map((line, n) => ({
        name: line.name,
        colour: String(n),
        dash: dashPattern(n),
        values: line.values,
        isBars: chart.is_bars,
        ...(line.low && !chart.is_bars ? { low: line.low, high: line.high } : {}),
      })),
      null,
      chart.is_stretched,
    );
    find(`[data-png="${chart.slug}"]`).addEventListener("click", () =>
      curve.downloadPng(`${chart.slug}.png`, `${title}: ${chart.title}`),
    );
  }
}

/**
 * Returns the ends of the axes for bars: the highest bar fills the height, and half a bar fits at either side.
 *
 * @returns {{top: number, range: [number, number]}}
 */
function barAxes(/** @type {Chart} */ chart) {
  const highest = Math.max(...chart.lines.flatMap(({ values }) => values));
  return { top: Math.min(1, 1.1 * highest), range: [chart.xs[0] - 0.6, /** @type {number} */ (chart.xs.at(-1)) + 0.6] };
}

const isUnfinished = () => ["queued", "running"].includes(result.dataset.status ?? "");

/** Polls the progress of the run until it ends, then shows the result. */
async function follow() {
  while (isUnfinished()) {
    const run = await fetchRun();
    byId("connection").hidden = run !== null;
    if (run) {
      result.dataset.status = run.status;
      byId("progress", HTMLProgressElement).value = 100 * run.progress;
      byId("status").textContent = run.status === "running" ? "Running" : "Waiting";
    }
    if (isUnfinished())
      await new Promise((resolve) => {
        setTimeout(resolve, POLL_MS);
      });
  }
  await reloadResult();
}

/** Returns the run, or `null` if the server does not answer. */
async function fetchRun() {
  try {
    const response = await fetch(`/api/experiment-runs/${result.dataset.run}`);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Reloads the part of the page that contains the result, and announces the end of the run. */
async function reloadResult() {
  const address = new URL(location.href);
  address.searchParams.set("run", result.dataset.run ?? "");
  try {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const hadFocus = result.contains(document.activeElement);
    const newResult = document.adoptNode(find("#result", HTMLElement, page));
    result.replaceWith(newResult);
    result = newResult;
    draw();
    if (hadFocus) byId("result-title").focus();
  } catch {
    location.reload();
    return;
  }
  announcement.textContent =
    result.dataset.status === "finished"
      ? "It is finished. The result is on the page."
      : "It has ended without a result.";
}

draw();
if (isUnfinished()) follow();
