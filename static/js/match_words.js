/**
 * Texts of the match page: names of players, the state of the match, and its events.
 *
 * `state` is the state of a match (docs/protocol.md). `viewer` is the reader of the page; a spectator's role is `null`.
 */

import { capitalise, formatNumber, percent } from "./words.js";

/** @param {MatchState} state @param {string|null|undefined} role */
export const seatOf = (state, role) => state.seats.find((seat) => seat.role === role);

/** Returns the name of a side in words. */
export function sideName(/** @type {string} */ role, /** @type {Viewer} */ { layout }) {
  return layout.role_names[layout.roles.indexOf(role)] ?? role;
}

/** Returns the text that asks the viewer to move. @param {string} role @param {Viewer} viewer */
const promptOf = (role, { layout }) => layout.prompts?.[layout.roles.indexOf(role)] ?? "Your turn.";

/** Returns a player's name, or "You". For spectators the side is added if both players have the same name. */
/** @param {MatchState} state @param {string|null|undefined} role @param {Viewer} viewer */
export function nameOf(state, role, viewer) {
  if (role === viewer.role) return "You";
  const name = /** @type {string} */ (seatOf(state, role)?.name ?? role);
  const isAmbiguous = viewer.role === null && state.seats.every((seat) => seat.name === name);
  return isAmbiguous ? `${name} (${sideName(/** @type {string} */ (role), viewer)})` : name;
}

/** Returns a sentence about the state of the match. */
export function statusWords(/** @type {MatchState} */ state, /** @type {Viewer} */ viewer) {
  if (state.status === "waiting") return viewer.role ? "Waiting for the other player." : "One seat is still free.";
  if (state.status === "finished") return outcomeWords(state, viewer);
  const other = /** @type {string} */ (seatOf(state, state.turn)?.name ?? state.turn);
  const side = sideName(/** @type {string} */ (state.turn), viewer);
  if (state.thinking) return `${other} (${side}) is thinking…`;
  if (state.turn === viewer.role) return promptOf(/** @type {string} */ (state.turn), viewer);
  return `${capitalise(other)} (${side}) to move.`;
}

/** Returns a sentence about the result of a finished match. */
export function outcomeWords(/** @type {MatchState} */ state, /** @type {Viewer} */ viewer) {
  const { winner, termination, reason } = /** @type {Outcome} */ (state.outcome);
  if (!winner) return `A draw: ${reason}.`;
  const loser = state.seats.find((seat) => seat.role !== winner)?.role;
  const winnerWords = winner === viewer.role ? "You won" : `${nameOf(state, winner, viewer)} won`;
  if (termination === "resignation")
    return `${winnerWords}: ${loser === viewer.role ? "you" : nameOf(state, loser, viewer)} gave up.`;
  if (termination === "empty_box") return `${winnerWords}: ${nameOf(state, loser, viewer)} found no bead in its box.`;
  return `${winnerWords}: ${reason}.`;
}

/** Returns the game's notices about a board, such as a check, or a rule that will end the match soon. */
export function noticeWords(/** @type {BoardState} */ board) {
  return Object.values(board.notices)
    .map((words) => `${words}.`)
    .join(" ");
}

/** Returns sentences about a draw by agreement; an empty text if the players may not agree to one. */
export function drawOfferWords(/** @type {MatchState} */ state, /** @type {Viewer} */ viewer) {
  if (!state.draw_offer) return "";
  const { by } = state.draw_offer;
  const isPlayer = viewer.role !== null;
  if (by && by === viewer.role) return "You offer a draw. The offer ends with the next move.";
  if (by) return `${capitalise(nameOf(state, by, viewer))} offers a draw.${isPlayer ? " Accept it, or play on." : ""}`;
  const repetitionWords = "The same position has come three times.";
  if (!isPlayer) return repetitionWords;
  const isHuman = state.seats.find(({ role }) => role !== viewer.role)?.kind === "human";
  const endWords = isHuman && (viewer.roles ?? []).length < 2 ? "" : " It ends the match at once.";
  return `${repetitionWords} You can offer a draw.${endWords}`;
}

/** Returns sentences about the machines' lessons; an empty text before the match has ended. */
export function lessonWords(/** @type {MatchState} */ state) {
  if (state.status !== "finished" || !state.learning?.lesson) return "";
  return state.learning.lessons.map((lesson) => lesson.sentence).join(" ");
}

/** Returns links to the pages of the machines that learnt, as `{ url, words }`. */
export function lessonLinks(/** @type {MatchState} */ state) {
  const { lessons } = /** @type {Learning} */ (state.learning);
  return lessons.map(({ role, machine }) => {
    const seatMachine = seatOf(state, role)?.machine;
    return {
      url: machine.url,
      words: (lessons.length > 1 ? seatMachine?.see_named : seatMachine?.see) ?? machine.name,
    };
  });
}

/**
 * Returns whether a machine in the match has boxes. Machines without boxes have their own display.
 *
 * @param {MatchState} state
 */
export const tellsOfBeads = (state) => state.seats.some((seat) => seat.machine?.tells === "boxes");

/** Returns a sentence about a drawn bead. */
export function drawWords(/** @type {MatchState} */ state, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const { mark, probability } = draw.slots[/** @type {number} */ (draw.slot)];
  return `${nameOf(state, draw.role, viewer)} drew bead ${mark}, chance ${percent(probability)}.`;
}

/**
 * Returns the events of the match as lines of text.
 *
 * @param {{after: number, words: string}[]} notes events that only this page knows; `after` is a number of moves
 */
export function logLines(/** @type {MatchState} */ state, notes, /** @type {Viewer} */ viewer) {
  const lines = [];
  const draws = new Map((state.learning?.draws ?? []).map((draw) => [draw.ply, draw]));
  for (let ply = 0; ply <= state.moves.length; ply += 1) {
    lines.push(...notes.filter(({ after }) => after === ply).map(({ words }) => words));
    const draw = draws.get(ply);
    const move = state.moves[ply];
    if (draw) lines.push(drawLine(state, draw, viewer));
    if (move) lines.push(`${ply + 1}. ${move.role} ${move.name}`);
  }
  if (state.status === "finished") lines.push(outcomeWords(state, viewer));
  for (const { box, mark, before, after } of state.learning?.changes ?? [])
    lines.push(`Box ${box}, bead ${mark}: ${formatNumber(before)} → ${formatNumber(after)}`);
  return lines;
}

function drawLine(/** @type {MatchState} */ state, /** @type {Draw} */ draw, /** @type {Viewer} */ viewer) {
  const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
  const drawnSlot = draw.slots[/** @type {number} */ (draw.slot)];
  const result = drawnSlot
    ? `${draw.by_hand ? "played" : "drew"} ${drawnSlot.mark}: ${formatNumber(drawnSlot.beads)} of ${formatNumber(total)} beads`
    : "found no bead";
  const refillWords = draw.refilled ? ", filled it again" : "";
  return `${nameOf(state, draw.role, viewer)} opened box ${draw.box.position}${refillWords} and ${result}`;
}
