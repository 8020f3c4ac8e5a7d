/** Merges changes into the state of a tournament; independent of the page. */

/** The key fields of the lines of each table. */
const NAMES = { entries: "number", standings: "entry", crosstable: "entry", pairings: "number" };

/**
 * The tournament as it stands after a change, or null where the change is told against another version.
 *
 * @param {{version: number} & Record<string, any>} before how it stood, whole
 * @param {{since: number, order: number[]} & Record<string, any>} change a frame `state` of its socket (docs/protocol.md): of each table the lines that differ
 */
export function merged(before, change) {
  if (change.since !== before.version) return null;
  const now = { ...before, ...change };
  for (const [table, name] of Object.entries(NAMES)) {
    const lines = new Map(before[table].map((/** @type {Record<string, unknown>} */ line) => [line[name], line]));
    for (const line of change[table]) lines.set(line[name], line);
    now[table] = [...lines.values()];
  }
  const place = new Map(change.order.map((entry, at) => [entry, at]));
  for (const table of ["standings", "crosstable"])
    now[table].sort(
      (/** @type {{entry: number}} */ one, /** @type {{entry: number}} */ other) =>
        (place.get(one.entry) ?? 0) - (place.get(other.entry) ?? 0),
    );
  now.pairings.sort(
    (/** @type {{number: number}} */ one, /** @type {{number: number}} */ other) => one.number - other.number,
  );
  return now;
}
