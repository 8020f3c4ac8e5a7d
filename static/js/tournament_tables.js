/** Merges changes into the state of a tournament. */

/** The field that identifies a line, for each table. */
const KEYS = { entries: "number", standings: "entry", crosstable: "entry", pairings: "number" };

/**
 * Returns the state of a tournament after a change, or `null` if the change belongs to another version.
 *
 * @param {{version: number} & Record<string, any>} before the complete state
 * @param {{since: number, order: number[]} & Record<string, any>} change the data of a frame `state` (docs/protocol.md),
 *   which has only the changed lines of each table
 */
export function mergeChange(before, change) {
  if (change.since !== before.version) return null;
  const after = { ...before, ...change };
  for (const [table, key] of Object.entries(KEYS)) {
    const lines = new Map(before[table].map((/** @type {Record<string, unknown>} */ line) => [line[key], line]));
    for (const line of change[table]) lines.set(line[key], line);
    after[table] = [...lines.values()];
  }
  const place = new Map(change.order.map((entry, index) => [entry, index]));
  for (const table of ["standings", "crosstable"])
    after[table].sort(
      (/** @type {{entry: number}} */ one, /** @type {{entry: number}} */ other) =>
        (place.get(one.entry) ?? 0) - (place.get(other.entry) ?? 0),
    );
  after.pairings.sort(
    (/** @type {{number: number}} */ one, /** @type {{number: number}} */ other) => one.number - other.number,
  );
  return after;
}
