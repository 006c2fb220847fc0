// Lists of runs that the server finds: History, and what a filter or words find for the list of runs.
// The stream tells what happens afterwards, so that nothing is read twice.

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Effect} Effect */

/**
 * @typedef {object} PastRuns
 * @property {"history" | "found" | "palette"} name
 * @property {Row[]} rows The newest first.
 * @property {number} found How many there are, also those that were not read yet; in a search, how
 * many were found so far.
 * @property {number | null} next Where the search goes on; null when every run was searched.
 * @property {boolean} isReading
 * @property {boolean} isRead Whether the rows are as new as the stream.
 * @property {string} words
 * @property {string} state
 */

/** The list of runs has the newest ones anyway, so it asks for those behind them. */
const NEWEST = 150;

/** How many runs a search lists. Who wants more of them wants other words. */
const MOST_FOUND = 1000;

/** How many the palette lists. */
const MOST_IN_PALETTE = 40;

/** Returns a list of which nothing is read yet. @param {"history" | "found" | "palette"} name @param {string} [words]
 * @param {string} [state] @returns {PastRuns} */
export function noPastRuns(name, words = "", state = "all") {
  return { name, rows: [], found: 0, next: null, isReading: false, isRead: false, words, state };
}

/** Reads the newest runs of a list, unless they are known. @param {PastRuns} list @returns {Effect[]} */
export function readPastRuns(list) {
  if (list.isRead || list.isReading) return [];
  list.isReading = true;
  return [{ do: "runs", list: list.name, from: isWhole(list) ? NEWEST : 0 }];
}

/** Reads the next older runs. @param {PastRuns} list @returns {Effect[]} */
export function readOlderRuns(list) {
  const from = list.rows.length + (isWhole(list) ? NEWEST : 0);
  if (list.isReading || list.words || !list.isRead || from >= list.found) return [];
  list.isReading = true;
  return [{ do: "runs", list: list.name, from }];
}

/** Returns whether a list stands behind the newest runs, which the stream has sent. @param {PastRuns} list */
function isWhole(list) {
  return list.name === "found" && list.state === "all" && !list.words;
}

/** Takes runs that were read, and goes on with a search that has not seen all runs.
 * @param {PastRuns} list @param {{from: number, before?: number, words: string, state: string, answer: any}} read
 * @returns {Effect[]} */
export function takePastRuns(list, { from, before, words, state, answer }) {
  // Somebody wants other runs since.
  if (words !== list.words || state !== list.state) return [];
  const isOn = before !== undefined || (from > 0 && list.isRead);
  const old = isOn ? list.rows : [];
  // A run that has begun since then moves the others down by one.
  const known = new Set(old.map((row) => row.runId));
  const news = answer.runs.filter((/** @type {Row} */ row) => !known.has(row.runId));
  // The newest runs that are read again meet those that were read before.
  const met = isOn || words ? -1 : list.rows.findIndex((row) => row.runId === news.at(-1)?.runId);
  list.rows = [...old, ...news, ...(met < 0 ? [] : list.rows.slice(met + 1))];
  list.found = words ? list.rows.length : answer.found;
  list.next = words ? (answer.next ?? null) : null;
  list.isReading = false;
  list.isRead = true;
  const most = list.name === "palette" ? MOST_IN_PALETTE : MOST_FOUND;
  if (list.next === null || list.rows.length >= most) return [];
  list.isReading = true;
  return [{ do: "runs", list: list.name, from: 0, before: list.next }];
}

/** Takes what the stream tells: new runs come first, and runs that were removed go. A search stays as
 * it was answered. @param {PastRuns} list @param {{rows: Row[], gone?: string[], begins?: boolean}} piece */
export function noteNews(list, { rows, gone = [], begins = false }) {
  // Nobody knows what has happened between two streams.
  if (begins) list.isRead = false;
  if (gone.length > 0) {
    const left = list.rows.filter((row) => !gone.includes(row.runId));
    list.found -= list.rows.length - left.length;
    list.rows = left;
  }
  if (!list.isRead || list.words || list.state !== "all" || list.name === "found") return;
  const newest = list.rows[0]?.sequence ?? -1;
  const begun = rows.filter((row) => row.sequence > newest).sort((a, b) => b.sequence - a.sequence);
  list.rows = [...begun, ...list.rows];
  list.found += begun.length;
}
