// What happened in a run, entry by entry.

import { html, nothing, svg } from "./lit-html.js";
import { clock, count, present, timeOfDay, took } from "./figures.js";
import { openedRow } from "./model.js";
import { VirtualList } from "./virtual.js";
import { changes } from "./code.js";
import { mark, words } from "./words.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./open_run.js").Opened} Opened */

/** How many lines of a result are shown until somebody wants all of them. */
const SHOWN_LINES = 14;

/** How many marks stand beside the scroll bar at most, how high all of them are, and one of them. */
const MOST_MARKS = 300;
const STRIP = 1000;
const MARK = 6;

export class Transcript {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {VirtualList<Item>} */
    this.list = new VirtualList({
      name: "Transcript",
      estimate: 36,
      row: (item, place) => this.item(item, place),
      key: (item) => item.key,
      scrolled: (isAtEnd) => {
        // Only a change is drawn anew; the list itself has drawn its rows.
        if (this.model.opened?.isFollowed !== isAtEnd) this.dispatch({ type: "follow", on: isAtEnd });
      },
    });
    /** @type {{items: Item[], count: number, marks: any}} The marks beside the scroll bar, and what they were made of. */
    this.marks = { items: [], count: -1, marks: nothing };
  }

  /** @param {Opened} opened */
  view(opened) {
    return html`${opened.problem ? html`<p class="empty bad">${opened.problem}</p>` : nothing}
      ${opened.begin > 0 ? html`<p class="earlier">reading what came before…</p>` : nothing}
      ${this.list.element}${this.strip(opened)}`;
  }

  /** @param {Opened} opened */
  draw(opened) {
    this.list.show(this.withWords(opened.transcript.items, opened), opened.isFollowed);
  }

  /** Adds what the model is writing at the end, or why it does not write yet. @param {Item[]} items
   * @param {Opened} opened */
  withWords(items, opened) {
    const row = openedRow(this.model);
    if (row?.status === "queued" && opened.isRead) return [...items, { key: "queued", kind: "queued", t: 0, text: row.doing }];
    if (!opened.words && !opened.activity) return items;
    return [...items, { key: "words", kind: "words", t: 0, text: opened.words }];
  }

  /** Draws where calls and errors are, beside the scroll bar. @param {Opened} opened */
  strip(opened) {
    const items = opened.transcript.items;
    if (this.list.heights.total <= this.list.height) return nothing;
    // A long transcript is not looked through for every frame.
    const isOld = this.marks.items !== items || items.length > this.marks.count * 1.01 || items.length < 1000;
    if (isOld) this.marks = { items, count: items.length, marks: this.marksOf(items) };
    return html`<svg class="strip" viewBox="0 0 1 ${STRIP}" preserveAspectRatio="none" aria-hidden="true">${this.marks.marks}</svg>`;
  }

  /** Draws all marks of a kind as one shape: hundreds of elements would cost more than the transcript.
   * @param {Item[]} items */
  marksOf(items) {
    const step = Math.max(1, Math.ceil(items.length / MOST_MARKS));
    /** @type {Map<string, string>} */
    const shapes = new Map();
    for (let place = 0; place < items.length; place += step) {
      let shown = items[place];
      for (let next = place; next < place + step && next < items.length; next++) if (items[next].call?.state === "failed") shown = items[next];
      const kind = kindOf(shown);
      const top = ((place / items.length) * STRIP).toFixed(1);
      if (kind) shapes.set(kind, `${shapes.get(kind) ?? ""}M0 ${top}h1v${MARK}h-1z`);
    }
    return [...shapes].map(([kind, shape]) => svg`<path class=${kind} d=${shape}></path>`);
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
        return html`<div class="said live" dir="auto">${item.text}<span class="caret" aria-hidden="true">▌</span>
          ${this.model.opened?.activity ? html`<span class="muted"> ${this.model.opened.activity}</span>` : nothing}</div>`;
      case "queued":
        return html`<div class="remark">${mark("queued")} ${item.text || "queued"}</div>`;
      case "steered":
        return html`<div class="said steer-text"><b>you</b> ${item.text}</div>`;
      case "corrected":
        return html`<div class="said steer-text"><b>corrected</b> ${item.text}</div>`;
      case "started":
        return html`<div class="remark">started (${item.text})</div>`;
      case "ended": {
        // A reason that stands above is not told twice.
        const items = this.model.opened?.transcript.items ?? [];
        const isTold = items.findLast((one) => one.kind === "warned")?.text === item.text;
        return html`<div class="remark ended">${mark(item.status ?? "")} ${item.status}${item.text && !isTold ? html`: <span class="bad">${item.text}</span>` : nothing}</div>`;
      }
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
      ${isOpen ? html`<div class="thinking" dir="auto">${text}</div>` : nothing}`;
  }

  /** @param {Item} item */
  call(item) {
    const call = /** @type {import("./types.js").Call} */ (item.call);
    const opened = this.model.opened;
    const isOpen = opened?.open.has(item.key) ?? false;
    const isChosen = opened?.chosen === item.key;
    const now = present(this.model);
    const time = call.state === "running" ? clock(now - call.begin) : took((call.end ?? call.begin) - call.begin);
    const size = call.lines && call.lines > 1 ? `${count(call.lines, "line")} · ` : "";
    return html`<div class="call ${call.state} ${isChosen ? "chosen" : ""}">
      <button class="fold" aria-expanded=${isOpen} @click=${() => this.dispatch({ type: "toggle", key: item.key })}>
        <span class="fold-mark" aria-hidden="true">${isOpen ? "▾" : "▸"}</span><span class="kind ${call.kind}" title=${call.kind}></span>
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
    const diff = fetched?.[2]?.text || call.diff || written(call, given);
    // A command that stands whole in the line above is not said twice.
    const isSaid = call.kind === "shell" && call.title.includes(given.replace(/^command: /, ""));
    return html`${diff ? changes(diff) : isSaid || !given ? nothing : html`<pre class="given">${given}</pre>`}
      ${call.state === "running" ? html`<pre class="muted">works…</pre>` : nothing}
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
    const button = html`<button class="quiet more" @click=${() => this.dispatch({ type: "toggle", key: `${item.key} all` })}>… ${count(hidden, "line")} ${isEnd ? "above" : "below"} — show all</button>`;
    return html`${isEnd ? button : nothing}<pre class="output">${shown.join("\n")}</pre>${isEnd ? nothing : button}`;
  }
}

/** Returns the lines that a file was written with, as a change. @param {import("./types.js").Call} call
 * @param {string} given the arguments */
function written(call, given) {
  const [, content] = call.tool === "write" ? (given.match(/^path: [^\n]*\ncontent:[\n ](.*)$/s) ?? []) : [];
  return content ? content.replace(/\n$/, "").replace(/^/gm, "+") : "";
}

/** Returns which mark an entry has beside the scroll bar, if any. @param {Item} item */
function kindOf(item) {
  if (item.call?.state === "failed" || item.kind === "warned") return "bad";
  return item.call?.kind ?? (item.kind === "steered" ? "steer" : "");
}
