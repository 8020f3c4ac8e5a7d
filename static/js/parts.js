/**
 * Explains the last move of a machine that learns a value of positions: the parts of the board's value, the alternative
 * moves, and the changed weights.
 */

import { find } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { seatOf } from "./match_words.js";

/** Number of parts that are visible without unfolding: the largest ones. */
const MAX_UNFOLDED_PARTS = 5;

/** Returns a number with its sign and two decimal places. */
export const signedNumber = (/** @type {number} */ number) => signedDigits(number, 2);

/** Returns a number with its sign and a number of decimal places; a result of 0 has no sign. */
const signedDigits = (/** @type {number} */ number, /** @type {number} */ places) => {
  const text = Math.abs(number).toFixed(places);
  return Number(text) ? `${number < 0 ? "−" : "+"}${text}` : text;
};

/** Returns a part as a list item, with a bar to the right if it favours the machine, else to the left. */
function partLine(/** @type {{name: string, value: number}} */ { name, value }, /** @type {number} */ largest) {
  const width = largest ? (100 * Math.abs(value)) / largest : 0;
  return html`<li>
    <span>${name}</span
    ><svg class="part-bar" viewBox="-100 0 200 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class=${value < 0 ? "is-against" : "is-for"} x=${value < 0 ? -width : 0} width=${width} height="10"/>
      <path d="M0 0V10"/></svg
    ><span class="figure">${signedNumber(value)}</span>
  </li>`;
}

/**
 * Returns the value of a board as the sum of its parts. The smaller parts and the single weights are folded.
 *
 * @param {PartsShown} board
 */
export function partsList({ sum, value, groups }) {
  const largest = Math.abs(groups[0]?.value ?? 0);
  const [first, rest] = [groups.slice(0, MAX_UNFOLDED_PARTS), groups.slice(MAX_UNFOLDED_PARTS)];
  /** @param {PartsShown["groups"]} parts */
  const list = (parts) => html`<ul class="plain parts">${parts.map((part) => partLine(part, largest))}</ul>`;
  const restSum = rest.reduce((total, part) => total + part.value, 0);
  const restWords = `${rest.length} smaller parts, together ${signedNumber(restSum)}`;
  const weights = groups
    .flatMap(({ parts }) => parts)
    .map(({ name, weight, amount, value: product }) => [
      name,
      signedDigits(weight, 4),
      String(amount),
      signedDigits(product, 4),
    ]);
  const caption = "Every weight that counted";
  return html`${list(first)}
    ${rest.length ? html`<details><summary>${restWords}</summary>${list(rest)}</details>` : nothing}
    <p class="parts-sum">All together ${signedNumber(sum)}: a value of ${signedNumber(value)}, between −1 and +1.</p>
    <details>
      <summary>${caption}</summary>
      ${table(caption, ["On the board", "Weight", "Times", "Adds"], weights)}
    </details>`;
}

/** Returns a table that scrolls sideways. The first cell of each row is the row's name. */
function table(/** @type {string} */ caption, /** @type {string[]} */ names, /** @type {unknown[][]} */ rows) {
  const row = (/** @type {unknown[]} */ [name, ...cells]) =>
    html`<tr><th scope="row">${name}</th>${cells.map((words) => html`<td class="figure">${words}</td>`)}</tr>`;
  return html`<div class="scroll-x" tabindex="0" role="group" aria-label=${caption}>
    <table class="figure exact">
      <caption class="visually-hidden">${caption}</caption>
      ${tableHead(names)}
      <tbody>${rows.map(row)}</tbody>
    </table>
  </div>`;
}

/**
 * Fills the section of the match page, or hides it if neither a machine nor a level in the match reports parts.
 */
export function showParts(/** @type {MatchState} */ state, /** @type {HTMLElement} */ section) {
  const { thoughts, changes } = state.learning?.parts ?? { thoughts: [], changes: [] };
  const owners = state.seats.filter((seat) => seat.machine?.tells === "parts");
  const thought = [...thoughts].sort((a, b) => a.ply - b.ply).at(-1);
  const machine = (owners.find(({ role }) => role === thought?.role) ?? (thought ? null : owners[0]))?.machine;
  section.hidden = !thought && !machine;
  if (section.hidden) return;
  const part = (/** @type {string} */ name) => find(`[data-parts=${name}]`, HTMLElement, section);
  part("words").textContent = thought
    ? thought.words
    : `${/** @type {MachineBrief} */ (machine).name} has not moved yet. After its first move you see here how it chose.`;
  const title = html`<h3>The board after it, for ${thought?.role}</h3>`;
  render(thought ? [title, partsList(thought)] : nothing, part("board"));
  render(thought ? movesTable(thought) : nothing, part("moves"));
  render(
    changes.map((change) => changedWeights(change, state)),
    part("changes"),
  );
  part("weights").hidden = !thought;
  if (thought) part("weights").setAttribute("href", thought.url);
  part("why").hidden = !machine;
  if (machine)
    part("why").setAttribute("href", `/machines/${machine.id}/values?position=${encodeURIComponent(state.position)}`);
}

function movesTable(/** @type {PartsThought} */ { moves, depth, n_moves: nMoves }) {
  const searchTitle = depth === 1 ? "One move ahead" : `${depth} moves ahead`;
  // A level's results of the search are not stored.
  const hasResults = moves.some(({ found }) => found !== null);
  const rows = moves.map(({ name, chosen, board, found }) => [
    chosen ? html`${name}<span class="tag">played</span>` : name,
    signedNumber(board),
    ...(hasResults ? [found === null ? "–" : signedNumber(found)] : []),
  ]);
  return html`<details>
    <summary>${moves.length < nMoves ? `The best of its ${nMoves} moves` : "Its moves"}</summary>
    ${table("Possible moves, the best first", ["Move", "The board after it", ...(hasResults ? [searchTitle] : [])], rows)}
  </details>`;
}

/** Returns the weights of a machine that the match changed most, and a link to all of its weights. */
function changedWeights(
  /** @type {WeightsLearnt} */ { role, url, n_changed: nChanged, weights },
  /** @type {MatchState} */ state,
) {
  const rows = weights.map(({ name, before, after }) => [
    name,
    signedDigits(before, 4),
    signedDigits(after, 4),
    signedDigits(after - before, 4),
  ]);
  return html`<details>
    <summary>What the match changed in ${seatOf(state, role)?.machine?.name ?? role}</summary>
    ${table("The weights that changed most", ["On the board", "Before", "After", "Change"], rows)}
    <p class="small"><a href=${url}>All ${nChanged} on the board</a></p>
  </details>`;
}
