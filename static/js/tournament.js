/** The page of a tournament: standings, crosstable and pairings, drawn again after every frame of the socket. */

import { byId, find, pageData } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { Socket, troubleWords } from "./socket.js";
import { mergeChange } from "./tournament_tables.js";
import { formatNumber, shares } from "./words.js";

const page = find("[data-tournament]");
const roles = pageData("roles");
/** @typedef {{number: number, name: string, url: string, side: number|null}} Entry */
/** @typedef {{get: (number: number) => Entry}} EntryByNumber the entries by their numbers */
/** @typedef {"place"|"entry"|"games"|"score"|"wins"|"draws"|"losses"|"rating"|"uncertainty"} Column */
/** @typedef {Record<Column, number> & {expected: number|null}} Row */
/** @typedef {{entry: number, points: number, games: number, expected: number|null}} Encounter */
/** @typedef {Record<"round"|"first"|"second"|"first_wins"|"draws"|"second_wins", number>} Counts */
/** @typedef {Counts & {status: string, expected: number[]|null}} Pairing */
/** @typedef {Record<"round"|"rounds"|"pairings_done"|"pairings_total", number> & {status: string, error: string}} Progress */
/** @typedef {{entries: Entry[], standings: Row[], pairings: Pairing[]}} Tables */
/** @typedef {Progress & Tables & {crosstable: {entry: number, against: Encounter[]}[]}} Tournament */
/** @type {Record<string, string>} */
const STATUS_WORDS = {
  queued: "waiting",
  running: "running",
  finished: "finished",
  cancelled: "stopped",
  failed: "failed",
};
/** The latest complete state of the tournament. */
let latestState = pageData("tournament");
/** @type {string|null} */
let status = null;

const pointsText = (/** @type {number} */ value) => value.toLocaleString("en-GB", { maximumFractionDigits: 1 });
const percentText = (/** @type {number} */ share) => (100 * share).toFixed(1);
const hiddenText = (/** @type {string} */ words) => html`<span class="visually-hidden">${words}</span>`;
const figureCell = (/** @type {unknown} */ content) => html`<td class="figure">${content}</td>`;

/** Handles a frame of the socket. */
export function receive(/** @type {Frame} */ { type, data }) {
  if (type !== "joined" && type !== "state") return;
  const state = type === "joined" ? data : mergeChange(latestState, data);
  // Without a merged state the change does not follow the latest state. Joining again brings the whole state.
  if (state === null) socket?.rejoin();
  else draw(state);
}

function draw(/** @type {Tournament} */ state) {
  const entries = /** @type {EntryByNumber} */ (new Map(state.entries.map((entry) => [entry.number, entry])));
  latestState = state;
  drawProgress(state);
  drawStandings(state, entries);
  drawCrosstable(state, entries);
  drawPairings(state, entries);
  if (status === "running" && state.status !== "running") announce(state, entries);
  status = state.status;
}

function drawProgress(/** @type {Tournament} */ state) {
  const isOver = state.status !== "running";
  byId("status").textContent = STATUS_WORDS[state.status].replace(/^./, (letter) => letter.toUpperCase());
  const round = state.rounds > 1 ? `round ${state.round} of ${state.rounds}, ` : "";
  byId("done").textContent =
    `${round}${formatNumber(state.pairings_done)} of ${formatNumber(state.pairings_total)} pairings`;
  byId("progress", HTMLProgressElement).max = Math.max(1, state.pairings_total);
  byId("progress", HTMLProgressElement).value = state.pairings_done;
  byId("error").hidden = !state.error;
  byId("error").textContent = state.error;
  const cancel = document.getElementById("cancel-form");
  if (cancel) cancel.hidden = isOver;
}

/**
 * Returns the standings, divided by the side that the entries play: both (`null`), first (0) or second (1). Entries that
 * play different sides are not ranked together.
 */
function standingsBySide(/** @type {Tournament} */ state, /** @type {EntryByNumber} */ entries) {
  return [null, 0, 1]
    .map((side) => ({ side, rows: state.standings.filter((row) => entries.get(row.entry).side === side) }))
    .filter(({ rows }) => rows.length);
}

function announce(/** @type {Tournament} */ state, /** @type {EntryByNumber} */ entries) {
  const tables = standingsBySide(state, entries);
  const firstWords = tables
    .filter(({ rows: [first] }) => first.games)
    .map(({ side, rows: [first] }) => {
      const group = ` of those that play ${side === null ? "both sides" : roles[side]}`;
      return ` ${entries.get(first.entry).name} is first${side === null && tables.length === 1 ? "" : group}.`;
    });
  byId("said").textContent = `The tournament is ${STATUS_WORDS[state.status]}.${firstWords.join("")}`;
}

function drawStandings(/** @type {Tournament} */ state, /** @type {EntryByNumber} */ entries) {
  const tables = standingsBySide(state, entries);
  render(
    tables.map(({ side, rows }) => {
      const caption =
        side === null ? "They play both sides" : `They play ${roles[side]}, the ${["first", "second"][side]} side`;
      return html`<table>
        ${tables.length > 1 ? html`<caption>${caption}</caption>` : nothing}
        ${tableHead([hiddenText("place"), "Player", "points of 100", "exact", "openskill rating", "games", "won", "drawn", "lost"], 2)}
        <tbody>${rows.map((row) => standingRow(row, entries.get(row.entry)))}</tbody>
      </table>`;
    }),
    byId("standings"),
  );
  byId("sides-apart").hidden = tables.length < 2;
}

function standingRow(/** @type {Row} */ row, /** @type {Entry} */ { name, url }) {
  return html`<tr>
    ${figureCell(row.games ? `${row.place}.` : "–")}
    <th scope="row">${url ? html`<a href=${url}>${name}</a>` : name}</th>
    ${figureCell(row.games ? html`<b>${percentText(row.score)}</b>` : "–")}
    ${figureCell(row.games && row.expected !== null ? percentText(row.expected / row.games) : "–")}
    ${figureCell(`${row.rating.toFixed(1)} ± ${row.uncertainty.toFixed(1)}`)}
    ${[row.games, row.wins, row.draws, row.losses].map((n) => figureCell(formatNumber(n)))}
  </tr>`;
}

function drawCrosstable(/** @type {Tournament} */ state, /** @type {EntryByNumber} */ entries) {
  const order = state.crosstable.map((row) => row.entry);
  const columns = order.map((entry, index) => html`${index + 1}${hiddenText(` ${entries.get(entry).name}`)}`);
  const rows = state.crosstable.map((row, index) => {
    const against = new Map(row.against.map((encounter) => [encounter.entry, encounter]));
    return html`<tr>
      <th scope="row"><span class="soft">${index + 1} </span>${entries.get(row.entry).name}</th>
      ${order.map((other) =>
        other === row.entry
          ? html`<td class="cross-self">${hiddenText("itself")}</td>`
          : encounterCell(against.get(other)),
      )}
    </tr>`;
  });
  render(html`${tableHead([hiddenText("player"), ...columns], 0)}<tbody>${rows}</tbody>`, byId("cross"));
}

/** Returns the cell with the score of one entry against another. */
function encounterCell(/** @type {Encounter|undefined} */ encounter) {
  if (!encounter) return html`<td class="figure cross-none">·</td>`;
  const { points: score, games, expected } = encounter;
  const share = score / games;
  const exactWords = expected === null ? "" : `; exactly ${pointsText(expected)}`;
  const title = `${pointsText(score)} of ${formatNumber(games)} points${exactWords}`;
  return html`<td class="figure share-${Math.min(4, Math.floor(share * 5))}" title=${title}>${percentText(share)}${
    expected === null ? nothing : html`<small>${percentText(expected / games)}</small>`
  }</td>`;
}

function drawPairings(/** @type {Tournament} */ state, /** @type {EntryByNumber} */ entries) {
  const hasRounds = state.rounds > 1;
  const rows = state.pairings.map((pairing) => {
    const results = [pairing.first_wins, pairing.draws, pairing.second_wins];
    return html`<tr>
      ${hasRounds ? figureCell(formatNumber(pairing.round)) : nothing}
      <th scope="row">${entries.get(pairing.first).name}</th>
      <td>${entries.get(pairing.second).name}</td>
      ${figureCell(results.some(Boolean) ? results.map(formatNumber).join(" / ") : STATUS_WORDS[pairing.status])}
      ${figureCell(pairing.expected ? shares(pairing.expected).join(" / ") : "–")}
    </tr>`;
  });
  const columns = [`${roles[0]} (first)`, `${roles[1]} (second)`, "won / drawn / lost", "exactly, of 100"];
  const head = hasRounds ? tableHead(["round", ...columns], 3) : tableHead(columns, 2);
  render(html`${head}<tbody>${rows}</tbody>`, byId("pairings"));
}

draw(latestState);
/** @type {Socket|null} */
let socket = null;
if (status === "running") {
  const apiUrl = `/api/tournaments/${page.dataset.tournament}`;
  const showConnection = (/** @type {SocketStatus} */ connection) => {
    const words =
      status === "running" || connection === "away"
        ? troubleWords(connection, "The connection is lost. The page tries again. The tables may be a little old.")
        : "";
    byId("lost").hidden = !words;
    byId("lost").textContent = words;
  };
  socket = new Socket(`${apiUrl}/ws`, receive, showConnection, {
    pollUrl: apiUrl,
    frame: (data) => ({ type: "joined", data }),
  });
}
