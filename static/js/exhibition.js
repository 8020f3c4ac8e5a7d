/**
 * Matches of two machines that the host steps through: one move, continuously at a chosen speed, or all at once.
 *
 * The next step is requested only once the state after the last one has arrived and been shown.
 */

const MOST_PLIES = 100;

export class Exhibition {
  /**
   * @param {Record<"tools"|"step"|"run"|"finish", HTMLElement> & {speed: HTMLSelectElement}} parts elements of the page
   * @param {(data: object) => boolean} send asks for a step; whether there was a connection to ask through
   */
  constructor(parts, send) {
    this.parts = parts;
    this.send = send;
    this.isRunning = false;
    this.isFinishing = false;
    /** @type {MatchState|null} */
    this.state = null;
    parts.step.addEventListener("click", () => {
      this.pause();
      this.#ask(1);
    });
    parts.run.addEventListener("click", () => (this.isRunning ? this.pause() : this.#run()));
    parts.finish.addEventListener("click", () => {
      this.pause();
      this.isFinishing = true;
      this.#ask(MOST_PLIES);
    });
    parts.speed.addEventListener("change", () => this.isRunning && this.#later());
  }

  /** Continues after a state has been shown. */
  show(/** @type {MatchState} */ state, /** @type {boolean} */ isHost) {
    this.state = state;
    const isGoing = state.exhibition && isHost && state.status === "playing";
    this.parts.tools.hidden = !isGoing;
    if (!isGoing) this.pause();
    else if (this.isFinishing && this.asked !== state.version) this.#ask(MOST_PLIES);
    else if (this.isRunning) this.#later();
  }

  /** Whether a requested step was superseded by a move under way; the next state then shows that move and continues. */
  isOvertaken(/** @type {string} */ code) {
    return code === "stale_ply" && (this.isFinishing || this.isRunning);
  }

  /** Stops asking for moves; a move under way still arrives. */
  pause() {
    this.isFinishing = false;
    this.#set(false);
    clearTimeout(this.timer);
  }

  #run() {
    this.#set(true);
    this.#ask(1);
  }

  #set(/** @type {boolean} */ isRunning) {
    this.isRunning = isRunning;
    this.parts.run.textContent = isRunning ? "Pause" : "Play on";
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.isRunning && this.asked !== /** @type {MatchState} */ (this.state).version) this.#ask(1);
    }, Number(this.parts.speed.value));
  }

  #ask(/** @type {number} */ plies) {
    this.asked = /** @type {MatchState} */ (this.state).version;
    if (!this.send({ ply: /** @type {MatchState} */ (this.state).ply, plies })) this.pause();
  }
}
