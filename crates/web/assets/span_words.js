// What a span of the timeline was, in words.

import { extent, timeOfDay, tokens, took } from "./figures.js";

/** @param {import("./types.js").Span} span @param {import("./types.js").Row} row @param {number} now
 * @param {string} [reason] why it failed
 * @returns {string[][]} a title, and facts with their names and kinds */
export function words([kind, begin, end, label, failed, usage], row, now, reason = "failed") {
  const time = (end ?? now) - begin;
  const { begin: from, end: to = now } = extent(row);
  const titles = /** @type {Record<string, string>} */ ({ queued: "waits for a place", model: label ? `model ${label}` : "model" });
  const facts = [[titles[kind] ?? (label || kind)], ["began", timeOfDay(begin)], [end === null ? "continues for" : "took", took(time)]];
  if (failed) facts.push(["ended", reason, "bad"]);
  if (usage) facts.push(["tokens", `${tokens(usage[0] + usage[2] + usage[3])} in, ${tokens(usage[1])} out`]);
  if (kind !== "queued") facts.push([`of ${row.name}’s time`, `${Math.round((time / Math.max(1, to - from)) * 100)} %`]);
  return facts;
}
