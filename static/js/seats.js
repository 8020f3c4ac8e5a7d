/** Who plays: the two seats with what their machines have come to, and the invitation to take a seat that is free. */

import { rolePicture } from "./diagram.js";
import { byId, html } from "./dom.js";
import { sideName } from "./match_words.js";
import { figure, percent } from "./words.js";

/** Shows the seats; `managed` are the ids of the machines that the viewer may change. */
export function showSeats(now, viewer, managed) {
  byId("seats").replaceChildren(
    ...now.seats.map((seat) =>
      html(
        "li",
        { class: now.turn === seat.role && now.status === "playing" ? "is-turn" : null },
        roleMark(seat.role, viewer),
        html(
          "span",
          {},
          sitter(seat, viewer),
          html("span", { class: "soft" }, ` ${sideName(seat.role, viewer)}`),
          seat.machine ? learning(seat.machine) : null,
          seat.machine ? record(seat.machine, managed) : null,
        ),
      ),
    ),
  );
  showInvitation(now, viewer);
  byId("watching").textContent = viewer.isHost
    ? "They play, you watch: it is you who says when."
    : "You are watching this match.";
  byId("watching").hidden = viewer.role !== null || now.status === "waiting";
}

/** A side's mark: its letter, or what its men look like. */
export function roleMark(role, { layout }) {
  const side = layout.roles.indexOf(role);
  return html("span", { class: `seat-role seat-role-${side}`, "aria-hidden": "true" }, rolePicture(layout, role));
}

/** Who sits here; a person who has taken a machine's seat over names it, if it may be named to who looks. */
function sitter({ machine, role, name, taken, takes_over: isTakenOver, hidden: isHidden }, viewer) {
  const who = taken ? (role === viewer.role ? "You" : name) : "free seat";
  if (isHidden && isTakenOver) return `${who}, in the seat of a machine that is not public`;
  if (!machine) return who;
  const link = html("a", { href: machine.url }, machine.name);
  return isTakenOver ? html("span", {}, `${who}, in the seat of `, link) : link;
}

function learning({ learns }) {
  return html("span", { class: "soft seat-note" }, learns ? ", learns from this match" : ", does not learn");
}

/** What a machine has come to, as it stands after the last game; who may change it finds the way there. */
function record({ id, learns, level, games, wins, draws, losses, win_rate: rate }, managed) {
  const counts = `${figure(wins)} won, ${figure(draws)} drawn, ${figure(losses)} lost, win rate ${percent(rate)}`;
  const words = games ? `${figure(games)} ${games === 1 ? "game" : "games"}: ${counts}` : "no game yet";
  return html(
    "span",
    { class: "record soft" },
    `Level ${figure(level)}, ${words}${learns ? "" : ", frozen"}`,
    managed.has(id) ? [". ", html("a", { href: `/machines/${id}/edit` }, "Rename, freeze or delete")] : null,
  );
}

/** Sharing stands beside the board while a seat is free, and below the game afterwards. */
function showInvitation(now, { role }) {
  const isInvited = now.status === "waiting";
  const share = byId("share");
  if (isInvited)
    byId("side").prepend(share); // before all else: on a phone the rest is long
  else if (share.parentElement !== byId("below")) byId("below").append(share);
  byId("join").hidden = role !== null || !isInvited;
  byId("share-title").textContent = isInvited ? "Two can play" : "Share";
  byId("share-words").textContent = !isInvited
    ? "Whoever has this link can watch."
    : role
      ? "Send this link to a friend. The match begins when they open it and take the other seat."
      : "You can take the free seat, or stay and watch.";
}
