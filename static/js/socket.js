/** A WebSocket that comes back: pings, notices silence, waits longer after each failure, tries at once when the network returns. */

// The answer to a ping also brings a state that got lost on its way.
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
const LONGEST_WAIT_MS = 15_000;
// What the server closes a socket with that it has nothing for, and one of too many.
const NOT_FOUND = 4404;
const TOO_MANY = 4429;

/** What a page says of itself when its site has told how it is. */
const siteStatus = ({ database, spectators }) =>
  database === "away" ? "away" : spectators === "late" ? "late" : "open";

/** What to say while not everything is as it should be; "" if it is. */
export function trouble(status, lost) {
  if (status === "lost") return lost;
  if (status === "away") return "The site cannot reach its memory just now. Nothing is lost; it goes on by itself.";
  return status === "late" ? "What you see may be a little old just now." : "";
}

/** Closes a socket; one that nobody has answered yet when that happens, since browsers complain of it before. */
function close(socket) {
  if (socket.readyState !== WebSocket.CONNECTING) socket.close();
}

export class Socket {
  /** Whether this page has made any. */
  static isUsed = false;

  /**
   * @param {string} path path of the socket on this host
   * @param {(frame: {type: string, data: object}) => void} onFrame
   * @param {(status: "open"|"late"|"away"|"lost") => void} onStatus whether the connection stands; "away": the site has lost its
   *   database for now; "late": who watches may be told things late
   */
  constructor(path, onFrame, onStatus) {
    Socket.isUsed = true;
    this.url = new URL(path, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.onFrame = onFrame;
    this.onStatus = onStatus;
    this.failures = 0;
    addEventListener("online", () => this.#retryNow());
    // The browser knows before any silence tells: a socket may hang for a minute in a network that is gone.
    addEventListener("offline", () => this.#drop());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#retryNow());
    setInterval(() => this.#watch(), 5_000);
    this.#open();
  }

  /** Sends a frame; false when there is no connection, so that the caller can say so. */
  send(type, data = {}) {
    const { socket } = this;
    const frame = JSON.stringify({ type, data });
    if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    // Who clicks in the first moment of a page need not wait for its connection, nor hear of it.
    else if (socket.readyState === WebSocket.CONNECTING && !this.failures)
      socket.addEventListener("open", () => socket.send(frame));
    else return false;
    return true;
  }

  /** Drops the connection and joins again at once, to be told anew who we are. */
  rejoin() {
    const { socket } = this;
    this.#open();
    close(socket);
  }

  /** Gives the connection up until `rejoin`. */
  leave() {
    clearTimeout(this.timer);
    this.timer = null;
    this.hasLeft = true;
    this.#cut();
  }

  #open() {
    clearTimeout(this.timer);
    this.timer = null;
    this.hasLeft = false;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.heard = Date.now();
    socket.addEventListener("open", () => (socket === this.socket ? this.onStatus("open") : socket.close()));
    socket.addEventListener("message", ({ data }) => {
      this.heard = Date.now();
      this.failures = 0;
      const frame = JSON.parse(data);
      if (frame.type === "site") this.onStatus(siteStatus(frame.data));
      else this.onFrame(frame);
    });
    socket.addEventListener("close", ({ code }) => {
      // There is nothing to come back to, and each try would count as another wrong guess.
      if (socket !== this.socket || code === NOT_FOUND) return;
      if (code === TOO_MANY) this.failures = 5;
      this.#lost();
    });
  }

  #lost() {
    // Half a second at first, then doubling; a little chance, so that a room full of pages does not come back as one.
    const wait = Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.failures) * (0.8 + 0.4 * Math.random());
    this.failures += 1;
    this.timer = setTimeout(() => this.#open(), wait);
    this.onStatus("lost");
  }

  #retryNow() {
    if (this.timer) this.#open();
  }

  #watch() {
    const silent = Date.now() - this.heard;
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (silent > SILENCE_MS) this.#drop();
    else if (silent > PING_MS) this.send("ping");
  }

  /** Gives up a socket that nothing will come from any more. */
  #drop() {
    if (this.timer || this.hasLeft) return;
    this.#cut();
    this.#lost();
  }

  /** Closes what is open, and hears nothing more of it. */
  #cut() {
    const { socket } = this;
    this.socket = { readyState: WebSocket.CLOSED, close: () => {} };
    close(socket);
  }
}
