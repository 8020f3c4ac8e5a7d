/**
 * What is said of a match: who somebody is, how it stands, what happened.
 *
 * `now` is the state of docs/protocol.md, `viewer` who is told it: {role (null for who watches), layout}.
 */

import { figure, percent, sentence } from "./words.js";

export const seatOf = (now, role) => now.seats.find((seat) => seat.role === role);

/** What a side is called. */
export function sideName(role, { layout }) {
  return layout.role_names[layout.roles.indexOf(role)] ?? role;
}

/** A name; of two people who are called the same, with the side. */
export function nameOf(now, role, viewer) {
  if (role === viewer.role) return "You";
  const name = seatOf(now, role)?.name ?? role;
  const isAmbiguous = viewer.role === null && now.seats.every((seat) => seat.name === name);
  return isAmbiguous ? `${name} (${sideName(role, viewer)})` : name;
}

/** How the match stands. */
export function statusWords(now, viewer) {
  if (now.status === "waiting") return viewer.role ? "Waiting for the other player." : "One seat is still free.";
  if (now.status === "finished") return outcomeWords(now, viewer);
  const other = seatOf(now, now.turn)?.name ?? now.turn;
  const side = sideName(now.turn, viewer);
  if (now.thinking) return `${other} (${side}) is thinking…`;
  if (now.turn === viewer.role) return `Your turn. You play ${side}.`;
  return `${sentence(other)} (${side}) to move.`;
}

/** How the match ended. */
export function outcomeWords(now, viewer) {
  const { winner, termination, reason } = now.outcome;
  if (!winner) return `A draw: ${reason}.`;
  const loser = now.seats.find((seat) => seat.role !== winner)?.role;
  const won = winner === viewer.role ? "You won" : `${nameOf(now, winner, viewer)} won`;
  if (termination === "resignation")
    return `${won}: ${loser === viewer.role ? "you" : nameOf(now, loser, viewer)} gave up.`;
  if (termination === "empty_box") return `${won}: ${nameOf(now, loser, viewer)} found no bead in its box and gave up.`;
  return `${won}: ${reason}.`;
}

/** What the game has to say of a board: check, a rule that ends it soon. */
export function noticeWords(board) {
  return Object.values(board.notices)
    .map((words) => `${words}.`)
    .join(" ");
}

/** What the machines learnt, or nothing while the match goes on. */
export function lessonWords(now) {
  if (now.status !== "finished" || !now.learning?.lesson) return "";
  return now.learning.lessons.map((lesson) => lesson.sentence).join(" ");
}

/** What leads to the pages of the machines that learnt: `{ url, words }` of each. */
export function lessonLinks(now) {
  const { lessons } = now.learning;
  return lessons.map(({ role, machine }) => {
    const sits = seatOf(now, role)?.machine;
    return { url: machine.url, words: (lessons.length > 1 ? sits?.see_named : sits?.see) ?? machine.name };
  });
}

/** Whether beads were to be moved at all: what is kept beside boxes is told elsewhere. */
export const tellsOfBeads = (now) => now.seats.some((seat) => seat.machine?.tells === "boxes");

/** The bead that was drawn. */
export function drawWords(now, draw, viewer) {
  const { mark, probability } = draw.slots[draw.slot];
  return `${nameOf(now, draw.role, viewer)} drew bead ${mark}, chance ${percent(probability)}.`;
}

/**
 * Everything that happened, line by line.
 *
 * @param {{after: number, words: string}[]} notes what this page noticed by itself, each after so many moves
 */
export function logLines(now, notes, viewer) {
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

function drawLine(now, draw, viewer) {
  const total = draw.slots.reduce((sum, slot) => sum + slot.beads, 0);
  const out = draw.slots[draw.slot];
  const found = out
    ? `${draw.by_hand ? "played" : "drew"} ${out.mark}: ${figure(out.beads)} of ${figure(total)} beads`
    : "found it empty";
  const refilled = draw.refilled ? ", filled it afresh" : "";
  return `${nameOf(now, draw.role, viewer)} opened box ${draw.box.position}${refilled} and ${found}`;
}
