// Which runs are listed, in which order, and which of them are the lanes of the timeline.

import { extent, fullModel, isOver, present } from "./figures.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Effect} Effect */

/** More lanes are not drawn. */
const MOST_LANES = 60;

/** @type {Record<string, (row: Row) => boolean>} */
export const filters = {
  all: () => true,
  running: (row) => !isOver(row),
  waiting: (row) => waits(row),
  finished: (row) => isOver(row),
  failed: (row) => row.status === "failed",
};

/** The names of the filters, in their order. @type {[string, string][]} */
export const FILTERS = [
  ["all", "All"],
  ["running", "Running"],
  ["waiting", "To merge"],
  ["finished", "Finished"],
  ["failed", "Failed"],
];

/** Returns how many runs of the whole project a filter has, as the server counts them; a file counts
 * its own. @param {Model} model @param {string} filter @returns {number} */
export function countOf({ counts, waiting, rows, connection }, filter) {
  if (!counts || connection === "recorded") return [...rows.values()].filter(filters[filter]).length;
  switch (filter) {
    case "running":
      return counts.queued + counts.running;
    case "waiting":
      return waiting ?? [...rows.values()].filter(waits).length;
    case "finished":
      return counts.completed + counts.failed + counts.stopped;
    case "failed":
      return counts.failed;
    default:
      return counts.total;
  }
}

/** Returns whether a run waits for a person: its result is neither merged nor discarded.
 * @param {Row} row */
export function waits(row) {
  return isOver(row) && ["captured", "uncaptured"].includes(row.workspace?.state ?? "");
}

/** Sorts the rows, and chooses those that the list shows: what runs first, the newest call first, and
 * the runs of one call together in the order in which they were asked for. @param {Model} model */
export function list(model) {
  const words = model.words.trim().toLowerCase();
  const has = (/** @type {string | undefined} */ text) => (text ?? "").toLowerCase().includes(words);
  const fits = (/** @type {Row} */ row) =>
    filters[model.filter](row) &&
    (!words || [row.name, row.task, fullModel(row), row.status, row.runId, row.agent].some(has));
  const rows = new Map([...model.beside, ...model.rows]);
  model.all = sorted([...rows.values()]);
  // What the server has found counts as found, also if only the answer of a run has the words.
  const found = new Map(model.found.rows.map((row) => [row.runId, model.rows.get(row.runId) ?? row]));
  for (const row of model.rows.values()) if (fits(row)) found.set(row.runId, row);
  model.listed = sorted([...found.values()].filter(filters[model.filter]));
}

/** @param {Row[]} rows @returns {Row[]} */
function sorted(rows) {
  const rank = (/** @type {Row} */ row) => (isOver(row) ? 1 : 0);
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  rows.sort((a, b) => rank(a) - rank(b) || b.sequence - a.sequence);
  for (const row of rows) {
    const key = groupKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()].flatMap((group) => group.sort((a, b) => a.sequence - b.sequence));
}

/** Returns the call that a row belongs to. Background runs have nothing in common but their day.
 * @param {Row} row @returns {string} */
export function groupKey(row) {
  const day = row.group.startsWith("background") ? row.acceptedAt.slice(0, 10) : "";
  return `${isOver(row) && day ? "over" : ""} ${row.group} ${day}`;
}

/** Returns the runs that were at work while the selected run was: the lanes of the timeline.
 * @param {Model} model @returns {Row[]} */
export function lanes(model) {
  // A run that is not listed any more has a lane too.
  const chosen = chosenRow(model);
  // Until a run is read, the lanes of the one before it stay.
  if (!chosen) return model.selected ? model.lanesBefore : [];
  const now = present(model);
  const { begin, end = now } = extent(chosen);
  const slack = Math.max(1000, (end - begin) * 0.1);
  const overlaps = (/** @type {Row} */ row) => {
    if (row.runId === chosen.runId || row.group === chosen.group) return true;
    const accepted = Date.parse(row.acceptedAt);
    return accepted <= end + slack && (extent(row).end ?? now) >= begin - slack;
  };
  // All rows that are known: a filter of the list changes nothing that another place states.
  const found = model.all.filter(overlaps).slice(0, MOST_LANES);
  return found.includes(chosen) ? found : [chosen, ...found];
}

/** Returns the run that is chosen. @param {Model} model @returns {Row | undefined} */
export function chosenRow(model) {
  return (model.selected ? model.rows.get(model.selected) : undefined) ?? model.opened?.whole;
}

/** Returns the time of the call that the chosen run belongs to: of the runs of its caller that were at
 * work at the same time, one after the other. @param {Model} model @param {Row[]} rows
 * @returns {{from: number, to: number} | null} */
export function callExtent(model, rows) {
  const chosen = chosenRow(model);
  if (!chosen) return null;
  const now = present(model);
  const time = (/** @type {Row} */ row) => ({ from: Date.parse(row.acceptedAt), to: extent(row).end ?? now });
  const all = time(chosen);
  let rest = rows.filter((row) => row.group === chosen.group).map(time);
  for (;;) {
    const meets = rest.filter((one) => one.from <= all.to && one.to >= all.from);
    rest = rest.filter((one) => !meets.includes(one));
    if (meets.length === 0) return all;
    all.from = Math.min(all.from, ...meets.map((one) => one.from));
    all.to = Math.max(all.to, ...meets.map((one) => one.to));
  }
}

/** Returns what must be read before the lanes can be drawn. The lane of the run that is read comes
 * with its transcript. @param {Model} model @returns {Effect[]} */
export function laneEffects(model) {
  const isComing = (/** @type {Row} */ row) => row.runId === model.opened?.run && !model.opened.problem && !model.opened.isLaneDue;
  const missing = lanes(model).filter(
    (row) => isOver(row) && !isComing(row) && !model.lanes.has(row.runId) && !model.askedLanes.has(row.runId),
  );
  if (missing.length === 0) return [];
  for (const row of missing) model.askedLanes.add(row.runId);
  return [{ do: "lanes", runs: missing.map((row) => row.runId) }];
}
