/**
 * Polling in place of a socket: about one request a second after a change, and fewer while nothing happens.
 *
 * The server answers 304 if nothing has changed (`If-None-Match`). A hidden page does not poll.
 */

/** Milliseconds before the next request, by the number of requests since the last change. */
const WAITS_MS = [1_000, 1_000, 1_000, 2_000, 2_000, 2_000, 5_000, 5_000, 5_000, 10_000];
const TIMEOUT_MS = 15_000;
/** HTTP statuses after which polling ends: the resource does not exist, or the reader may not see it. */
const FINAL_STATUSES = [400, 401, 403, 404, 410];

/**
 * @typedef {object} Rest the REST addresses that a page uses instead of a socket
 * @property {string} pollUrl the address that is polled
 * @property {(answer: any, isAll?: boolean) => Frame} frame converts an answer to the frame that the socket would send;
 *   `isAll` if the page requested the whole state
 * @property {(answer: any) => boolean} [isLively] returns whether the next change is expected at once
 * @property {() => number} [slowness] returns a factor for all waits
 * @property {string} [actions] frames of a type are posted to this address, followed by a slash and the type
 */
/** @typedef {{type: string, data: any}} Frame a frame of docs/protocol.md */
/**
 * "": no answer yet, or polling is off; "well": the site answers; "away": the site cannot reach its database; "lost": the
 * page cannot reach the site.
 *
 * @typedef {""|"well"|"away"|"lost"} AskerStatus
 */

export class Asker {
  /**
   * @param {Rest} rest
   * @param {(frame: Frame) => void} onFrame
   * @param {(status: AskerStatus) => void} onStatus called when the status changes
   * @param {() => void} onGone called when polling has ended because the resource is not available
   */
  constructor(rest, onFrame, onStatus, onGone) {
    this.rest = rest;
    this.onFrame = onFrame;
    this.onStatus = onStatus;
    this.onGone = onGone;
    this.isOn = false;
    this.nUnchanged = 0;
    /** @type {AskerStatus} */
    this.status = "";
    document.addEventListener("visibilitychange", () => this.pollNow());
  }

  start() {
    if (this.isOn) return;
    this.isOn = true;
    this.pollNow(true);
  }

  stop() {
    this.isOn = false;
    this.status = "";
    clearTimeout(this.timer);
  }

  /** Polls at once; with `isAll` the server sends the whole state, even if the page knows it. */
  pollNow(isAll = false) {
    this.wantsAll ||= isAll;
    this.nUnchanged = 0;
    this.#schedule(0);
  }

  /** Posts a frame that the page would otherwise send over its socket. */
  async post(/** @type {string} */ type, /** @type {object} */ data) {
    try {
      const [response, content] = await fetchWithTimeout(`${this.rest.actions}/${type}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
        body: JSON.stringify(data),
      });
      this.onFrame(response.ok ? { type: "state", data: content } : errorFrame(response, content));
      this.nUnchanged = 0;
      this.#schedule();
    } catch {
      this.onFrame({ type: "error", data: { code: "unsent" } });
      this.pollNow();
    }
  }

  /** Schedules the next request. */
  #schedule(waitMs = 0.8 * WAITS_MS[Math.min(this.nUnchanged, WAITS_MS.length - 1)] * (this.rest.slowness?.() ?? 1)) {
    clearTimeout(this.timer);
    if (!this.isOn || document.visibilityState === "hidden") return;
    // Random jitter spreads the requests of many pages. It only makes the wait longer, so it respects Retry-After.
    this.timer = setTimeout(() => this.#poll(), waitMs * (1 + 0.5 * Math.random()));
  }

  /** Sends a request and handles the answer. A call during a request causes another request right after it. */
  async #poll() {
    this.isPollQueued = this.isPolling;
    if (this.isPolling) return;
    this.isPolling = true;
    const isAll = this.wantsAll;
    this.wantsAll = false;
    /** @type {number|undefined} */
    let waitMs;
    try {
      /** @type {Record<string, string>} */
      const headers = isAll || !this.etag ? {} : { "If-None-Match": this.etag };
      const [response, content] = await fetchWithTimeout(this.rest.pollUrl, { headers });
      if (this.isOn) waitMs = this.#handle(response, content, isAll);
    } catch {
      this.wantsAll ||= isAll;
      this.#setStatus("lost");
    }
    this.isPolling = false;
    this.nUnchanged += 1;
    this.#schedule(this.isPollQueued ? 0 : waitMs);
  }

  /** Handles a response; returns the milliseconds to wait if the server demands a wait. */
  #handle(/** @type {Response} */ response, /** @type {any} */ content, /** @type {boolean|undefined} */ isAll) {
    if (response.ok) {
      this.etag = response.headers.get("ETag") ?? "";
      this.nUnchanged = this.rest.isLively?.(content) ? -1 : 0;
      this.#setStatus("well");
      this.onFrame(this.rest.frame(content, isAll));
    } else if (response.status === 304) this.#setStatus("well");
    else if (response.status === 429 || response.status >= 500) {
      if (response.status >= 500 && content.code !== "busy")
        this.#setStatus(content.code === "unavailable" ? "away" : "lost");
      return 1000 * Number(response.headers.get("Retry-After")) || undefined;
    } else if (FINAL_STATUSES.includes(response.status) && content.code) {
      this.stop();
      this.onFrame(errorFrame(response, content));
      this.onGone();
    } else this.#setStatus("lost"); // for example a content filter's own response
    return undefined;
  }

  #setStatus(/** @type {AskerStatus} */ status) {
    if (!this.isOn || status === this.status) return;
    this.status = status;
    this.onStatus(status);
  }
}

/** Returns a response and its JSON body (`null` for 304). Aborts after a time-out. */
async function fetchWithTimeout(/** @type {string} */ address, /** @type {RequestInit} */ { headers, ...options }) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(address, {
      ...options,
      headers: { Accept: "application/json", ...headers },
      cache: "no-store",
      signal: controller.signal,
    });
    return [response, response.status === 304 ? null : await response.json()];
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error frame for a refused request. */
const errorFrame = (/** @type {Response} */ response, /** @type {any} */ content) => ({
  type: "error",
  data: { ...content, retry_after_s: Number(response.headers.get("Retry-After")) || undefined },
});

/** The CSRF token, which proves to the site that a request comes from its own page. */
const csrfToken = () => /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
