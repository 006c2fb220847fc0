// What a person wants of a run: a message to one that works, a new prompt to one that is over, and
// what becomes of the result in its worktree.

import { html, nothing } from "./lit-html.js";
import { count, isOver } from "./figures.js";
import { waits } from "./visible_runs.js";
import { isGateFailed } from "./receipts.js";
import { isolated, named } from "./words.js";
import { openedRow } from "./model.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @param {Model} model @param {Dispatch} dispatch */
export function composer(model, dispatch) {
  const row = openedRow(model);
  if (!row || !model.about?.mayAct) return nothing;
  const asked = model.asked === "stop" && !isOver(row) ? stopping(row, dispatch) : model.asked === "discard" && waits(row) ? discarding(row, dispatch) : nothing;
  return html`<footer class="composer">${asked !== nothing ? asked : html`${waits(row) ? result(model, row, dispatch) : nothing}${row.status === "queued" ? queued(row, dispatch) : message(row, dispatch)}`}</footer>`;
}

/** @param {Row} row @param {Dispatch} dispatch */
function stopping(row, dispatch) {
  const isQueued = row.status === "queued";
  return html`<div class="line" role="alertdialog" aria-label="Stop the run">
    <span class="space">Stop <b>${named(row.name)}</b> ${isQueued ? "before it begins?" : "and all its processes?"}</span>
    <button class="danger" id="stop-yes" @click=${() => dispatch({ type: "stop", run: row.runId })}>Stop it</button>
    <button @click=${() => dispatch({ type: "ask", what: null })}>${isQueued ? "Let it wait" : "Let it run"}</button></div>`;
}

/** Draws what can be done with a run that has not begun: it has no child yet that could read a
 * message. @param {Row} row @param {Dispatch} dispatch */
function queued(row, dispatch) {
  return html`<div class="line"><span class="space muted">${named(row.name)} is queued. You can say something to it once it has begun.</span>${stopButton(dispatch)}</div>`;
}

/** @param {Dispatch} dispatch */
function stopButton(dispatch) {
  return html`<button type="button" class="danger" @click=${() => dispatch({ type: "ask", what: "stop" })}>Stop…</button>`;
}

/** @param {Row} row @param {Dispatch} dispatch */
function discarding(row, dispatch) {
  return html`<div class="line" role="alertdialog" aria-label="Discard the result">
    <span class="space">Discard what <b>${named(row.name)}</b> has changed, and remove its worktree?</span>
    <button class="danger" id="discard-yes" @click=${() => dispatch({ type: "discard", run: row.runId })}>Discard it</button>
    <button @click=${() => dispatch({ type: "ask", what: null })}>Keep it</button></div>`;
}

/** Draws what can become of a result that waits in a worktree. @param {Model} model @param {Row} row
 * @param {Dispatch} dispatch */
function result(model, row, dispatch) {
  const files = row.workspace?.files ?? [];
  const fits = model.opened?.fits;
  const run = row.runId;
  // One click must not put unproven work into the checkout as if it were proven.
  const doubt = doubtOf(row);
  const isProven = doubt === "";
  return html`<div class="line result"><span><b>In its worktree:</b> ${count(files.length, "file")} changed${doubt ? html`, <b class="warn">${doubt}</b>` : nothing}</span>
    ${fits ? html`<span class=${fits.clean ? "plus" : "bad"} role="status">${fitWords(fits)}</span>` : nothing}
    <span class="space"></span>
    ${model.tab === "changes" ? nothing : html`<button class="see" @click=${() => dispatch({ type: "tab", tab: "changes" })}>See changes</button>`}
    <button @click=${() => dispatch({ type: "check", run })}>Does it fit?</button>
    <button class=${isProven ? "primary" : ""} id="merge" ?disabled=${fits !== undefined && !fits.clean} @click=${() => dispatch({ type: "merge", run })}>${isProven ? "Merge" : "Merge all the same"}</button>
    <button class="danger" @click=${() => dispatch({ type: "ask", what: "discard" })}>Discard…</button></div>`;
}

/** Says why the changes of a run are not proven. @param {Row} row */
function doubtOf(row) {
  if (isGateFailed(row)) return "its gate failed";
  if (row.status !== "completed") return row.status === "failed" ? "the run failed" : "the run was stopped";
  return (row.receipt?.flags ?? []).includes("gateChanged") ? "it changed its own gate" : "";
}

/** Says whether a merge would fit. @param {{clean: boolean, results: {checkout: {path: string, lines?: any}[]}[]}} fits */
export function fitWords(fits) {
  if (fits.clean) return "✓ fits your checkout";
  const place = (/** @type {{path: string, lines?: any}} */ { path, lines }) => (Array.isArray(lines) && lines.length > 0 ? `${path} (line ${lines.flat()[0]})` : path);
  const paths = fits.results.flatMap((result) => result.checkout.map(place));
  return `✗ conflicts in ${paths.slice(0, 3).join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}`;
}

/** @param {Row} row @param {Dispatch} dispatch */
function message(row, dispatch) {
  const over = isOver(row);
  const run = row.runId;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const input = /** @type {HTMLTextAreaElement} */ (document.getElementById("message"));
    const words = input.value.trim();
    if (!words) return;
    dispatch({ type: over ? "goOn" : "steer", run, words });
    input.value = "";
  };
  const typed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
  };
  const hint = over
    ? `Continue ${isolated(row.name)}: a new prompt for its session`
    : `Say something to ${isolated(row.name)}; it reads it before its next turn`;
  return html`<form class="line" @submit=${send}>
    <textarea id="message" rows="1" aria-label=${hint} placeholder=${hint} @keydown=${typed}></textarea>
    <button class="primary">${over ? "Continue" : "Steer"} ⏎</button>
    ${over ? nothing : stopButton(dispatch)}
  </form>`;
}
