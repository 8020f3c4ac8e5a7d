/**
 * Texts of the match page: names of players, the state of the match, and its events.
 *
 * `now` is a state of docs/protocol.md. `viewer` is the reader of the page; a spectator's role is `null`.
 */

import { formatNumber, percent, sentence } from "./words.js";

/** @param {MatchState} now @param {string|null|undefined} role */
export const seatOf = (now, role) => now.seats.find((seat) => seat.role === role);

/** Returns the name of a side in words. */
export function sideName(/** @type {string} */ role, /** @type {Viewer} */ { layout }) {
  return layout.role_names[layout.roles.indexOf(role)] ?? role;
}

/** Returns the text that asks the viewer to move. @param {string} role @param {Viewer} viewer */
const promptOf = (role, { layout }) => layout.prompts?.[layout.roles.indexOf(role)] ?? "Your turn.";

/** Returns a player's name, or "You". For spectators the side is added if both players have the same name. */
/** @param {MatchState} now @param {string|null|undefined} role @param {Viewer} viewer */
export function nameOf(now, role, viewer) {
  if (role === viewer.role) return "You";
  const name = /** @type {string} */ (seatOf(now, role)?.name ?? role);
  const isAmbiguous = viewer.role === null && now.seats.every((seat) => seat.name === name);
  return isAmbiguous ? `${name} (${sideName(/** @type {string} */ (role), viewer)})` : name;
}

/** Returns a sentence about the state of the match. */
export function statusWords(/** @type {MatchState} */ now, /** @type {Viewer} */ viewer) {
  if (now.status === "waiting") return viewer.role ? "Waiting for the other player." : "One seat is still free.";
  if (now.status === "finished") return outcomeWords(now, viewer);
  const other = /** @type {string} */ (seatOf(now, now.turn)?.name ?? now.turn);
  const side = sideName(/** @type {string} */ (now.turn), viewer);
  if (now.thinking) return `${other} (${side}) is thinking…`;
  if (now.turn === viewer.role) return promptOf(/** @type {string} */ (now.turn), viewer);
  return `${sentence(other)} (${side}) to move.`;
}

/** Returns a sentence about the result of a finished match. */
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

/** Returns the game's notices about a board, such as a check, or a rule that will end the match soon. */
export function noticeWords(/** @type {BoardState} */ board) {
  return Object.values(board.notices)
    .map((words) => `${words}.`)
    .join(" ");
}

/** Returns sentences about a draw by agreement; an empty text if the players may not agree to one. */
export function drawOfferWords(/** @type {MatchState} */ now, /** @type {Viewer} */ viewer) {
  if (!now.draw_offer) return "";
  const { by } = now.draw_offer;
  const isPlayer = viewer.role !== null;
  if (by && by === viewer.role) return "You offer a draw. The offer ends with the next move.";
  if (by) return `${sentence(nameOf(now, by, viewer))} offers a draw.${isPlayer ? " Accept it, or play on." : ""}`;
  const visits = "The same position has come three times.";
  if (!isPlayer) return visits;
  const isHuman = now.seats.find(({ role }) => role !== viewer.role)?.kind === "human";
  const ends = isHuman && (viewer.roles ?? []).length < 2 ? "" : " It ends the match at once.";
  return `${visits} You can offer a draw.${ends}`;
}

/** Returns sentences about the machines' lessons; an empty text before the match has ended. */
export function lessonWords(/** @type {MatchState} */ now) {
  if (now.status !== "finished" || !now.learning?.lesson) return "";
  return now.learning.lessons.map((lesson) => lesson.sentence).join(" ");
}

/** Returns links to the pages of the machines that learnt, as `{ url, words }`. */
export function lessonLinks(/** @type {MatchState} */ now) {
  const { lessons } = /** @type {Learning} */ (now.learning);
  return lessons.map(({ role, machine }) => {
    const seated = seatOf(now, role)?.machine;
    return { url: machine.url, words: (lessons.length > 1 ? seated?.see_named : seated?.see) ?? machine.name };
  });
}

/**
 * Returns whether a machine in the match has boxes. Machines without boxes have their own display.
 *
 * @param {MatchState} now
 */
export const tellsOfBeads = (now) => now.seats.some((seat) => seat.machine?.tells === "boxes");

/** Returns a sentence about a drawn bead. */
export function drawWords(/** @type {MatchState} */ now, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const { mark, probability } = draw.slots[/** @type {number} */ (draw.slot)];
  return `${nameOf(now, draw.role, viewer)} drew bead ${mark}, chance ${percent(probability)}.`;
}

/**
 * Returns the events of the match as lines of text.
 *
 * @param {{after: number, words: string}[]} notes events that only this page knows; `after` is a number of moves
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
    lines.push(`Box ${box}, bead ${mark}: ${formatNumber(before)} → ${formatNumber(after)}`);
  return lines;
}

function drawLine(/** @type {MatchState} */ now, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
  const drawn = draw.slots[/** @type {number} */ (draw.slot)];
  const result = drawn
    ? `${draw.by_hand ? "played" : "drew"} ${drawn.mark}: ${formatNumber(drawn.beads)} of ${formatNumber(total)} beads`
    : "found no bead";
  const refilled = draw.refilled ? ", filled it again" : "";
  return `${nameOf(now, draw.role, viewer)} opened box ${draw.box.position}${refilled} and ${result}`;
}
