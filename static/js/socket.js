/**
 * A WebSocket that reconnects: it pings, notices silence, waits longer after each failure, and tries at once when the
 * network returns.
 *
 * Some filters block sockets: they refuse them, leave them hanging, or accept them and pass nothing on. The page then
 * polls instead (`asker.js`), and tries the socket again from time to time.
 */

import { Asker } from "./asker.js";

// The answer to a ping also brings a state that got lost on its way.
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
const UNANSWERED_MS = 15_000;
const LONGEST_WAIT_MS = 15_000;
const LONGEST_WAIT_ASKING_MS = 60_000;
/** Milliseconds within which a new socket must send a frame; longer after each failure, for slow networks. */
const TRIAL_MS = 4_000;
/** Milliseconds after which a frame proves that a socket works; some proxies pass only the first frames. */
const STEADY_MS = 3_000;
/** Consecutive failures after which the page polls instead. */
const FAILURES = 2;
const [CONNECTING, OPEN, CLOSED] = [0, 1, 3];
// Close codes of the server for an unknown socket and for too many sockets.
const NOT_FOUND = 4404;
const TOO_MANY = 4429;

/** The status of a page by the site's report. */
const siteStatus = (/** @type {{database: string, spectators: string}} */ { database, spectators }) =>
  database === "away" ? "away" : spectators === "late" ? "late" : "open";

const ASKING = "This network blocks the live connection. The page asks for news instead, which takes a little longer.";

/** The message for a status; empty if all is well. */
export function trouble(/** @type {SocketStatus} */ status, /** @type {string} */ lost) {
  if (status === "lost") return lost;
  if (status === "asking") return ASKING;
  if (status === "away") return "The site cannot reach its memory now. Nothing is lost, and it goes on by itself.";
  return status === "late" ? "This page may be a little out of date now." : "";
}

/** Closes a socket. A socket that is still connecting is closed once it opens, since browsers warn otherwise. */
function close(/** @type {WebSocket} */ socket) {
  if (socket.readyState !== CONNECTING) socket.close();
}

export class Socket {
  /** Whether this page has made any. */
  static isUsed = false;

  /**
   * @param {string} path path of the socket on this host
   * @param {(frame: {type: string, data: any}) => void} onFrame
   * @param {(status: SocketStatus) => void} onStatus whether the connection stands; "away": the site has lost its database for now;
   *   "late": who watches may be told things late; "asking": sockets are blocked, and the page asks
   * @param {import("./asker.js").Rest} [rest] how the page learns and acts where sockets are blocked
   */
  constructor(path, onFrame, onStatus, rest) {
    Socket.isUsed = true;
    this.url = new URL(path, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.onFrame = onFrame;
    this.onStatus = onStatus;
    this.failures = 0;
    this.heard = 0;
    this.begun = 0;
    this.unanswered = 0;
    /** Whether any socket of this page has received a frame. */
    this.hasHeard = false;
    /** Whether the first frame of a socket is enough to rely on it. */
    this.isTrusted = true;
    /** Frames that the page wanted to send before the socket received its first one. @type {[string, object][]} */
    this.unsent = [];
    this.asker =
      rest &&
      new Asker(
        rest,
        (frame) => this.#take(frame),
        () => this.#asked(),
        () => this.leave(),
      );
    addEventListener("online", () => this.#retryNow());
    // The browser's offline event is earlier than any time-out: a socket may hang for a minute without a network.
    addEventListener("offline", () => this.#drop());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#retryNow());
    setInterval(() => this.#watch(), 5_000);
    this.#open();
  }

  /** Sends a frame; false when there is no connection, so that the caller can say so. */
  send(/** @type {string} */ type, data = {}) {
    const { readyState } = this.socket;
    // A click right after the page has loaded is queued until the connection is there.
    const isStarting = this.asker && !this.hasHeard && !this.asker.status;
    if (this.asker?.status === "well") this.asker.post(type, data);
    else if (readyState === OPEN && (this.isHeard || !this.asker)) this.#write(type, data);
    else if (readyState === OPEN || isStarting || (readyState === CONNECTING && !this.failures))
      this.unsent.push([type, data]);
    else return false;
    return true;
  }

  /** Drops the connection and joins again at once, so that the server sends the viewer's role anew. */
  rejoin() {
    if (this.asker?.status === "well") {
      this.asker.now(true);
      return;
    }
    const { socket } = this;
    this.#open();
    close(socket);
  }

  /** Gives the connection up until `rejoin`. */
  leave() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.hasLeft = true;
    this.asker?.stop();
    this.#cut();
  }

  #open() {
    clearTimeout(this.timer);
    clearTimeout(this.trial);
    this.timer = 0;
    this.hasLeft = false;
    this.isHeard = false;
    this.unanswered = 0;
    this.begun = Date.now();
    this.heard = this.begun;
    const socket = connected(this.url);
    this.socket = socket;
    this.#tryIn(TRIAL_MS * (1 + Math.min(4, this.failures)));
    socket.addEventListener("open", () => {
      if (socket !== this.socket) socket.close();
      else {
        this.#tryIn(TRIAL_MS);
        if (!this.asker) this.#flush();
        if (!this.asker?.isOn) this.onStatus("open");
      }
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.socket) this.#hear(JSON.parse(data));
    });
    socket.addEventListener("close", ({ code }) => {
      if (socket !== this.socket) return;
      // The socket does not exist, and each attempt would count as a wrong guess of a code.
      if (code === NOT_FOUND) {
        this.leave();
        return;
      }
      if (code === TOO_MANY) this.failures = 6;
      this.#lost();
    });
  }

  #hear(/** @type {Frame} */ frame) {
    this.heard = Date.now();
    this.unanswered = 0;
    this.isTrusted ||= this.heard - this.begun >= STEADY_MS;
    if (!this.asker || this.isTrusted) this.failures = 0;
    if (this.isTrusted && this.asker?.isOn) {
      this.asker.stop();
      this.onStatus("open");
    }
    this.isHeard = true;
    this.hasHeard = true;
    this.#flush();
    this.#take(frame);
  }

  #take(/** @type {Frame} */ frame) {
    if (frame.type === "site") this.onStatus(siteStatus(frame.data));
    else this.onFrame(frame);
  }

  #write(/** @type {string} */ type, /** @type {object} */ data) {
    if (type !== "ping") this.unanswered ||= Date.now();
    this.socket.send(JSON.stringify({ type, data }));
  }

  #flush() {
    for (const [type, data] of this.unsent.splice(0)) this.send(type, data);
  }

  #tryIn(/** @type {number} */ ms) {
    clearTimeout(this.trial);
    if (this.asker) this.trial = setTimeout(() => this.#try(), ms);
  }

  /** Checks that a new socket works: it must send a frame, by itself or after a ping. */
  #try() {
    if (this.socket.readyState === OPEN && (!this.isHeard || this.asker?.isOn)) {
      const pinged = Date.now();
      this.#write("ping", {});
      this.trial = setTimeout(() => this.heard < pinged && this.#giveUp(), TRIAL_MS);
    } else if (this.socket.readyState === CONNECTING) this.#giveUp();
  }

  #giveUp() {
    if (this.timer || this.hasLeft) return;
    this.failures = Math.max(this.failures, FAILURES - 1);
    this.#drop();
  }

  #lost() {
    clearTimeout(this.trial);
    // A socket that worked for a while stays trusted at the next attempt.
    if (this.isHeard ? Date.now() - this.begun < STEADY_MS : !this.hasHeard) this.isTrusted = false;
    const longest = this.asker?.status === "well" ? LONGEST_WAIT_ASKING_MS : LONGEST_WAIT_MS;
    // A restarted site is back within seconds, so the first waits grow slowly. Random jitter keeps a room full of pages
    // from reconnecting in step.
    const growth = Math.max(1, (this.failures + 1) / 2, 2 ** (this.failures - 3));
    const wait = Math.min(longest, 500 * growth) * (0.8 + 0.4 * Math.random());
    this.failures += 1;
    this.timer = setTimeout(() => this.#open(), wait);
    if (this.failures >= FAILURES) this.asker?.start();
    // The first failure is not shown if the page can poll.
    if (!this.asker || this.hasHeard || this.asker.status) this.#tell();
  }

  #tell() {
    const { status } = this.asker ?? {};
    this.onStatus(status === "well" ? "asking" : status || "lost");
  }

  /** Polling has started to work, or has failed. */
  #asked() {
    if (this.asker?.status === "well") this.#flush();
    // After a break both may work again; the socket is tried first and reports its own status.
    if (this.asker?.status === "well" && this.hasHeard && this.timer) this.#open();
    else this.#tell();
  }

  #retryNow() {
    if (this.timer) this.#open();
  }

  #watch() {
    const now = Date.now();
    if (this.socket.readyState !== OPEN) return;
    if (this.asker && this.unanswered && now - this.unanswered > UNANSWERED_MS) {
      this.isTrusted = false;
      this.#giveUp();
    } else if (now - this.heard > SILENCE_MS) this.#drop();
    else if (now - this.heard > PING_MS) this.#write("ping", {});
  }

  /** Gives up a broken socket. */
  #drop() {
    if (this.timer || this.hasLeft) return;
    this.#cut();
    this.#lost();
  }

  /** Closes the socket and ignores its further events. */
  #cut() {
    clearTimeout(this.trial);
    const { socket } = this;
    this.socket = none();
    close(socket);
  }
}

/**
 * No socket: nothing is sent over it, and it says nothing.
 *
 * @returns {any}
 */
const none = () => Object.assign(new EventTarget(), { readyState: CLOSED, send: () => {}, close: () => {} });

/**
 * A socket that is being opened. A browser that has none, or may not, closes it at once, as any that is refused.
 *
 * @returns {WebSocket}
 */
function connected(/** @type {URL} */ url) {
  try {
    return new WebSocket(url);
  } catch {
    const socket = none();
    setTimeout(() => socket.dispatchEvent(Object.assign(new Event("close"), { code: 1006 })), 0);
    return socket;
  }
}
