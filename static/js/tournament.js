/** A tournament's page: standings, crosstable and pairings, redrawn with every change the socket tells. */

import { byId, html, pageData } from "./dom.js";
import { Socket, trouble } from "./socket.js";
import { merged } from "./tournament_tables.js";
import { figure } from "./words.js";

const page = document.querySelector("[data-tournament]");
const roles = pageData("roles");
const WORDS = {
  queued: "waiting",
  running: "running",
  finished: "finished",
  cancelled: "called off",
  failed: "failed",
};
/** How it stands as far as is known, whole. */
let known = pageData("tournament");
let status = null;

const points = (value) => value.toLocaleString("en-GB", { maximumFractionDigits: 1 });
const percent = (share) => (100 * share).toFixed(1);
const head = (...names) =>
  html(
    "thead",
    {},
    html(
      "tr",
      {},
      names.map((name) => html("th", { scope: "col", class: "figure" }, name)),
    ),
  );
const number = (text, attributes = {}) => html("td", { class: "figure", ...attributes }, text);

/** Takes one frame of the socket. */
export function receive({ type, data }) {
  if (type !== "joined" && type !== "state") return;
  const now = type === "joined" ? data : merged(known, data);
  // Told against what is not here: who joins is told the whole.
  if (now === null) socket.rejoin();
  else draw(now);
}

function draw(state) {
  const names = new Map(state.entries.map((entry) => [entry.number, entry]));
  known = state;
  progress(state);
  standings(state, names);
  cross(state, names);
  pairings(state, names);
  if (status === "running" && state.status !== "running") announce(state, names);
  status = state.status;
}

function progress(state) {
  const isOver = state.status !== "running";
  byId("status").textContent = WORDS[state.status].replace(/^./, (letter) => letter.toUpperCase());
  const round = state.rounds > 1 ? `round ${state.round} of ${state.rounds}, ` : "";
  byId("done").textContent = `${round}${figure(state.pairings_done)} of ${figure(state.pairings_total)} pairings`;
  byId("progress", HTMLProgressElement).max = Math.max(1, state.pairings_total);
  byId("progress", HTMLProgressElement).value = state.pairings_done;
  byId("error").hidden = !state.error;
  byId("error").textContent = state.error;
  const cancel = document.getElementById("cancel-form");
  if (cancel) cancel.hidden = isOver;
}

function announce(state, names) {
  const [first] = state.standings;
  const best = first?.games ? ` ${names.get(first.entry).name} is first.` : "";
  byId("said").textContent = `The tournament is ${WORDS[state.status]}.${best}`;
}

function named(entry) {
  return entry.url ? html("a", { href: entry.url }, entry.name) : entry.name;
}

function standings(state, names) {
  const rows = state.standings.map((row) =>
    html(
      "tr",
      {},
      number(row.games ? `${row.place}.` : "–"),
      html("th", { scope: "row" }, named(names.get(row.entry))),
      number(row.games ? html("b", {}, `${percent(row.score)} %`) : "–"),
      number(row.games && row.expected !== null ? `${percent(row.expected / row.games)} %` : "–"),
      number(`${row.rating.toFixed(1)} ± ${row.uncertainty.toFixed(1)}`),
      number(figure(row.games)),
      number(figure(row.wins)),
      number(figure(row.draws)),
      number(figure(row.losses)),
    ),
  );
  const columns = head("", "Player", "score", "exact", "rating", "games", "won", "drawn", "lost");
  columns.querySelectorAll("th")[1].classList.remove("figure");
  columns.querySelectorAll("th")[0].append(html("span", { class: "visually-hidden" }, "place"));
  byId("standings").replaceChildren(columns, html("tbody", {}, rows));
}

function cross(state, names) {
  const order = state.crosstable.map((row) => row.entry);
  const columns = head("", ...order.map((_, index) => String(index + 1)));
  columns.querySelectorAll("th")[0].append(html("span", { class: "visually-hidden" }, "player"));
  for (const [index, entry] of order.entries()) {
    const heading = columns.querySelectorAll("th")[index + 1];
    heading.append(html("span", { class: "visually-hidden" }, ` ${names.get(entry).name}`));
  }
  const rows = state.crosstable.map((row, index) => {
    const against = new Map(row.against.map((cell) => [cell.entry, cell]));
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, html("span", { class: "soft" }, `${index + 1} `), names.get(row.entry).name),
      order.map((other) => {
        if (other === row.entry)
          return html("td", { class: "cross-self" }, html("span", { class: "visually-hidden" }, "itself"));
        const cell = against.get(other);
        if (!cell) return number("·", { class: "figure cross-none" });
        const share = cell.points / cell.games;
        const isExact = cell.expected !== null;
        const told = `${points(cell.points)} of ${figure(cell.games)} points${isExact ? `; exactly ${points(cell.expected)}` : ""}`;
        return html(
          "td",
          { class: `figure share-${Math.min(4, Math.floor(share * 5))}`, title: told },
          percent(share),
          isExact ? html("small", {}, percent(cell.expected / cell.games)) : null,
        );
      }),
    );
  });
  byId("cross").replaceChildren(columns, html("tbody", {}, rows));
}

function pairings(state, names) {
  const rounds = state.rounds > 1;
  const rows = state.pairings.map((pairing) => {
    const games = pairing.first_wins + pairing.draws + pairing.second_wins;
    const [win, even, loss] = pairing.expected ?? [];
    return html(
      "tr",
      {},
      rounds ? number(figure(pairing.round)) : null,
      html("th", { scope: "row" }, names.get(pairing.first).name),
      html("td", {}, names.get(pairing.second).name),
      number(
        games
          ? `${figure(pairing.first_wins)} / ${figure(pairing.draws)} / ${figure(pairing.second_wins)}`
          : WORDS[pairing.status],
      ),
      number(pairing.expected ? `${percent(win)} / ${percent(even)} / ${percent(loss)} %` : "–"),
    );
  });
  const columns = head(
    ...(rounds ? ["round"] : []),
    `${roles[0]} (first)`,
    `${roles[1]} (second)`,
    "won / drawn / lost",
    "exactly",
  );
  for (const th of [...columns.querySelectorAll("th")].slice(rounds ? 1 : 0, rounds ? 3 : 2))
    th.classList.remove("figure");
  byId("pairings").replaceChildren(columns, html("tbody", {}, rows));
}

draw(known);
let socket = null;
if (status === "running") {
  socket = new Socket(`/api/tournaments/${page.dataset.tournament}/ws`, receive, (connection) => {
    const words =
      status === "running" || connection === "away"
        ? trouble(connection, "The connection is gone; trying again. What you see may be a little old.")
        : "";
    byId("lost").hidden = !words;
    byId("lost").textContent = words;
  });
}
