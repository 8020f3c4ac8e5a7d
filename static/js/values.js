/** What a machine that keeps values thought of its last move, and what the match changed: two tables from the state. */

import { html } from "./dom.js";
import { percent } from "./words.js";

const digits = (n, places) => `${n < 0 ? "−" : ""}${Math.abs(n).toFixed(places)}`;
const cell = (words) => html("td", { class: "figure" }, words);

/** Whether what is told of a machine is told in boxes and draws. */
export const keepsBoxes = (machine) => machine?.tells === "boxes";

/** Whether it is told in values. */
const keepsValues = (machine) => machine?.tells === "values";

/** Fills the section of the match page, or hides it where nobody in the game keeps values. */
export function showValues(now, section) {
  const { thought, changes, plies } = now.learning?.values ?? { thought: null, changes: [], plies: [] };
  const owners = now.seats.filter((seat) => keepsValues(seat.machine));
  const seat = owners.find(({ role }) => role === thought?.role) ?? owners[0];
  section.hidden = !seat;
  if (!seat) return;
  const { machine } = seat;
  section.querySelector("[data-values=words]").textContent = words(
    seat,
    thought,
    plies.some(({ role }) => role === seat.role),
  );
  section.querySelector("[data-values=thought]").replaceChildren(...(thought ? [thoughtTable(thought)] : []));
  section
    .querySelector("[data-values=changes]")
    .replaceChildren(...(changes.length ? [changesTable(changes, now.moves)] : []));
  section.querySelector("a").href = `/machines/${machine.id}/values?position=${encodeURIComponent(now.position)}`;
}

function words({ machine, name, takes_over: isTakenOver }, thought, hasMoved) {
  // The last decision is another machine's, which is not to be seen.
  if (!thought && hasMoved) return `What ${machine.name} thinks is told after its own moves.`;
  if (!thought) return `${machine.name} has not moved yet. It will play what it expects most of.`;
  const played = thought.candidates.find((one) => one.chosen);
  if (isTakenOver) return `${name} played ${played.name} for it, out of ${thought.n_candidates} moves.`;
  if (thought.explored)
    return `It tried something: ${played.name}. It does so in ${percent(thought.epsilon)} of its moves.`;
  return `It played ${played.name}, out of ${thought.n_candidates} moves.`;
}

const ENDS = { 1: "wins", "-1": "loses by repetition" };

/** What is to be said of a move beside its numbers, which alone do not always tell why it was played. */
const tags = ({ chosen, ends }) =>
  [chosen && "played", ENDS[ends]].filter(Boolean).map((name) => html("span", { class: "tag" }, name));

function thoughtTable(thought) {
  const heads = thought.has_outlook ? ["Move", "Learnt (Q)", "Outlook (E/100)", "Sum"] : ["Move", "Learnt"];
  return html(
    "table",
    { class: "figure exact" },
    html("caption", {}, "What it thought of its last move, the best first"),
    html("thead", {}, html("tr", {}, ...heads.map((name) => html("th", { scope: "col" }, name)))),
    html(
      "tbody",
      {},
      ...thought.candidates.map((one) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, one.name, ...tags(one)),
          cell(digits(one.value, 4)),
          ...(thought.has_outlook ? [cell(digits(one.outlook, 3)), cell(digits(one.total, 4))] : []),
        ),
      ),
    ),
  );
}

function changesTable(changes, moves) {
  return html(
    "details",
    {},
    html("summary", {}, "Every value that changed"),
    html(
      "table",
      { class: "figure exact" },
      html("caption", {}, "What the match taught"),
      html(
        "thead",
        {},
        html("tr", {}, ...["Move", "Before", "After"].map((name) => html("th", { scope: "col" }, name))),
      ),
      html(
        "tbody",
        {},
        ...changes.map((one) =>
          html(
            "tr",
            {},
            html("th", { scope: "row" }, `${one.ply + 1}. ${moves[one.ply]?.name ?? one.name}`),
            cell(digits(one.before, 4)),
            cell(digits(one.after, 4)),
          ),
        ),
      ),
    ),
  );
}
