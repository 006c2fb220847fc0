// The runs that History has read so far. The server tells what happens afterwards, so that nothing is
// read twice.

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Effect} Effect */

/**
 * @typedef {object} PastRuns
 * @property {Row[]} rows The newest first.
 * @property {number} found How many there are, also those that were not read yet.
 * @property {boolean} isAll Whether all runs were searched.
 * @property {boolean} isReading
 * @property {boolean} isRead Whether the rows are as new as the stream.
 * @property {string} words
 */

/** Returns a history of which nothing is read yet. @param {string} [words] @returns {PastRuns} */
export function noPastRuns(words = "") {
  return { rows: [], found: 0, isAll: true, isReading: false, isRead: false, words };
}

/** Reads the newest runs, unless they are known. @param {Model} model @returns {Effect[]} */
export function readPastRuns({ history }) {
  if (history.isRead || history.isReading) return [];
  history.isReading = true;
  return [{ do: "history", from: 0 }];
}

/** Reads the next older runs. @param {Model} model @returns {Effect[]} */
export function readOlderRuns({ history }) {
  if (history.isReading || history.rows.length >= history.found) return [];
  history.isReading = true;
  return [{ do: "history", from: history.rows.length }];
}

/** Takes runs that were read. @param {Model} model
 * @param {{from: number, words: string, answer: any}} read */
export function takePastRuns({ history }, { from, words, answer }) {
  // Somebody has searched for other words since.
  if (words !== history.words) return;
  const before = history.rows.slice(0, from);
  // A run that has begun since then moves the others down by one.
  const known = new Set(before.map((row) => row.runId));
  const news = answer.runs.filter((/** @type {Row} */ row) => !known.has(row.runId));
  // The newest runs that are read again meet those that were read before.
  const met = from === 0 ? history.rows.findIndex((row) => row.runId === news.at(-1)?.runId) : -1;
  history.rows = [...before, ...news, ...(met < 0 ? [] : history.rows.slice(met + 1))];
  history.found = answer.found;
  history.isAll = answer.searchedAll;
  history.isReading = false;
  history.isRead = true;
}

/** Takes what the stream tells: new runs come first, and runs that were removed go. A search stays as
 * it was answered. @param {Model} model @param {{rows: Row[], gone?: string[], begins?: boolean}} piece */
export function noteNews({ history }, { rows, gone = [], begins = false }) {
  // Nobody knows what has happened between two streams.
  if (begins) history.isRead = false;
  if (gone.length > 0) {
    const left = history.rows.filter((row) => !gone.includes(row.runId));
    history.found -= history.rows.length - left.length;
    history.rows = left;
  }
  if (!history.isRead || history.words) return;
  const newest = history.rows[0]?.sequence ?? -1;
  const begun = rows.filter((row) => row.sequence > newest).sort((a, b) => b.sequence - a.sequence);
  history.rows = [...begun, ...history.rows];
  history.found += begun.length;
}
