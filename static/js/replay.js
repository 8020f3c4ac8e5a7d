/**
 * Replay: shows the earlier boards of a match, by four buttons, the list of moves and the keyboard.
 *
 * The boards are fetched when the first of them is needed; later requests fetch only the missing ones. While an earlier
 * board is shown, new moves do not change it.
 */

import { countWords } from "./words.js";

export class Replay {
  /**
   * @param {Record<"tools"|"first"|"back"|"on"|"now"|"words"|"list", HTMLElement>} parts elements of the page; `list` has a button for each move
   * @param {string} url the address of the boards
   * @param {() => void} onLook called when another board is to be shown: `board`, or the current one if that is `null`
   * @param {(words: string) => void} complain called with an error, or with an empty text once it is resolved
   */
  constructor(parts, url, onLook, complain) {
    this.parts = parts;
    this.url = url;
    this.onLook = onLook;
    this.complain = complain;
    /** @type {PastBoard[]} */
    this.boards = [];
    this.total = 0;
    /** The number of the match in its room. @type {number|null} */
    this.number = null;
    /** The ply of the requested board; `null` for the current one. @type {number|null} */
    this.requestedPly = null;
    /** The number of moves before the shown board; `null` if the current board is shown. */
    this.ply = /** @type {number|null} */ (null);
    const steps = { first: () => 0, back: () => this.shownPly - 1, on: () => this.shownPly + 1, now: () => this.total };
    for (const [name, targetPly] of Object.entries(steps))
      parts[/** @type {keyof typeof steps} */ (name)].addEventListener("click", () => this.go(targetPly()));
    /** @type {Record<string, () => number>} */
    const keys = {
      Home: steps.first,
      ArrowLeft: steps.back,
      ArrowUp: steps.back,
      ArrowRight: steps.on,
      ArrowDown: steps.on,
      End: steps.now,
    };
    for (const place of [parts.tools, parts.list])
      place.addEventListener("keydown", (event) => this.#key(event, keys[event.key]));
  }

  /** The number of moves before the shown board, which may be the current one. */
  get shownPly() {
    return this.ply ?? this.total;
  }

  /** The server's data about the shown board; `null` for the current one. */
  get board() {
    return this.ply === null ? null : (this.boards[this.ply] ?? null);
  }

  /** Updates the controls for a state. A new match is shown at its end; else the shown board stays. */
  show(/** @type {MatchState} */ state) {
    if (state.number !== this.number)
      Object.assign(this, { number: state.number, boards: [], ply: null, requestedPly: null });
    this.total = state.moves.length;
    this.isOver = state.status === "finished";
    this.#showControls();
  }

  /** Shows the board after a number of moves. While boards are loading, the latest call replaces earlier ones. */
  async go(/** @type {number} */ ply) {
    this.requestedPly = ply >= this.total ? null : Math.max(0, ply);
    if (this.isFetching && this.#isMissing()) return;
    try {
      this.isFetching = true;
      while (this.#isMissing()) await this.#fetchBoards();
    } catch {
      this.complain("The page could not load that board. Try again.");
      return;
    } finally {
      this.isFetching = false;
    }
    if (this.requestedPly === this.ply) return;
    if (this.ply === null) this.totalWhenLeft = this.total;
    this.ply = this.requestedPly;
    this.#showControls();
    this.complain("");
    this.onLook();
  }

  /** Marks the move that led to the shown board, and scrolls the list to it. */
  mark() {
    const { list } = this.parts;
    const buttons = [...list.querySelectorAll("button")];
    buttons.forEach((button, index) => {
      // The list is one Tab stop; arrow keys move within it.
      button.tabIndex = index === Math.max(0, this.shownPly - 1) ? 0 : -1;
      if (index === this.shownPly - 1) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const item = buttons[Math.max(0, this.shownPly - 1)]?.parentElement;
    if (item)
      list.scrollTop = Math.max(
        Math.min(list.scrollTop, item.offsetTop),
        item.offsetTop + item.offsetHeight - list.clientHeight,
      );
  }

  #isMissing() {
    return this.requestedPly !== null && !this.boards[this.requestedPly];
  }

  /** Fetches all boards after the known ones. */
  async #fetchBoards() {
    const query = this.boards.length ? `${this.url.includes("?") ? "&" : "?"}after=${this.boards.length - 1}` : "";
    const response = await fetch(`${this.url}${query}`, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(String(response.status));
    const { number, positions } = await response.json();
    if (number === this.number) for (const board of positions) this.boards[board.ply] = board;
    if (number === this.number && this.#isMissing()) throw new Error("a board that the server does not have");
  }

  async #key(/** @type {KeyboardEvent} */ event, /** @type {(() => number)|undefined} */ targetPly) {
    if (!targetPly || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const isListed = this.parts.list.contains(/** @type {Node} */ (event.target));
    await this.go(targetPly());
    if (isListed) this.parts.list.querySelector("button[tabindex='0']")?.focus();
  }

  #showControls() {
    const { tools, words, first, back, on, now } = this.parts;
    const isPast = this.ply !== null;
    tools.hidden = !this.total;
    words.classList.toggle("is-past", isPast);
    now.classList.toggle("is-main", isPast && !this.isOver);
    words.textContent = isPast
      ? this.#positionWords()
      : this.isOver
        ? "Step through the match, move by move."
        : "Look back at earlier moves.";
    // Not `disabled`, which would take the focus from a button that has just been pressed.
    for (const button of [first, back]) button.setAttribute("aria-disabled", String(this.shownPly === 0));
    for (const button of [on, now]) button.setAttribute("aria-disabled", String(!isPast));
  }

  #positionWords() {
    const nNew = this.total - (this.totalWhenLeft ?? this.total);
    return [
      this.ply ? `After move ${this.ply} of ${this.total}.` : `Before the first of ${countWords(this.total, "move")}.`,
      nNew ? ` The match went on: ${countWords(nNew, "move")} since you looked back.` : "",
    ].join("");
  }
}
