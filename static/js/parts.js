/** What a machine that adds up a board thought of its last move: the parts of the sum, and the moves beside it. */

import { html, svg } from "./dom.js";
import { seatOf } from "./match_words.js";

/** So many parts are seen at once, those that count most. */
const SEEN = 5;

/** A number with its sign, to the hundredth. */
export const signed = (number) => digits(number, 2);

/** The same to so many places; what is 0 there has none. */
const digits = (number, places) => {
  const shown = Math.abs(number).toFixed(places);
  return Number(shown) ? `${number < 0 ? "−" : "+"}${shown}` : shown;
};

/** A part as a line: its bar leads right where it is for the machine, left where it is against it. */
function partLine({ name, value }, most) {
  const width = most ? (100 * Math.abs(value)) / most : 0;
  const bar = svg(
    "svg",
    { class: "part-bar", viewBox: "-100 0 200 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: value < 0 ? "is-against" : "is-for", x: value < 0 ? -width : 0, width, height: 10 }),
    svg("path", { d: "M0 0V10" }),
  );
  return html("li", {}, html("span", {}, name), bar, html("span", { class: "figure" }, signed(value)));
}

/**
 * A sum and its parts: the largest to be seen at once, the rest to be unfolded, and at last every single weight.
 *
 * @param {PartsShown} board
 */
export function partsList({ sum, value, groups }) {
  const most = Math.abs(groups[0]?.value ?? 0);
  const [first, rest] = [groups.slice(0, SEEN), groups.slice(SEEN)];
  const list = (some) => html("ul", { class: "plain parts" }, ...some.map((one) => partLine(one, most)));
  const left = rest.reduce((total, one) => total + one.value, 0);
  return [
    list(first),
    rest.length
      ? html("details", {}, html("summary", {}, `${rest.length} smaller parts, together ${signed(left)}`), list(rest))
      : null,
    html("p", { class: "parts-sum" }, `All together ${signed(sum)}: a value of ${signed(value)}, between −1 and +1.`),
    html("details", {}, html("summary", {}, "Every weight that counted"), everyWeight(groups)),
  ].filter(Boolean);
}

/** A table that scrolls in a box of its own; of each row the first cell is its name. */
function table(caption, names, rows) {
  return html(
    "div",
    { class: "scroll-x", tabindex: 0, role: "group", "aria-label": caption },
    html(
      "table",
      { class: "figure exact" },
      html("caption", { class: "visually-hidden" }, caption),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          names.map((name, at) => html("th", { scope: "col", class: at ? "figure" : null }, name)),
        ),
      ),
      html(
        "tbody",
        {},
        rows.map(([name, ...cells]) =>
          html(
            "tr",
            {},
            html("th", { scope: "row" }, name),
            cells.map((words) => html("td", { class: "figure" }, words)),
          ),
        ),
      ),
    ),
  );
}

function everyWeight(groups) {
  const rows = groups
    .flatMap(({ parts }) => parts)
    .map(({ name, weight, amount, value }) => [name, digits(weight, 4), String(amount), digits(value, 4)]);
  return table("Every weight that counted", ["On the board", "Weight", "Times", "Adds"], rows);
}

/** Fills the section of the match page, or hides it where nobody in the game tells of parts. Levels are no machines. */
export function showParts(now, section) {
  const { thoughts, changes } = now.learning?.parts ?? { thoughts: [], changes: [] };
  const owners = now.seats.filter((seat) => seat.machine?.tells === "parts");
  const thought = thoughts.toSorted((a, b) => a.ply - b.ply).at(-1);
  const machine = (owners.find(({ role }) => role === thought?.role) ?? (thought ? null : owners[0]))?.machine;
  section.hidden = !thought && !machine;
  if (section.hidden) return;
  const part = (name) => section.querySelector(`[data-parts=${name}]`);
  part("words").textContent = thought
    ? thought.words
    : `${machine.name} has not moved yet. It will play what looks best to it, and tell here what it saw.`;
  // What has been unfolded stays so while the same is told again.
  const key = JSON.stringify([thought, changes]);
  if (section.dataset.told !== key) {
    section.dataset.told = key;
    part("board").replaceChildren(
      ...(thought ? [html("h3", {}, `The board after it, for ${thought.role}`), ...partsList(thought)] : []),
    );
    part("moves").replaceChildren(...(thought ? [movesTold(thought)] : []));
    part("changes").replaceChildren(...changesTold(changes, now));
  }
  part("weights").hidden = !thought;
  if (thought) part("weights").href = thought.url;
  part("why").hidden = !machine;
  if (machine) part("why").href = `/machines/${machine.id}/values?position=${encodeURIComponent(now.position)}`;
}

function movesTold({ moves, depth, n_moves: n }) {
  const ahead = depth === 1 ? "One move ahead" : `${depth} moves ahead`;
  // Of a level it is not kept what its search found.
  const isFound = moves.some(({ found }) => found !== null);
  const rows = moves.map(({ name, chosen, board, found }) => [
    chosen ? [name, html("span", { class: "tag" }, "played")] : name,
    signed(board),
    ...(isFound ? [found === null ? "–" : signed(found)] : []),
  ]);
  return html(
    "details",
    {},
    html("summary", {}, moves.length < n ? `The best of its ${n} moves` : "Its moves"),
    table(
      "What it could have played, the best first",
      ["Move", "The board after it", ...(isFound ? [ahead] : [])],
      rows,
    ),
  );
}

/** What the match changed, machine by machine: the weights that it changed most, and the way to all of them. */
function changesTold(changes, now) {
  return changes.map(({ role, url, n_changed: n, weights }) =>
    html(
      "details",
      {},
      html("summary", {}, `What the match changed in ${seatOf(now, role)?.machine?.name ?? role}`),
      table(
        "The weights that changed most",
        ["On the board", "Before", "After", "Change"],
        weights.map(({ name, before, after }) => [
          name,
          digits(before, 4),
          digits(after, 4),
          digits(after - before, 4),
        ]),
      ),
      html("p", { class: "small" }, html("a", { href: url }, `All ${n} on the board`)),
    ),
  );
}
