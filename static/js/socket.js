/**
 * A WebSocket that reconnects. It pings to detect a dead connection, waits longer after each failure, and reconnects at
 * once when the network returns.
 *
 * Some network filters block sockets: they refuse the connection, never answer, or pass no frames on. The page then polls
 * instead (`asker.js`) and tries the socket again from time to time.
 */

import { Asker } from "./asker.js";

/** Milliseconds without a frame after which the page pings. The answer also repeats a state that did not arrive. */
const PING_MS = 10_000;
/** Milliseconds without a frame after which the connection counts as lost. */
const SILENCE_MS = 30_000;
/** Milliseconds after which an unanswered frame counts as a failure of the socket, if the page can poll instead. */
const UNANSWERED_MS = 15_000;
/** Maximum milliseconds before a new attempt. */
const MAX_WAIT_MS = 15_000;
/** Maximum milliseconds before a new attempt while the page polls. */
const MAX_WAIT_POLLING_MS = 60_000;
/**
 * Milliseconds within which a new socket must receive a frame. The time is longer after each failure, for slow
 * networks.
 */
const TRIAL_MS = 4_000;
/**
 * Age in milliseconds at which a socket that still receives frames is reliable. Some proxies pass only the first
 * frames.
 */
const STEADY_MS = 3_000;
/** Consecutive failures after which the page polls. */
const MAX_FAILURES = 2;
const [CONNECTING, OPEN, CLOSED] = [0, 1, 3];
// Close codes of the server: there is no such socket address, or this client has too many sockets.
const NOT_FOUND_CODE = 4404;
const TOO_MANY_SOCKETS_CODE = 4429;

/** Returns the status of a page for a frame of type `site`. */
const siteStatus = (/** @type {{database: string, spectators: string}} */ { database, spectators }) =>
  database === "away" ? "away" : spectators === "late" ? "late" : "open";

const POLLING_WORDS =
  "This network blocks the live connection. The page asks for news instead, which takes a little longer.";

/**
 * Returns the message for a status, or an empty text if nothing is wrong. `lostWords` is the message for a lost connection.
 */
export function troubleWords(/** @type {SocketStatus} */ status, /** @type {string} */ lostWords) {
  if (status === "lost") return lostWords;
  if (status === "asking") return POLLING_WORDS;
  if (status === "away") return "The site cannot reach its memory now. Nothing is lost, and it goes on by itself.";
  return status === "late" ? "This page may be a little out of date now." : "";
}

/**
 * Closes a socket, unless it is still connecting: then the `open` listener closes it, because browsers warn otherwise.
 */
function closeUnlessConnecting(/** @type {WebSocket} */ socket) {
  if (socket.readyState !== CONNECTING) socket.close();
}

export class Socket {
  /** Whether this page has created a socket. */
  static isUsed = false;

  /**
   * @param {string} path path of the socket on this host
   * @param {(frame: {type: string, data: any}) => void} onFrame
   * @param {(status: SocketStatus) => void} onStatus "away": the site cannot reach its database; "late": spectators get news
   *   late; "asking": sockets are blocked, and the page polls
   * @param {import("./asker.js").Rest} [rest] the addresses for polling; without them the page never polls
   */
  constructor(path, onFrame, onStatus, rest) {
    Socket.isUsed = true;
    this.url = new URL(path, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.onFrame = onFrame;
    this.onStatus = onStatus;
    this.nFailures = 0;
    this.receivedAt = 0;
    this.openedAt = 0;
    this.unansweredSince = 0;
    /** Whether any socket of this page has received a frame. */
    this.hasEverReceived = false;
    /** Whether one frame proves that a socket works. False after failures: then the socket must be steady. */
    this.isTrusted = true;
    /** Frames that wait until the socket has received its first frame. @type {[string, object][]} */
    this.unsentFrames = [];
    this.asker =
      rest &&
      new Asker(
        rest,
        (frame) => this.#passOn(frame),
        () => this.#pollingChanged(),
        () => this.leave(),
      );
    addEventListener("online", () => this.#retryNow());
    // Without this event, a socket may hang for a minute after the network is gone.
    addEventListener("offline", () => this.#drop());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#retryNow());
    setInterval(() => this.#checkSilence(), 5_000);
    this.#open();
  }

  /** Sends or queues a frame; returns false if there is no connection. */
  send(/** @type {string} */ type, data = {}) {
    const { readyState } = this.socket;
    // Right after loading the page, frames are queued until the first connection is established.
    const isStarting = this.asker && !this.hasEverReceived && !this.asker.status;
    if (this.asker?.status === "well") this.asker.post(type, data);
    else if (readyState === OPEN && (this.hasReceived || !this.asker)) this.#write(type, data);
    else if (readyState === OPEN || isStarting || (readyState === CONNECTING && !this.nFailures))
      this.unsentFrames.push([type, data]);
    else return false;
    return true;
  }

  /** Reconnects at once, so that the server sends the whole state and the viewer's role again. */
  rejoin() {
    if (this.asker?.status === "well") {
      this.asker.pollNow(true);
      return;
    }
    const { socket } = this;
    this.#open();
    closeUnlessConnecting(socket);
  }

  /** Disconnects and stays disconnected until `rejoin`. */
  leave() {
    clearTimeout(this.retryTimer);
    this.retryTimer = 0;
    this.hasLeft = true;
    this.asker?.stop();
    this.#detach();
  }

  #open() {
    clearTimeout(this.retryTimer);
    clearTimeout(this.trialTimer);
    this.retryTimer = 0;
    this.hasLeft = false;
    this.hasReceived = false;
    this.unansweredSince = 0;
    this.openedAt = Date.now();
    this.receivedAt = this.openedAt;
    const socket = connect(this.url);
    this.socket = socket;
    this.#scheduleTrial(TRIAL_MS * (1 + Math.min(4, this.nFailures)));
    socket.addEventListener("open", () => {
      if (socket !== this.socket) socket.close();
      else {
        this.#scheduleTrial(TRIAL_MS);
        if (!this.asker) this.#flush();
        if (!this.asker?.isOn) this.onStatus("open");
      }
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.socket) this.#receive(JSON.parse(data));
    });
    socket.addEventListener("close", ({ code }) => {
      if (socket !== this.socket) return;
      // No new attempt, because each attempt would count as a wrong guess of a room's code.
      if (code === NOT_FOUND_CODE) {
        this.leave();
        return;
      }
      if (code === TOO_MANY_SOCKETS_CODE) this.nFailures = 6; // a long wait
      this.#scheduleRetry();
    });
  }

  #receive(/** @type {Frame} */ frame) {
    this.receivedAt = Date.now();
    this.unansweredSince = 0;
    this.isTrusted ||= this.receivedAt - this.openedAt >= STEADY_MS;
    if (!this.asker || this.isTrusted) this.nFailures = 0;
    if (this.isTrusted && this.asker?.isOn) {
      this.asker.stop();
      this.onStatus("open");
    }
    this.hasReceived = true;
    this.hasEverReceived = true;
    this.#flush();
    this.#passOn(frame);
  }

  /** Passes a frame on to the page. */
  #passOn(/** @type {Frame} */ frame) {
    if (frame.type === "site") this.onStatus(siteStatus(frame.data));
    else this.onFrame(frame);
  }

  #write(/** @type {string} */ type, /** @type {object} */ data) {
    if (type !== "ping") this.unansweredSince ||= Date.now();
    this.socket.send(JSON.stringify({ type, data }));
  }

  #flush() {
    for (const [type, data] of this.unsentFrames.splice(0)) this.send(type, data);
  }

  /** Schedules the trial of a new socket, if the page can poll instead. */
  #scheduleTrial(/** @type {number} */ ms) {
    clearTimeout(this.trialTimer);
    if (this.asker) this.trialTimer = setTimeout(() => this.#testSocket(), ms);
  }

  /** Gives a new socket up unless it has received a frame, or receives one after a ping. */
  #testSocket() {
    if (this.socket.readyState === OPEN && (!this.hasReceived || this.asker?.isOn)) {
      const pingedAt = Date.now();
      this.#write("ping", {});
      this.trialTimer = setTimeout(() => this.receivedAt < pingedAt && this.#giveUp(), TRIAL_MS);
    } else if (this.socket.readyState === CONNECTING) this.#giveUp();
  }

  /** Drops a socket that passes no frames, so that the page polls from now on. */
  #giveUp() {
    if (this.retryTimer || this.hasLeft) return;
    this.nFailures = Math.max(this.nFailures, MAX_FAILURES - 1);
    this.#drop();
  }

  /** Schedules a new attempt after a failure. */
  #scheduleRetry() {
    clearTimeout(this.trialTimer);
    // One frame is no longer enough after a socket that failed before it was steady, or if the page never got a frame.
    if (this.hasReceived ? Date.now() - this.openedAt < STEADY_MS : !this.hasEverReceived) this.isTrusted = false;
    const maxWaitMs = this.asker?.status === "well" ? MAX_WAIT_POLLING_MS : MAX_WAIT_MS;
    // The first waits grow slowly, because a restarted site is back within seconds. Random jitter spreads the
    // attempts of many pages.
    const growth = Math.max(1, (this.nFailures + 1) / 2, 2 ** (this.nFailures - 3));
    const waitMs = Math.min(maxWaitMs, 500 * growth) * (0.8 + 0.4 * Math.random());
    this.nFailures += 1;
    this.retryTimer = setTimeout(() => this.#open(), waitMs);
    if (this.nFailures >= MAX_FAILURES) this.asker?.start();
    // A failure before any frame is not reported if the page can poll: polling may work at once.
    if (!this.asker || this.hasEverReceived || this.asker.status) this.#report();
  }

  #report() {
    const { status } = this.asker ?? {};
    this.onStatus(status === "well" ? "asking" : status || "lost");
  }

  /** Reacts to a change of the polling status. */
  #pollingChanged() {
    if (this.asker?.status === "well") this.#flush();
    // If polling works again, the socket may work again too. It is tried, and reports its own status.
    if (this.asker?.status === "well" && this.hasEverReceived && this.retryTimer) this.#open();
    else this.#report();
  }

  #retryNow() {
    if (this.retryTimer) this.#open();
  }

  /** Pings if no frame has come for a while, and drops a dead socket. */
  #checkSilence() {
    const nowMs = Date.now();
    if (this.socket.readyState !== OPEN) return;
    if (this.asker && this.unansweredSince && nowMs - this.unansweredSince > UNANSWERED_MS) {
      this.isTrusted = false;
      this.#giveUp();
    } else if (nowMs - this.receivedAt > SILENCE_MS) this.#drop();
    else if (nowMs - this.receivedAt > PING_MS) this.#write("ping", {});
  }

  /** Drops a broken socket and schedules a new attempt. */
  #drop() {
    if (this.retryTimer || this.hasLeft) return;
    this.#detach();
    this.#scheduleRetry();
  }

  /** Closes the socket and ignores its further events. */
  #detach() {
    clearTimeout(this.trialTimer);
    const { socket } = this;
    this.socket = closedSocket();
    closeUnlessConnecting(socket);
  }
}

/**
 * Returns an object with the interface of a closed socket.
 *
 * @returns {any}
 */
const closedSocket = () => Object.assign(new EventTarget(), { readyState: CLOSED, send: () => {}, close: () => {} });

/**
 * Returns a new socket. If the browser has no sockets or forbids them, the result is one that closes at once.
 *
 * @returns {WebSocket}
 */
function connect(/** @type {URL} */ url) {
  try {
    return new WebSocket(url);
  } catch {
    const socket = closedSocket();
    setTimeout(() => socket.dispatchEvent(Object.assign(new Event("close"), { code: 1006 })), 0);
    return socket;
  }
}
