// The definitions of the project, as `profile list --json` prints them.

import { html, nothing } from "./lit-html.js";

/** @param {import("./model.js").Model} model */
export function definitions(model) {
  const found = model.definitions;
  if (!found) return html`<main class="wide-page"><p class="empty">Reading the definitions…</p></main>`;
  return html`<main class="wide-page"><div class="page-head"><h1>Definitions</h1><span class="muted">${found.profiles.length}</span></div>
    ${found.notices.map((/** @type {string} */ text) => html`<p class="notice">${text}</p>`)}
    ${found.warnings.map((/** @type {string} */ text) => html`<p class="notice warn">${text}</p>`)}
    ${found.profiles.length === 0 ? html`<p class="empty">There are none yet. Write one with <code>pi-subagents profile create</code>.</p>` : nothing}
    ${found.profiles.map(definition)}</main>`;
}

/** @param {any} one */
function definition(one) {
  const known = ["name", "description", "systemPrompt", "summary", "file", "scope", "dialect"];
  const fields = Object.entries(one).filter(([name]) => !known.includes(name));
  return html`<article class="definition"><h2>${one.name} <span class="muted">${one.scope} ${one.dialect}</span></h2>
    <p>${one.description ?? one.summary}</p>
    <dl class="facts">${fields.map(([name, value]) => html`<dt>${name}</dt><dd>${Array.isArray(value) ? value.join(", ") : String(value)}</dd>`)}
      <dt>file</dt><dd>${one.file}</dd></dl>
    ${one.systemPrompt ? html`<details><summary>system prompt</summary><pre>${one.systemPrompt}</pre></details>` : nothing}</article>`;
}
