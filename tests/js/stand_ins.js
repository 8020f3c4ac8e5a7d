/** Stand-ins for what a browser has, as far as the modules that are tested here ask for it. */

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

/** Lets everything that waits for no clock come to its end. */
export async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
