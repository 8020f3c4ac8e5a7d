/** Stand-ins for what a browser has, as far as the modules that are tested here ask for it. */

// lit-html asks for these as soon as it is loaded.
globalThis.document ??= { createTreeWalker: () => null, createComment: () => null };

/** An element that hears events and has what it was given. */
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

/** Parts of these names. */
export function partsOf(...names) {
  return Object.fromEntries(names.map((name) => [name, new Part()]));
}

/** A connection that the test opens, closes and speaks through. */
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

/** Lets everything that waits for no clock come to its end. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
