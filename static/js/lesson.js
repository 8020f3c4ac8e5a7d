/** Lists the lesson of a match: every change of beads, box by box, with its reason. */

import { beadPicture } from "./beads.js";
import { html, nothing } from "./lit.js";
import { capitalise, countWords, formatNumber, ordinal } from "./words.js";

/** Returns a change with the name of the move as it was played. On the label of the box, the board may be turned. */
/** @param {Change} change @param {Draw|undefined} draw @param {Played[]} moves */
export function withPlayedName(change, draw, moves) {
  const move = draw?.slot === change.slot && moves.find(({ ply }) => ply === change.ply);
  return move ? { ...change, name: move.name } : change;
}

/** Returns the changes of beads as list items; `onShow` is called with the ply of the box that the reader opens. */
/** @param {LearntMatch} match @param {(ply: number) => void} onShow */
export function lessonItems({ learning, moves }, onShow) {
  return learning.changes.map((printed) => {
    const draw = learning.draws.find(({ ply, role }) => ply === printed.ply && role === printed.role);
    const change = withPlayedName(printed, draw, moves);
    const lesson = /** @type {Lesson} */ (learning.lessons.find(({ role }) => role === change.role));
    const machineName = learning.lessons.length > 1 ? lesson.machine.name : null;
    return html`<li>
      <button type="button" class="change" @click=${() => onShow(change.ply)}>
        ${beadPicture(change, 34)}<span class="change-delta">${signedCount(change.delta)}</span
        ><span class="change-words">${changeSentence(change, draw, lesson.result, machineName)}</span
        >${draw && !change.refill ? beforeAndAfter(draw, learning.changes) : nothing}
      </button>
    </li>`;
  });
}

/** Returns a change of beads with its sign: "+3", "−1". */
export function signedCount(/** @type {number} */ delta) {
  return delta > 0 ? `+${formatNumber(delta)}` : delta < 0 ? `\u2212${formatNumber(-delta)}` : "0";
}

/** Maximum number of beads of a slot that are drawn one by one. */
const MAX_SINGLE_BEADS = 8;

/** Returns all beads of a box when it was opened and after the match. */
function beforeAndAfter(/** @type {Draw} */ draw, /** @type {Change[]} */ changes) {
  const boxChanges = changes.filter(({ ply, role, refill }) => ply === draw.ply && role === draw.role && !refill);
  const slotsAfter = draw.slots.map((slot) => {
    const delta = boxChanges
      .filter((change) => change.slot === slot.slot)
      .reduce((sum, change) => sum + change.delta, 0);
    return { ...slot, beads: slot.beads + delta, isChanged: delta !== 0 };
  });
  return html`<span class="change-box">${beadRow("Before", draw.slots)}${beadRow("After", slotsAfter)}</span>`;
}

/** Returns the beads of a box at the time `when`: one by one, or with a number if a slot has many. */
/** @param {string} when @param {(BeadLook & {beads: number, isChanged?: boolean})[]} slots */
export function beadRow(when, slots) {
  const words = slots.map(({ mark, beads }) => `${formatNumber(beads)} ${mark}`).join(", ");
  /** @param {BeadLook & {beads: number, isChanged?: boolean}} of */
  const pile = ({ mark, colour, beads, isChanged }) => html`<span
    class=${isChanged ? "bead-pile is-changed" : "bead-pile"} aria-hidden="true"
    >${Array.from({ length: beads > MAX_SINGLE_BEADS ? 1 : beads }, () => beadPicture({ colour, mark }, 16))}${
      beads > MAX_SINGLE_BEADS ? html`<b>× ${formatNumber(beads)}</b>` : beads ? nothing : html`<b>no ${mark}</b>`
    }</span>`;
  return html`<span class="bead-row"
    ><span class="soft small" aria-hidden="true">${when}</span
    ><span class="visually-hidden"> ${when}: ${words}.</span>${slots.map(pile)}</span>`;
}

/**
 * Returns a sentence about a change of beads, such as "It drew C (top right) from its second box and lost: one bead of that
 * kind comes out, 3 become 2." With `name`, it names the machine.
 */
/** @param {Change} change @param {Draw|undefined} draw @param {string} result @param {string|null} [name] */
export function changeSentence(change, draw, result, name = null) {
  const bead = `${change.mark} (${change.name})`;
  if (change.refill) return `The box was empty, so it was filled again: ${countWords(change.delta, "bead")} ${bead}.`;
  const box = draw ? `${name ? `${name}'s` : "its"} ${ordinal(draw.box.move_number)} box` : "this box";
  const verb = draw?.by_hand ? "was played" : name ? "was drawn" : null;
  const event =
    draw && draw.slot === change.slot
      ? verb
        ? `${bead} ${verb} from ${box}`
        : `It drew ${bead} from ${box}`
      : `In ${box}, bead ${bead}`;
  const outcome = name
    ? ({ win: "in a game won", draw: "in a drawn game", loss: "in a game lost" }[result] ?? "")
    : ({ win: "and won", draw: "and the game was a draw", loss: "and lost" }[result] ?? "");
  return `${capitalise(event)} ${outcome}: ${changeWords(change)}.`;
}

function changeWords(/** @type {Change} */ { delta, before, after }) {
  const numbers = `${formatNumber(before)} become${before === 1 ? "s" : ""} ${formatNumber(after)}`;
  if (delta > 0) return `${countWords(delta, "bead")} of that kind go${delta === 1 ? "es" : ""} in, ${numbers}`;
  if (delta < 0) return `${countWords(-delta, "bead")} of that kind come${delta === -1 ? "s" : ""} out, ${numbers}`;
  return `nothing changes, it stays at ${formatNumber(after)}`;
}
