// One run: what happened in it, its answer, what it changed, its task, and its record as it is.

import { html, nothing } from "./lit-html.js";
import { changedFiles } from "./fold.js";
import { clock, cost, count, isOver, lasted, timeOfDay, tokens, took } from "./figures.js";
import { VirtualList } from "./virtual.js";
import { changes, mark, words } from "./words.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Opened} Opened */

const TABS = ["transcript", "answer", "changes", "task", "raw"];

/** How many lines of a result are shown at once. */
const SHOWN_LINES = 400;

export class RunView {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {VirtualList<Item>} */
    this.list = new VirtualList({
      name: "Transcript",
      estimate: 44,
      row: (item, place) => this.item(item, place),
      key: (item) => item.key,
      scrolled: (isAtEnd) => {
        // Only a change is drawn anew; the list itself has drawn its rows.
        if (this.model.opened?.isFollowed !== isAtEnd) this.dispatch({ type: "follow", on: isAtEnd });
      },
    });
  }

  view() {
    const { model } = this;
    const opened = model.opened;
    const row = opened ? (model.rows.get(opened.run) ?? opened.whole) : undefined;
    if (!opened || !row) {
      const text = opened?.problem ?? (model.selected ? "Reading the run…" : "Choose a run on the left.");
      return html`<section class="pane" aria-label="Run"><p class="empty">${text}</p></section>`;
    }
    return html`<section class="pane" aria-label="Run">
      ${this.header(row, opened)}
      <div class="body" id="panel" role="tabpanel" aria-label=${model.tab}>${this.body(row, opened)}</div>
    </section>`;
  }

  draw() {
    const { model } = this;
    if (model.tab !== "transcript" || !model.opened) return;
    const { transcript, isFollowed } = model.opened;
    this.list.show(this.withWords(transcript.items, model.opened), isFollowed);
  }

  /** Adds what the model is writing at the end. @param {Item[]} items @param {Opened} opened */
  withWords(items, opened) {
    if (!opened.words && !opened.activity) return items;
    const text = opened.words;
    return [...items, { key: "words", kind: "words", t: 0, text }];
  }

  /** @param {Row} row @param {Opened} opened */
  header(row, opened) {
    const { model } = this;
    const now = Date.now() + model.ahead;
    const files = changedFiles(opened.transcript.items).size;
    /** @type {Record<string, string>} */
    const names = { transcript: "Transcript", answer: "Answer", changes: "Changes", task: "Task", raw: "Raw" };
    const about = [row.preset, row.resolvedModel, row.toolCalls ? count(row.toolCalls, "call") : ""].filter(Boolean);
    return html`<header class="run-header">
      <button class="back" aria-label="Back to the list" @click=${() => this.dispatch({ type: "zoom", on: false })}>‹</button>
      ${mark(row.status)}<h1>${row.name}</h1><span class="muted about">${about.join(" · ")}</span>
      <span class="space"></span>
      <span class="muted">${[lasted(row, now), row.usage?.totalTokens ? `${tokens(row.usage.totalTokens)} tokens` : "", cost(row.usage?.cost)].filter(Boolean).join(" · ")}</span>
    </header>
    <div class="tabs" role="tablist" aria-label="Run">
      ${TABS.map(
        (tab) => html`<button role="tab" aria-controls="panel" aria-selected=${model.tab === tab}
          @click=${() => this.dispatch({ type: "tab", tab })}>${names[tab]}${tab === "changes" && files > 0 ? html` <span class="muted">${files}</span>` : nothing}</button>`,
      )}
      <span class="space"></span>
      ${model.tab === "transcript"
        ? html`<button class="quiet" @click=${() => this.dispatch({ type: "toggleAll" })}>${opened.open.size > 0 ? "close calls" : "open calls"}</button>
          <button class="quiet" aria-pressed=${opened.isFollowed} @click=${() => this.dispatch({ type: "follow", on: !opened.isFollowed })}>${opened.isFollowed ? "☑" : "☐"} follow</button>`
        : nothing}
    </div>`;
  }

  /** @param {Row} row @param {Opened} opened */
  body(row, opened) {
    switch (this.model.tab) {
      case "answer":
        return this.answer(row, opened);
      case "changes":
        return this.changes(opened);
      case "task":
        return this.task(row, opened);
      case "raw":
        return this.raw(opened);
      default:
        return html`${opened.problem ? html`<p class="empty bad">${opened.problem}</p>` : nothing}
          ${opened.begin > 0 ? html`<p class="earlier">reading what came before…</p>` : nothing}
          ${this.list.element}${this.strip(opened)}`;
    }
  }

  /** Draws where calls and errors are, beside the scroll bar. @param {Opened} opened */
  strip(opened) {
    const items = opened.transcript.items;
    if (this.list.heights.total <= this.list.element.clientHeight) return nothing;
    const step = Math.max(1, Math.ceil(items.length / 400));
    const marks = [];
    for (let place = 0; place < items.length; place += step) {
      const item = items.slice(place, place + step).find((item) => item.call?.state === "failed") ?? items[place];
      const kind = item.call?.state === "failed" || item.kind === "warned" ? "bad" : (item.call?.kind ?? (item.kind === "steered" ? "steer" : ""));
      if (kind) marks.push(html`<i class=${kind} .style=${`top:${(place / items.length) * 100}%`}></i>`);
    }
    return html`<div class="strip" aria-hidden="true">${marks}</div>`;
  }

  /** @param {Item} item @param {number} place */
  item(item, place) {
    const items = this.model.opened?.transcript.items ?? [];
    const before = items[place - 1];
    const isNewSecond = !before || Math.floor(before.t / 1000) !== Math.floor(item.t / 1000);
    const time = item.t && isNewSecond ? timeOfDay(item.t) : "";
    return html`<div class="entry is-${item.kind}" role="listitem"><span class="at">${time}</span><div class="what">${this.what(item)}</div></div>`;
  }

  /** @param {Item} item */
  what(item) {
    switch (item.kind) {
      case "task":
        return html`<div class="said task-text">${words(item.md)}</div>`;
      case "told":
        return html`<div class="said told-text"><b>told</b> ${words(item.md)}</div>`;
      case "said":
        return html`<div class="said">${words(this.whole(item)?.md ?? item.md)}${this.more(item)}</div>`;
      case "thought":
        return this.thought(item);
      case "call":
        return this.call(item);
      case "words":
        return html`<div class="said live">${item.text}<span class="caret" aria-hidden="true">▌</span>
          ${this.model.opened?.activity ? html`<span class="muted"> ${this.model.opened.activity}</span>` : nothing}</div>`;
      case "steered":
        return html`<div class="said steer-text"><b>you</b> ${item.text}</div>`;
      case "corrected":
        return html`<div class="said steer-text"><b>corrected</b> ${item.text}</div>`;
      case "started":
        return html`<div class="remark">started (${item.text})</div>`;
      case "ended":
        return html`<div class="remark ended">${mark(item.status ?? "")} ${item.status}${item.text ? html`: <span class="bad">${item.text}</span>` : nothing}</div>`;
      case "unreadable":
        return html`<div class="remark bad">A line of the record cannot be read here.</div>`;
      case "warned":
        return html`<div class="remark warn">${item.text}</div>`;
      default:
        return html`<div class="remark">${item.text}</div>`;
    }
  }

  /** @param {Item} item */
  more(item) {
    if (!item.cut || this.whole(item)) return nothing;
    return html`<button class="quiet" @click=${() => this.dispatch({ type: "toggle", key: item.key })}>show the rest</button>`;
  }

  /** Returns a text that was fetched whole. @param {Item} item @returns {any} */
  whole(item) {
    return this.model.opened?.texts.get(item.key)?.[0];
  }

  /** @param {Item} item */
  thought(item) {
    const isOpen = this.model.opened?.open.has(item.key) ?? false;
    const text = this.whole(item)?.text ?? item.text ?? "";
    return html`<button class="fold thought-title" aria-expanded=${isOpen} @click=${() => this.dispatch({ type: "toggle", key: item.key })}>thought <span class="muted">${isOpen ? "" : text.slice(0, 90)}</span></button>
      ${isOpen ? html`<div class="thinking">${text}</div>` : nothing}`;
  }

  /** @param {Item} item */
  call(item) {
    const call = /** @type {import("./types.js").Call} */ (item.call);
    const opened = this.model.opened;
    const isOpen = opened?.open.has(item.key) ?? false;
    const isChosen = opened?.chosen === item.key;
    const now = Date.now() + this.model.ahead;
    const time = call.state === "running" ? clock(now - call.begin) : took((call.end ?? call.begin) - call.begin);
    const size = call.lines && call.lines > 1 ? `${count(call.lines, "line")} · ` : "";
    return html`<div class="call ${call.state} ${isChosen ? "chosen" : ""}">
      <button class="fold" aria-expanded=${isOpen} @click=${() => this.dispatch({ type: "toggle", key: item.key })}>
        <span class="kind ${call.kind}" title=${call.kind}></span>
        <span class="title">${call.title}</span>
        ${call.changes ? html`<span class="plus">+${call.changes[0]}</span><span class="minus">−${call.changes[1]}</span>` : nothing}
        ${call.state === "failed" ? html`<span class="bad">${call.words ?? "failed"}</span>` : call.words ? html`<span class="muted">${call.words}</span>` : nothing}
        ${call.state === "unanswered" ? html`<span class="bad">no result</span>` : nothing}
        <span class="space"></span><span class="muted time">${call.state === "running" ? html`<span class="pulse">●</span> ` : nothing}${size}${time}</span>
      </button>
      ${isOpen ? this.inside(item, call) : nothing}
    </div>`;
  }

  /** @param {Item} item @param {import("./types.js").Call} call */
  inside(item, call) {
    const fetched = this.model.opened?.texts.get(item.key);
    if (!fetched && call.arguments === undefined) return html`<pre class="muted">reading…</pre>`;
    const given = fetched?.[0]?.text ?? call.arguments ?? "";
    const answer = fetched?.[1]?.text ?? call.text ?? "";
    const diff = fetched?.[2]?.text ?? call.diff ?? "";
    return html`${diff ? changes(diff) : html`<pre class="given">${given}</pre>`}
      ${answer && !(diff && call.state === "done") ? this.output(item, answer, call) : nothing}`;
  }

  /** @param {Item} item @param {string} answer @param {import("./types.js").Call} call */
  output(item, answer, call) {
    const lines = answer.split("\n");
    const hidden = lines.length - SHOWN_LINES;
    const isWhole = this.model.opened?.open.has(`${item.key} all`) ?? false;
    if (hidden <= 0 || isWhole) return html`<pre class="output">${answer}</pre>`;
    // The end of what a command printed says more than its beginning.
    const isEnd = call.kind === "shell";
    const shown = isEnd ? lines.slice(-SHOWN_LINES) : lines.slice(0, SHOWN_LINES);
    const button = html`<button class="quiet more" @click=${() => this.dispatch({ type: "toggle", key: `${item.key} all` })}>${count(hidden, "line")} ${isEnd ? "above" : "below"} — show all</button>`;
    return html`${isEnd ? button : nothing}<pre class="output">${shown.join("\n")}</pre>${isEnd ? nothing : button}`;
  }

  /** @param {Row} row @param {Opened} opened */
  answer(row, opened) {
    const tree = opened.whole?.answer;
    if (tree) return html`<div class="page said">${words(tree)}</div>`;
    const text = row.errorMessage ?? (isOver(row) ? "It has not answered anything." : "It has not answered yet.");
    return html`<p class="empty">${text}</p>`;
  }

  /** @param {Row} row @param {Opened} opened */
  task(row, opened) {
    const whole = opened.whole ?? row;
    const facts = [
      ["definition", whole.preset],
      ["model", whole.resolvedModel],
      ["asked for", whole.requestedModel !== whole.resolvedModel ? whole.requestedModel : undefined],
      ["runner", whole.runner],
      ["directory", whole.cwd],
      ["run", whole.runId],
      ["session", whole.sessionId],
      ["continue", whole.resume],
    ];
    return html`<div class="page"><div class="said">${words(opened.whole?.taskTree) ?? whole.task}</div>
      <dl class="facts">${facts.filter(([, value]) => value).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
      ${(whole.incomplete ?? []).map((text) => html`<p class="warn">${text}</p>`)}</div>`;
  }

  /** @param {Opened} opened */
  changes(opened) {
    const files = [...changedFiles(opened.transcript.items)];
    if (files.length === 0) return html`<p class="empty">No tool has changed a file with edit or write.</p>`;
    return html`<div class="page">
      <p class="muted">What edit and write did. A command may have changed more.</p>
      ${files.map(([path, file]) => html`<h2 class="file">${path} <span class="plus">+${file.added}</span> <span class="minus">−${file.removed}</span></h2>
        ${file.items.map((item) => this.change(item))}`)}</div>`;
  }

  /** @param {Item} item */
  change(item) {
    const call = /** @type {import("./types.js").Call} */ (item.call);
    const opened = /** @type {Opened} */ (this.model.opened);
    if (!opened.open.has(item.key)) return html`<button class="fold" @click=${() => this.dispatch({ type: "toggle", key: item.key })}>${timeOfDay(item.t)} ${call.title} — show</button>`;
    return html`<div class="call">${this.inside(item, call)}</div>`;
  }

  /** @param {Opened} opened */
  raw(opened) {
    if (!opened.raw) return html`<p class="empty">${this.model.connection === "recorded" ? "The file holds no raw record." : "Reading the record…"}</p>`;
    return html`<div class="page raw">${opened.raw.lines.map(([place, line, isCut]) => html`<pre><span class="muted">${place}</span> ${line}${isCut ? "…" : ""}</pre>`)}
      <button @click=${() => this.dispatch({ type: "moreRaw" })}>More</button></div>`;
  }
}
