// Several runs beside each other: how they ended, where their time went, what they cost and answered.

import { html, nothing } from "./lit-html.js";
import { plain } from "./fold.js";
import { cost, count, extent, lasted, modelId, tokens, took } from "./figures.js";
import { mark, words } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function compare(model, dispatch) {
  const rows = [...model.compared].map((run) => model.wholes.get(run)).filter((row) => row !== undefined);
  if (model.compared.size === 0) {
    return html`<main class="wide-page"><div class="page-head"><h1>Compare</h1></div>
      <p class="empty">Choose runs with “Compare” on the right of a run, or with
      <code>pi-subagents web ID ID</code>.</p></main>`;
  }
  const now = Date.now() + model.ahead;
  const time = (/** @type {Row} */ row) => (extent(row).end ?? now) - extent(row).begin;
  const longest = Math.max(...rows.map(time), 1);
  const answers = rows.map((row) => plain(row.answer));
  /** @param {string} name @param {(row: Row, place: number) => any} cell */
  const line = (name, cell) => html`<tr><th scope="row">${name}</th>${rows.map((row, place) => html`<td>${cell(row, place)}</td>`)}</tr>`;
  /** @param {(row: Row) => number | null | undefined} value */
  const least = (value) => {
    const known = rows.map(value).filter((one) => one !== null && one !== undefined);
    return rows.length > 1 && known.length === rows.length ? Math.min(.../** @type {number[]} */ (known)) : null;
  };
  const fastest = least(time);
  const cheapest = least((row) => (cost(row.usage?.cost) ? row.usage?.cost : null));
  return html`<main class="wide-page"><div class="page-head"><h1>Compare</h1><span class="muted">${count(rows.length, "run")}</span>
    <span class="space"></span>${model.connection === "recorded" ? nothing : html`<button @click=${() => dispatch({ type: "download", what: "export.html", run: [...model.compared].join(",") })}>Export HTML</button>`}</div>
    <div class="wide"><table class="compare"><thead><tr><td></td>${rows.map(
      (row) => html`<th scope="col"><button class="link" @click=${() => open(row, dispatch)}>${row.name}</button> <span class="muted">${modelId(row.resolvedModel)}</span>
        <button class="quiet" aria-label=${`Leave ${row.name} out`} @click=${() => dispatch({ type: "compare", run: row.runId })}>×</button></th>`,
    )}</tr></thead><tbody>
    ${line("ended", (row) => html`${mark(row.status)} ${row.status}${row.errorMessage ? html`<div class="bad">${row.errorMessage}</div>` : nothing}`)}
    ${line("where time went", (row) => share(model, row, time(row) / longest))}
    ${line("took", (row) => html`<span class=${time(row) === fastest ? "best" : ""}>${lasted(row, now)}</span>`)}
    ${line("cost", (row) => html`<span class=${cheapest !== null && row.usage?.cost === cheapest ? "best" : ""}>${price(row)}</span>`)}
    ${line("tokens", (row) => (row.usage ? `${tokens(row.usage.input + row.usage.cacheRead + row.usage.cacheWrite)} in${row.usage.cacheRead ? ` (${Math.round((100 * row.usage.cacheRead) / (row.usage.input + row.usage.cacheRead + row.usage.cacheWrite))} % cached)` : ""} · ${tokens(row.usage.output)} out` : "unknown"))}
    ${line("calls", (row) => `${row.toolCalls ?? "unknown"}${failed(model, row)}`)}
    ${line("task", (row) => html`<div class="said clipped">${words(row.taskTree)}</div>`)}
    ${line("answer", (row, place) => answer(row, place, answers))}
    </tbody></table></div></main>`;
}

/** @param {Row} row @param {(message: import("./model.js").Message) => void} dispatch */
function open(row, dispatch) {
  dispatch({ type: "page", page: "runs" });
  dispatch({ type: "select", run: row.runId });
}

/** @param {Row} row */
function price(row) {
  if (!row.usage || row.usage.cost === null) return "price unknown";
  return cost(row.usage.cost) || "nothing";
}

/** @param {Model} model @param {Row} row */
function failed(model, row) {
  const spans = model.lanes.get(row.runId)?.spans ?? [];
  const number = spans.filter((span) => span[4] && span[0] !== "model").length;
  return number > 0 ? ` · ${number} failed` : "";
}

/** Draws where the time of a run went, all runs in one scale. @param {Model} model @param {Row} row
 * @param {number} part */
function share(model, row, part) {
  const spans = model.lanes.get(row.runId)?.spans ?? [];
  const now = Date.now() + model.ahead;
  /** @type {Record<string, number>} */
  const sums = {};
  for (const [kind, begin, end] of spans) if (kind !== "queued") sums[kind] = (sums[kind] ?? 0) + ((end ?? now) - begin);
  const all = Object.values(sums).reduce((sum, one) => sum + one, 0) || 1;
  const words = Object.entries(sums).map(([kind, time]) => `${kind} ${took(time)}`).join(", ");
  return html`<div class="share" role="img" aria-label=${words} title=${words} .style=${`width:${Math.max(2, part * 100)}%`}>${Object.entries(sums).map(
    ([kind, time]) => html`<i class=${kind} .style=${`flex:${time / all}`}></i>`,
  )}</div>`;
}

/** Draws an answer, and marks the lines that no other run has. @param {Row} row @param {number} place
 * @param {string[]} answers */
function answer(row, place, answers) {
  if (!row.answer) return html`<span class="muted">none</span>`;
  const others = new Set(answers.flatMap((text, other) => (other === place ? [] : text.split("\n").map((line) => line.trim()))));
  const isShared = (/** @type {any} */ block) => others.has(plain([block]).trim());
  // Where two answers have nothing in common, there is nothing to mark.
  const hasShared = row.answer.some(isShared);
  return html`<div class="said clipped">${row.answer.map((block) => {
    const isNew = hasShared && !isShared(block);
    return html`<div class=${isNew ? "different" : ""}>${words([block])}</div>`;
  })}</div>`;
}
