/** Shows the two seats of a match, the records of the machines in them, and the invitation to a free seat. */

import { rolePicture } from "./diagram.js";
import { byId, find, narrowScreenQuery } from "./dom.js";
import { html, nothing, render } from "./lit.js";
import { sideName } from "./match_words.js";
import { countWords, formatNumber, percent } from "./words.js";

/** Shows the seats; `managedIds` are the ids of the machines that the viewer may change. */
/** @param {MatchState} state @param {Viewer} viewer @param {Set<number>} managedIds */
export function showSeats(state, viewer, managedIds) {
  render(
    state.seats.map((seat) => {
      const isTurn = state.turn === seat.role && state.status === "playing";
      return html`<li class=${isTurn ? "is-turn" : nothing}>
        ${roleMark(seat.role, viewer)}<span
          >${playerName(seat, viewer)}<span class="soft seat-side"> ${sideName(seat.role, viewer)}</span>${learningNote(seat.machine)}</span>
      </li>`;
    }),
    byId("seats"),
  );
  const machines = state.seats.map(({ machine }) => machine).filter(Boolean);
  render(
    machines.map((machine) => recordItem(/** @type {MachineBrief} */ (machine), managedIds)),
    byId("records"),
  );
  showInvitation(state, viewer);
  byId("watching").textContent = viewer.isHost
    ? "They play and you watch. You decide when they move."
    : "You are watching this match.";
  byId("watching").hidden = viewer.role !== null || state.status === "waiting";
}

/** Returns the mark of a side: its letter, or a picture of its pieces. */
export function roleMark(/** @type {string} */ role, /** @type {Viewer} */ { layout }) {
  const side = layout.roles.indexOf(role);
  return html`<span class="seat-role seat-role-${side}" aria-hidden="true">${rolePicture(layout, role)}</span>`;
}

/**
 * Returns the name of a seat's player. If a person replaced a machine, it names the machine too, unless that is
 * private.
 */
/** @param {Seat} seat @param {Viewer} viewer */
function playerName({ machine, role, name, taken, takes_over: isTakenOver, hidden: isHidden }, viewer) {
  const player = taken ? (role === viewer.role ? "You" : name) : "free seat";
  if (isHidden && isTakenOver) return `${player}, in the seat of a private machine`;
  if (!machine) return html`<span class="seat-name">${player}</span>`;
  const link = html`<a href=${machine.url}>${machine.name}</a>`;
  return isTakenOver ? html`<span>${player}, in the seat of ${link}</span>` : link;
}

function learningNote(/** @type {MachineBrief|null} */ machine) {
  if (!machine) return nothing;
  return html`<span class="soft seat-note">${machine.learns ? ", learns from this match" : ", does not learn"}</span>`;
}

/** Returns the results and the level of a machine, with a link to its settings for viewers who may change them. */
/** @param {MachineBrief} machine @param {Set<number>} managedIds */
function recordItem(
  { id, name, learns, level, counts_level: hasLevel, games, wins, draws, losses, win_rate: rate },
  managedIds,
) {
  const results = `It won ${formatNumber(wins)}, drew ${formatNumber(draws)} and lost ${formatNumber(losses)}. Its win rate is ${percent(rate)}.`;
  const words = games
    ? `${name} has played ${countWords(games, "game")}. ${results}`
    : `${name} has not finished a game yet.`;
  const noteWords = `${hasLevel ? ` Its level is ${formatNumber(level)}.` : ""}${learns ? "" : " It is frozen."}`;
  const link = html` <a href="/machines/${id}/edit">Rename, freeze or delete</a>`;
  return html`<li>${words}${noteWords}${managedIds.has(id) ? link : nothing}</li>`;
}

/**
 * Shows the link to the match beside the board while a seat is free, and below the game afterwards.
 *
 * On a page with one column, a player who waits sees it above the board.
 */
function showInvitation(/** @type {MatchState} */ state, /** @type {Viewer} */ { role }) {
  const isWaiting = state.status === "waiting";
  const share = byId("share");
  if (isWaiting) (role && narrowScreenQuery().matches ? find(".table") : byId("side")).prepend(share);
  else if (share.parentElement !== byId("below")) byId("below").append(share);
  byId("join").hidden = role !== null || !isWaiting;
  byId("share-title").textContent = isWaiting ? "Two can play" : "Share";
  byId("share-words").textContent = !isWaiting
    ? "Anyone with this link can watch."
    : role
      ? "Send this link to a friend. The match begins when they open it and take the other seat."
      : "You can take the free seat, or stay and watch.";
}
