/** The final of a class, on the page of the results and on the projector: the places, and a typical match. */

import { boardPicture, cellsAt } from "./diagram.js";
import { byId, find, pageData } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { matchbox, roll } from "./matchbox.js";
import { PAGE_MS, ROWS_OF_COLUMN } from "./projector.js";

/** @typedef {Record<"number"|"side"|"place"|"points"|"win"|"draw"|"loss"|"endless", number> & {name: string}} Place */
/** @typedef {{board: Pieces, lit: string[], words: string, draw: Draw|null}} MatchFrame */

const STEP_MS = 3_000;
const SIDES = ["Machines that play first", "Machines that play second"];

/** @type {{against: string, places: Place[], players: string[], frames: MatchFrame[], result: string}} */
const final = pageData("class-final");
/** @type {Layout} */
const layout = pageData("class-game").layout;
const projectorScreen = document.querySelector("[data-screen]");
const ownNumber = Number(byId("final-places").dataset.number);
/** The table has columns for draws and for games without an end only if a machine has such games. */
const hasDraws = final.places.some(({ draw }) => draw > 0.0005);
const hasEndless = final.places.some(({ endless }) => endless > 0.0005);
const aboutText = document.getElementById("final-about")?.textContent ?? "";
let pageIndex = 0;
let shownStep = 0;
/** @type {ReturnType<typeof setInterval>|undefined} */
let timer;

const percentText = (/** @type {number} */ share) => (100 * share).toFixed(1);

/** Returns a list of places for each side with machines. */
function placesBySide() {
  return [0, 1].map((side) => final.places.filter((place) => place.side === side)).filter((places) => places.length);
}

/** Returns the places in columns: a column for each side; on the projector, only the rows of the current page. */
function shownColumns() {
  const all = placesBySide();
  if (!projectorScreen) return all;
  const rowsFrom = (/** @type {Place[]} */ places, /** @type {number} */ from) =>
    places.slice(from, from + ROWS_OF_COLUMN);
  if (all.length > 1) return all.map((places) => rowsFrom(places, pageIndex * ROWS_OF_COLUMN));
  return [0, 1]
    .map((half) => rowsFrom(all[0], (2 * pageIndex + half) * ROWS_OF_COLUMN))
    .filter((places) => places.length);
}

function countPages() {
  const all = placesBySide();
  return all.length > 1
    ? Math.max(...all.map((places) => Math.ceil(places.length / ROWS_OF_COLUMN)))
    : Math.ceil(all[0].length / (2 * ROWS_OF_COLUMN));
}

function drawPlaces() {
  render(shownColumns().map(placesTable), byId("final-places"));
  if (projectorScreen)
    byId("screen-page").textContent = countPages() > 1 ? `· page ${pageIndex + 1} of ${countPages()}` : "";
}

function placesTable(/** @type {Place[]} */ places) {
  const hasSides = placesBySide().length > 1;
  const caption = hasSides && places.length ? html`<caption>${SIDES[places[0].side]}</caption>` : nothing;
  const titles = [
    html`<span class="visually-hidden">Place</span>`,
    "Machine of",
    "Points",
    "Wins",
    ...(hasDraws ? ["Draws"] : []),
    "Losses",
    ...(hasEndless ? ["No end"] : []),
  ];
  const table = html`<table class=${projectorScreen ? "screen-rows" : "class-rows"}>${caption}${tableHead(titles, 2)}<tbody>
    ${places.map(
      (place) => html`<tr class=${place.number === ownNumber ? "is-own" : nothing}>
        <td class="figure">${place.place}.</td>
        <th scope="row"><span>${place.name}</span>${place.number === ownNumber ? html` <b>(you)</b>` : nothing}</th>
        <td class="figure"><b>${percentText(place.points)}</b></td>
        ${[place.win, ...(hasDraws ? [place.draw] : []), place.loss, ...(hasEndless ? [place.endless] : [])].map(
          (share) => html`<td class="figure">${percentText(share)}</td>`,
        )}</tr>`,
    )}</tbody></table>`;
  const name = hasSides && places.length ? SIDES[places[0].side] : "Places";
  return projectorScreen
    ? table
    : html`<div class="scroll" tabindex="0" role="region" aria-label=${name}>${table}</div>`;
}

/** Shows the board after a number of moves, and the box that each machine opened last. A new bead rolls. */
function showStep(/** @type {number} */ to) {
  const isForward = to === shownStep + 1;
  shownStep = Math.max(0, Math.min(to, final.frames.length - 1));
  const frame = final.frames[shownStep];
  const isLast = shownStep === final.frames.length - 1;
  const [first, second] = final.players;
  const words = shownStep ? frame.words : `${first} plays first. ${second} plays second.`;
  byId("final-words").textContent = isLast && shownStep ? `${words} ${final.result}` : words;
  byId("final-board").replaceChildren(
    boardPicture(layout, frame.board, { size: 300, lit: cellsAt(layout, frame.lit) }),
  );
  render(layout.roles.map(openedBox), byId("final-boxes"));
  const newestPicture = isForward && frame.draw && document.querySelector(`[data-ply="${shownStep}"] svg`);
  if (newestPicture instanceof SVGElement) roll(newestPicture, true);
  if (isLast) pause();
  // Not `disabled`, which would take the focus from a button that has just been pressed.
  byId("final-back").setAttribute("aria-disabled", String(shownStep === 0));
  byId("final-next").setAttribute("aria-disabled", String(isLast));
}

/** Returns the box that a side has opened last; nothing for a side without boxes. */
function openedBox(/** @type {string} */ role, /** @type {number} */ side) {
  let ply = shownStep;
  while (ply > 0 && final.frames[ply].draw?.role !== role) ply -= 1;
  const { draw } = final.frames[ply];
  if (!draw) return nothing;
  const picture = matchbox(layout, {
    ...draw.box,
    slots: draw.slots,
    slot: draw.slot,
    title: final.players[side],
    boardMoves: true,
    fit: draw.symmetry,
    symmetry: draw.symmetry,
  });
  return html`<figure data-ply=${ply}>${picture}<figcaption>${final.players[side]}</figcaption></figure>`;
}

function pause() {
  clearInterval(timer);
  timer = undefined;
  byId("final-play").textContent = "Play";
}

function play() {
  if (shownStep === final.frames.length - 1) showStep(0);
  byId("final-play").textContent = "Pause";
  timer = setInterval(() => showStep(shownStep + 1), STEP_MS);
}

/** Shows the match in place of the ranking on the projector, or the ranking again. */
function toggleMatch() {
  const match = byId("screen-match");
  match.hidden = !match.hidden;
  byId("final-places").hidden = byId("screen-page").hidden = !match.hidden;
  byId("final-about").textContent = match.hidden
    ? aboutText
    : `${final.players[0]} (first) against ${final.players[1]} (second)`;
  byId("final-switch").textContent = match.hidden ? "Show the match" : "Show the places";
  pause();
  if (!match.hidden) {
    showStep(0);
    play();
  }
}

byId("final-back").addEventListener("click", () => {
  pause();
  showStep(shownStep - 1);
});
byId("final-next").addEventListener("click", () => {
  pause();
  showStep(shownStep + 1);
});
byId("final-play").addEventListener("click", () => (timer === undefined ? play() : pause()));
drawPlaces();
showStep(0);
byId("final-words").setAttribute("role", "status");
if (projectorScreen) {
  byId("final-places").classList.toggle("has-five", hasDraws && hasEndless);
  find("#final-switch").addEventListener("click", toggleMatch);
  setInterval(() => {
    pageIndex = (pageIndex + 1) % countPages();
    drawPlaces();
  }, PAGE_MS);
}
