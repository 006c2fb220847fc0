// What a person can decide about what is selected, and the reasons.

import { html, nothing } from "./lit-html.js";
import { isBusy, wordOf } from "./review_queue.js";
import { commentsOn, selectedItem } from "./review.js";
import { chosenWords } from "./review_parts.js";
import { named } from "./words.js";

/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @param {Model} model @param {Dispatch} dispatch */
export function reviewSide(model, dispatch) {
  const item = selectedItem(model.review);
  return html`<section class="side review-side" aria-label="Decide">
    ${item && model.about?.mayAct && !model.review.accepting ? decisions(item, model, dispatch) : nothing}
    ${item?.kind === "change" ? why(item) : nothing}${order(model, dispatch)}</section>`;
}

/** @param {Waiting} item @param {Model} model @param {Dispatch} dispatch */
function decisions(item, model, dispatch) {
  const act = (/** @type {string} */ key, /** @type {string} */ text, kind = "") =>
    html`<button class=${kind} ?disabled=${isBusy(model)} @click=${() => dispatch({ type: "reviewKey", key })}><span>${text}</span><kbd>${key}</kbd></button>`;
  const isChange = item.kind === "change";
  return html`<h2>Decide</h2><div class="decide">
    ${isChange ? act("a", `Accept ${chosenWords(model.review, item.runId) ?? ""}`.trim(), "primary") : nothing}
    ${item.kind === "question" ? nothing : act("b", isChange ? "Send back…" : "Continue…")}
    ${act("l", item.later ? "Now again" : "Later")}
    ${item.kind === "question" ? nothing : act("x", isChange ? "Discard…" : "List no more…", "danger")}
    <button @click=${() => dispatch({ type: "open", run: item.runId })}><span>Transcript</span><kbd>t</kbd></button></div>
    ${isChange ? redo(item, model, dispatch) : nothing}
    <p class="muted"><kbd>u</kbd> takes the last accept back.</p>`;
}

/** Lets a result be done again on top of another one. @param {Waiting} item @param {Model} model
 * @param {Dispatch} dispatch */
function redo(item, model, dispatch) {
  const others = /** @type {Waiting[]} */ (model.review.queue.waiting).filter((one) => one.kind === "change" && one.runId !== item.runId);
  if (others.length === 0) return nothing;
  // Those with which it conflicts are meant most often.
  const clashes = new Set((item.conflicts ?? []).map((clash) => clash.runId));
  others.sort((a, b) => Number(clashes.has(b.runId)) - Number(clashes.has(a.runId)));
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const on = /** @type {HTMLSelectElement} */ (document.getElementById("redo-on")).value;
    const note = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("note"));
    const comments = commentsOn(model.review, item.runId).map(({ path, line, quoted, words }) => ({ path, line, quoted, words }));
    dispatch({ type: "reviewWish", run: item.runId, what: "send-back", body: { note: note?.value.trim() ?? "", comments, on } });
    if (note) note.value = "";
  };
  return html`<form class="redo" @submit=${send}><label for="redo-on">Redo on top of</label> <select id="redo-on">${others.map(
    (one) => html`<option value=${one.runId}>${one.name}</option>`,
  )}</select> <button ?disabled=${isBusy(model)}>Redo</button></form>`;
}

/** @param {Waiting} item */
function why(item) {
  const reasons = item.reasons ?? [];
  if (reasons.length === 0) return html`<h2>Why it fits</h2><p class="muted">There is nothing to look at.</p>`;
  return html`<h2>Why “${wordOf(item)}”</h2><ul class="why">${reasons.map((reason) => html`<li title=${(reason.paths ?? []).join("\n")}>${reason.words}</li>`)}</ul>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
function order(model, dispatch) {
  const results = /** @type {Waiting[]} */ (model.review.queue?.waiting ?? []).filter((one) => one.kind === "change" && !one.later);
  if (results.length < 2) return nothing;
  return html`<h2>Proposed order</h2><ol class="order">${results.map(
    (one) => html`<li><button class="link" aria-current=${one.runId === model.review.selected} @click=${() => dispatch({ type: "reviewSelect", run: one.runId })}>${named(one.name)}</button>
      <span class="muted">${(one.conflicts ?? []).length > 0 ? html`conflicts with ${one.conflicts?.map((clash) => clash.name).join(", ")}` : wordOf(one)}</span></li>`,
  )}</ol>`;
}
