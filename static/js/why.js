/** Why this move: a board on which both sides are played, and the box that the machine would open. */

import { beadPicture } from "./beads.js";
import { Board } from "./board.js";
import { byId, html, pageData } from "./dom.js";
import { closedMatchbox, matchbox } from "./matchbox.js";
import { either, figure, percent, sentence, tenths } from "./words.js";

const page = document.querySelector("[data-base]");
const game = pageData("game");
const layout = game.layout ?? game;
const { title, base } = page.dataset;
const trail = [];
let view = pageData("view");

const board = new Board(byId("board"), layout, (played) => {
  const move = view.moves.find((one) => one.move === played);
  if (move) go(move.next);
});

async function go(position, { isNew = true } = {}) {
  const address = `${base}?position=${encodeURIComponent(position)}`;
  let answer;
  try {
    answer = await fetch(address, { headers: { Accept: "application/json" } });
  } catch {
    return problem("The site does not answer. Try again in a moment.");
  }
  const told = await answer.json();
  if (!answer.ok) return problem(told.detail);
  if (isNew) {
    trail.push(view.position);
    history.pushState({ position }, "", address);
  }
  view = told;
  problem("");
  return show();
}

function problem(words) {
  byId("problem").hidden = !words;
  byId("problem").textContent = words;
}

/** The slots of the box as they lie on this board. */
function slots({ moves, box }) {
  const places = new Map();
  for (const move of moves.filter(({ slot }) => slot !== null)) {
    const slot = places.get(move.slot) ?? {
      slot: move.slot,
      colour: move.colour,
      mark: move.mark,
      beads: move.beads,
      moves: [],
      paths: [],
      names: [],
      probability: 0,
    };
    slot.moves.push(move.move);
    slot.paths.push(move.cells.map((cell) => layout.cells[cell].id));
    slot.names.push(move.name);
    slot.probability += move.probability;
    places.set(move.slot, slot);
  }
  return box ? [...places.values()].sort((a, b) => a.slot - b.slot) : [];
}

function show() {
  const { why } = view;
  board.update({
    board: view.board,
    beads: (why?.moves ?? []).filter(({ slot }) => slot !== null),
    ghost: view.role,
    paths: Object.fromEntries(view.moves.map(({ move, path }) => [move, path])),
  });
  // What could not be read stays to be mended.
  if (byId("problem").hidden) byId("position", HTMLInputElement).value = view.position;
  byId("back", HTMLButtonElement).disabled = !trail.length;
  byId("say").textContent = words();
  const places = why ? slots(why) : [];
  byId("matchbox").replaceChildren(
    places.length
      ? matchbox(layout, {
          ...why.box,
          slots: places,
          slot: null,
          title,
          boardMoves: true,
          fit: why.symmetry,
          symmetry: why.symmetry,
        })
      : closedMatchbox(`A closed matchbox of ${title}`),
  );
  const isTurned = why && places.length && (why.symmetry.quarter_turns || why.symmetry.mirrored);
  byId("turned").replaceChildren(
    ...(why?.box
      ? [
          isTurned ? `The printed box is turned to fit: ${why.symmetry.name}. ` : "The box lies as it is printed. ",
          why.visit === undefined || why.visit === null
            ? ""
            : html(
                "span",
                { title: `probability ${why.visit}` },
                `A game against random play opens it with ${percent(why.visit)}. `,
              ),
          html("a", { href: why.box.url }, "Its whole life"),
        ]
      : []),
  );
  const rows = why ? why.moves : view.moves;
  byId("odds").replaceChildren(
    html(
      "caption",
      {},
      why
        ? `What ${title} would play; squares with the same bead share it`
        : view.moves.length
          ? "The moves that are allowed"
          : "No move is left",
    ),
    rows.length
      ? html(
          "thead",
          {},
          html(
            "tr",
            {},
            ["Bead", "Move", "Beads", "Chance"].map((head, n) =>
              html("th", { scope: "col", class: n > 1 ? "figure" : null }, head),
            ),
            why ? html("th", { scope: "col", class: "figure exactly" }, "Exactly") : null,
          ),
        )
      : "",
    html(
      "tbody",
      {},
      rows.map((move) =>
        html(
          "tr",
          {},
          html(
            "td",
            {},
            move.mark ? beadPicture(move) : null,
            move.mark ? html("span", { class: "visually-hidden" }, `bead ${move.mark}`) : null,
          ),
          html("th", { scope: "row" }, sentence(move.name)),
          html(
            "td",
            { class: "figure" },
            move.beads === undefined || move.beads === null ? "\u2013" : figure(move.beads),
          ),
          html(
            "td",
            { class: "figure", title: move.probability === undefined ? null : `probability ${move.probability}` },
            move.probability === undefined ? "\u2013" : tenths(move.probability),
          ),
          why ? html("td", { class: "figure exactly" }, move.probability.toFixed(6)) : null,
        ),
      ),
    ),
  );
}

function words() {
  const { why } = view;
  if (view.over) return view.over;
  if (!why) return `The other side is to move. Play for it: where would ${title} find itself?`;
  if (why.forced) return `${title} has only one move here, so it needs no box.`;
  if (why.resigns) return `The box is empty: here ${title} gives up.`;
  if (!why.box) return `${title} has never been here. It would lay out a new box.`;
  const kinds = slots(why);
  const best = kinds.reduce((a, b) => (b.probability > a.probability ? b : a));
  const isAlike = kinds.every(({ probability }) => Math.abs(probability - best.probability) < 1e-12);
  return isAlike
    ? `${title} is to move, and every bead is as likely as the others.`
    : `${title} is to move. Most likely, ${percent(best.probability)}: bead ${best.mark}, ${either(best.names)}.`;
}

byId("back").addEventListener("click", () => {
  const position = trail.pop();
  if (position === undefined) return;
  history.replaceState({ position }, "", `${base}?position=${encodeURIComponent(position)}`);
  go(position, { isNew: false });
});
byId("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  go(byId("position", HTMLInputElement).value.trim());
});
addEventListener("popstate", () => {
  trail.pop();
  go(new URLSearchParams(location.search).get("position") ?? game.start, { isNew: false });
});
show();
