/**
 * Controls a match of two machines: the host plays one move, moves at a chosen speed, or all moves at once.
 *
 * The next step is requested only after the state that follows the previous step has been shown.
 */

/** Maximum number of plies in one request. */
const MAX_PLIES = 100;

export class Exhibition {
  /**
   * @param {Record<"tools"|"step"|"run"|"finish", HTMLElement> & {speed: HTMLSelectElement}} parts elements of the page
   * @param {(data: object) => boolean} send requests a step; returns false without a connection
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
      this.#request(1);
    });
    parts.run.addEventListener("click", () => (this.isRunning ? this.pause() : this.#run()));
    parts.finish.addEventListener("click", () => {
      this.pause();
      this.isFinishing = true;
      this.#request(MAX_PLIES);
    });
    parts.speed.addEventListener("change", () => this.isRunning && this.#schedule());
  }

  /** Updates the controls after a state has been shown, and requests the next step if the match continues by itself. */
  show(/** @type {MatchState} */ state, /** @type {boolean} */ isHost) {
    this.state = state;
    const isControllable = state.exhibition && isHost && state.status === "playing";
    this.parts.tools.hidden = !isControllable;
    if (!isControllable) this.pause();
    else if (this.isFinishing && this.requestedVersion !== state.version) this.#request(MAX_PLIES);
    else if (this.isRunning) this.#schedule();
  }

  /**
   * Returns whether an error means that a move was played before the requested step. It is no problem then: the state
   * after that move continues the match.
   */
  isOvertaken(/** @type {string} */ code) {
    return code === "stale_ply" && (this.isFinishing || this.isRunning);
  }

  /** Requests no further steps. A step that was requested before is still shown. */
  pause() {
    this.isFinishing = false;
    this.#setRunning(false);
    clearTimeout(this.timer);
  }

  #run() {
    this.#setRunning(true);
    this.#request(1);
  }

  #setRunning(/** @type {boolean} */ isRunning) {
    this.isRunning = isRunning;
    this.parts.run.textContent = isRunning ? "Pause" : "Play on";
  }

  #schedule() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.isRunning && this.requestedVersion !== /** @type {MatchState} */ (this.state).version) this.#request(1);
    }, Number(this.parts.speed.value));
  }

  #request(/** @type {number} */ plies) {
    this.requestedVersion = /** @type {MatchState} */ (this.state).version;
    if (!this.send({ ply: /** @type {MatchState} */ (this.state).ply, plies })) this.pause();
  }
}
