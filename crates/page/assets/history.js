// All runs, as far back as the index goes, with a search in their records.

import { html, nothing } from "./lit-html.js";
import { costOf, count, lasted, modelId, moment, present, spent, tokens, totalTokens } from "./figures.js";
import { firstRuns } from "./invitation.js";
import { flags } from "./receipts.js";
import { VirtualList } from "./virtual.js";
import { mark, plainLine } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */

const WILL_BE_HERE = "Every run is kept here, with what it answered. The search looks through all of them.";

export class History {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
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
    const search = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const input = /** @type {HTMLInputElement} */ (document.getElementById("search-history"));
      this.dispatch({ type: "searchHistory", words: input.value.trim() });
    };
    const found = history.isReading && history.rows.length === 0 ? "Reading…" : `${count(history.found, "run")}${history.isAll ? "" : " among the newest 2,000"}`;
    const sums = !history.words && totals && totalTokens(totals.usage) > 0 ? ` · ${tokens(totalTokens(totals.usage))} tokens${costOf(totals) ? ` · ${costOf(totals)}` : ""}` : "";
    return html`<main class="wide-page history"><div class="page-head"><h1>History</h1><span class="muted">${found}${sums}</span><span class="space"></span>
      <form role="search" @submit=${search}><input id="search-history" type="search" .value=${history.words} placeholder="Words in name, task, model or answer" aria-label="Search all runs"></form></div>
      ${this.empty()}<div class="history-row head" aria-hidden="true" ?hidden=${history.rows.length === 0}><span></span><span>when</span><span>name</span><span>model</span><span class="number">took</span><span class="number">calls</span><span class="number">tokens</span><span class="number">cost</span><span>answer</span></div>
      ${this.list.element}</main>`;
  }

  empty() {
    const { history } = this.model;
    if (history.isReading || history.rows.length > 0) return nothing;
    if (!history.words) return firstRuns(this.model, this.dispatch, WILL_BE_HERE);
    return html`<div class="empty"><p>No run has “${history.words}” in its name, task, model or answer.</p><button @click=${() => this.dispatch({ type: "searchHistory", words: "" })}>Show all runs</button></div>`;
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
      this.dispatch({ type: "page", page: "runs" });
      this.dispatch({ type: "select", run: row.runId });
    };
    const dollars = spent(row.usage);
    return html`<div class="history-row" role="listitem"><button class="cover" aria-label=${`Open ${row.name}`} @click=${open}></button>
      ${mark(row.status, flags(row).length > 0)}<span class="muted">${moment(Date.parse(row.acceptedAt), now)}</span><b dir="auto">${row.name}</b>
      <span class="muted">${modelId(row.resolvedModel)}</span><span class="number">${lasted(row, now)}</span>
      <span class="number">${row.toolCalls ?? nothing}</span><span class="number">${row.usage ? tokens(totalTokens(row.usage)) : nothing}</span>
      <span class="number">${dollars.includes("$") ? dollars : nothing}</span><span class="doing" dir="auto">${plainLine(row, row.doing ?? "")}</span></div>`;
  }
}
