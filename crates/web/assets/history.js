// All runs, as far back as the index goes, with a search in their records.

import { html, nothing } from "./lit-html.js";
import { costOf, count, lasted, moment, present, spent, tokens, totalTokens } from "./figures.js";
import { firstRuns } from "./invitation.js";
import { flags } from "./receipts.js";
import { VirtualList } from "./virtual.js";
import { FILTERS, countOf } from "./visible_runs.js";
import { mark, named, plainLine } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */

/** How long a person must have stopped typing before all runs are searched. */
const TYPING = 250;

const WILL_BE_HERE = "Every run is kept here, with what it answered. The search looks through all of them.";

export class History {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined;
    /** @type {VirtualList<Row>} */
    this.list = new VirtualList({
      name: "All runs",
      estimate: 30,
      row: (row) => this.row(row),
      key: (row) => row.runId,
      scrolled: (isAtEnd) => isAtEnd && dispatch({ type: "moreHistory" }),
    });
  }

  view() {
    const { history, totals } = this.model;
    const typed = (/** @type {InputEvent} */ event) => {
      const words = /** @type {HTMLInputElement} */ (event.target).value.trim();
      clearTimeout(this.typing);
      this.typing = setTimeout(() => words !== this.model.history.words && this.dispatch({ type: "searchHistory", words }), TYPING);
    };
    const isPlain = !history.words && history.state === "all";
    const sums = isPlain && totals && totalTokens(totals.usage) > 0 ? ` · ${tokens(totalTokens(totals.usage))} tokens${costOf(totals) ? ` · ${costOf(totals)}` : ""}` : "";
    return html`<main class="wide-page history"><div class="page-head"><h1>History</h1><span class="muted" role="status">${this.found()}${sums}</span><span class="space"></span>
      <form role="search" @submit=${(/** @type {Event} */ event) => event.preventDefault()}><input id="search-history" type="search" .value=${history.words} placeholder="Words in name, task, model or answer" aria-label="Search all runs" @input=${typed}></form></div>
      <div class="filters" role="group" aria-label="Filter">${FILTERS.map(([state, name]) => html`<button class="pill" aria-pressed=${history.state === state}
        @click=${() => this.dispatch({ type: "searchHistory", state })}>${name} ${countOf(this.model, state).toLocaleString("en-US")}</button>`)}</div>
      ${this.empty()}<div class="history-row head" aria-hidden="true" ?hidden=${history.rows.length === 0}><span></span><span>when</span><span>name</span><span>model</span><span class="number">took</span><span class="number">calls</span><span class="number">tokens</span><span class="number">cost</span><span>answer</span></div>
      ${this.list.element}</main>`;
  }

  /** Says how many runs there are, or how many were found so far. */
  found() {
    const { history } = this.model;
    if (history.isReading && history.rows.length === 0) return history.words ? "Searching…" : "Reading…";
    const number = count(history.found, "run");
    if (!history.words || history.next === null) return number;
    return history.isReading ? `${number} so far, searching older ones…` : `the newest ${number} that fit`;
  }

  empty() {
    const { history } = this.model;
    if (history.isReading || history.rows.length > 0) return nothing;
    if (!history.words && history.state === "all") return firstRuns(this.model, this.dispatch, WILL_BE_HERE);
    const kind = FILTERS.find(([state]) => state === history.state)?.[1];
    const under = history.state === "all" ? "" : ` under “${kind}”`;
    const text = history.words ? `No run${under} has “${history.words}” in its name, task, model or answer.` : `There is no run${under}.`;
    return html`<div class="empty"><p>${text}</p><button @click=${() => this.dispatch({ type: "searchHistory", words: "", state: "all" })}>Show all runs</button></div>`;
  }

  draw() {
    this.list.show(this.model.history.rows);
    this.list.settle();
    const { history } = this.model;
    if (this.list.heights.total < this.list.height && history.rows.length < history.found && !history.isReading) {
      this.dispatch({ type: "moreHistory" });
    }
  }

  /** @param {Row} read */
  row(read) {
    // The stream tells the newer state of a run.
    const row = this.model.rows.get(read.runId) ?? read;
    const now = present(this.model);
    const open = () => {
      this.dispatch({ type: "open", run: row.runId });
    };
    const dollars = spent(row.usage);
    return html`<div class="history-row" role="listitem"><button class="cover" aria-label=${`Open ${row.name}`} @click=${open}></button>
      ${mark(row.status, flags(row).length > 0)}<span class="muted">${moment(Date.parse(row.acceptedAt), now)}</span><b dir="auto">${named(row.name)}</b>
      <span class="muted">${row.model}</span><span class="number">${lasted(row, now)}</span>
      <span class="number">${row.toolCalls ?? nothing}</span><span class="number">${row.usage ? tokens(totalTokens(row.usage)) : nothing}</span>
      <span class="number">${dollars.includes("$") ? dollars : nothing}</span><span class="doing" dir="auto">${plainLine(row, row.doing ?? "")}</span></div>`;
  }
}
