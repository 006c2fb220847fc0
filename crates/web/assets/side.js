// The right side: what the runs of the timeline cost, the tokens of each turn, and the files that
// were changed, with a warning where two runs have changed the same one.

import { html, nothing, svg } from "./lit-html.js";
import { changedLines } from "./fold.js";
import { cost, count, spent, tokens, totalTokens } from "./figures.js";
import { lanes } from "./visible_runs.js";
import { openedRow } from "./model.js";
import { files as filesOf } from "./receipts.js";
import { named } from "./words.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Turn} Turn */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** How many rows each part has at most. */
const MOST_BARS = 10;
const MOST_FILES = 14;
const MOST_TURNS = 36;

/** @param {Model} model @param {Dispatch} dispatch */
export function side(model, dispatch) {
  const opened = model.opened;
  const rows = lanes(model);
  return html`<section class="side" aria-label="Figures">
    <button class="quiet figures-button close" aria-label="Close the figures" @click=${() => dispatch({ type: "figures", on: false })}>×</button>
    ${spending(rows, model, dispatch)}
    ${budgets(opened?.budgets)}
    ${opened ? perTurn(opened.transcript.turns) : nothing}
    ${files(model, rows, dispatch)}
    ${openedRow(model) ? also(model, dispatch) : nothing}
    ${model.redacted ? redacted(model.redacted) : nothing}
  </section>`;
}

/** @param {Row[]} lanes @param {Model} model @param {Dispatch} dispatch */
function spending(lanes, model, dispatch) {
  const rows = lanes.filter((row) => totalTokens(row.usage) > 0);
  if (rows.length === 0) return nothing;
  const areAllPriced = rows.every((row) => cost(row.usage?.cost) && !row.usage?.costIsAtLeast);
  const value = (/** @type {Row} */ row) => (areAllPriced ? (row.usage?.cost ?? 0) : totalTokens(row.usage));
  const sorted = [...rows].sort((a, b) => value(b) - value(a)).slice(0, MOST_BARS);
  const most = Math.max(...sorted.map(value), Number.MIN_VALUE);
  const total = rows.reduce((sum, row) => sum + totalTokens(row.usage), 0);
  const dollars = areAllPriced ? rows.reduce((sum, row) => sum + (row.usage?.cost ?? 0), 0) : null;
  const sums = [cost(dollars), `${tokens(total)} tokens`].filter(Boolean).join(" · ");
  // A bar is as long as what stands beside it.
  const figure = (/** @type {Row} */ row) => (areAllPriced ? spent(row.usage) : tokens(totalTokens(row.usage)));
  return html`<h2>Spend of these runs <em>${sums}</em></h2>
    <div class="bars">${sorted.map(
      (row) => html`<button class="bar" aria-current=${model.selected === row.runId} @click=${() => dispatch({ type: "select", run: row.runId })}><span class="name">${named(row.name)}</span>
        <span class="rail"><i .style=${`width:${(value(row) / most) * 100}%`}></i></span><span class="figure">${figure(row)}</span></button>`,
    )}</div>`;
}

/** Draws what the call, the session and the day may use, and have used. @param {any[] | undefined} list */
function budgets(list) {
  if (!list || list.length === 0) return nothing;
  const names = /** @type {Record<string, string>} */ ({ call: "call", session: "session", named: "budget", day: "day" });
  return html`<h2>Budgets</h2><dl class="budgets">${list.map(({ kind, name, limits, spent: used, started }) => {
    const { cost: dollars, tokens: most, runs } = limits;
    const counted = used.input + used.output + used.cacheWrite;
    const parts = [
      dollars === undefined ? "" : `$${(used.cost ?? 0).toFixed(2)} of $${dollars.toFixed(2)}`,
      most === undefined ? "" : `${tokens(counted)} of ${tokens(most)} tokens`,
      runs === undefined ? "" : `${started} of ${count(runs, "run")}`,
    ].filter(Boolean);
    const shares = [dollars ? (used.cost ?? 0) / dollars : 0, most ? counted / most : 0, runs ? started / runs : 0];
    const share = Math.min(1, Math.max(...shares));
    return html`<div><dt>${names[kind]}${["named", "day"].includes(kind) ? html` <span class="muted">${name}</span>` : nothing}</dt>
      <dd class=${share >= 0.8 ? "warn" : nothing}>${parts.join(" · ") || "no limit"}</dd><dd class="rail" aria-hidden="true"><i .style=${`width:${share * 100}%`}></i></dd></div>`;
  })}</dl>`;
}

/** @param {Turn[]} turns */
function perTurn(turns) {
  const shown = turns.slice(-MOST_TURNS);
  const sum = (/** @type {Turn} */ turn) => turn.input + turn.output + turn.cacheRead + turn.cacheWrite;
  if (!shown.some(sum)) return nothing;
  const most = Math.max(...shown.map(sum), 1);
  const cached = shown.reduce((all, turn) => all + turn.cacheRead, 0);
  const sent = shown.reduce((all, turn) => all + turn.input + turn.cacheRead + turn.cacheWrite, 0);
  const width = Math.min(22, 280 / Math.max(shown.length, 1));
  const share = sent > 0 && cached > 0 ? `${Math.round((cached / sent) * 100)} % from the cache` : count(turns.length, "turn");
  const bar = Math.max(1, width - 2);
  /** @type {Record<string, string>} All turns as one shape for each kind; hundreds of elements would
   * cost more than the transcript. */
  const shapes = { cache: "", input: "", output: "" };
  shown.forEach((turn, place) => {
    let top = 92;
    for (const [name, value] of Object.entries(parts(turn))) {
      const height = (value / most) * 78;
      top -= height;
      shapes[name] += `M${place * width} ${top}h${bar}v${height}h-${bar}z`;
    }
  });
  const said = (/** @type {Turn} */ turn) => Object.entries(parts(turn)).map(([name, value]) => `${name} ${tokens(value)}`).join(", ");
  const hover = (/** @type {Turn} */ turn, /** @type {number} */ place) =>
    svg`<rect class="hover" x=${place * width} width=${width} y="14" height="78"><title>${said(turn)}</title></rect>`;
  return html`<h2>Tokens per turn <em>${share}</em></h2>
    <svg class="turns" viewBox="0 0 280 93" role="img" aria-label=${`Tokens of the last ${count(shown.length, "turn")}, at most ${tokens(most)}`}>
      <line x1="0" x2="280" y1="14" y2="14"></line><line x1="0" x2="280" y1="53" y2="53"></line><line x1="0" x2="280" y1="92.5" y2="92.5"></line>
      <text x="280" y="10" text-anchor="end">${tokens(most)}</text><text x="280" y="49" text-anchor="end">${tokens(Math.round(most / 2))}</text>${Object.entries(shapes).map(([name, shape]) => svg`<path class=${name} d=${shape}></path>`)}${shown.map(hover)}</svg>
    <p class="keys"><span class="key cache"></span>cache <span class="key input"></span>input <span class="key output"></span>output</p>`;
}

/** Returns what the tokens of a turn were. @param {Turn} turn @returns {Record<string, number>} */
function parts(turn) {
  return { cache: turn.cacheRead, input: turn.input + turn.cacheWrite, output: turn.output };
}

/** @param {Model} model @param {Row[]} rows @param {Dispatch} dispatch */
function files(model, rows, dispatch) {
  /** @type {Map<string, {runs: Row[], added: number, removed: number}>} */
  const found = new Map();
  const note = (/** @type {Row} */ row, /** @type {string} */ path, added = 0, removed = 0) => {
    const file = found.get(path) ?? { runs: [], added: 0, removed: 0 };
    if (!file.runs.includes(row)) file.runs.push(row);
    file.added += added;
    file.removed += removed;
    found.set(path, file);
  };
  for (const row of rows) {
    if (row.runId === model.opened?.run && !row.workspace?.files) {
      for (const [path, file] of model.opened.transcript.files) {
        const { added, removed } = changedLines(file);
        note(row, path, added, removed);
      }
      continue;
    }
    const known = filesOf(row);
    for (const file of known ?? []) note(row, file.path, file.added, file.removed);
    if (!known) for (const span of model.lanes.get(row.runId)?.spans ?? []) if (span[6] && !span[4]) note(row, span[6]);
  }
  // The server knows which runs of the whole project have changed the same files.
  for (const { path, runs } of model.opened?.whole?.sameFiles ?? []) {
    const file = found.get(path) ?? { runs: [], added: 0, removed: 0 };
    for (const run of runs) if (!file.runs.some((row) => row.runId === run.runId)) file.runs.push(/** @type {Row} */ (run));
    found.set(path, file);
  }
  if (found.size === 0) return nothing;
  // What two runs have changed comes first.
  const sorted = [...found].sort(([a, one], [b, other]) => other.runs.length - one.runs.length || a.localeCompare(b));
  return html`<h2>Files changed <em>${count(found.size, "file")}</em></h2>
    <div class="files">${sorted.slice(0, MOST_FILES).map(([path, file]) => {
      const isShared = file.runs.length > 1;
      const names = file.runs.map((row) => row.name).join(", ");
      const open = () => {
        dispatch({ type: "select", run: file.runs[0].runId });
        dispatch({ type: "tab", tab: "changes" });
      };
      return html`<button class="file-row ${isShared ? "bad" : ""}" title=${isShared ? `${names} have changed ${path}` : path} @click=${open}>
        <span class="path">${isShared ? "⚠ " : ""}${path}</span><span class="by">${names}</span></button>`;
    })}</div>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
function also(model, dispatch) {
  const run = /** @type {string} */ (model.opened?.run);
  const isCompared = model.compared.has(run);
  const isRecorded = model.connection === "recorded";
  return html`<h2>Also</h2><div class="buttons">
    <button aria-pressed=${isCompared} @click=${() => dispatch({ type: "compare", run })}>${isCompared ? "✓ On Compare" : "Compare"}</button>
    ${isCompared ? html`<button @click=${() => dispatch({ type: "page", page: "compare" })}>Open Compare</button>` : nothing}
    ${isRecorded ? nothing : html`<button @click=${() => dispatch({ type: "download", what: "export.html", run })}>Export HTML</button>
    <button @click=${() => dispatch({ type: "download", what: "trace.json", run })}>Perfetto trace</button>`}</div>`;
}

/** @param {{what: string, times: number, places?: string[]}[]} list */
function redacted(list) {
  const text = list.length === 0 ? "Nothing in this file looked like a key." : "Taken out of this file:";
  return html`<h2>Redacted</h2><p class="muted">${text}</p>
    <ul>${list.map((one) => html`<li>${one.what}, ${count(one.times, "time")}${one.places?.length ? html`<ul class="muted">${one.places.map((place) => html`<li>${place}</li>`)}</ul>` : nothing}</li>`)}</ul>`;
}
