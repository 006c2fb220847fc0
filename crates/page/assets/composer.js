// What a person says to a run: a message to one that works, a new prompt to one that is over.

import { html, nothing } from "./lit-html.js";
import { isOver } from "./figures.js";

/** @typedef {import("./model.js").Model} Model */

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function composer(model, dispatch) {
  const row = model.opened ? (model.rows.get(model.opened.run) ?? model.opened.whole) : undefined;
  const notice = model.notice
    ? html`<p class="notice ${model.notice.isError ? "bad" : ""}" role="status">${model.notice.text}
        <button class="quiet" aria-label="Close" @click=${() => dispatch({ type: "forgetNotice" })}>×</button></p>`
    : nothing;
  if (!row || !model.about?.mayAct) return html`<footer class="composer">${notice}</footer>`;
  const run = row.runId;
  if (model.isStopAsked) {
    return html`<footer class="composer">${notice}<div class="line" role="alertdialog" aria-label="Stop the run">
      <span class="space">Stop <b>${row.name}</b> and all its processes?</span>
      <button class="danger" id="stop-yes" @click=${() => dispatch({ type: "stop", run })}>Stop it</button>
      <button @click=${() => dispatch({ type: "askStop", on: false })}>Let it run</button></div></footer>`;
  }
  const over = isOver(row);
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
    ? `Go on with ${row.name}: a new prompt for its session`
    : `Say something to ${row.name}; it reads it before its next turn`;
  return html`<footer class="composer">${notice}<form class="line" @submit=${send}>
    <textarea id="message" rows="1" aria-label=${hint} placeholder=${hint} @keydown=${typed}></textarea>
    <button class="primary">${over ? "Go on" : "Steer"} ⏎</button>
    ${over ? nothing : html`<button type="button" class="danger" @click=${() => dispatch({ type: "askStop", on: true })}>Stop…</button>`}
  </form></footer>`;
}
