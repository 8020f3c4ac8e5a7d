/** Two tables of a value-table machine from the state: the values at its last move, and the changes by the match. */

import { find } from "./dom.js";
import { heads, html, nothing, render } from "./lit.js";
import { percent } from "./words.js";

/** @param {number} n @param {number} places */
const digits = (n, places) => `${n < 0 ? "−" : ""}${Math.abs(n).toFixed(places)}`;
const cell = (/** @type {unknown} */ words) => html`<td class="figure">${words}</td>`;

/** Whether a machine's data are boxes and draws. */
export const keepsBoxes = (/** @type {MachineBrief|null} */ machine) => machine?.tells === "boxes";

/** Whether a machine's data are values. */
const keepsValues = (/** @type {MachineBrief|null} */ machine) => machine?.tells === "values";

/** Fills the section of the match page, or hides it if no machine in the match keeps values. */
export function showValues(/** @type {MatchState} */ now, /** @type {HTMLElement} */ section) {
  const { thought, changes, plies } = now.learning?.values ?? { thought: null, changes: [], plies: [] };
  const owners = /** @type {MachineSeat[]} */ (now.seats.filter((seat) => keepsValues(seat.machine)));
  const seat = owners.find(({ role }) => role === thought?.role) ?? owners[0];
  section.hidden = !seat;
  if (!seat) return;
  const { machine } = seat;
  const part = (/** @type {string} */ name) => find(`[data-values=${name}]`, HTMLElement, section);
  part("words").textContent = words(
    seat,
    thought,
    plies.some(({ role }) => role === seat.role),
  );
  render(thought ? thoughtTable(thought) : nothing, part("thought"));
  render(changes.length ? changesTable(changes, now.moves) : nothing, part("changes"));
  find("a", HTMLAnchorElement, section).href =
    `/machines/${machine.id}/values?position=${encodeURIComponent(now.position)}`;
}

/** @param {MachineSeat} of @param {Thought|null} thought @param {boolean} hasMoved */
function words({ machine, name, takes_over: isTakenOver }, thought, hasMoved) {
  // The last decision is that of another machine, which the viewer may not see.
  if (!thought && hasMoved) return `${machine.name} tells what it thinks after its own moves.`;
  if (!thought) return `${machine.name} has not moved yet. It will play the move with the highest value.`;
  const played = /** @type {Thought["candidates"][number]} */ (thought.candidates.find((one) => one.chosen));
  if (isTakenOver) return `${name} played ${played.name} for it, out of ${thought.n_candidates} moves.`;
  if (thought.explored)
    return `It tried a random move: ${played.name}. It does this in ${percent(thought.epsilon)} of its moves.`;
  return `It played ${played.name}, out of ${thought.n_candidates} moves.`;
}

/** @type {Record<number, string>} */
const ENDS = { 1: "wins", "-1": "loses by repetition" };

/** Remarks on a move, since its numbers alone do not always explain the choice. */
const tags = (/** @type {Thought["candidates"][number]} */ { chosen, ends }) =>
  [chosen && "played", ENDS[ends]].filter(Boolean).map((name) => html`<span class="tag">${name}</span>`);

function thoughtTable(/** @type {Thought} */ { has_outlook: hasOutlook, candidates }) {
  const names = hasOutlook ? ["Move", "Learnt (Q)", "Outlook (E/100)", "Sum"] : ["Move", "Learnt"];
  return html`<table class="figure exact">
    <caption>What it thought of its last move, the best first</caption>
    ${heads(names, names.length)}
    <tbody>${candidates.map(
      (one) => html`<tr>
        <th scope="row">${one.name}${tags(one)}</th>
        ${cell(digits(one.value, 4))}${hasOutlook ? [cell(digits(one.outlook, 3)), cell(digits(one.total, 4))] : nothing}
      </tr>`,
    )}</tbody>
  </table>`;
}

function changesTable(/** @type {ValueChange[]} */ changes, /** @type {Played[]} */ moves) {
  return html`<details>
    <summary>Every value that changed</summary>
    <table class="figure exact">
      <caption>What the match taught</caption>
      ${heads(["Move", "Before", "After"], 3)}
      <tbody>${changes.map(
        (one) => html`<tr>
          <th scope="row">${one.ply + 1}. ${moves[one.ply]?.name ?? one.name}</th>
          ${cell(digits(one.before, 4))}${cell(digits(one.after, 4))}
        </tr>`,
      )}</tbody>
    </table>
  </details>`;
}
