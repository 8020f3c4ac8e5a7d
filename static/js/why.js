/**
 * The page that explains a machine's moves: a board on which the reader moves for both sides, and the box for that
 * board.
 */

import { beadPicture } from "./beads.js";
import { Board } from "./board.js";
import { isTurned, printedWords } from "./diagram.js";
import { byId, find, pageData } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { closedMatchbox, matchbox } from "./matchbox.js";
import { averageWords, capitalise, decimalPercents, formatNumber, joinWithOr, percent } from "./words.js";

const page = find("[data-base]");
const game = pageData("game");
const layout = game.layout ?? game;
const { title, base } = page.dataset;
/** @type {string[]} the positions before the present one */
const earlierPositions = [];
/** @typedef {MoveBead & {slot: number|null, beads: number|null, move: string, name: string, probability: number}} Move */
/** @typedef {{moves: Move[], box: PrintedBox, symmetry: Placement, visit?: (number|null)[], forced: boolean, resigns: boolean}} Why */
/** @type {{why: Why|null, moves: (Move & {path: string[], next: string})[], board: Pieces, position: string, role: string, over: string}} */
let view = pageData("view");

const board = new Board(byId("board"), layout, (played) => {
  const move = view.moves.find((legal) => legal.move === played);
  if (move) goTo(move.next);
});

/** Loads and shows a position. With `isNew` it becomes the next entry of the browser's history. */
async function goTo(/** @type {string} */ position, { isNew = true } = {}) {
  const address = `${base}?position=${encodeURIComponent(position)}`;
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "application/json" } });
  } catch {
    return showProblem("The site does not answer. Try again in a moment.");
  }
  const content = await response.json();
  if (!response.ok) return showProblem(content.detail);
  if (isNew) {
    earlierPositions.push(view.position);
    history.pushState({ position }, "", address);
  }
  view = content;
  showProblem("");
  return show();
}

function showProblem(/** @type {string} */ words) {
  byId("problem").hidden = !words;
  byId("problem").textContent = words;
}

/** Returns the slots of the box, with their moves on this board; an empty list without a box. */
function boxSlotsOf(/** @type {Why} */ { moves, box }) {
  const byNumber = new Map();
  for (const move of moves.filter(({ slot }) => slot !== null)) {
    const slot = byNumber.get(move.slot) ?? {
      slot: move.slot,
      colour: move.colour,
      mark: move.mark,
      beads: move.beads,
      moves: [],
      paths: [],
      names: [],
      probability: 0,
    };
    slot.moves.push(move.move);
    slot.paths.push(move.cells.map((cell) => layout.cells[cell].id));
    slot.names.push(move.name);
    slot.probability += move.probability;
    byNumber.set(move.slot, slot);
  }
  return box ? [...byNumber.values()].sort((a, b) => a.slot - b.slot) : [];
}

function show() {
  const { why } = view;
  board.update({
    board: view.board,
    beads: (why?.moves ?? []).filter(({ slot }) => slot !== null),
    ghostRole: view.role,
    paths: Object.fromEntries(view.moves.map(({ move, path }) => [move, path])),
  });
  // An invalid position stays in its field, so that the reader can correct it.
  if (byId("problem").hidden) byId("position", HTMLInputElement).value = view.position;
  byId("back", HTMLButtonElement).disabled = !earlierPositions.length;
  byId("say").textContent = choiceWords();
  const boxSlots = why ? boxSlotsOf(why) : [];
  byId("matchbox").replaceChildren(
    why && boxSlots.length
      ? matchbox(layout, {
          ...why.box,
          slots: boxSlots,
          slot: null,
          title,
          boardMoves: true,
          fit: why.symmetry,
          symmetry: why.symmetry,
        })
      : closedMatchbox(`A closed matchbox of ${title}`),
  );
  render(why?.box ? boxNote(why, boxSlots.length > 0) : nothing, byId("turned"));
  render(oddsTable(), byId("odds"));
}

/** Returns the orientation of the box, the probability that a random game opens it, and a link to its history. */
function boxNote(/** @type {Why} */ { symmetry, visit: [visit, openings] = [], box }, /** @type {boolean} */ isOpen) {
  const probability = html`<span title="probability ${visit}">A game against random play opens it with ${percent(visit ?? 0)}${averageWords(openings)}. </span>`;
  return html`${
    isOpen && isTurned(symmetry) ? `The printed box is turned to fit: ${symmetry.name}. ` : `${printedWords(symmetry)} `
  }${visit === undefined || visit === null ? nothing : probability}<a href=${box.url}>The history of this box</a>`;
}

/** Returns the table of the machine's moves with their chances, or of the other side's legal moves. */
function oddsTable() {
  const { why, moves } = view;
  const rows = why ? why.moves : moves;
  const chances = why ? decimalPercents(rows.map(({ probability }) => probability)) : [];
  const caption = why
    ? `The chances of ${title}. Squares with the same bead share it.`
    : moves.length
      ? "Legal moves"
      : "No move is left";
  const row = (/** @type {Move} */ move, /** @type {number} */ n) => html`<tr>
    <td>${move.mark ? html`${beadPicture(move)}<span class="visually-hidden">bead ${move.mark}</span>` : nothing}</td>
    <th scope="row">${capitalise(move.name)}</th>
    <td class="figure">${move.beads === undefined || move.beads === null ? "\u2013" : formatNumber(move.beads)}</td>
    <td class="figure" title=${move.probability === undefined ? nothing : `probability ${move.probability}`}
      >${why ? chances[n] : "\u2013"}</td>
    ${why ? html`<td class="figure">${move.probability.toFixed(6)}</td>` : nothing}
  </tr>`;
  return html`<caption>${caption}</caption>
    ${rows.length ? tableHead(["Bead", "Move", "Beads", "Chance", ...(why ? ["Exactly"] : [])], 2) : nothing}
    <tbody>${rows.map(row)}</tbody>`;
}

/** Returns the sentence about the machine's choice on this board. */
function choiceWords() {
  const { why } = view;
  if (view.over) return view.over;
  if (!why) return `The other side is to move. Play its move to see what ${title} would do.`;
  if (why.forced) return `${title} has only one move here, so it needs no box.`;
  if (why.resigns) return `The box is empty, so ${title} gives up here.`;
  if (!why.box) return `${title} has never been here. It would make a new box.`;
  const boxSlots = boxSlotsOf(why);
  const likeliest = boxSlots.reduce((a, b) => (b.probability > a.probability ? b : a));
  const isUniform = boxSlots.every(({ probability }) => Math.abs(probability - likeliest.probability) < 1e-12);
  return isUniform
    ? `${title} is to move, and every bead is as likely as the others.`
    : `${title} is to move. Most likely, ${percent(likeliest.probability)}: bead ${likeliest.mark}, ${joinWithOr(likeliest.names)}.`;
}

byId("back").addEventListener("click", () => {
  const position = earlierPositions.pop();
  if (position === undefined) return;
  history.replaceState({ position }, "", `${base}?position=${encodeURIComponent(position)}`);
  goTo(position, { isNew: false });
});
byId("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  goTo(byId("position", HTMLInputElement).value.trim());
});
addEventListener("popstate", () => {
  earlierPositions.pop();
  goTo(new URLSearchParams(location.search).get("position") ?? game.start, { isNew: false });
});
// Removes the table that the server rendered for browsers without scripts.
byId("odds").replaceChildren();
show();
