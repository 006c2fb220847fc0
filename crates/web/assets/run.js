// One run: its header and its tabs.

import { html, nothing } from "./lit-html.js";
import { changes } from "./changes.js";
import { costOf, count, fullModel, isOver, lasted, present, sandbox, share, tokens, totalTokens } from "./figures.js";
import { firstRuns, hasNoRuns } from "./invitation.js";
import { openedRow } from "./model.js";
import { hasOwnChanges } from "./open_run.js";
import { files, flags, receipt, tests } from "./receipts.js";
import { Transcript } from "./transcript.js";
import { mark, named, words } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./open_run.js").Opened} Opened */

/** @type {[string, string][]} */
const TABS = [
  ["transcript", "Transcript"],
  ["answer", "Answer"],
  ["changes", "Changes"],
  ["task", "Task"],
  ["raw", "Raw"],
];

const WILL_BE_HERE = "Every run shows up here by itself as soon as it begins: what it is doing, since when, what it costs and what it changes, whether you have started it, pi or another coding agent. You can read along, steer it and stop it.";

export class RunView {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    this.transcript = new Transcript(model, dispatch);
  }

  get list() {
    return this.transcript.list;
  }

  view() {
    const { model } = this;
    const opened = model.opened;
    const row = openedRow(model);
    if (hasNoRuns(model)) return html`<section class="pane" aria-label="Run">${firstRuns(model, this.dispatch, WILL_BE_HERE)}</section>`;
    if (opened?.problem && !row) return html`<section class="pane" aria-label="Run">${this.problem(opened.problem)}</section>`;
    if (!opened || !row) {
      const text = model.selected ? "Reading the run…" : model.rows.size > 0 ? "Choose a run on the left, or with the keys j and k." : "";
      return html`<section class="pane" aria-label="Run"><p class="empty">${text}</p></section>`;
    }
    return html`<section class="pane" aria-label="Run">
      ${this.header(row)}${this.tabs(row, opened)}
      <div class="body" id="panel" role="tabpanel" aria-labelledby=${`tab-${model.tab}`}>${this.body(row, opened)}</div>
    </section>`;
  }

  /** Says why a run cannot be read, and leads to one that can. @param {string} text */
  problem(text) {
    const [newest] = this.model.listed;
    return html`<div class="empty"><p class="bad">${text}</p>
      ${newest ? html`<button @click=${() => this.dispatch({ type: "select", run: newest.runId })}>Show ${named(newest.name)}</button>` : nothing}</div>`;
  }

  draw() {
    if (this.model.tab === "transcript" && this.model.opened) this.transcript.draw(this.model.opened);
  }

  /** @param {Row} row */
  header(row) {
    const now = present(this.model);
    const about = [row.agent, fullModel(row), row.toolCalls ? count(row.toolCalls, "tool call") : ""].filter(Boolean);
    const read = context(this.model.opened);
    const figures = [lasted(row, now), totalTokens(row.usage) ? `${tokens(totalTokens(row.usage))} tokens` : "", costOf(row)].filter(Boolean);
    const warnings = flags(row);
    return html`<header class="run-header">
      <button class="back" aria-label="Back to the list" @click=${() => this.dispatch({ type: "zoom", on: false })}>‹</button>
      ${mark(row.status, warnings.length > 0)}<h1 dir="auto" title=${row.name}>${named(row.name)}</h1><span class="muted about">${about.join(" · ")}</span>
      ${warnings.map((words) => html`<span class="tag warn">${words}</span>`)}
      <span class="space"></span><span class="muted figures">${read ? html`<span class="context-words">${read} · </span>` : nothing}${figures.join(" · ")}</span>
    </header>${row.notice ? html`<p class="notice warn" role="status">${row.notice}</p>` : nothing}`;
  }

  /** @param {Row} row @param {Opened} opened */
  tabs(row, opened) {
    const { model } = this;
    const changed = hasOwnChanges(row) ? (row.workspace?.files?.length ?? 0) : opened.transcript.files.size;
    // A file has no raw record.
    const tabs = model.connection === "recorded" ? TABS.filter(([name]) => name !== "raw") : TABS;
    const tab = (/** @type {[string, string]} */ [name, words]) => html`<button role="tab" id=${`tab-${name}`} aria-controls="panel" aria-selected=${model.tab === name} tabindex=${model.tab === name ? 0 : -1}
      @click=${() => this.dispatch({ type: "tab", tab: name })}>${words}${name === "changes" && changed > 0 ? html` <span class="badge">${changed}</span>` : nothing}</button>`;
    return html`<div class="tabs"><div role="tablist" aria-label="Run" @keydown=${(/** @type {KeyboardEvent} */ event) => this.toNeighbour(event, tabs.map(([name]) => name))}>${tabs.map(tab)}</div><span class="space"></span>
      ${model.tab === "transcript"
        ? html`${opened.transcript.calls.size > 0 ? html`<button class="quiet all-calls" @click=${() => this.dispatch({ type: "toggleAll" })}>${opened.open.size > 0 ? "close tool calls" : "open tool calls"}</button>` : nothing}
          <button class="quiet" aria-pressed=${opened.isFollowed} @click=${() => this.dispatch({ type: "follow", on: !opened.isFollowed })}>${opened.isFollowed ? "☑" : "☐"} follow</button>`
        : nothing}
      <button class="quiet figures-button" aria-expanded=${model.hasFigures} @click=${() => this.dispatch({ type: "figures", on: !model.hasFigures })}>Figures</button>
    </div>`;
  }

  /** Goes from one tab to the next with the arrow keys, as tabs do everywhere.
   * @param {KeyboardEvent} event @param {string[]} names */
  toNeighbour(event, names) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const tab = names[(names.indexOf(this.model.tab) + by + names.length) % names.length];
    this.dispatch({ type: "tab", tab });
    document.getElementById(`tab-${tab}`)?.focus();
  }

  /** @param {Row} row @param {Opened} opened */
  body(row, opened) {
    switch (this.model.tab) {
      case "answer":
        return answer(row, opened);
      case "changes":
        return changes(row, opened, this.transcript, this.dispatch);
      case "task":
        return task(row, opened);
      case "raw":
        return this.raw(opened);
      default:
        return this.transcript.view(opened);
    }
  }

  /** @param {Opened} opened */
  raw(opened) {
    if (!opened.raw) return html`<p class="empty">Reading the record…</p>`;
    const isAll = opened.isRead && opened.raw.next >= opened.next;
    return html`<div class="page raw">${opened.raw.lines.map(([place, line, isCut]) => html`<pre><span class="place">${place}</span><span>${line}${isCut ? "…" : ""}</span></pre>`)}
      ${isAll ? nothing : html`<button @click=${() => this.dispatch({ type: "moreRaw" })}>More</button>`}</div>`;
  }
}

/** Says how much the model reads with each turn, and of how much, if that is known.
 * @param {Opened | null} opened */
function context(opened) {
  const last = opened?.transcript.turns.findLast((turn) => turn.input + turn.cacheRead > 0);
  if (!opened || !last) return "";
  const used = last.input + last.output + last.cacheRead + last.cacheWrite;
  const size = opened.whole?.contextWindow;
  return size ? `context ${share(used, size)} of ${tokens(size)}` : `context ${tokens(used)}`;
}

/** @param {Row} row @param {Opened} opened */
function answer(row, opened) {
  const tree = opened.whole?.answer;
  if (tree) return html`<div class="page" tabindex="0"><div class="said">${words(tree)}</div></div>`;
  const text = isOver(row) ? "It has not answered anything." : "It has not answered yet.";
  return html`<div class="page" tabindex="0">${row.errorMessage ? html`<p class="bad">${row.errorMessage}</p>` : html`<p class="muted">${text}</p>`}</div>`;
}

/** @param {Row} row @param {Opened} opened */
function task(row, opened) {
  const whole = opened.whole ?? row;
  const [tested, kind, command] = tests(whole);
  const changed = files(whole);
  /** @type {[string, any][]} */
  const facts = [
    ["agent", whole.agent],
    ["model", fullModel(whole)],
    ["asked for", whole.requestedModel !== fullModel(whole) ? whole.requestedModel : undefined],
    ["runner", whole.runner],
    ["sandbox", sandbox(whole, " · ")],
    ["directory", whole.cwd],
    ["branch", whole.workspace?.branch],
    ["tests", whole.receipt ? html`<span class=${kind}>${tested}</span>${command ? html` <span class="muted">${command}</span>` : nothing}` : undefined],
    ["files", changed && changed.length > 0 ? changed.map((file) => file.path).join(", ") : undefined],
    ["run", whole.runId],
    ["session", whole.sessionId],
    ["continue", isOver(whole) ? `pi-subagents resume ${whole.sessionId} PROMPT` : undefined],
  ];
  return html`<div class="page" tabindex="0"><div class="said">${words(opened.whole?.taskTree) ?? whole.task}</div>
    <dl class="facts">${facts.filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
    ${whole.receipt ? receipt(whole.receipt) : nothing}
    ${[...(whole.incomplete ?? []), ...(whole.workspace?.notes ?? [])].map((text) => html`<p class="warn">${text}</p>`)}</div>`;
}
