/**
 * Boards and beads for the admin, as two elements:
 *
 *   <bead-board data-game="noughts-and-crosses" data-board='["X",null,…]' data-layout='{…}'></bead-board>
 *   <bead-bars data-beads="[4,3,1]" data-slots='[{"colour":0,"mark":"A","name":"top left"}]'></bead-bars>
 *
 * Without `data-layout` the layout is fetched once for every game.
 */

import { beadPicture } from "./beads.js";
import { boardPicture } from "./diagram.js";
import { html, svg } from "./dom.js";
import { figure, percent } from "./words.js";

const layouts = new Map();

function layoutOf(element) {
  if (element.dataset.layout) {
    const given = JSON.parse(element.dataset.layout);
    return Promise.resolve(given.layout ?? given);
  }
  const { game } = element.dataset;
  if (!layouts.has(game)) {
    layouts.set(
      game,
      fetch(`/api/games/${encodeURIComponent(game)}`)
        .then((answer) => {
          if (!answer.ok) throw new Error(`No layout for ${game}: ${answer.status}`);
          return answer.json();
        })
        .then(({ layout }) => layout),
    );
  }
  return layouts.get(game);
}

/** The objects' own style sheets, once for the page. */
function style() {
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
      const layout = await layoutOf(this);
      this.replaceChildren(boardPicture(layout, pieces, { size: Number(this.dataset.size ?? 60) }));
    } catch {
      this.textContent = pieces.map((piece) => piece ?? ".").join("");
    }
  }
}

class BeadBars extends HTMLElement {
  connectedCallback() {
    const beads = JSON.parse(this.dataset.beads ?? "[]");
    const slots = JSON.parse(this.dataset.slots ?? "[]");
    const total = beads.reduce((sum, n) => sum + n, 0);
    const most = Math.max(1, ...beads);
    this.replaceChildren(
      html(
        "ul",
        { class: "bead-bars" },
        beads.map((n, at) => {
          const slot = slots[at] ?? { colour: at % 9, mark: String(at + 1), name: `slot ${at + 1}` };
          return html(
            "li",
            { title: `${slot.name}: ${n} of ${total}` },
            beadPicture(slot, 20),
            svg(
              "svg",
              { class: "bead-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
              svg("rect", { class: `bead-bar-fill bead-bar-${slot.colour}`, width: (100 * n) / most, height: 10 }),
            ),
            html(
              "span",
              {},
              `${figure(n)} `,
              html("small", {}, `${slot.name ?? ""}${total ? `, ${percent(n / total)}` : ""}`),
            ),
          );
        }),
      ),
    );
  }
}

style();
customElements.define("bead-board", BeadBoard);
customElements.define("bead-bars", BeadBars);
