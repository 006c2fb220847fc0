// The parts of a result that can be accepted without the rest, which are files and hunks, and the parts
// that a person has left out.

/** @typedef {import("./review.js").Review} Review */
/** @typedef {{name: string, path: string, hunk: number | null}} Part A part; `hunk` is its place in its file, null for a whole file. */

/** Returns the parts of a result; none before they were read. @param {Review} review @param {string} run
 * @returns {Part[]} */
export function partsOf(review, run) {
  return review.parts.get(run)?.parts ?? [];
}

/** Returns the parts of a file, or of one of its hunks. @param {Review} review @param {string} run
 * @param {string} path @param {number | null} [hunk] @returns {Part[]} */
export function partsAt(review, run, path, hunk = null) {
  const own = partsOf(review, run).filter((part) => part.path === path);
  return hunk === null ? own : own.filter((part) => part.hunk === null || part.hunk === hunk);
}

/** Returns how many of some parts are taken. @param {Review} review @param {string} run @param {Part[]} parts */
export function takenOf(review, run, parts) {
  const leftOut = review.leftOut.get(run);
  return leftOut ? parts.filter((part) => !leftOut.has(part.name)).length : parts.length;
}

/** Leaves out parts, or takes them again if all are left out. @param {Review} review @param {string} run
 * @param {Part[]} parts */
export function toggleParts(review, run, parts) {
  const leftOut = new Set(review.leftOut.get(run));
  const isTaken = parts.some((part) => !leftOut.has(part.name));
  for (const { name } of parts) {
    if (isTaken) leftOut.add(name);
    else leftOut.delete(name);
  }
  review.leftOut.set(run, leftOut);
}

/** Returns the names of the parts that are taken; null if nothing is left out. @param {Review} review
 * @param {string} run @returns {string[] | null} */
export function chosenParts(review, run) {
  const leftOut = review.leftOut.get(run);
  if (!leftOut || leftOut.size === 0) return null;
  return partsOf(review, run).map((part) => part.name).filter((name) => !leftOut.has(name));
}

/** Says how many parts are taken, if some are left out: “2 of 3 parts”. @param {Review} review
 * @param {string} run @returns {string | null} */
export function chosenWords(review, run) {
  const chosen = chosenParts(review, run);
  return chosen && `${chosen.length} of ${partsOf(review, run).length} parts`;
}

/** Forgets what was known of a result that is another one now. @param {Review} review @param {string} run */
export function forgetParts(review, run) {
  review.parts.delete(run);
  review.leftOut.delete(run);
  for (const key of review.diffs.keys()) if (key.startsWith(`${run} `)) review.diffs.delete(key);
}
