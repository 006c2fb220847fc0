// The right side: what the runs of the timeline cost, the tokens of each turn, and the files that
// were changed.

import { html, nothing, svg } from "./lit-html.js";
import { changedFiles } from "./fold.js";
import { cost, count, spent, tokens } from "./figures.js";
import { lanes } from "./model.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./types.js").Turn} Turn */

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function side(model, dispatch) {
  const opened = model.opened;
  return html`<section class="side" aria-label="Figures">
    ${spending(model, dispatch)}
    ${opened ? perTurn(opened.transcript.turns) : nothing}
    ${opened ? files(opened.transcript.items) : nothing}
    ${opened ? also(model, dispatch) : nothing}
    ${model.redacted ? redacted(model.redacted) : nothing}
  </section>`;
}

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
function spending(model, dispatch) {
  const rows = lanes(model).filter((row) => row.usage && row.usage.totalTokens > 0);
  if (rows.length === 0) return nothing;
  const areAllPriced = rows.every((row) => cost(row.usage?.cost));
  const value = (/** @type {import("./types.js").Row} */ row) => (areAllPriced ? (row.usage?.cost ?? 0) : (row.usage?.totalTokens ?? 0));
  const sorted = [...rows].sort((a, b) => value(b) - value(a)).slice(0, 12);
  const most = Math.max(...sorted.map(value), Number.MIN_VALUE);
  const total = rows.reduce((sum, row) => sum + (row.usage?.totalTokens ?? 0), 0);
  const dollars = areAllPriced ? rows.reduce((sum, row) => sum + (row.usage?.cost ?? 0), 0) : null;
  const sums = [cost(dollars), `${tokens(total)} tokens`].filter(Boolean).join(" · ");
  return html`<h2>Spend of these runs <em>${sums}</em></h2>
    <div class="bars">${sorted.map(
      (row) => html`<button class="bar" @click=${() => dispatch({ type: "select", run: row.runId })}><span class="name">${row.name}</span>
        <span class="rail"><i .style=${`width:${(value(row) / most) * 100}%`}></i></span><span class="figure">${spent(row.usage)}</span></button>`,
    )}</div>`;
}

/** @param {Turn[]} turns */
function perTurn(turns) {
  if (turns.length === 0) return nothing;
  const shown = turns.slice(-40);
  const sum = (/** @type {Turn} */ turn) => turn.input + turn.output + turn.cacheRead + turn.cacheWrite;
  const most = Math.max(...shown.map(sum), 1);
  const cached = shown.reduce((all, turn) => all + turn.cacheRead, 0);
  const sent = shown.reduce((all, turn) => all + turn.input + turn.cacheRead + turn.cacheWrite, 0);
  const width = 280 / Math.max(shown.length, 12);
  const share = sent > 0 && cached > 0 ? `${Math.round((cached / sent) * 100)} % from the cache` : count(turns.length, "turn");
  const bar = (/** @type {Turn} */ turn, /** @type {number} */ place) => {
    const parts = /** @type {[string, number][]} */ ([
      ["cache", turn.cacheRead],
      ["input", turn.input + turn.cacheWrite],
      ["output", turn.output],
    ]);
    let top = 80;
    return parts.map(([name, value]) => {
      const height = (value / most) * 76;
      top -= height;
      return svg`<rect class=${name} x=${place * width + 0.5} width=${Math.max(1, width - 1.5)} y=${top} height=${height}></rect>`;
    });
  };
  return html`<h2>Tokens per turn <em>${share}</em></h2>
    <svg class="turns" viewBox="0 0 280 82" role="img" aria-label=${`Tokens of the last ${count(shown.length, "turn")}, at most ${tokens(most)}`}>
      <text x="0" y="8">${tokens(most)}</text>${shown.map(bar)}</svg>
    <p class="keys"><span class="key cache"></span>cache <span class="key input"></span>input <span class="key output"></span>output</p>`;
}

/** @param {import("./types.js").Item[]} items */
function files(items) {
  const changed = [...changedFiles(items)];
  if (changed.length === 0) return nothing;
  return html`<h2>Files changed <em>${changed.length}</em></h2>
    <div class="files">${changed.map(([path, file]) => html`<div><span class="path">${path}</span>${file.added ? html`<span class="plus">+${file.added}</span>` : nothing}${file.removed ? html`<span class="minus">−${file.removed}</span>` : nothing}</div>`)}</div>`;
}

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
function also(model, dispatch) {
  const run = /** @type {string} */ (model.opened?.run);
  const isRecorded = model.connection === "recorded";
  return html`<h2>Also</h2><div class="buttons">
    <button aria-pressed=${model.compared.has(run)} @click=${() => dispatch({ type: "compare", run })}>${model.compared.has(run) ? "Compared ✓" : "Compare"}</button>
    ${isRecorded ? nothing : html`<button @click=${() => dispatch({ type: "download", what: "export.html", run })}>Export HTML</button>
    <button @click=${() => dispatch({ type: "download", what: "trace.json", run })}>Perfetto trace</button>`}</div>`;
}

/** @param {{what: string, times: number}[]} list */
function redacted(list) {
  const text = list.length === 0 ? "Nothing in this file looked like a key." : "Taken out of this file:";
  return html`<h2>Redacted</h2><p class="muted">${text}</p>
    <ul>${list.map((one) => html`<li>${one.what}, ${count(one.times, "time")}</li>`)}</ul>`;
}
