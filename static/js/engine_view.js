/** Shows the engine's evaluation of the board and its best moves, on request. */

import { html } from "./dom.js";

/** @typedef {{name: string, words: string, path: string[], move: string}} EngineMove */

export class EngineView {
  /**
   * @param {Record<"answer"|"words"|"list", HTMLElement> & {button: HTMLButtonElement, bar: Element & {hidden?: boolean}}} parts
   *   elements of the page
   * @param {Layout} layout the game's layout
   * @param {string} url the address of the evaluation
   * @param {(path: string[]) => void} onLook called with the cells of the move under the pointer or focus, or with none
   */
  constructor(parts, layout, url, onLook) {
    this.parts = parts;
    this.layout = layout;
    this.url = url;
    this.onLook = onLook;
    /** @type {number|null} */
    this.ply = null;
    parts.button.addEventListener("click", () => this.#evaluate());
  }

  /** Hides the evaluation of an earlier position. */
  show(/** @type {MatchState} */ state) {
    this.parts.button.disabled = state.status !== "playing";
    if (state.status === "playing" && state.ply === this.ply) return;
    this.ply = null;
    this.parts.answer.hidden = true;
  }

  /** Requests and shows the evaluation of the current board, or an error. */
  async #evaluate() {
    const { words, answer, list, bar } = this.parts;
    let evaluation;
    try {
      const response = await fetch(this.url);
      evaluation = await response.json();
      if (!response.ok) throw new Error(evaluation.detail);
    } catch (error) {
      evaluation = { words: error.message || "No answer came. Try again.", candidates: [], share: null };
    }
    this.ply = evaluation.ply ?? null;
    answer.hidden = false;
    bar.hidden = evaluation.share === null;
    words.textContent = evaluation.role
      ? `${evaluation.role} to move. ${this.#sentence(evaluation.words)}`
      : evaluation.words;
    if (evaluation.share !== null) {
      /** @type {Element} */ (bar.querySelector(".share-first")).setAttribute("width", String(100 * evaluation.share));
      bar.setAttribute(
        "aria-label",
        `${this.layout.roles[0]} ${Math.round(100 * evaluation.share)} %, ${this.layout.roles[1]} ${Math.round(100 - 100 * evaluation.share)} %`,
      );
    }
    list.replaceChildren(
      ...evaluation.candidates.map((/** @type {EngineMove} */ candidate) => this.#candidate(candidate)),
    );
  }

  #sentence(/** @type {string} */ text) {
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }

  #candidate(/** @type {EngineMove} */ { name, words, path, move }) {
    const button = html(
      "button",
      { type: "button", "data-move": move },
      html("span", {}, name),
      html("span", { class: "soft figure" }, words),
    );
    for (const eventType of ["mouseenter", "focus", "click"])
      button.addEventListener(eventType, () => this.onLook(path));
    for (const eventType of ["mouseleave", "blur"]) button.addEventListener(eventType, () => this.onLook([]));
    return html("li", {}, button);
  }
}
