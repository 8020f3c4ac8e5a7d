/** Shows the weights of a learnt value as colours of the board, for one kind of piece and one side at a time. */

import { outline, piecePicture } from "./diagram.js";
import { byId, html, narrowScreenQuery, pageData, svg } from "./dom.js";

/** @type {Layout} */
const layout = pageData("layout");
/** @typedef {{kind: string, piece: string, own: boolean, flipped: boolean, weights: number[]}} HeatMap */
/** @type {HeatMap[]} */
const maps = pageData("maps");
/** Number of shades of each colour, as in the tables beside the board. */
const N_SHADES = 5;
const OWNERS = { own: "its own", other: "the other’s" };
/** Matches screens so narrow that the board is turned by a quarter. */
const NARROW_SCREEN = narrowScreenQuery();

/** @param {number} number @param {number} places */
const signed = (number, places) => `${number > 0 ? "+" : number < 0 ? "−" : ""}${Math.abs(number).toFixed(places)}`;

/** Returns the class of a weight's shade, if `maxWeight` is the greatest absolute weight. */
export function shadeClass(/** @type {number} */ weight, /** @type {number} */ maxWeight) {
  const step = maxWeight ? Math.round((N_SHADES * Math.abs(weight)) / maxWeight) : 0;
  return step ? `heat-${weight > 0 ? "p" : "m"}${step}` : "heat-0";
}

/** Returns the number of decimal places for weights up to `maxWeight`. */
const decimalPlaces = (/** @type {number} */ maxWeight) => (maxWeight >= 0.3 ? 2 : maxWeight >= 0.03 ? 3 : 4);

/** Returns a weight in a form short enough for a hex. @param {number} weight @param {number} places */
const hexWords = (weight, places) => (Number(weight.toFixed(places)) ? signed(weight, places).replace("0.", ".") : "0");

/** @param {string} name */
const chosenValue = (name) => document.querySelector(`input[name="${name}"]:checked`)?.getAttribute("value");

/** @param {HTMLElement} root @param {string} name @param {[string, ...(Node|string)[]][]} choices */
function showRadios(root, name, choices) {
  root.replaceChildren(
    ...choices.map(([value, ...label], index) =>
      html("label", { class: "choice" }, html("input", { type: "radio", name, value, checked: index === 0 }), label),
    ),
  );
}

/** Returns a sentence about the hexes with the greatest and the smallest weight. */
function mapWords(/** @type {HeatMap} */ map, /** @type {string} */ name, /** @type {number} */ places) {
  const extremeWords = (/** @type {number} */ sign) => {
    const maxWeight = Math.max(...map.weights.map((weight) => sign * weight));
    const cells = layout.cells.filter((_, cell) => sign * map.weights[cell] === maxWeight).map(({ name: hex }) => hex);
    return maxWeight > 0 ? `${signed(sign * maxWeight, places)} on ${cells.join(" and ")}` : "nowhere";
  };
  return `${name}: most for it ${extremeWords(1)}, most against it ${extremeWords(-1)}.`;
}

function draw() {
  const [kind, own, flipped] = [
    chosenValue("kind"),
    chosenValue("own") === "own",
    byId("heat-flipped", HTMLInputElement).checked,
  ];
  const bothSides = maps.filter((map) => map.kind === kind && map.flipped === flipped);
  const shownMap = /** @type {HeatMap} */ (bothSides.find((map) => map.own === own));
  // The shades of both sides have the same scale.
  const maxWeight = Math.max(...bothSides.flatMap((map) => map.weights.map(Math.abs)));
  const places = decimalPlaces(maxWeight);
  const words = mapWords(shownMap, `${OWNERS[own ? "own" : "other"]} ${flipped ? "flipped " : ""}${kind}`, places);
  byId("heat-board").replaceChildren(drawBoard(shownMap, maxWeight, places, words));
  byId("heat-legend").replaceChildren(...legendItems(maxWeight, places));
  byId("heat-words").textContent = `${words[0].toUpperCase()}${words.slice(1)}`;
}

/** @param {HeatMap} map @param {number} maxWeight @param {number} places @param {string} words */
function drawBoard(map, maxWeight, places, words) {
  const isUpright = NARROW_SCREEN.matches;
  const [width, height] = [100 * layout.columns, 100 * layout.rows];
  const cells = layout.cells.map((cell, index) => {
    const [x, y] = [100 * cell.x, 100 * cell.y];
    const weight = map.weights[index];
    return svg(
      "g",
      { class: shadeClass(weight, maxWeight) },
      svg("path", { class: "heat-cell", d: outline(layout, x, y) }),
      cell.goal
        ? svg("path", { class: "heat-goal", d: outline(layout, 0, 0), transform: `translate(${x} ${y}) scale(.88)` })
        : null,
      svg("text", { x, y: y + 9, transform: isUpright ? `rotate(-90 ${x} ${y})` : null }, hexWords(weight, places)),
    );
  });
  return svg(
    "svg",
    {
      class: "heat-picture",
      role: "img",
      "aria-label": words,
      viewBox: isUpright ? `-4 -4 ${height + 8} ${width + 8}` : `-4 -4 ${width + 8} ${height + 8}`,
    },
    svg("g", { transform: isUpright ? `translate(${height} 0) rotate(90)` : null }, cells),
  );
}

function legendItems(/** @type {number} */ maxWeight, /** @type {number} */ places) {
  const steps = Array.from({ length: 2 * N_SHADES + 1 }, (_, step) => (maxWeight * (step - N_SHADES)) / N_SHADES);
  return [
    html("span", {}, `against it ${signed(-maxWeight, places)}`),
    ...steps.map((weight) =>
      html("span", { class: `heat-key ${shadeClass(weight, maxWeight)}`, "aria-hidden": "true" }),
    ),
    html("span", {}, `${signed(maxWeight, places)} for it`),
  ];
}

if (maps.some(({ weights }) => weights.some(Boolean))) {
  const kinds = maps.filter(({ own, flipped }) => own && !flipped);
  showRadios(
    byId("heat-kinds"),
    "kind",
    kinds.map(({ kind, piece }) => [kind, piecePicture(layout, piece, 24), kind]),
  );
  showRadios(byId("heat-owners"), "own", Object.entries(OWNERS));
  byId("heat-flips").hidden = !maps.some(({ flipped }) => flipped);
  byId("heat").addEventListener("change", draw);
  NARROW_SCREEN.addEventListener("change", draw);
  draw();
  byId("heat").hidden = false;
}
