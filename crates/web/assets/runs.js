// The list of runs: those of one call together, the newest call first, and what works before what is
// over.

import { html, nothing } from "./lit-html.js";
import { clock, count, lasted, moment, present, sandbox, share, spent, tokens } from "./figures.js";
import { FILTERS, countOf, groupKey } from "./visible_runs.js";
import { flags } from "./receipts.js";
import { VirtualList } from "./virtual.js";
import { mark, named, plainLine } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */
/** @typedef {{heading: Row, isAlone: boolean, isAbove?: boolean, runs: number, key: string}} Heading The first run of a call. */
/** @typedef {Heading | Row} Entry */

/** The mark behind words that a model is writing, and the number of letters of them that a row has room for. */
const CURSOR = "▌";
const NEWEST = 34;

/** A window so narrow that the list and the run take turns: then the list is the main part of the page. */
const PHONE = matchMedia("(max-width: 760px)");

export class RunList {
  /** @param {Model} model @param {Dispatch} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {VirtualList<Entry>} */
    this.list = new VirtualList({
      name: "Runs",
      role: "listbox",
      estimate: 56,
      row: (entry) => ("heading" in entry ? this.heading(entry) : this.row(entry)),
      key: (entry) => ("heading" in entry ? entry.key : entry.runId),
      scrolled: (isAtEnd) => isAtEnd && this.model.connection !== "recorded" && this.dispatch({ type: "moreRuns" }),
    });
    /** @type {{listed: Row[], above: Row | undefined, entries: Entry[]}} The entries of the list, and what they were made of. */
    this.made = { listed: [], above: undefined, entries: [] };
  }

  view() {
    const { model } = this;
    const isShown = (/** @type {string} */ filter) => ["all", "running", model.filter].includes(filter) || countOf(model, filter) > 0;
    return html`<section class="list" role=${PHONE.matches ? "main" : "complementary"} aria-label="Runs"><h1 class="for-readers">Runs</h1>
      <div class="filters" role="group" aria-label="Filter">${FILTERS.filter(([filter]) => isShown(filter)).map(
        ([filter, name]) =>
          html`<button class="pill ${filter}" aria-pressed=${model.filter === filter}
            @click=${() => this.dispatch({ type: "filter", filter })}>${name} ${countOf(model, filter).toLocaleString("en-US")}</button>`,
      )}</div>
      ${model.words.trim() && model.connection !== "recorded" ? this.finding() : nothing}
      ${model.listed.length === 0 ? this.empty() : nothing}${this.list.element}
    </section>`;
  }

  /** Says how many runs have the words, in the whole project. */
  finding() {
    const { listed, found, words } = this.model;
    const isAll = found.isRead && found.next === null && found.words === words.trim();
    const history = () => this.dispatch({ type: "searchHistory", words: words.trim(), state: "all" });
    return html`<p class="finding" role="status"><span>${count(listed.length, "run")}${isAll ? " of all that there are" : ", searching older ones…"}</span>
      <button class="quiet" @click=${history}>Open in History</button></p>`;
  }

  /** Draws the rows, after the frame around them is there. */
  draw() {
    const { selected, listed, opened, rows } = this.model;
    const isListed = listed.some((row) => row.runId === selected);
    // A run that was opened from elsewhere stands above the others, so that a person sees where they are. A
    // run that the filter or the words leave out does not.
    const isElsewhere = !isListed && !rows.has(selected ?? "");
    const above = isElsewhere && opened?.whole && this.model.connection !== "recorded" ? opened.whole : undefined;
    if (selected && (isListed || above)) this.list.element.setAttribute("aria-activedescendant", `run-${selected}`);
    else this.list.element.removeAttribute("aria-activedescendant");
    if (this.made.listed !== listed || this.made.above !== above) this.made = { listed, above, entries: entries(listed, above) };
    this.list.show(this.made.entries);
  }

  empty() {
    const { model } = this;
    if (!model.isListed) return html`<p class="empty">Reading the index…</p>`;
    if (model.found.isReading) return html`<p class="empty">Searching…</p>`;
    if (model.rows.size === 0 && countOf(model, "all") === 0) return html`<p class="empty">There are no runs yet.</p>`;
    const kind = FILTERS.find(([filter]) => filter === model.filter)?.[1];
    const asked = [model.filter === "all" ? "" : `under “${kind}”`, model.words ? `with “${model.words}”` : ""].filter(Boolean).join(" ");
    const all = () => {
      this.dispatch({ type: "filter", filter: "all" });
      this.dispatch({ type: "words", words: "" });
    };
    const number = countOf(model, "all");
    return html`<div class="empty"><p>There is no run ${asked}.</p>
      <div class="buttons"><button @click=${all}>${`Show ${number === 1 ? "the run" : `all ${count(number, "run")}`}`}</button></div></div>`;
  }

  /** @param {Heading} entry */
  heading(entry) {
    const { heading: first, isAlone } = entry;
    const when = moment(Date.parse(first.acceptedAt), present(this.model));
    const name = entry.isAbove ? "opened" : isAlone ? "single runs" : `${first.groupLabel || "one call"} · ${when}`;
    return html`<div class="group" role="presentation"><span>${name}</span>
      ${entry.runs > 1 ? html`<span>${count(entry.runs, "run")}</span>` : nothing}</div>`;
  }

  /** @param {Row} row */
  row(row) {
    const { model } = this;
    const now = present(model);
    const isSelected = model.selected === row.runId;
    const figures = [lasted(row, now), spent(row.usage)].filter(Boolean).join(" · ");
    // A queued run gives no sign of life; how long it waits stands above.
    const age = row.lastAt && row.status === "running" ? clock(now - row.lastAt) : "";
    return html`<div class="run ${row.status}" role="option" id=${`run-${row.runId}`} aria-selected=${isSelected}
      @click=${() => this.dispatch({ type: "select", run: row.runId })}>
      ${mark(row.status, flags(row).length > 0)}
      <span class="who"><b dir="auto">${named(row.name)}</b> <span class="model">${[row.agent !== row.name ? row.agent : "", row.model, sandbox(row, " · ")].filter(Boolean).join(" · ")}</span></span>
      <span class="figures">${figures}</span>
      <span class="doing" dir="auto">${age ? html`<span class="age" title="since it was last heard of">${age}</span> ` : nothing}${doing(row)}</span>
      ${row.context ? contextBar(row.context) : nothing}
    </div>`;
  }
}

/** Draws how much of its context a model has used. @param {[number, number]} context */
function contextBar([used, size]) {
  const part = Math.min(100, Math.round((used / size) * 100));
  const words = `context: ${share(used, size)} of ${tokens(size)}`;
  return html`<span class="context ${part >= 80 ? "warn" : ""}" role="img" aria-label=${words} title=${words}><i .style=${`width:${part}%`}></i></span>`;
}

/** Returns one line of what a run does, or what came of it. @param {Row} row */
function doing(row) {
  if (row.notice) return html`<span class="warn">${row.notice}</span>`;
  const said = newest(plainLine(row, row.doing || row.task || ""));
  const [warning] = row.status === "completed" ? flags(row) : [];
  return warning ? html`<span class="warn">${warning}</span> · ${said}` : said;
}

/** Returns the end of what a model is writing, which is the part that moves. @param {string} line */
function newest(line) {
  return line.endsWith(CURSOR) && line.length > NEWEST ? `…${line.slice(-NEWEST)}` : line;
}

/** Puts headings between the runs of calls. Calls with one run share a heading, which would else be
 * longer than the list. @param {Row[]} rows @param {Row | undefined} above a run before them
 * @returns {Entry[]} */
function entries(rows, above) {
  /** @type {Map<string, number>} */
  const sizes = new Map();
  for (const row of rows) sizes.set(groupKey(row), (sizes.get(groupKey(row)) ?? 0) + 1);
  /** @type {Entry[]} */
  const found = above ? [{ heading: above, isAlone: true, isAbove: true, runs: 1, key: "heading above" }, above] : [];
  let last = "";
  /** @type {Heading | undefined} */
  let heading;
  for (const row of rows) {
    const isAlone = sizes.get(groupKey(row)) === 1 && row.group.startsWith("call ");
    const key = isAlone ? "alone" : groupKey(row);
    if (!heading || key !== last) {
      last = key;
      heading = { heading: row, isAlone, runs: 0, key: `heading ${groupKey(row)}` };
      found.push(heading);
    }
    heading.runs += 1;
    found.push(row);
  }
  return found;
}
