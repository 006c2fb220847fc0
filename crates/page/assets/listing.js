// Which runs are listed, in which order, and which of them are the lanes of the timeline.

import { extent, isOver, present } from "./figures.js";

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
  over: (row) => isOver(row),
  failed: (row) => row.status === "failed" || row.status === "aborted",
};

/** Returns whether a run waits for a person: its result is neither merged nor discarded.
 * @param {Row} row */
export function waits(row) {
  return isOver(row) && ["captured", "uncaptured"].includes(row.workspace?.state ?? "");
}

/** Sorts and filters the list: what is under way first, the newest call first, and the runs of one
 * call together in the order in which they were asked for. @param {Model} model */
export function list(model) {
  const words = model.words.toLowerCase();
  const has = (/** @type {string | undefined} */ text) => (text ?? "").toLowerCase().includes(words);
  const fits = (/** @type {Row} */ row) =>
    filters[model.filter](row) &&
    (!words || [row.name, row.task, row.resolvedModel, row.status, row.runId, row.preset].some(has));
  const rows = [...model.rows.values()].filter(fits);
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
  model.listed = [...groups.values()].flatMap((group) => group.sort((a, b) => a.sequence - b.sequence));
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
  const chosen = (model.selected ? model.rows.get(model.selected) : undefined) ?? model.opened?.whole;
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
  const found = model.listed.filter(overlaps).slice(0, MOST_LANES);
  return found.includes(chosen) ? found : [chosen, ...found];
}

/** Returns what must be read before the lanes can be drawn. @param {Model} model @returns {Effect[]} */
export function laneEffects(model) {
  const missing = lanes(model).filter(
    (row) => isOver(row) && !model.lanes.has(row.runId) && !model.askedLanes.has(row.runId),
  );
  if (missing.length === 0) return [];
  for (const row of missing) model.askedLanes.add(row.runId);
  return [{ do: "lanes", runs: missing.map((row) => row.runId) }];
}
