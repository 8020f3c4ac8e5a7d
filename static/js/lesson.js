/** What a machine learnt from a match: every bead added or taken away, box by box, each with its reason. */

import { beadPicture } from "./beads.js";
import { html, isStill } from "./dom.js";
import { count, figure, ordinal, sentence } from "./words.js";

/** The list of changes as items; `onShow(ply)` is called when somebody wants to see that box. */
export function lessonItems(learning, onShow) {
  return learning.changes.map((change, at) => {
    const draw = learning.draws.find((one) => one.ply === change.ply && one.role === change.role);
    const lesson = learning.lessons.find((one) => one.role === change.role);
    const button = html(
      "button",
      { type: "button", class: "change" },
      beadPicture(change, 34),
      html(
        "span",
        { class: "change-delta" },
        change.delta > 0 ? `+${figure(change.delta)}` : change.delta < 0 ? `\u2212${figure(-change.delta)}` : "0",
      ),
      html(
        "span",
        { class: "change-words" },
        reason(change, draw, lesson.result, learning.lessons.length > 1 ? lesson.machine.name : null),
      ),
      draw && !change.refill ? beforeAndAfter(draw, learning.changes) : null,
    );
    button.addEventListener("click", () => onShow(change.ply));
    const item = html("li", {}, button);
    if (!isStill()) {
      item.animate(
        [
          { opacity: 0, transform: "translateY(6px)" },
          { opacity: 1, transform: "none" },
        ],
        { duration: 200, delay: Math.min(200, 60 * at), fill: "backwards" },
      );
    }
    return item;
  });
}

/** Up to so many beads of a kind are drawn one by one. */
const FEW = 8;

/** All beads of a box as it was opened, and as the match has left it: how much one game changes is seen at once. */
function beforeAndAfter(draw, changes) {
  const own = changes.filter(({ ply, role, refill }) => ply === draw.ply && role === draw.role && !refill);
  const after = draw.slots.map((slot) => {
    const delta = own.filter((change) => change.slot === slot.slot).reduce((sum, change) => sum + change.delta, 0);
    return { ...slot, beads: slot.beads + delta, isChanged: delta !== 0 };
  });
  return html("span", { class: "change-box" }, beadRow("Before", draw.slots), beadRow("After", after));
}

function beadRow(when, slots) {
  const words = slots.map(({ mark, beads }) => `${figure(beads)} ${mark}`).join(", ");
  return html(
    "span",
    { class: "bead-row" },
    html("span", { class: "soft small", "aria-hidden": "true" }, when),
    html("span", { class: "visually-hidden" }, ` ${when}: ${words}.`),
    slots.map((slot) =>
      html(
        "span",
        { class: slot.isChanged ? "bead-pile is-changed" : "bead-pile", "aria-hidden": "true" },
        Array.from({ length: slot.beads > FEW ? 1 : slot.beads }, () => beadPicture(slot, 16)),
        slot.beads > FEW ? html("b", {}, `× ${figure(slot.beads)}`) : null,
        slot.beads ? null : html("b", {}, `no ${slot.mark}`),
      ),
    ),
  );
}

/** Why the beads of one box changed: "In the box of its second move it had drawn C (top right). …: 3 become 2." */
export function reason(change, draw, result, name = null) {
  const kind = `${change.mark} (${change.name})`;
  if (change.refill)
    return `The box was empty when it was needed, so it was filled afresh: ${count(change.delta, "bead")} ${kind}.`;
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

function became({ delta, before, after }) {
  const then = `${figure(before)} become${before === 1 ? "s" : ""} ${figure(after)}`;
  if (delta > 0) return `${count(delta, "bead")} of that kind go${delta === 1 ? "es" : ""} in, ${then}`;
  if (delta < 0) return `${count(-delta, "bead")} of that kind come${delta === -1 ? "s" : ""} out, ${then}`;
  return `nothing changes, it stays at ${figure(after)}`;
}
