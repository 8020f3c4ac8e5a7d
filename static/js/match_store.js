/**
 * Receives the states of a match, rejects old ones, and lets the page draw them one after the other.
 *
 * A state waits until the previous one is drawn. It is skipped if a newer one has arrived meanwhile.
 */

/**
 * @typedef {object} Page
 * @property {(state: MatchState, how: {before: MatchState|null, isNews: boolean, isJoin: boolean}) => void|Promise<void>} draw
 *   draws a state; `before` is the state drawn before it, and `isNews` is false if both have the same version
 * @property {() => void} afterDraw called after each state, drawn or skipped
 * @property {() => void} fail called if a state could not be drawn
 * @property {() => void} rejoin requests the whole state and the viewer's role again
 * @property {(error: {code: string, detail?: string}) => void} refuse called with an error of the protocol
 */

export class MatchStore {
  /**
   * @param {{role: string|null, roles?: string[], isHost: boolean}} viewer is changed in place by frames of type `joined`
   * @param {Page} page
   */
  constructor(viewer, page) {
    this.viewer = viewer;
    this.page = page;
    /** @type {MatchState|null} the newest state, which may not be drawn yet */
    this.state = null;
    /** @type {MatchState|null} the state that was drawn last */
    this.drawnState = null;
    /** Resolves when all received states are drawn. */
    this.allDrawn = Promise.resolve();
  }

  /** Handles a frame of the protocol. */
  receive(/** @type {Frame} */ { type, data }) {
    if (type === "joined") {
      this.viewer.role = data.role;
      this.viewer.roles = data.roles;
      this.viewer.isHost = data.host;
      this.accept(data.state, { isJoin: true });
    } else if (type === "state") {
      // In a new match the sides may be swapped, and only a frame of type `joined` contains the viewer's side.
      if (this.state && data.number !== this.state.number) this.page.rejoin();
      else this.accept(data);
    } else if (type === "error") this.page.refuse(data);
  }

  /** Accepts a state with a newer version than the latest one. With `isJoin`, an equal version is accepted too. */
  accept(/** @type {MatchState} */ next, { isJoin = false, isFirst = false } = {}) {
    if (this.state && (next.version < this.state.version || (next.version === this.state.version && !isJoin))) return;
    this.state = next;
    // If the viewer plays both sides, their role is that of the side to move.
    if ((this.viewer.roles ?? []).length > 1 && next.turn) this.viewer.role = next.turn;
    this.allDrawn = this.allDrawn
      .then(() => this.#draw(next, { isFirst, isJoin }))
      .then(() => this.page.afterDraw())
      .catch((error) => {
        this.page.fail();
        throw error;
      });
  }

  #draw(/** @type {MatchState} */ state, /** @type {{isFirst: boolean, isJoin: boolean}} */ { isFirst, isJoin }) {
    if (this.state && state.version < this.state.version) return undefined; // a newer state waits to be drawn
    const before = this.drawnState;
    this.drawnState = state;
    return this.page.draw(state, { before, isNews: !isFirst && state.version !== before?.version, isJoin });
  }
}
