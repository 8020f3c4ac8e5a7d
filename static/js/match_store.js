/**
 * The latest state of a match from the server: the choice of valid frames, the order of drawing, and the viewer's role.
 *
 * Independent of the page. A state is drawn after the previous one, or skipped if a newer one has arrived meanwhile.
 */

/**
 * @typedef {object} Page
 * @property {(now: MatchState, how: {before: MatchState|null, isNews: boolean, isJoin: boolean}) => void|Promise<void>} draw
 *   may take its time; `before` was drawn last
 * @property {() => void} drawn after each turn, whether its state was still worth drawing or not
 * @property {() => void} fail when a state could not be drawn
 * @property {() => void} rejoin when the state has to be asked for anew
 * @property {(error: {code: string, detail?: string}) => void} refuse with an error of the protocol
 */

export class MatchStore {
  /**
   * @param {{role: string|null, roles?: string[], isHost: boolean}} viewer who looks; brought up to date when the server says so
   * @param {Page} page what is to be done
   */
  constructor(viewer, page) {
    this.viewer = viewer;
    this.page = page;
    /** @type {MatchState|null} the newest state, whether drawn yet or not */
    this.state = null;
    /** @type {MatchState|null} */
    this.shown = null;
    /** Resolves when all received states are drawn. */
    this.busy = Promise.resolve();
  }

  /** Takes one frame of the protocol. */
  receive(/** @type {Frame} */ { type, data }) {
    if (type === "joined") {
      this.viewer.role = data.role;
      this.viewer.roles = data.roles;
      this.viewer.isHost = data.host;
      this.accept(data.state, { isJoin: true });
    } else if (type === "state") {
      // A new match may have swapped the sides, and only a new "joined" says which one is ours.
      if (this.state && data.number !== this.state.number) this.page.rejoin();
      else this.accept(data);
    } else if (type === "error") this.page.refuse(data);
  }

  /** Takes a state unless it is older than the current one; joining again may repeat the same state. */
  accept(/** @type {MatchState} */ next, { isJoin = false, isFirst = false } = {}) {
    if (this.state && (next.version < this.state.version || (next.version === this.state.version && !isJoin))) return;
    this.state = next;
    // A player of both sides takes the role of the side to move.
    if ((this.viewer.roles ?? []).length > 1 && next.turn) this.viewer.role = next.turn;
    this.busy = this.busy
      .then(() => this.#draw(next, { isFirst, isJoin }))
      .then(() => this.page.drawn())
      .catch((error) => {
        this.page.fail();
        throw error;
      });
  }

  #draw(/** @type {MatchState} */ now, /** @type {{isFirst: boolean, isJoin: boolean}} */ { isFirst, isJoin }) {
    if (this.state && now.version < this.state.version) return undefined; // a newer state is already waiting its turn
    const before = this.shown;
    this.shown = now;
    return this.page.draw(now, { before, isNews: !isFirst && now.version !== before?.version, isJoin });
  }
}
