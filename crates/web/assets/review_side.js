// What a person can decide about what is selected, and the reasons.

import { html, nothing } from "./lit-html.js";
import { isBusy, wordOf } from "./review_queue.js";
import { selectedItem } from "./review.js";
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
    ${isChange ? act("a", "Accept", "primary") : nothing}
    ${item.kind === "question" ? nothing : act("b", isChange ? "Send back…" : "Continue…")}
    ${act("l", item.later ? "Now again" : "Later")}
    ${item.kind === "question" ? nothing : act("x", isChange ? "Discard…" : "List no more…", "danger")}
    <button @click=${() => dispatch({ type: "open", run: item.runId })}><span>Transcript</span><kbd>t</kbd></button></div>
    <p class="muted"><kbd>u</kbd> takes the last accept back.</p>`;
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
