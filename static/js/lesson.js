/** The lesson of a match: every bead added or removed, box by box, each with its reason. */

import { beadPicture } from "./beads.js";
import { html, nothing } from "./lit.js";
import { count, figure, ordinal, sentence } from "./words.js";

/** A change with its move named as it was played: on the label of the box the board may be turned. */
/** @param {Change} change @param {Draw|undefined} draw @param {Played[]} moves */
export function asPlayed(change, draw, moves) {
  const move = draw?.slot === change.slot && moves.find(({ ply }) => ply === change.ply);
  return move ? { ...change, name: move.name } : change;
}

/** The list of changes of a match's `learning` as items; `onShow(ply)` is called when the reader opens that box. */
/** @param {LearntMatch} of @param {(ply: number) => void} onShow */
export function lessonItems({ learning, moves }, onShow) {
  return learning.changes.map((told) => {
    const draw = learning.draws.find((one) => one.ply === told.ply && one.role === told.role);
    const change = asPlayed(told, draw, moves);
    const lesson = /** @type {Lesson} */ (learning.lessons.find((one) => one.role === change.role));
    const who = learning.lessons.length > 1 ? lesson.machine.name : null;
    return html`<li>
      <button type="button" class="change" @click=${() => onShow(change.ply)}>
        ${beadPicture(change, 34)}<span class="change-delta">${signed(change.delta)}</span
        ><span class="change-words">${reason(change, draw, lesson.result, who)}</span
        >${draw && !change.refill ? beforeAndAfter(draw, learning.changes) : nothing}
      </button>
    </li>`;
  });
}

/** How many beads came or went: "+3", "−1". */
export function signed(/** @type {number} */ delta) {
  return delta > 0 ? `+${figure(delta)}` : delta < 0 ? `\u2212${figure(-delta)}` : "0";
}

/** Most beads of a kind that are drawn one by one. */
const FEW = 8;

/** All beads of a box as it was opened, and as the match has left it: how much one game changes is seen at once. */
function beforeAndAfter(/** @type {Draw} */ draw, /** @type {Change[]} */ changes) {
  const own = changes.filter(({ ply, role, refill }) => ply === draw.ply && role === draw.role && !refill);
  const after = draw.slots.map((slot) => {
    const delta = own.filter((change) => change.slot === slot.slot).reduce((sum, change) => sum + change.delta, 0);
    return { ...slot, beads: slot.beads + delta, isChanged: delta !== 0 };
  });
  return html`<span class="change-box">${beadRow("Before", draw.slots)}${beadRow("After", after)}</span>`;
}

/** The beads of a box as they were at some time: one by one as far as they are few. */
/** @param {string} when @param {(BeadLook & {beads: number, isChanged?: boolean})[]} slots */
export function beadRow(when, slots) {
  const words = slots.map(({ mark, beads }) => `${figure(beads)} ${mark}`).join(", ");
  /** @param {BeadLook & {beads: number, isChanged?: boolean}} of */
  const pile = ({ mark, colour, beads, isChanged }) => html`<span
    class=${isChanged ? "bead-pile is-changed" : "bead-pile"} aria-hidden="true"
    >${Array.from({ length: beads > FEW ? 1 : beads }, () => beadPicture({ colour, mark }, 16))}${
      beads > FEW ? html`<b>× ${figure(beads)}</b>` : beads ? nothing : html`<b>no ${mark}</b>`
    }</span>`;
  return html`<span class="bead-row"
    ><span class="soft small" aria-hidden="true">${when}</span
    ><span class="visually-hidden"> ${when}: ${words}.</span>${slots.map(pile)}</span>`;
}

/** Why the beads of one box changed: "In the box of its second move it had drawn C (top right). …: 3 become 2." */
/** @param {Change} change @param {Draw|undefined} draw @param {string} result @param {string|null} [name] */
export function reason(change, draw, result, name = null) {
  const kind = `${change.mark} (${change.name})`;
  if (change.refill) return `The box was empty, so it was filled again: ${count(change.delta, "bead")} ${kind}.`;
  const where = draw ? `${name ? `${name}'s` : "its"} ${ordinal(draw.box.move_number)} box` : "this box";
  const came = draw?.by_hand ? "was played" : name ? "was drawn" : null;
  const drew =
    draw && draw.slot === change.slot
      ? came
        ? `${kind} ${came} from ${where}`
        : `It drew ${kind} from ${where}`
      : `In ${where}, bead ${kind}`;
  const outcome = name
    ? ({ win: "in a game won", draw: "in a drawn game", loss: "in a game lost" }[result] ?? "")
    : ({ win: "and won", draw: "and the game was a draw", loss: "and lost" }[result] ?? "");
  return `${sentence(drew)} ${outcome}: ${became(change)}.`;
}

function became(/** @type {Change} */ { delta, before, after }) {
  const then = `${figure(before)} become${before === 1 ? "s" : ""} ${figure(after)}`;
  if (delta > 0) return `${count(delta, "bead")} of that kind go${delta === 1 ? "es" : ""} in, ${then}`;
  if (delta < 0) return `${count(-delta, "bead")} of that kind come${delta === -1 ? "s" : ""} out, ${then}`;
  return `nothing changes, it stays at ${figure(after)}`;
}
