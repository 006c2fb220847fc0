// Tokens and costs, added up by the server as `status` adds them up.

import { html, nothing } from "./lit-html.js";
import { cost, count, tokens } from "./figures.js";

/** @typedef {import("./types.js").Totals} Totals */
/** @typedef {import("./model.js").Model} Model */

/** @type {[string, string][]} */
const WAYS = [
  ["days", "By day"],
  ["models", "By model"],
  ["definitions", "By definition"],
  ["callers", "By caller"],
  ["projects", "By project"],
];

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function usage(model, dispatch) {
  const { usage, usageBy } = model;
  if (!usage) return html`<main class="wide-page"><p class="empty">Adding up…</p></main>`;
  /** @type {{name: string, totals: Totals}[]} */
  const rows = [...usage[usageBy]];
  const value = (/** @type {{totals: Totals}} */ row) => row.totals.usage.totalTokens;
  if (usageBy === "days") rows.reverse();
  else rows.sort((a, b) => value(b) - value(a));
  const most = Math.max(...rows.map(value), 1);
  return html`<main class="wide-page"><div class="page-head"><h1>Usage</h1><span class="muted">${words(usage.totals)}</span><span class="space"></span>
      <button @click=${() => dispatch({ type: "saveUsage" })}>Save CSV</button></div>
    <div class="filters" role="group" aria-label="Add up">${WAYS.map(([by, name]) => html`<button class="pill" aria-pressed=${usageBy === by} @click=${() => dispatch({ type: "usageBy", by })}>${name}</button>`)}</div>
    <div class="wide"><table class="usage"><thead><tr><th></th><th class="number">runs</th><th class="number">calls</th><th class="number">input</th><th class="number">cache</th><th class="number">output</th><th class="number">tokens</th><th class="number">cost</th><td></td></tr></thead>
    <tbody>${rows.map((row) => {
      const used = row.totals.usage;
      return html`<tr><th scope="row">${row.name || nameless(usageBy)}</th><td class="number">${row.totals.runs}</td><td class="number">${row.totals.toolCalls}</td>
        <td class="number">${tokens(used.input)}</td><td class="number">${tokens(used.cacheRead + used.cacheWrite)}</td><td class="number">${tokens(used.output)}</td>
        <td class="number">${tokens(used.totalTokens)}</td><td class="number">${price(row.totals)}</td>
        <td class="rail-cell"><span class="rail"><i .style=${`width:${(value(row) / most) * 100}%`}></i></span></td></tr>`;
    })}</tbody></table></div>
    <p class="muted">A cost stands only where the price of every answer is known. Runs whose records were removed are not counted.</p></main>`;
}

/** @param {Totals} totals */
function words(totals) {
  return [count(totals.runs, "run"), count(totals.toolCalls, "call"), `${tokens(totals.usage.totalTokens)} tokens`, cost(totals.usage.cost)].filter(Boolean).join(" · ");
}

/** @param {Totals} totals */
function price(totals) {
  if (totals.usage.totalTokens === 0) return nothing;
  return totals.usage.cost === null ? html`<span class="muted">unknown</span>` : cost(totals.usage.cost) || html`<span class="muted">none</span>`;
}

/** @param {string} by */
function nameless(by) {
  return by === "definitions" ? "without a definition" : "unknown";
}

/** Returns all figures as lines for other programs. @param {any} usage */
export function csv(usage) {
  const lines = ["by,name,runs,toolCalls,input,output,cacheRead,cacheWrite,totalTokens,cost"];
  const quoted = (/** @type {string} */ text) => `"${String(text).replaceAll('"', '""').replace(/^([=+\-@\t\r])/, "'$1")}"`;
  for (const [by] of WAYS) {
    for (const { name, totals } of usage[by]) {
      const { input, output, cacheRead, cacheWrite, totalTokens, cost } = totals.usage;
      lines.push([by, quoted(name), totals.runs, totals.toolCalls, input, output, cacheRead, cacheWrite, totalTokens, cost ?? ""].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}
