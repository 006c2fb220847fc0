// What stands where there is nothing yet: what will be there, and the commands that bring it.

import { html, nothing } from "./lit-html.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @type {[string, string][]} */
const FIRST = [
  ["pi-subagents tour --here", "Three small runs here: no key, no network, nothing to set up."],
  ['pi-subagents run "Say in one sentence what this project is for"', "One task for one sub-agent. It needs a model."],
  ['pi-subagents delegate "What is not tested?" "What is unclear?"', "Two tasks at once."],
];

/** Invites a person to make the first runs. @param {Model} model @param {Dispatch} dispatch
 * @param {string} words what will be here */
export function firstRuns(model, dispatch, words) {
  const elsewhere = model.project ? html`<button @click=${() => dispatch({ type: "project", project: null })}>Show all projects</button>` : nothing;
  const title = model.project ? "No sub-agent has worked in this project yet" : "No sub-agent has worked on this machine yet";
  return invitation(title, words, FIRST, dispatch, elsewhere);
}

/** @param {string} title @param {string} words @param {[string, string][]} commands
 * @param {Dispatch} dispatch @param {any} [more] */
export function invitation(title, words, commands, dispatch, more = nothing) {
  return html`<div class="invitation"><h2>${title}</h2><p>${words}</p>
    ${commands.length > 0 ? html`<p class="muted">Try it in a terminal:</p>` : nothing}
    <ul>${commands.map(([line, does]) => html`<li>${command(line, dispatch)}<span class="muted">${does}</span></li>`)}</ul>
    ${more}</div>`;
}

/** Draws a command that is copied with a click. @param {string} line @param {Dispatch} dispatch */
function command(line, dispatch) {
  return html`<button class="to-copy" @click=${() => dispatch({ type: "copy", what: "command", text: line })}><code>${line}</code><span class="copy">Copy</span></button>`;
}

/** Returns whether there is no run at all to show. @param {Model} model */
export function hasNoRuns(model) {
  return model.isListed && model.rows.size === 0 && model.opened === null;
}
