// What was seen of a run, in words: its tests, its gate, its files, and what somebody should look at.

import { html, nothing } from "./lit-html.js";
import { count, took } from "./figures.js";

/** @typedef {import("./types.js").Row} Row */

/** How many commands are listed. */
const MOST_COMMANDS = 40;

/** The same words as in the terminal. @type {Record<string, string>} */
const FLAGS = {
  noToolUsed: "no tool used",
  lastTestFailed: "the last test failed",
  changedAfterTest: "changed after the last test",
  commandsAfterTest: "commands after the last test",
  testHidden: "how the last test ended was not seen",
  gateChanged: "changed its own gate",
};

/** @type {Record<string, [string, string]>} */
const TESTS = {
  passed: ["passed", "plus"],
  failed: ["failed", "bad"],
  passedBeforeCommands: ["passed, then commands ran", "warn"],
  stale: ["passed, then files changed", "warn"],
  unclear: ["unclear", "warn"],
  notSeen: ["none seen", "muted"],
};

/** Returns what somebody should look at. @param {Row} row @returns {string[]} */
export function flags(row) {
  return (row.receipt?.flags ?? []).map((/** @type {string} */ flag) => FLAGS[flag] ?? flag);
}

/** Returns whether the gate of a run failed. @param {Row} row */
export function isGateFailed(row) {
  const gate = row.receipt?.gate;
  return gate !== undefined && gate !== null && gate.exit !== 0;
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

/** Draws what was seen of a run: its turns, its tools, and its commands with their exits.
 * @param {any} seen */
export function receipt(seen) {
  const tools = Object.entries(seen.tools ?? {}).map(([tool, times]) => `${tool} ${times}`);
  const commands = (seen.commands ?? []).slice(-MOST_COMMANDS);
  const more = (seen.commandCount ?? commands.length) - commands.length;
  return html`<section class="receipt" aria-label="Receipt"><h2>Receipt <span class="muted">what was seen of it, not what it says</span></h2>
    <p>${count(seen.turns ?? 0, "turn")}${seen.failedRequests > 0 ? `, ${count(seen.failedRequests, "failed request")}` : ""}${tools.length > 0 ? ` · ${tools.join(", ")}` : ", no tool used"}${seen.toolErrors > 0 ? html` · <span class="bad">${count(seen.toolErrors, "tool call")} failed</span>` : nothing}</p>
    ${more > 0 ? html`<p class="muted">${count(more, "earlier command")} left out</p>` : nothing}
    ${commands.map(command)}</section>`;
}

/** @param {any} ran */
function command(ran) {
  const isKnown = typeof ran.exit === "number";
  const [shape, kind] = !isKnown ? ["?", "muted"] : ran.exit === 0 ? ["✓", "plus"] : ["✗", "bad"];
  const exit = !isKnown ? "exit unknown" : `exit ${ran.exit}`;
  return html`<pre class="command"><span class=${kind} title=${exit}>${shape}</span><span>${ran.command}</span><span class="muted">${ran.exit === 0 ? "" : `${exit} · `}${typeof ran.seconds === "number" ? took(ran.seconds * 1000) : ""}</span></pre>`;
}
