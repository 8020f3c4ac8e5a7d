/** Stand-ins for the parts of a browser that the tested modules use. */

// lit-html reads these when it is loaded.
globalThis.document ??= { createTreeWalker: () => null, createComment: () => null };

/** An element that receives events and keeps the properties it was given. */
export class Part extends EventTarget {
  constructor(more = {}) {
    super();
    this.hidden = false;
    this.textContent = "";
    this.attributes = new Map();
    this.classList = { toggle: () => {} };
    Object.assign(this, more);
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  contains() {
    return false;
  }

  querySelectorAll() {
    return [];
  }

  click() {
    this.dispatchEvent(new Event("click"));
  }
}

/** Returns a new part for each of these names. */
export function partsOf(...names) {
  return Object.fromEntries(names.map((name) => [name, new Part()]));
}

/** A WebSocket that the test opens, closes and sends through. */
export class Connection extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 3;
  static all = [];

  constructor(url) {
    super();
    this.url = url;
    this.readyState = Connection.CONNECTING;
    this.sent = [];
    Connection.all.push(this);
  }

  send(frame) {
    this.sent.push(JSON.parse(frame).type);
  }

  close() {
    this.readyState = Connection.CLOSED;
  }

  opens() {
    this.readyState = Connection.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  breaks(code = 1006) {
    this.readyState = Connection.CLOSED;
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }

  says(frame) {
    this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(frame) }));
  }
}

/** Waits until all promises that need no timer have settled. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
