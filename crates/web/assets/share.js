// Runs for others: one HTML file, or a trace. Nothing leaves this machine.

import { html } from "./lit-html.js";
import { count } from "./figures.js";

/** @typedef {import("./model.js").Model} Model */

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function share(model, dispatch) {
  const choices = chosen(model);
  const close = () => dispatch({ type: "show", what: "share" });
  const give = (/** @type {string} */ what, /** @type {string[]} */ runs) => {
    dispatch({ type: "download", what, run: runs.join(",") });
    close();
  };
  return html`<div>
    <h2>Share</h2>
    <p class="muted">One HTML file with the runs, their timeline and transcripts; it opens from disk with the network off. What looks like a key is taken out, and the file lists what was. Nothing is uploaded. Read the file before you pass it on.</p>
    ${choices.length === 0 ? html`<p class="empty">There is no run to share yet.</p>` : choices.map(([name, runs]) => html`<div class="choice"><span>${name}</span><span class="space"></span>
      <button @click=${() => give("export.html", runs)}>HTML file</button><button @click=${() => give("trace.json", runs)}>Perfetto trace</button></div>`)}
    <div class="choice"><span class="space"></span><button class="quiet" @click=${close}>Close</button></div></div>`;
}

/** Returns the runs that a person may mean. @param {Model} model @returns {[any, string[]][]} */
function chosen(model) {
  const row = model.opened ? (model.rows.get(model.opened.run) ?? model.opened.whole) : undefined;
  /** @type {[any, string[]][]} */
  const choices = [];
  if (row) choices.push([html`the run <b>${row.name}</b>`, [row.runId]]);
  const call = row ? model.listed.filter((other) => other.group === row.group).slice(0, 60) : [];
  if (call.length > 1) choices.push([`the ${count(call.length, "run")} of its call`, call.map((other) => other.runId)]);
  if (model.compared.size > 0) choices.push([`the ${count(model.compared.size, "run")} on Compare`, [...model.compared]]);
  return choices;
}
