/** Explains a value-table machine in a match: the values at its last move, and the values that the match changed. */

import { find } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { percent } from "./words.js";

/** @param {number} n @param {number} places */
const signedDigits = (n, places) => `${n < 0 ? "−" : ""}${Math.abs(n).toFixed(places)}`;
const figureCell = (/** @type {unknown} */ content) => html`<td class="figure">${content}</td>`;

/** Returns whether the state describes a machine by boxes and draws. */
export const keepsBoxes = (/** @type {MachineBrief|null} */ machine) => machine?.tells === "boxes";

/** Returns whether the state describes a machine by values of moves. */
const keepsValues = (/** @type {MachineBrief|null} */ machine) => machine?.tells === "values";

/** Fills the section of the match page, or hides it if no machine in the match keeps values. */
export function showValues(/** @type {MatchState} */ state, /** @type {HTMLElement} */ section) {
  const { thought, changes, plies } = state.learning?.values ?? { thought: null, changes: [], plies: [] };
  const owners = /** @type {MachineSeat[]} */ (state.seats.filter((seat) => keepsValues(seat.machine)));
  const seat = owners.find(({ role }) => role === thought?.role) ?? owners[0];
  section.hidden = !seat;
  if (!seat) return;
  const { machine } = seat;
  const part = (/** @type {string} */ name) => find(`[data-values=${name}]`, HTMLElement, section);
  part("words").textContent = thoughtWords(
    seat,
    thought,
    plies.some(({ role }) => role === seat.role),
  );
  render(thought ? thoughtTable(thought) : nothing, part("thought"));
  render(changes.length ? changesTable(changes, state.moves) : nothing, part("changes"));
  find("a", HTMLAnchorElement, section).href =
    `/machines/${machine.id}/values?position=${encodeURIComponent(state.position)}`;
}

/** Returns a sentence about the machine's last move. */
/** @param {MachineSeat} seat @param {Thought|null} thought @param {boolean} hasMoved */
function thoughtWords({ machine, name, takes_over: isTakenOver }, thought, hasMoved) {
  // The state has no thought of this machine if another machine moved after it.
  if (!thought && hasMoved) return `${machine.name} tells what it thinks after its own moves.`;
  if (!thought) return `${machine.name} has not moved yet. It will play the move with the highest value.`;
  const playedMove = /** @type {Thought["candidates"][number]} */ (thought.candidates.find(({ chosen }) => chosen));
  if (isTakenOver) return `${name} played ${playedMove.name} for it, out of ${thought.n_candidates} moves.`;
  if (thought.explored)
    return `It tried a random move: ${playedMove.name}. It does this in ${percent(thought.epsilon)} of its moves.`;
  return `It played ${playedMove.name}, out of ${thought.n_candidates} moves.`;
}

/** Remarks on a move that ends the game, by its result. @type {Record<number, string>} */
const END_WORDS = { 1: "wins", "-1": "loses by repetition" };

/** Returns remarks on a move, because its numbers alone do not always explain the choice. */
const moveTags = (/** @type {Thought["candidates"][number]} */ { chosen, ends }) =>
  [chosen && "played", END_WORDS[ends]].filter(Boolean).map((name) => html`<span class="tag">${name}</span>`);

function thoughtTable(/** @type {Thought} */ { has_outlook: hasOutlook, candidates }) {
  const names = hasOutlook ? ["Move", "Learnt (Q)", "Outlook (E/100)", "Sum"] : ["Move", "Learnt"];
  return html`<table class="figure exact">
    <caption>What it thought of its last move, the best first</caption>
    ${tableHead(names, names.length)}
    <tbody>${candidates.map(
      (move) => html`<tr>
        <th scope="row">${move.name}${moveTags(move)}</th>
        ${figureCell(signedDigits(move.value, 4))}${hasOutlook ? [figureCell(signedDigits(move.outlook, 3)), figureCell(signedDigits(move.total, 4))] : nothing}
      </tr>`,
    )}</tbody>
  </table>`;
}

function changesTable(/** @type {ValueChange[]} */ changes, /** @type {Played[]} */ moves) {
  return html`<details>
    <summary>Every value that changed</summary>
    <table class="figure exact">
      <caption>What the match taught</caption>
      ${tableHead(["Move", "Before", "After"], 3)}
      <tbody>${changes.map(
        (change) => html`<tr>
          <th scope="row">${change.ply + 1}. ${moves[change.ply]?.name ?? change.name}</th>
          ${figureCell(signedDigits(change.before, 4))}${figureCell(signedDigits(change.after, 4))}
        </tr>`,
      )}</tbody>
    </table>
  </details>`;
}
