// Tokens and costs, added up by the server as `status` adds them up.

import { html, nothing, svg } from "./lit-html.js";
import { cost, costOf, count, present, price, tokens, totalTokens } from "./figures.js";
import { atHome } from "./frame.js";
import { firstRuns } from "./invitation.js";

/** @typedef {import("./types.js").Totals} Totals */
/** @typedef {{name: string, totals: Totals}} Sum */
/** @typedef {import("./model.js").Model} Model */

/** How many days the columns show. */
const DAYS = 30;
const DAY = 86400000;

/** @type {[string, string][]} */
const WAYS = [
  ["days", "By day"],
  ["models", "By model"],
  ["agents", "By agent"],
  ["callers", "By caller"],
  ["projects", "By project"],
];

const WILL_BE_HERE = "The tokens and costs of all runs are added up here by day, model, agent, caller and project.";

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function usage(model, dispatch) {
  const { usage, usageBy } = model;
  if (!usage) return html`<main class="wide-page"><p class="empty">Adding up…</p></main>`;
  if (usage.totals.runs === 0) {
    return html`<main class="wide-page"><div class="page-head"><h1>Usage</h1></div>${firstRuns(model, dispatch, WILL_BE_HERE)}</main>`;
  }
  /** @type {Sum[]} */
  const rows = [...usage[usageBy]];
  const value = (/** @type {Sum} */ row) => totalTokens(row.totals.usage);
  if (usageBy === "days") rows.reverse();
  else rows.sort((a, b) => value(b) - value(a));
  const most = Math.max(...rows.map(value), 1);
  return html`<main class="wide-page usage-page"><div class="page-head"><h1>Usage</h1><span class="space"></span>
      <button @click=${() => dispatch({ type: "saveUsage" })}>Save CSV</button></div>
    ${tiles(usage, model.today)}${columns(usage.days, present(model))}
    <div class="filters" role="group" aria-label="Add up">${WAYS.map(([by, name]) => html`<button class="pill" aria-pressed=${usageBy === by} @click=${() => dispatch({ type: "usageBy", by })}>${name}</button>`)}</div>
    <div class="wide"><table class="usage"><thead><tr><td></td><td></td><th class="number">tokens</th><th class="number">cost</th><th class="number">runs</th><th class="number">calls</th><th class="number">input</th><th class="number">cache</th><th class="number">output</th></tr></thead>
    <tbody>${rows.map((row) => line(row.name ? atHome(model, row.name) : nameless(usageBy), row.totals, value(row) / most))}</tbody></table></div>
    <p class="muted">“At least” stands where the price of some answers is unknown. Runs whose records were removed are not counted.</p></main>`;
}

/** @param {string} name @param {Totals} totals @param {number} part */
function line(name, totals, part) {
  const used = totals.usage;
  return html`<tr><th scope="row">${name}</th><td class="rail-cell"><span class="rail">${stack(used, part)}</span></td>
    <td class="number"><b>${tokens(totalTokens(used))}</b></td><td class="number">${spentOn(totals)}</td>
    <td class="number">${totals.runs.toLocaleString("en-US")}</td><td class="number">${totals.toolCalls.toLocaleString("en-US")}</td>
    <td class="number">${tokens(used.input)}</td><td class="number">${tokens(used.cacheRead + used.cacheWrite)}</td><td class="number">${tokens(used.output)}</td></tr>`;
}

/** @param {import("./types.js").Usage} used @param {number} part */
function stack(used, part) {
  const widths = [["cache", used.cacheRead], ["input", used.input + used.cacheWrite], ["output", used.output]];
  return html`<span class="stack" .style=${`width:${Math.max(0.5, part * 100)}%`}>${widths.map(([name, value]) => html`<i class=${`part ${name}`} .style=${`flex:${value}`}></i>`)}</span>`;
}

/** Draws the sums. @param {{totals: Totals}} usage @param {Totals | null} today */
function tiles({ totals }, today) {
  const used = totals.usage;
  const all = used.costIsAtLeast ? html`<small>at least</small> ${price(used.cost)}` : price(used.cost);
  const sent = used.input + used.cacheRead + used.cacheWrite;
  /** @type {[string, any, string][]} */
  const shown = [
    ["cost", all, today && costOf(today) ? `today ${costOf(today)}` : used.cost === null || used.costIsAtLeast ? "some prices are unknown" : ""],
    ["tokens", tokens(totalTokens(used)), today && today.runs > 0 ? `today ${tokens(totalTokens(today.usage))}` : ""],
    ["runs", totals.runs.toLocaleString("en-US"), count(totals.toolCalls, "tool call")],
    ["from the cache", sent > 0 ? `${Math.round((used.cacheRead / sent) * 100)} %` : "–", `of ${tokens(sent)} that were sent`],
  ];
  return html`<dl class="tiles">${shown.map(([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}</dd><dd class="muted">${more}</dd></div>`)}</dl>`;
}

/** Draws the last days as columns. @param {Sum[]} days @param {number} now */
function columns(days, now) {
  const known = new Map(days.map((day) => [day.name, day.totals]));
  const names = Array.from({ length: DAYS }, (_, place) => localDay(now - (DAYS - 1 - place) * DAY));
  const most = Math.max(...names.map((name) => totalTokens(known.get(name)?.usage)), 1);
  const width = 1000 / DAYS;
  const column = (/** @type {string} */ name, /** @type {number} */ place) => {
    const totals = known.get(name);
    const used = totals?.usage;
    let top = 140;
    const parts = used ? [["cache", used.cacheRead], ["input", used.input + used.cacheWrite], ["output", used.output]] : [];
    return svg`<g><title>${`${name}: ${used && totals ? `${tokens(totalTokens(used))} tokens${costOf(totals) ? `, ${costOf(totals)}` : ""}` : "nothing"}`}</title>
      <rect class="ground" x=${place * width} width=${width - 6} y="20" height="120"></rect>
      ${parts.map(([kind, value]) => {
        const height = (Number(value) / most) * 116;
        top -= height;
        return svg`<rect class=${kind} x=${place * width} width=${width - 6} y=${top} height=${height}></rect>`;
      })}
      ${place % 5 === DAYS % 5 || place === DAYS - 1 ? svg`<text x=${place === 0 ? 0 : place * width + (width - 6) / 2} y="156" text-anchor=${place === 0 ? "start" : "middle"}>${place === DAYS - 1 ? "today" : name.slice(5)}</text>` : nothing}</g>`;
  };
  return html`<section class="columns" aria-label="The last 30 days"><h2>Tokens per day <em>at most ${tokens(most)}</em>
      <span class="keys"><span class="key cache"></span>cache <span class="key input"></span>input <span class="key output"></span>output</span></h2>
    <svg class="turns" viewBox="0 0 1000 162" role="img" aria-label=${`Tokens of the last ${DAYS} days, at most ${tokens(most)} on one day`}>${names.map(column)}</svg></section>`;
}

/** Returns the day of a moment here, as `2026-11-17`. @param {number} at */
function localDay(at) {
  const day = new Date(at);
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** @param {Totals} totals */
function spentOn(totals) {
  const used = totals.usage;
  if (totalTokens(used) === 0) return nothing;
  return costOf(totals) || html`<span class="muted">${price(used.cost)}</span>`;
}

/** @param {string} by */
function nameless(by) {
  return by === "agents" ? "without an agent" : "unknown";
}

/** Returns all figures as lines for other programs. @param {any} usage */
export function csv(usage) {
  const lines = ["by,name,runs,toolCalls,input,output,cacheRead,cacheWrite,totalTokens,cost"];
  const quoted = (/** @type {string} */ text) => `"${String(text).replaceAll('"', '""').replace(/^([=+\-@\t\r])/, "'$1")}"`;
  for (const [by] of WAYS) {
    for (const { name, totals } of usage[by]) {
      const { input, output, cacheRead, cacheWrite, cost, costIsAtLeast } = totals.usage;
      lines.push([by, quoted(name), totals.runs, totals.toolCalls, input, output, cacheRead, cacheWrite, totalTokens(totals.usage), costIsAtLeast ? "" : (cost ?? "")].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}
