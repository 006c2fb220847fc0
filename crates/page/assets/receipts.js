// What was seen of a run, in words: its tests, its gate, its files, and what somebody should look at.

/** @typedef {import("./types.js").Row} Row */

/** The same words as in the terminal. @type {Record<string, string>} */
const FLAGS = {
  noToolUsed: "no tool used",
  lastTestFailed: "the last test failed",
  changedAfterTest: "changed after the last test",
  testHidden: "how the last test ended is hidden",
};

/** @type {Record<string, [string, string]>} */
const TESTS = {
  passed: ["passed", "plus"],
  failed: ["failed", "bad"],
  stale: ["passed, then files changed", "warn"],
  unclear: ["unclear", "warn"],
  notSeen: ["none seen", "muted"],
};

/** Returns what somebody should look at. @param {Row} row @returns {string[]} */
export function flags(row) {
  return (row.receipt?.flags ?? []).map((/** @type {string} */ flag) => FLAGS[flag] ?? flag);
}

/** Returns what the tests say, its kind, and the command. @param {Row} row @returns {[string, string, string]} */
export function tests(row) {
  const seen = row.receipt?.tests;
  const [words, kind] = TESTS[seen?.state ?? ""] ?? ["unknown", "muted"];
  return [words, kind, seen?.command ?? ""];
}

/** Returns the files that a run has changed, exactly where git knows them. @param {Row} row
 * @returns {{path: string, added?: number, removed?: number}[] | undefined} */
export function files(row) {
  if (row.workspace?.files) return row.workspace.files;
  const changed = row.receipt?.files?.changed;
  return changed?.map((/** @type {string} */ path) => ({ path }));
}
