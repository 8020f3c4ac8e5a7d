/**
 * Replay: the boards of a match, one after the other, by four buttons, the list of moves and the keyboard.
 *
 * The boards are fetched on first use, and later only the missing ones. New moves do not change the shown board.
 */

import { count } from "./words.js";

export class Replay {
  /**
   * @param {Record<"tools"|"first"|"back"|"on"|"now"|"words"|"list", HTMLElement>} parts elements of the page; `list` has a button for each move
   * @param {string} url where the boards are
   * @param {() => void} onLook called when another board is to be shown: `board`, or that of now where it is `null`
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
    /** @type {number|null} */
    this.number = null;
    /** @type {number|null} */
    this.wanted = null;
    /** The number of moves before the shown board; `null` follows the current state. */
    this.ply = /** @type {number|null} */ (null);
    const steps = { first: () => 0, back: () => this.at - 1, on: () => this.at + 1, now: () => this.total };
    for (const [name, where] of Object.entries(steps))
      parts[/** @type {keyof typeof steps} */ (name)].addEventListener("click", () => this.go(where()));
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

  /** The ply of the shown board, also if it is the current one. */
  get at() {
    return this.ply ?? this.total;
  }

  /** The server's data about the shown board; `null` for the current one. */
  get board() {
    return this.ply === null ? null : (this.boards[this.ply] ?? null);
  }

  /** Takes a state: a new match is shown at its end, and in the same match the shown board stays. */
  show(/** @type {MatchState} */ state) {
    if (state.number !== this.number)
      Object.assign(this, { number: state.number, boards: [], ply: null, wanted: null });
    this.total = state.moves.length;
    this.isOver = state.status === "finished";
    this.#tell();
  }

  /** Goes to the board after a number of moves. While boards are loading, only the latest request is kept. */
  async go(/** @type {number} */ ply) {
    this.wanted = ply >= this.total ? null : Math.max(0, ply);
    if (this.isAsking && this.#isMissing()) return;
    try {
      this.isAsking = true;
      while (this.#isMissing()) await this.#ask();
    } catch {
      this.complain("The page could not load that board. Try again.");
      return;
    } finally {
      this.isAsking = false;
    }
    if (this.wanted === this.ply) return;
    if (this.ply === null) this.left = this.total;
    this.ply = this.wanted;
    this.#tell();
    this.complain("");
    this.onLook();
  }

  /** Marks the move that led to the board that is seen, and shows it in a list too long to be seen whole. */
  mark() {
    const { list } = this.parts;
    const buttons = [...list.querySelectorAll("button")];
    buttons.forEach((button, index) => {
      // The list is one Tab stop; arrow keys move within it.
      button.tabIndex = index === Math.max(0, this.at - 1) ? 0 : -1;
      if (index === this.at - 1) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const item = buttons[Math.max(0, this.at - 1)]?.parentElement;
    if (item)
      list.scrollTop = Math.max(
        Math.min(list.scrollTop, item.offsetTop),
        item.offsetTop + item.offsetHeight - list.clientHeight,
      );
  }

  #isMissing() {
    return this.wanted !== null && !this.boards[this.wanted];
  }

  async #ask() {
    const after = this.boards.length ? `${this.url.includes("?") ? "&" : "?"}after=${this.boards.length - 1}` : "";
    const answer = await fetch(`${this.url}${after}`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const { number, positions } = await answer.json();
    if (number === this.number) for (const one of positions) this.boards[one.ply] = one;
    if (number === this.number && this.#isMissing()) throw new Error("a board that the server does not have");
  }

  async #key(/** @type {KeyboardEvent} */ event, /** @type {(() => number)|undefined} */ where) {
    if (!where || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const isListed = this.parts.list.contains(/** @type {Node} */ (event.target));
    await this.go(where());
    if (isListed) this.parts.list.querySelector("button[tabindex='0']")?.focus();
  }

  #tell() {
    const { tools, words, first, back, on, now } = this.parts;
    const isPast = this.ply !== null;
    tools.hidden = !this.total;
    words.classList.toggle("is-past", isPast);
    now.classList.toggle("is-main", isPast && !this.isOver);
    words.textContent = isPast
      ? this.#where()
      : this.isOver
        ? "Step through the match, move by move."
        : "Look back at earlier moves.";
    // Not `disabled`: a button that has just been pressed keeps the focus.
    for (const button of [first, back]) button.setAttribute("aria-disabled", String(this.at === 0));
    for (const button of [on, now]) button.setAttribute("aria-disabled", String(!isPast));
  }

  #where() {
    const since = this.total - (this.left ?? this.total);
    return [
      this.ply ? `After move ${this.ply} of ${this.total}.` : `Before the first of ${count(this.total, "move")}.`,
      since ? ` The match went on: ${count(since, "move")} since you looked back.` : "",
    ].join("");
  }
}
