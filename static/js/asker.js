/**
 * Polling in place of a socket: plain requests, once a second after a change, and less often while nothing happens.
 *
 * An unchanged answer is a 304 (`If-None-Match`). A hidden page does not poll.
 */

const WAITS_MS = [1_000, 1_000, 1_000, 2_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000];
const PATIENCE_MS = 15_000;
/** Statuses after which polling ends: the resource does not exist, or not for this reader. */
const FINAL = [400, 401, 403, 404, 410];

/**
 * @typedef {object} Rest how a page learns, and acts, without a socket
 * @property {string} news the address that is asked
 * @property {(answer: any, isAll?: boolean) => Frame} frame what the socket would say instead of this answer; `isAll`
 *   where the page asked for all of it
 * @property {(answer: any) => boolean} [isLively] whether more is to be expected at once
 * @property {() => number} [slowness] how many times as long to wait
 * @property {string} [actions] the address to which frames are posted, each type to a path of its own
 */
/** @typedef {{type: string, data: any}} Frame a frame of docs/protocol.md */
/** @typedef {""|"well"|"away"|"lost"} AskerStatus "" before the first answer, and while it does not ask */

export class Asker {
  /**
   * @param {Rest} rest
   * @param {(frame: Frame) => void} onFrame
   * @param {(status: AskerStatus) => void} onStatus called when it changes
   * @param {() => void} onGone called when there is nothing to ask for any more; nothing is asked from then on
   */
  constructor(rest, onFrame, onStatus, onGone) {
    this.rest = rest;
    this.onFrame = onFrame;
    this.onStatus = onStatus;
    this.onGone = onGone;
    this.isOn = false;
    this.nIdle = 0;
    /** @type {AskerStatus} */
    this.status = "";
    document.addEventListener("visibilitychange", () => this.now());
  }

  start() {
    if (this.isOn) return;
    this.isOn = true;
    this.now(true);
  }

  stop() {
    this.isOn = false;
    this.status = "";
    clearTimeout(this.timer);
  }

  /** Polls at once; `isAll` requests the whole state, including its known parts. */
  now(isAll = false) {
    this.wantsAll ||= isAll;
    this.nIdle = 0;
    this.#later(0);
  }

  /** Posts a frame that the page would otherwise send over its socket. */
  async post(/** @type {string} */ type, /** @type {object} */ data) {
    try {
      const [answer, told] = await fetched(`${this.rest.actions}/${type}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
        body: JSON.stringify(data),
      });
      this.onFrame(answer.ok ? { type: "state", data: told } : refusal(answer, told));
      this.nIdle = 0;
      this.#later();
    } catch {
      this.onFrame({ type: "error", data: { code: "unsent" } });
      this.now();
    }
  }

  #later(wait = 0.8 * WAITS_MS[Math.min(this.nIdle, WAITS_MS.length - 1)] * (this.rest.slowness?.() ?? 1)) {
    clearTimeout(this.timer);
    if (!this.isOn || document.visibilityState === "hidden") return;
    // Random jitter, so that a class does not poll in step; never sooner than the server's Retry-After.
    this.timer = setTimeout(() => this.#ask(), wait * (1 + 0.5 * Math.random()));
  }

  async #ask() {
    this.isWanted = this.isAsking;
    if (this.isAsking) return;
    this.isAsking = true;
    const isAll = this.wantsAll;
    this.wantsAll = false;
    /** @type {number|undefined} */
    let wait;
    try {
      /** @type {Record<string, string>} */
      const headers = isAll || !this.etag ? {} : { "If-None-Match": this.etag };
      const [answer, told] = await fetched(this.rest.news, { headers });
      if (this.isOn) wait = this.#take(answer, told, isAll);
    } catch {
      this.wantsAll ||= isAll;
      this.#say("lost");
    }
    this.isAsking = false;
    this.nIdle += 1;
    this.#later(this.isWanted ? 0 : wait);
  }

  /** Handles a response; returns the wait if the server gives one. */
  #take(/** @type {Response} */ answer, /** @type {any} */ told, /** @type {boolean|undefined} */ isAll) {
    if (answer.ok) {
      this.etag = answer.headers.get("ETag") ?? "";
      this.nIdle = this.rest.isLively?.(told) ? -1 : 0;
      this.#say("well");
      this.onFrame(this.rest.frame(told, isAll));
    } else if (answer.status === 304) this.#say("well");
    else if (answer.status === 429 || answer.status >= 500) {
      if (answer.status >= 500 && told.code !== "busy") this.#say(told.code === "unavailable" ? "away" : "lost");
      return 1000 * Number(answer.headers.get("Retry-After")) || undefined;
    } else if (FINAL.includes(answer.status) && told.code) {
      this.stop();
      this.onFrame(refusal(answer, told));
      this.onGone();
    } else this.#say("lost"); // a response of a content filter, or a request that was sent too slowly
    return undefined;
  }

  #say(/** @type {AskerStatus} */ status) {
    if (!this.isOn || status === this.status) return;
    this.status = status;
    this.onStatus(status);
  }
}

/** Fetches a response and its body, and aborts after a time-out. */
async function fetched(/** @type {string} */ address, /** @type {RequestInit} */ { headers, ...options }) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  try {
    const answer = await fetch(address, {
      ...options,
      headers: { Accept: "application/json", ...headers },
      cache: "no-store",
      signal: patience.signal,
    });
    return [answer, answer.status === 304 ? null : await answer.json()];
  } finally {
    clearTimeout(timer);
  }
}

const refusal = (/** @type {Response} */ answer, /** @type {any} */ told) => ({
  type: "error",
  data: { ...told, retry_after_s: Number(answer.headers.get("Retry-After")) || undefined },
});

/** The CSRF token, which proves to the site that a request comes from its own page. */
const csrfToken = () => /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
