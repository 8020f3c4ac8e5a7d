/** The two seats of a match with the records of their machines, and the invitation to a free seat. */

import { rolePicture } from "./diagram.js";
import { byId, find, narrow } from "./dom.js";
import { html, nothing, render } from "./lit.js";
import { sideName } from "./match_words.js";
import { count, figure, percent } from "./words.js";

/** Shows the seats; `managed` are the ids of the machines that the viewer may change. */
/** @param {MatchState} now @param {Viewer} viewer @param {Set<number>} managed */
export function showSeats(now, viewer, managed) {
  render(
    now.seats.map((seat) => {
      const isTurn = now.turn === seat.role && now.status === "playing";
      return html`<li class=${isTurn ? "is-turn" : nothing}>
        ${roleMark(seat.role, viewer)}<span
          >${sitter(seat, viewer)}<span class="soft seat-side"> ${sideName(seat.role, viewer)}</span>${learning(seat.machine)}</span>
      </li>`;
    }),
    byId("seats"),
  );
  const machines = now.seats.map(({ machine }) => machine).filter(Boolean);
  render(
    machines.map((machine) => record(/** @type {MachineBrief} */ (machine), managed)),
    byId("records"),
  );
  showInvitation(now, viewer);
  byId("watching").textContent = viewer.isHost
    ? "They play and you watch. You decide when they move."
    : "You are watching this match.";
  byId("watching").hidden = viewer.role !== null || now.status === "waiting";
}

/** A side's mark: its letter, or a picture of its pieces. */
export function roleMark(/** @type {string} */ role, /** @type {Viewer} */ { layout }) {
  const side = layout.roles.indexOf(role);
  return html`<span class="seat-role seat-role-${side}" aria-hidden="true">${rolePicture(layout, role)}</span>`;
}

/** The player of a seat; a person who replaced a machine is shown with its name, if the viewer may see it. */
/** @param {Seat} of @param {Viewer} viewer */
function sitter({ machine, role, name, taken, takes_over: isTakenOver, hidden: isHidden }, viewer) {
  const who = taken ? (role === viewer.role ? "You" : name) : "free seat";
  if (isHidden && isTakenOver) return `${who}, in the seat of a private machine`;
  if (!machine) return html`<span class="seat-name">${who}</span>`;
  const link = html`<a href=${machine.url}>${machine.name}</a>`;
  return isTakenOver ? html`<span>${who}, in the seat of ${link}</span>` : link;
}

function learning(/** @type {MachineBrief|null} */ machine) {
  if (!machine) return nothing;
  return html`<span class="soft seat-note">${machine.learns ? ", learns from this match" : ", does not learn"}</span>`;
}

/** The machine's record after the last game, with a link for viewers who may change it. */
/** @param {MachineBrief} of @param {Set<number>} managed */
function record(
  { id, name, learns, level, counts_level: hasLevel, games, wins, draws, losses, win_rate: rate },
  managed,
) {
  const results = `It won ${figure(wins)}, drew ${figure(draws)} and lost ${figure(losses)}. Its win rate is ${percent(rate)}.`;
  const words = games
    ? `${name} has played ${count(games, "game")}. ${results}`
    : `${name} has not finished a game yet.`;
  const more = `${hasLevel ? ` Its level is ${figure(level)}.` : ""}${learns ? "" : " It is frozen."}`;
  const link = html` <a href="/machines/${id}/edit">Rename, freeze or delete</a>`;
  return html`<li>${words}${more}${managed.has(id) ? link : nothing}</li>`;
}

/**
 * Sharing stands beside the board while a seat is free, and below the game afterwards.
 *
 * In one column the host has it above the board, on which there is nothing to do yet.
 */
function showInvitation(/** @type {MatchState} */ now, /** @type {Viewer} */ { role }) {
  const isInvited = now.status === "waiting";
  const share = byId("share");
  if (isInvited) (role && narrow().matches ? find(".table") : byId("side")).prepend(share);
  else if (share.parentElement !== byId("below")) byId("below").append(share);
  byId("join").hidden = role !== null || !isInvited;
  byId("share-title").textContent = isInvited ? "Two can play" : "Share";
  byId("share-words").textContent = !isInvited
    ? "Anyone with this link can watch."
    : role
      ? "Send this link to a friend. The match begins when they open it and take the other seat."
      : "You can take the free seat, or stay and watch.";
}
