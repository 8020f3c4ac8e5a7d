/** The page of a tournament: standings, crosstable and pairings, redrawn at every change from the socket. */

import { byId, find, pageData } from "./dom.js";
import { heads, html, nothing, render } from "./lit.js";
import { Socket, trouble } from "./socket.js";
import { merged } from "./tournament_tables.js";
import { figure, shares } from "./words.js";

const page = find("[data-tournament]");
const roles = pageData("roles");
/** @typedef {{number: number, name: string, url: string, side: number|null}} Entry */
/** @typedef {{get: (number: number) => Entry}} Names the entries by their numbers */
/** @typedef {"place"|"entry"|"games"|"score"|"wins"|"draws"|"losses"|"rating"|"uncertainty"} Column */
/** @typedef {Record<Column, number> & {expected: number|null}} Row */
/** @typedef {{entry: number, points: number, games: number, expected: number|null}} Encounter */
/** @typedef {Record<"round"|"first"|"second"|"first_wins"|"draws"|"second_wins", number>} Counts */
/** @typedef {Counts & {status: string, expected: number[]|null}} Pairing */
/** @typedef {Record<"round"|"rounds"|"pairings_done"|"pairings_total", number> & {status: string, error: string}} Progress */
/** @typedef {{entries: Entry[], standings: Row[], pairings: Pairing[]}} Tables */
/** @typedef {Progress & Tables & {crosstable: {entry: number, against: Encounter[]}[]}} Tournament */
/** @type {Record<string, string>} */
const WORDS = {
  queued: "waiting",
  running: "running",
  finished: "finished",
  cancelled: "stopped",
  failed: "failed",
};
/** The whole known state of the tournament. */
let known = pageData("tournament");
/** @type {string|null} */
let status = null;

const points = (/** @type {number} */ value) => value.toLocaleString("en-GB", { maximumFractionDigits: 1 });
const percent = (/** @type {number} */ share) => (100 * share).toFixed(1);
const hidden = (/** @type {string} */ words) => html`<span class="visually-hidden">${words}</span>`;
const number = (/** @type {unknown} */ content) => html`<td class="figure">${content}</td>`;

/** Takes one frame of the socket. */
export function receive(/** @type {Frame} */ { type, data }) {
  if (type !== "joined" && type !== "state") return;
  const now = type === "joined" ? data : merged(known, data);
  // The change refers to an unknown version; joining again brings the whole state.
  if (now === null) socket?.rejoin();
  else draw(now);
}

function draw(/** @type {Tournament} */ state) {
  const names = /** @type {Names} */ (new Map(state.entries.map((entry) => [entry.number, entry])));
  known = state;
  progress(state);
  standings(state, names);
  cross(state, names);
  pairings(state, names);
  if (status === "running" && state.status !== "running") announce(state, names);
  status = state.status;
}

function progress(/** @type {Tournament} */ state) {
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

/** The standings of those that play the same side, both sides or one: machines of different sides are not ranked together. */
function ranked(/** @type {Tournament} */ state, /** @type {Names} */ names) {
  return [null, 0, 1]
    .map((side) => ({ side, rows: state.standings.filter((row) => names.get(row.entry).side === side) }))
    .filter(({ rows }) => rows.length);
}

function announce(/** @type {Tournament} */ state, /** @type {Names} */ names) {
  const tables = ranked(state, names);
  const best = tables
    .filter(({ rows: [first] }) => first.games)
    .map(({ side, rows: [first] }) => {
      const among = ` of those that play ${side === null ? "both sides" : roles[side]}`;
      return ` ${names.get(first.entry).name} is first${side === null && tables.length === 1 ? "" : among}.`;
    });
  byId("said").textContent = `The tournament is ${WORDS[state.status]}.${best.join("")}`;
}

function standings(/** @type {Tournament} */ state, /** @type {Names} */ names) {
  const tables = ranked(state, names);
  render(
    tables.map(({ side, rows }) => {
      const who =
        side === null ? "They play both sides" : `They play ${roles[side]}, the ${["first", "second"][side]} side`;
      return html`<table>
        ${tables.length > 1 ? html`<caption>${who}</caption>` : nothing}
        ${heads([hidden("place"), "Player", "points of 100", "exact", "openskill rating", "games", "won", "drawn", "lost"], 2)}
        <tbody>${rows.map((row) => line(row, names.get(row.entry)))}</tbody>
      </table>`;
    }),
    byId("standings"),
  );
  byId("sides-apart").hidden = tables.length < 2;
}

function line(/** @type {Row} */ row, /** @type {Entry} */ { name, url }) {
  return html`<tr>
    ${number(row.games ? `${row.place}.` : "–")}
    <th scope="row">${url ? html`<a href=${url}>${name}</a>` : name}</th>
    ${number(row.games ? html`<b>${percent(row.score)}</b>` : "–")}
    ${number(row.games && row.expected !== null ? percent(row.expected / row.games) : "–")}
    ${number(`${row.rating.toFixed(1)} ± ${row.uncertainty.toFixed(1)}`)}
    ${[row.games, row.wins, row.draws, row.losses].map((n) => number(figure(n)))}
  </tr>`;
}

function cross(/** @type {Tournament} */ state, /** @type {Names} */ names) {
  const order = state.crosstable.map((row) => row.entry);
  const columns = order.map((entry, at) => html`${at + 1}${hidden(` ${names.get(entry).name}`)}`);
  const rows = state.crosstable.map((row, at) => {
    const against = new Map(row.against.map((one) => [one.entry, one]));
    return html`<tr>
      <th scope="row"><span class="soft">${at + 1} </span>${names.get(row.entry).name}</th>
      ${order.map((other) =>
        other === row.entry ? html`<td class="cross-self">${hidden("itself")}</td>` : encounter(against.get(other)),
      )}
    </tr>`;
  });
  render(html`${heads([hidden("player"), ...columns], 0)}<tbody>${rows}</tbody>`, byId("cross"));
}

/** The score of one entry against another. */
function encounter(/** @type {Encounter|undefined} */ one) {
  if (!one) return html`<td class="figure cross-none">·</td>`;
  const share = one.points / one.games;
  const isExact = one.expected !== null;
  const told = `${points(one.points)} of ${figure(one.games)} points${isExact ? `; exactly ${points(/** @type {number} */ (one.expected))}` : ""}`;
  return html`<td class="figure share-${Math.min(4, Math.floor(share * 5))}" title=${told}>${percent(share)}${
    isExact ? html`<small>${percent(/** @type {number} */ (one.expected) / one.games)}</small>` : nothing
  }</td>`;
}

function pairings(/** @type {Tournament} */ state, /** @type {Names} */ names) {
  const rounds = state.rounds > 1;
  const rows = state.pairings.map((one) => {
    const results = [one.first_wins, one.draws, one.second_wins];
    return html`<tr>
      ${rounds ? number(figure(one.round)) : nothing}
      <th scope="row">${names.get(one.first).name}</th>
      <td>${names.get(one.second).name}</td>
      ${number(results.some(Boolean) ? results.map(figure).join(" / ") : WORDS[one.status])}
      ${number(one.expected ? shares(one.expected).join(" / ") : "–")}
    </tr>`;
  });
  const columns = [`${roles[0]} (first)`, `${roles[1]} (second)`, "won / drawn / lost", "exactly, of 100"];
  const head = rounds ? heads(["round", ...columns], 3) : heads(columns, 2);
  render(html`${head}<tbody>${rows}</tbody>`, byId("pairings"));
}

draw(known);
/** @type {Socket|null} */
let socket = null;
if (status === "running") {
  const api = `/api/tournaments/${page.dataset.tournament}`;
  const said = (/** @type {SocketStatus} */ connection) => {
    const words =
      status === "running" || connection === "away"
        ? trouble(connection, "The connection is lost. The page tries again. The tables may be a little old.")
        : "";
    byId("lost").hidden = !words;
    byId("lost").textContent = words;
  };
  socket = new Socket(`${api}/ws`, receive, said, { news: api, frame: (data) => ({ type: "joined", data }) });
}
