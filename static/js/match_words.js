/**
 * The words of the match page: names of players, the state of the match, its events.
 *
 * `now` is the state of docs/protocol.md. `viewer` is the reader: {role (null for a spectator), layout}.
 */

import { figure, percent, sentence } from "./words.js";

/** @param {MatchState} now @param {string|null|undefined} role */
export const seatOf = (now, role) => now.seats.find((seat) => seat.role === role);

/** The name of a side. */
export function sideName(/** @type {string} */ role, /** @type {Viewer} */ { layout }) {
  return layout.role_names[layout.roles.indexOf(role)] ?? role;
}

/** The prompt for a side to move. @param {string} role @param {Viewer} of */
const promptOf = (role, { layout }) => layout.prompts?.[layout.roles.indexOf(role)] ?? "Your turn.";

/** A player's name, with the side if both players have the same name. */
/** @param {MatchState} now @param {string|null|undefined} role @param {Viewer} viewer */
export function nameOf(now, role, viewer) {
  if (role === viewer.role) return "You";
  const name = /** @type {string} */ (seatOf(now, role)?.name ?? role);
  const isAmbiguous = viewer.role === null && now.seats.every((seat) => seat.name === name);
  return isAmbiguous ? `${name} (${sideName(/** @type {string} */ (role), viewer)})` : name;
}

/** The state of the match in words. */
export function statusWords(/** @type {MatchState} */ now, /** @type {Viewer} */ viewer) {
  if (now.status === "waiting") return viewer.role ? "Waiting for the other player." : "One seat is still free.";
  if (now.status === "finished") return outcomeWords(now, viewer);
  const other = /** @type {string} */ (seatOf(now, now.turn)?.name ?? now.turn);
  const side = sideName(/** @type {string} */ (now.turn), viewer);
  if (now.thinking) return `${other} (${side}) is thinking…`;
  if (now.turn === viewer.role) return promptOf(/** @type {string} */ (now.turn), viewer);
  return `${sentence(other)} (${side}) to move.`;
}

/** The end of the match in words. */
export function outcomeWords(/** @type {MatchState} */ now, /** @type {Viewer} */ viewer) {
  const { winner, termination, reason } = /** @type {Outcome} */ (now.outcome);
  if (!winner) return `A draw: ${reason}.`;
  const loser = now.seats.find((seat) => seat.role !== winner)?.role;
  const won = winner === viewer.role ? "You won" : `${nameOf(now, winner, viewer)} won`;
  if (termination === "resignation")
    return `${won}: ${loser === viewer.role ? "you" : nameOf(now, loser, viewer)} gave up.`;
  if (termination === "empty_box") return `${won}: ${nameOf(now, loser, viewer)} found no bead in its box.`;
  return `${won}: ${reason}.`;
}

/** The game's notices about a board, such as a check or a rule that will end it soon. */
export function noticeWords(/** @type {BoardState} */ board) {
  return Object.values(board.notices)
    .map((words) => `${words}.`)
    .join(" ");
}

/** The lessons of the machines, or nothing while the match goes on. */
export function lessonWords(/** @type {MatchState} */ now) {
  if (now.status !== "finished" || !now.learning?.lesson) return "";
  return now.learning.lessons.map((lesson) => lesson.sentence).join(" ");
}

/** Links to the pages of the machines that learnt, as `{ url, words }`. */
export function lessonLinks(/** @type {MatchState} */ now) {
  const { lessons } = /** @type {Learning} */ (now.learning);
  return lessons.map(({ role, machine }) => {
    const sits = seatOf(now, role)?.machine;
    return { url: machine.url, words: (lessons.length > 1 ? sits?.see_named : sits?.see) ?? machine.name };
  });
}

/** Whether the match is about beads; learners without boxes have their own display. @param {MatchState} now */
export const tellsOfBeads = (now) => now.seats.some((seat) => seat.machine?.tells === "boxes");

/** The bead that was drawn. */
export function drawWords(/** @type {MatchState} */ now, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const { mark, probability } = draw.slots[/** @type {number} */ (draw.slot)];
  return `${nameOf(now, draw.role, viewer)} drew bead ${mark}, chance ${percent(probability)}.`;
}

/**
 * The events of the match as lines of text.
 *
 * @param {{after: number, words: string}[]} notes what this page noticed by itself, each after so many moves
 */
export function logLines(/** @type {MatchState} */ now, notes, /** @type {Viewer} */ viewer) {
  const lines = [];
  const draws = new Map((now.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  for (let ply = 0; ply <= now.moves.length; ply += 1) {
    lines.push(...notes.filter(({ after }) => after === ply).map(({ words }) => words));
    const draw = draws.get(ply);
    const move = now.moves[ply];
    if (draw) lines.push(drawLine(now, draw, viewer));
    if (move) lines.push(`${ply + 1}. ${move.role} ${move.name}`);
  }
  if (now.status === "finished") lines.push(outcomeWords(now, viewer));
  for (const { box, mark, before, after } of now.learning?.changes ?? [])
    lines.push(`Box ${box}, bead ${mark}: ${figure(before)} → ${figure(after)}`);
  return lines;
}

function drawLine(/** @type {MatchState} */ now, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
  const out = draw.slots[/** @type {number} */ (draw.slot)];
  const found = out
    ? `${draw.by_hand ? "played" : "drew"} ${out.mark}: ${figure(out.beads)} of ${figure(total)} beads`
    : "found no bead";
  const refilled = draw.refilled ? ", filled it again" : "";
  return `${nameOf(now, draw.role, viewer)} opened box ${draw.box.position}${refilled} and ${found}`;
}
