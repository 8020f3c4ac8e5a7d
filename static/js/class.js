/**
 * The pages of a class for pupils, the teacher and the projector: fills the table, shows pauses, and pages through the
 * rows on the projector.
 *
 * A page without a table only needs to know whether the class is paused. The script also works without https.
 */

import { boardPicture } from "./diagram.js";
import { byId, pageData } from "./dom.js";
import { html, nothing, render, tableHead } from "./lit.js";
import { PAGE_MS, ROWS_OF_COLUMN } from "./projector.js";
import { Socket, troubleWords } from "./socket.js";
import { formatNumber, perHundred } from "./words.js";

/** @typedef {{position: string, board: Pieces, move_number: number, cost: number}} CostlyBox */
/** @typedef {{number: number, name: string, side: number, box: CostlyBox|null}} Leader */
/** @typedef {Record<"number"|"side"|"place"|"games"|"wins"|"draws"|"losses", number>} Counts */
/** @typedef {{name: string, side_name: string, points: number|null, curve: string, url: string|null, stuck: string}} Facts */
/** @typedef {Counts & Facts} Row */
/** @typedef {{mark: string, is_shown: boolean, progress: number}|null} FinalMark */
/** @typedef {{status: string, locked: boolean, rows: Row[], leaders: Leader[], final: FinalMark}} ClassTable */

const ROWS_OF_PAGE = 2 * ROWS_OF_COLUMN;
const ROWS_OF_LARGE_COLUMN = 10;
const RELOAD_DELAY_MS = 1_500;
/** @type {Record<string, string>} */
const STUCK_WORDS = { gone: "page closed", waiting: "no move for a minute" };
/** @type {Record<string, string>} */
const CLOSED_WORDS = {
  paused: "Your teacher has paused the class. Look up.",
  finished: "The class is over. You can take your machine home.",
};

const tableElement = document.getElementById("class-table");
const projectorScreen = document.querySelector("[data-screen]");
const classBar = document.querySelector("[data-class-bar]");
const pauseElement = document.getElementById("class-pause");
const classroom = (tableElement ?? classBar)?.dataset.class;
const ownNumber = Number(tableElement?.dataset.number);
const game = pageData("class-game");
/** @type {ClassTable|null} */
let latestTable = null;
let pageIndex = 0;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let reloadTimer;

/** Handles a frame of the socket. */
function receive(/** @type {Frame} */ { type, data }) {
  if (type === "error") showTrouble(data.detail);
  if (type !== "joined" && type !== "table") return;
  showPause(data.status);
  if (tableElement && data.rows) {
    latestTable = data;
    showFinal(data);
    draw();
  }
}

/** Shows the progress of the final. Reloads the page if it stays out of date for longer than a table may be old. */
function showFinal(/** @type {ClassTable} */ { final }) {
  const mark = final && (final.is_shown || tableElement?.hasAttribute("data-teacher")) ? final.mark : "";
  if (mark === tableElement?.dataset.final) {
    clearTimeout(reloadTimer);
    reloadTimer = undefined;
  } else reloadTimer ??= setTimeout(() => location.reload(), RELOAD_DELAY_MS);
  const words = document.getElementById("final-progress");
  if (words && final) words.textContent = finalWords(final);
}

const finalWords = (/** @type {NonNullable<FinalMark>} */ { progress }) =>
  `The final is being worked out: ${Math.floor(100 * progress)} %.`;

/** Covers the board while the class is paused, on the pages of a pupil. */
function showPause(/** @type {string} */ status) {
  if (!pauseElement) return;
  const words = CLOSED_WORDS[status] ?? "";
  pauseElement.hidden = !words;
  if (pauseElement.textContent !== words) pauseElement.textContent = words;
  const board = document.querySelector("[data-room] #board");
  pauseElement.classList.toggle("is-over-board", Boolean(board));
  board?.toggleAttribute("inert", Boolean(words));
}

function draw() {
  if (!latestTable || !tableElement || tableElement.hidden) return;
  tableElement.querySelector(".until-scripts")?.remove();
  if (projectorScreen) drawScreen(latestTable, tableElement);
  else drawTable(latestTable, tableElement);
}

const numberCells = (/** @type {Row} */ row) =>
  [row.games, row.wins, row.draws, row.losses].map((n) => html`<td class="figure">${formatNumber(n)}</td>`);
const pointsText = (/** @type {number|null} */ value) => (value === null ? "–" : (100 * value).toFixed(1));

function curveCell(/** @type {string} */ line) {
  return html`<td class="class-curve"><svg viewBox="0 -1 100 32" aria-hidden="true"><polyline points=${line} /></svg></td>`;
}

function drawTable(/** @type {ClassTable} */ table, /** @type {HTMLElement} */ at) {
  const isTeacher = table.rows.some(({ url }) => url);
  const columns = [
    html`<span class="visually-hidden">Place</span>`,
    "Machine of",
    "Points",
    "Games",
    "Won",
    "Drawn",
    "Lost",
    "Curve",
  ];
  render(
    [
      table.leaders.map((leader) => html`<p class="class-leader">${leaderWords(leader, table)}</p>`),
      table.rows.length
        ? html`<div class="scroll" tabindex="0" role="region" aria-label="Table of the class"><table class="class-rows">
            ${tableHead(isTeacher ? [...columns, "Stuck"] : columns, 2)}
            <tbody>${table.rows.map((row) => tableRow(row, table, isTeacher))}</tbody>
          </table></div>
          <p class="small soft">Points of 100 are exact: they count many games against random play. A draw is half a win.</p>`
        : html`<p class="soft">No pupil has joined yet.</p>`,
    ],
    at,
  );
}

function tableRow(/** @type {Row} */ row, /** @type {ClassTable} */ table, /** @type {boolean} */ isTeacher) {
  const name = row.url ? html`<a href=${row.url}>${row.name}</a>` : row.name;
  const side = hasTwoSides(table) ? html`<small class="soft"> ${row.side_name}</small>` : nothing;
  return html`<tr class=${row.number === ownNumber ? "is-own" : nothing}>
    <td class="figure">${row.games ? `${row.place}.` : "–"}</td>
    <th scope="row">${name}${row.number === ownNumber ? html` <b>(you)</b>` : nothing}${side}</th>
    <td class="figure"><b>${pointsText(row.points)}</b></td>${numberCells(row)}${curveCell(row.curve)}
    ${isTeacher ? html`<td>${row.stuck ? html`<b class="class-stuck">! ${STUCK_WORDS[row.stuck]}</b>` : nothing}</td>` : nothing}
  </tr>`;
}

const hasTwoSides = (/** @type {ClassTable} */ { rows }) => rows.some(({ side }) => side !== rows[0].side);

/** Says who is ahead, and why. */
function leaderWords(/** @type {Leader} */ { name, side, box }, /** @type {ClassTable} */ table) {
  const among = hasTwoSides(table) ? ` of those that play ${["first", "second"][side]}` : "";
  const lead = `${name} is ahead${among}.`;
  if (!box) return lead;
  const cost = `This box is worth ${perHundred(Number(box.cost.toPrecision(2)))} points of 100 to it.`;
  return html`${game ? boardPicture(game.layout, box.board, { size: 90 }) : nothing}<span>${lead} ${cost}</span>`;
}

function drawScreen(/** @type {ClassTable} */ table, /** @type {HTMLElement} */ at) {
  const pages = Math.max(1, Math.ceil(table.rows.length / ROWS_OF_PAGE));
  pageIndex %= pages;
  const rows = table.rows.slice(pageIndex * ROWS_OF_PAGE, (pageIndex + 1) * ROWS_OF_PAGE);
  const isSmall = table.rows.length > 2 * ROWS_OF_LARGE_COLUMN;
  const size = isSmall ? ROWS_OF_COLUMN : ROWS_OF_LARGE_COLUMN;
  const columns = [rows.slice(0, size), rows.slice(size)].filter((column) => column.length);
  at.className = `screen-tables ${isSmall ? "has-many" : "has-few"}`;
  render(
    columns.map((column) => screenColumn(column, table)),
    at,
  );
  const isWorking = table.final?.mark.endsWith("-going");
  const closedWords = { paused: "The class is paused.", finished: "The class is over." }[table.status];
  const leader = table.leaders[Math.floor(Date.now() / PAGE_MS) % (table.leaders.length || 1)];
  const words =
    (isWorking && table.final ? finalWords(table.final) : closedWords) ??
    (leader ? leaderWords(leader, table) : `${formatNumber(table.rows.length)} have joined.`);
  render(words, byId("screen-why"));
  byId("screen-page").textContent = pages > 1 ? `page ${pageIndex + 1} of ${pages}` : "";
}

function screenColumn(/** @type {Row[]} */ rows, /** @type {ClassTable} */ table) {
  const titles = ["Games played", "Won", "Drawn", "Lost", "Exact points of 100 against random play"];
  const letters = ["P", "W", "D", "L", "Pts"];
  const mark = (/** @type {Row} */ row) => (hasTwoSides(table) ? ["① ", "② "][row.side] : "");
  return html`<table class="screen-rows"><thead><tr>
      <th></th><th scope="col">Machine of</th>
      ${letters.map((letter, n) => html`<th scope="col" class="figure"><abbr title=${titles[n]}>${letter}</abbr></th>`)}
      <th></th></tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr><td class="figure">${row.games ? row.place : ""}</td>
        <th scope="row"><span>${mark(row)}${row.name}</span></th>${numberCells(row)}
        <td class="figure"><b>${pointsText(row.points)}</b></td>${curveCell(row.curve)}</tr>`,
    )}</tbody></table>`;
}

function showTrouble(/** @type {string} */ words) {
  const problem = document.getElementById("class-trouble") ?? byId("site-trouble");
  problem.hidden = !words;
  problem.textContent = words;
}

function showConnection(/** @type {SocketStatus} */ status) {
  // The page of a match has a socket of its own, which reports.
  if (!document.querySelector("[data-room]"))
    showTrouble(troubleWords(status, "The connection is lost. The page tries again."));
}

if (projectorScreen && document.getElementById("screen-qr")) {
  setInterval(() => {
    pageIndex += 1;
    draw();
  }, PAGE_MS);
  const code = byId("screen-qr");
  const show = (/** @type {boolean} */ isShown) => {
    code.hidden = !isShown;
    (isShown ? code : byId("show-qr")).focus();
  };
  byId("show-qr").addEventListener("click", () => show(true));
  code.addEventListener("click", () => show(false));
  document.addEventListener("keydown", ({ key }) => key === "Escape" && !code.hidden && show(false));
}
if (classroom) {
  const query = tableElement ? "" : "?only=status";
  const apiUrl = `/api/classes/${classroom}`;
  new Socket(`${apiUrl}/ws${query}`, receive, showConnection, {
    pollUrl: `${apiUrl}/table`,
    frame: (data) => ({ type: "joined", data }),
  });
}
