// The agents of the project, as `agents --json` prints them.

import { html, nothing } from "./lit-html.js";
import { atHome } from "./frame.js";
import { invitation } from "./invitation.js";

/** @typedef {import("./model.js").Model} Model */

/** What stands in the head of a card, or nowhere. */
const ELSEWHERE = ["name", "description", "systemPrompt", "summary", "file", "scope", "format"];

const WILL_BE_HERE = "An agent file describes a sub-agent once: its model, its tools and its instructions. Tasks then name it.";

/** @type {[string, string][]} */
const FIRST = [
  ["pi-subagents agents new reviewer --example", "Writes a starter with comments, for you to change."],
  ["pi-subagents agents create reviewer", "Asks what it should be, and writes the file."],
];

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function agents(model, dispatch) {
  const found = model.agents;
  if (!found) return html`<main class="wide-page"><p class="empty">Reading the agents…</p></main>`;
  return html`<main class="wide-page"><div class="page-head"><h1>Agents</h1><span class="muted">${found.agents.length}</span></div>
    ${found.notices.map((/** @type {string} */ text) => html`<p class="warning">${text}</p>`)}
    ${found.warnings.map((/** @type {string} */ text) => html`<p class="warning warn">${home(model, text)}</p>`)}
    ${found.agents.length === 0 ? invitation("There is no agent yet", WILL_BE_HERE, FIRST, dispatch) : nothing}
    <div class="cards">${found.agents.map((/** @type {any} */ one) => card(model, one))}</div></main>`;
}

/** @param {Model} model @param {string} text */
function home(model, text) {
  return model.about?.home ? text.replaceAll(`${model.about.home}/`, "~/") : text;
}

/** @param {Model} model @param {any} one */
function card(model, one) {
  const fields = Object.entries(one).filter(([name]) => !ELSEWHERE.includes(name));
  return html`<article class="agent-card"><h2>${one.name} <span class="tag">${one.scope}</span> <span class="tag">${one.format}</span></h2>
    <p>${one.description ?? one.summary}</p>
    <dl class="facts">${fields.map(([name, value]) => html`<dt>${name}</dt><dd>${Array.isArray(value) ? value.join(", ") : String(value)}</dd>`)}
      <dt>file</dt><dd>${atHome(model, one.file)}</dd></dl>
    ${one.systemPrompt ? html`<details><summary>system prompt</summary><pre>${one.systemPrompt}</pre></details>` : nothing}</article>`;
}
