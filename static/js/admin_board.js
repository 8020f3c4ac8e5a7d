/**
 * Two custom elements for the admin, which draw boards and beads:
 *
 *   <bead-board data-game="noughts-and-crosses" data-board='["X",null,…]'></bead-board>
 *   <bead-bars data-beads="[4,3,1]" data-slots='[{"colour":0,"mark":"A","name":"top left"}]'></bead-bars>
 *
 * The layout of each game is fetched once.
 */

import { beadPicture } from "./beads.js";
import { boardPicture } from "./diagram.js";
import { html, svg } from "./dom.js";
import { decimalPercents, formatNumber } from "./words.js";

/** @type {Map<string, Promise<Layout>>} */
const layouts = new Map();

function layoutOf(/** @type {string} */ game) {
  if (!layouts.has(game)) {
    layouts.set(
      game,
      fetch(`/api/games/${encodeURIComponent(game)}`)
        .then((response) => {
          if (!response.ok) throw new Error(`No layout for ${game}: ${response.status}`);
          return response.json();
        })
        .then(({ layout }) => layout),
    );
  }
  return /** @type {Promise<Layout>} */ (layouts.get(game));
}

/** Adds the style sheets of the drawings to the page, unless it has them. */
function addStyleSheets() {
  for (const name of ["objects.css", "admin_board.css"]) {
    const href = new URL(`../css/${name}`, import.meta.url).href;
    if (!document.querySelector(`link[href="${href}"]`))
      document.head.append(html("link", { rel: "stylesheet", href }));
  }
}

class BeadBoard extends HTMLElement {
  async connectedCallback() {
    const pieces = JSON.parse(this.dataset.board ?? "[]");
    try {
      const layout = await layoutOf(/** @type {string} */ (this.dataset.game));
      this.replaceChildren(boardPicture(layout, pieces, { size: Number(this.dataset.size ?? 60) }));
    } catch {
      this.textContent = pieces.map((/** @type {string|null} */ piece) => piece ?? ".").join("");
    }
  }
}

class BeadBars extends HTMLElement {
  connectedCallback() {
    const beads = JSON.parse(this.dataset.beads ?? "[]");
    const slots = JSON.parse(this.dataset.slots ?? "[]");
    const total = beads.reduce((/** @type {number} */ sum, /** @type {number} */ n) => sum + n, 0);
    const chances = decimalPercents(beads);
    const maxBeads = Math.max(1, ...beads);
    this.replaceChildren(
      html(
        "ul",
        { class: "bead-bars" },
        beads.map((/** @type {number} */ n, /** @type {number} */ index) => {
          const slot = slots[index] ?? { colour: index % 9, mark: String(index + 1), name: `slot ${index + 1}` };
          return html(
            "li",
            { title: `${slot.name}: ${n} of ${total}` },
            beadPicture(slot, 20),
            svg(
              "svg",
              { class: "bead-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
              svg("rect", { class: `bead-bar-fill bead-bar-${slot.colour}`, width: (100 * n) / maxBeads, height: 10 }),
            ),
            html(
              "span",
              {},
              `${formatNumber(n)} `,
              html("small", {}, `${slot.name ?? ""}${total ? `, ${chances[index]}` : ""}`),
            ),
          );
        }),
      ),
    );
  }
}

addStyleSheets();
customElements.define("bead-board", BeadBoard);
customElements.define("bead-bars", BeadBars);
