/** Fakes of the browser objects that the tested modules use. */

// lit-html reads these when it is loaded.
globalThis.document ??= { createTreeWalker: () => null, createComment: () => null };

/** A fake element that receives events and stores its properties. */
export class FakeElement extends EventTarget {
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

/** Returns an object with a new fake element for each name. */
export function fakeElements(...names) {
  return Object.fromEntries(names.map((name) => [name, new FakeElement()]));
}

/** A fake WebSocket. A test simulates that it opens, closes and receives messages. */
export class FakeWebSocket extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 3;
  static instances = [];

  constructor(url) {
    super();
    this.url = url;
    this.readyState = FakeWebSocket.CONNECTING;
    this.sent = [];
    FakeWebSocket.instances.push(this);
  }

  send(frame) {
    this.sent.push(JSON.parse(frame).type);
  }

  close() {
    this.readyState = FakeWebSocket.CLOSED;
  }

  simulateOpen() {
    this.readyState = FakeWebSocket.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  simulateClose(code = 1006) {
    this.readyState = FakeWebSocket.CLOSED;
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }

  simulateMessage(frame) {
    this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(frame) }));
  }
}

/** Waits until all promises that need no timer have settled. */
export async function settlePromises() {
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
}
