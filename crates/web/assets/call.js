// The call of the run that is read as one thing: what came of it, what it cost, how long it took and
// why.

import { html, nothing } from "./lit-html.js";
import { costOf, count, extent, isOver, moment, present, tokens, took, totalTokens } from "./figures.js";
import { callExtent, chosenRow, lanes } from "./visible_runs.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */
/** @typedef {{row: Row, from: number, to: number}} Work A run with the time that it worked. */

/** Shorter pauses are no gaps, and a run that begins so soon after another one waited for it. */
const SHORT = 250;

/** How many runs of a chain are named. */
const MOST_NAMED = 4;

/** Returns the runs of the call of the run that is chosen. @param {Model} model @returns {Row[]} */
function runsOfCall(model) {
  const chosen = chosenRow(model);
  const rows = lanes(model);
  const time = callExtent(model, rows);
  if (!chosen || !time) return [];
  const isOfCall = (/** @type {Row} */ row) => row.group === chosen.group;
  // A command is one call; a session of pi or of a client has many.
  if (chosen.group.startsWith("call ")) return rows.filter(isOfCall);
  return rows.filter((row) => isOfCall(row) && Date.parse(row.acceptedAt) >= time.from && Date.parse(row.acceptedAt) <= time.to);
}

/** Adds a call up. @param {Row[]} rows @param {number} now */
export function callFigures(rows, now) {
  const begun = rows.filter((row) => row.startedAt);
  /** @type {Work[]} */
  const work = begun.map((row) => ({ row, from: extent(row).begin, to: extent(row).end ?? now }));
  work.sort((a, b) => a.from - b.from);
  const from = Math.min(...rows.map((row) => Date.parse(row.acceptedAt)));
  const to = rows.every(isOver) ? Math.max(...rows.map((row) => extent(row).end ?? from)) : now;
  let [idle, until] = [0, work[0]?.from ?? from];
  for (const one of work) {
    if (one.from - until > SHORT) idle += one.from - until;
    until = Math.max(until, one.to);
  }
  return { from, wall: to - from, work: work.reduce((sum, one) => sum + one.to - one.from, 0), idle, path: longestChain(work) };
}

/** Returns the chain of runs that decided how long the call took: from the last one back, each time
 * the run that ended last before it began. @param {Work[]} work @returns {Work[]} */
function longestChain(work) {
  const rest = [...work].sort((a, b) => b.to - a.to);
  /** @type {Work[]} */
  const chain = rest.slice(0, 1);
  while (chain.length > 0) {
    const [first] = chain;
    const before = rest.find((one) => one.to <= first.from + SHORT && one.from < first.from);
    if (!before) break;
    chain.unshift(before);
  }
  return chain;
}

/** Draws the head of a call with several runs. @param {Model} model @param {Dispatch} dispatch */
export function callHead(model, dispatch) {
  const rows = runsOfCall(model);
  const [first] = rows;
  if (!first || rows.length < 2) return nothing;
  const now = present(model);
  const { from, wall, work, idle, path } = callFigures(rows, now);
  const states = ["queued", "running", "waiting", "completed", "failed", "stopped", "parked"];
  const outcome = states.map((state) => [rows.filter((row) => row.status === state).length, state]).filter(([number]) => number);
  const kinds = /** @type {Record<string, string>} */ ({ failed: "bad", waiting: "warn", parked: "warn" });
  const used = sum(rows);
  const cost = [costOf({ usage: used }), used && totalTokens(used) > 0 ? `${tokens(totalTokens(used))} tokens` : ""].filter(Boolean).join(" · ");
  const chain = path.length > MOST_NAMED ? [...path.slice(0, MOST_NAMED - 1), path[path.length - 1]] : path;
  const open = (/** @type {Row} */ row) => () => dispatch({ type: "select", run: row.runId });
  return html`<section class="call-head" aria-label="Call"><b>${first.groupLabel || "one call"}</b> <span class="muted">${moment(from, now)}</span>
    <span>${count(rows.length, "run")}: ${outcome.map(([number, state], place) => html`${place > 0 ? ", " : ""}<span class=${kinds[state] ?? nothing}>${number} ${state}</span>`)}</span>
    ${cost ? html`<span>${cost}</span>` : nothing}
    <span title="The times of all runs together, and the time on the clock">${took(work)} of work in ${took(wall)}</span>
    ${path.length > 1 ? html`<span title="The chain of runs that decided how long it took">longest chain ${chain.map((one, place) => html`${place > 0 ? (place === MOST_NAMED - 1 && path.length > MOST_NAMED ? " → … → " : " → ") : ""}<button class="link" @click=${open(one.row)}>${one.row.name}</button>`)}, ${took(path.reduce((all, one) => all + one.to - one.from, 0))}</span>` : nothing}
    ${idle > 0 ? html`<span title="No run of the call was at work">gaps ${took(idle)}</span>` : nothing}</section>`;
}

/** @param {Row[]} rows @returns {import("./types.js").Usage} */
function sum(rows) {
  const all = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: /** @type {number | null} */ (null), costIsAtLeast: false };
  for (const { usage } of rows) {
    if (!usage) continue;
    for (const part of /** @type {const} */ (["input", "output", "cacheRead", "cacheWrite"])) all[part] += usage[part];
    if (usage.cost !== null && usage.cost !== undefined) all.cost = (all.cost ?? 0) + usage.cost;
    else if (totalTokens(usage) > 0) all.costIsAtLeast = true;
    if (usage.costIsAtLeast) all.costIsAtLeast = true;
  }
  return all;
}
