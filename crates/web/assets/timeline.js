// What runs spent their time on: one lane per run. An overview with a brush stands above the lanes;
// screen readers get a table.

import { html, nothing, render } from "./lit-html.js";
import { cost, extent, isOver, present, took } from "./figures.js";
import { KINDS, LaneTable } from "./lane_table.js";
import { callExtent, lanes } from "./visible_runs.js";
import { Painter } from "./painter.js";
import { LANE, LEFT, OVERVIEW, placer, RIGHT, TOP } from "./scale.js";
import { words } from "./span_words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Span} Span */
/** @typedef {import("./scale.js").Extent} Extent */
/** @typedef {import("./model.js").Model} Model */

const MOST_HEIGHT = 276;

/** How long a person must leave the timeline alone before its part is fetched closer. */
const PAUSE = 150;

/** @type {[string, number][]} */
const SPANS = [
  ["this call", 0],
  ["everything", -1],
  ["last minute", 60],
  ["last 5 min", 300],
  ["last 30 min", 1800],
];

export class Timeline {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {Extent | null} What is shown; null shows the call of the chosen run, or what is chosen. */
    this.shown = null;
    /** How many of the last seconds are shown; 0 shows the call, and -1 everything. */
    this.lastSeconds = 0;
    /** @type {Extent | null} What a person has marked. */
    this.marked = null;
    this.scrolled = 0;
    /** @type {string | null} The run whose lane was last brought onto the screen. */
    this.revealed = null;
    /** @type {{kind: string, x: number, y: number, scrolled: number, shown: Extent} | null} */
    this.drag = null;
    this.lastFleet = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "timeline";
    this.canvas.setAttribute("aria-hidden", "true");
    this.painter = new Painter(this.canvas);
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.table = new LaneTable(model);
    /** @type {any[]} What the lanes were last painted of. */
    this.painted = [];
    /** Noted when the browser tells it: to ask for it while a frame is drawn costs a layout. */
    this.width = 0;
    this.listen();
    new ResizeObserver(() => {
      this.width = this.canvas.clientWidth;
      this.draw();
    }).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.painter.forgetColours();
      this.painted = [];
      this.draw();
    });
  }

  view() {
    const rows = lanes(this.model);
    if (rows.length === 0) return nothing;
    // It is as high as it will be, also if it is painted later.
    this.canvas.style.height = `${heightOf(rows)}px`;
    const marked = this.marked ? this.markedWords(rows) : "";
    const change = (/** @type {Event} */ event) => {
      this.shown = null;
      this.marked = null;
      this.lastSeconds = Number(/** @type {HTMLSelectElement} */ (event.target).value);
      this.draw();
    };
    return html`<section class="timeline-box" aria-label="Timeline">
      <div class="timeline-head"><b>Timeline</b>${KINDS.map((kind) => html`<span class="key-label"><i class=${`key ${kind}`}></i>${kind}</span>`)}
        <span class="space"></span><span class="marked">${marked}</span>
        <select class="quiet" aria-label="Time that is shown" @change=${change}>${SPANS.map(([name, seconds]) => html`<option value=${seconds} ?selected=${this.lastSeconds === seconds}>${name}</option>`)}</select>
        <button class="quiet" title="Show everything (z)" @click=${() => this.fit()}>⤢ fit</button></div>
      ${this.canvas}${this.tip}${this.table.element}
    </section>`;
  }

  now() {
    return present(this.model);
  }

  /** Returns the spans of a run, those of a part closer if that is known. @param {string} run
   * @param {Extent} [shown] @returns {Span[]} */
  spans(run, shown) {
    const lane = this.model.lanes.get(run);
    const part = lane?.part;
    if (part && shown && part.from <= shown.from && part.to >= shown.to) return part.spans;
    return lane?.spans ?? [];
  }

  /** Returns the time from the first lane to the last. @param {Row[]} rows @returns {Extent} */
  whole(rows) {
    let from = Infinity;
    let to = -Infinity;
    for (const row of rows) {
      from = Math.min(from, Date.parse(row.acceptedAt));
      to = Math.max(to, extent(row).end ?? this.now());
    }
    const slack = Math.max(200, (to - from) * 0.012);
    return { from: from - slack, to: to + slack };
  }

  /** @param {Row[]} rows @returns {Extent} */
  extent(rows) {
    if (this.shown) return this.shown;
    const all = this.whole(rows);
    if (this.lastSeconds < 0) return all;
    if (this.lastSeconds === 0) return this.call(rows) ?? all;
    return { from: Math.max(all.from, all.to - this.lastSeconds * 1000), to: all.to };
  }

  /** Returns the time of the call of the chosen run, with some room. A lane that goes beyond it has an
   * arrow there. @param {Row[]} rows @returns {Extent | null} */
  call(rows) {
    const call = callExtent(this.model, rows);
    if (!call) return null;
    const slack = Math.max(200, (call.to - call.from) * 0.02);
    return { from: call.from - slack, to: call.to + slack };
  }

  /** Shows everything. */
  fit() {
    this.shown = null;
    this.marked = null;
    this.lastSeconds = -1;
    this.draw();
    this.dispatch({ type: "redraw" });
  }

  /** Paints the lanes, if they would look different now. */
  draw() {
    const rows = lanes(this.model);
    const { width } = this;
    if (rows.length === 0 || !this.canvas.isConnected || width === 0) return;
    const fleet = rows.map((row) => row.runId).join();
    if (this.revealed !== this.model.selected) {
      // What it says is about the run before.
      this.tip.hidden = true;
      if (this.lastSeconds <= 0) [this.shown, this.lastSeconds] = [null, 0];
    }
    if (fleet !== this.lastFleet) {
      this.lastFleet = fleet;
      this.shown = null;
      this.marked = null;
      this.scrolled = 0;
      this.revealed = null;
    }
    const height = heightOf(rows);
    this.reveal(rows, height);
    this.scrolled = Math.max(0, Math.min(this.scrolled, rows.length * LANE + TOP + 6 - height));
    const scene = {
      rows,
      width,
      height,
      all: this.whole(rows),
      shown: this.extent(rows),
      marked: this.marked,
      scrolled: this.scrolled,
      now: this.now(),
      selected: this.model.selected,
      spans: (/** @type {string} */ run, /** @type {Extent | undefined} */ shown) => this.spans(run, shown),
      steered: (/** @type {string} */ run) => this.model.lanes.get(run)?.steered ?? [],
    };
    const facts = factsOf(scene);
    if (facts.length === this.painted.length && facts.every((fact, place) => fact === this.painted[place])) return;
    this.painted = facts;
    this.painter.paint(scene);
    this.table.draw(rows);
  }

  /** Brings the lane of the chosen run onto the screen, once. @param {Row[]} rows @param {number} height */
  reveal(rows, height) {
    const { selected } = this.model;
    if (selected === this.revealed) return;
    this.revealed = selected;
    const top = rows.findIndex((row) => row.runId === selected) * LANE;
    if (top < 0) return;
    const room = height - TOP - 6;
    this.scrolled = Math.min(top, Math.max(this.scrolled, top + LANE - room));
  }

  /** Shows another time, and fetches it closer once a person is content. @param {Extent} shown */
  show(shown) {
    this.shown = shown;
    this.draw();
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      const size = shown.to - shown.from;
      const part = { from: Math.floor(shown.from - size / 2), to: Math.ceil(shown.to + size / 2) };
      const runs = lanes(this.model).map((row) => row.runId);
      if (this.shown === shown) this.dispatch({ type: "partOfLanes", runs, part });
    }, PAUSE);
  }

  /** Returns the run and the span at a point. @param {number} x @param {number} y
   * @returns {{row: Row, span: Span | undefined} | undefined} */
  hit(x, y) {
    const rows = lanes(this.model);
    const row = y < TOP ? undefined : rows[Math.floor((y - TOP + this.scrolled) / LANE)];
    if (!row) return undefined;
    if (x < LEFT) return { row, span: undefined };
    const shown = this.extent(rows);
    const at = placer(shown, this.canvas.clientWidth);
    /** @type {Span | undefined} */
    let best;
    for (const span of this.spans(row.runId, shown)) {
      const from = at(span[1]);
      const to = Math.max(from + 3, at(span[2] ?? this.now()));
      if (x < from - 1 || x > to + 1) continue;
      if (!best || best[0] === "model" || best[0] === "queued") best = span;
    }
    return { row, span: best };
  }

  listen() {
    const { canvas } = this;
    const point = (/** @type {MouseEvent} */ event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointermove", (event) => this.moved(point(event)));
    canvas.addEventListener("pointerleave", () => this.explain(null, { x: 0, y: 0 }));
    canvas.addEventListener("pointerdown", (event) => {
      const { x, y } = point(event);
      canvas.setPointerCapture(event.pointerId);
      const shown = this.extent(lanes(this.model));
      this.drag = { kind: y < OVERVIEW ? "brush" : event.shiftKey ? "mark" : "pan", x, y, scrolled: this.scrolled, shown };
    });
    canvas.addEventListener("pointerup", (event) => {
      const { x, y } = point(event);
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag.x - x) < 3 && Math.abs(drag.y - y) < 3 && drag.kind !== "brush") {
        const hit = this.hit(x, y);
        if (hit) this.dispatch({ type: "reveal", run: hit.row.runId, at: hit.span?.[1] });
      }
    });
    canvas.addEventListener("wheel", (event) => this.wheel(event, point(event)), { passive: false });
    canvas.addEventListener("dblclick", () => this.fit());
  }

  /** @param {{x: number, y: number}} point */
  moved(point) {
    const drag = this.drag;
    if (!drag) return this.explain(this.hit(point.x, point.y) ?? null, point);
    const all = this.whole(lanes(this.model));
    const width = this.canvas.clientWidth;
    const scale = (/** @type {Extent} */ span) => (span.to - span.from) / (width - LEFT - RIGHT);
    if (drag.kind === "pan") {
      const by = (drag.x - point.x) * scale(drag.shown);
      // A finger has no wheel: it moves the lanes up and down with the time.
      this.scrolled = drag.scrolled + drag.y - point.y;
      this.draw();
      if (Math.abs(point.x - drag.x) > 2) this.show({ from: drag.shown.from + by, to: drag.shown.to + by });
      return;
    }
    const span = drag.kind === "brush" ? all : drag.shown;
    const t = (/** @type {number} */ x) => span.from + (x - LEFT) * scale(span);
    const [from, to] = [t(drag.x), t(point.x)].sort((a, b) => a - b);
    if (drag.kind === "mark") this.marked = { from, to };
    else if (to - from > 50) this.show({ from: Math.max(from, all.from), to: Math.min(to, all.to) });
    this.dispatch({ type: "redraw" });
    this.draw();
  }

  /** @param {WheelEvent} event @param {{x: number, y: number}} point */
  wheel(event, point) {
    const rows = lanes(this.model);
    const isZoom = event.ctrlKey || event.metaKey;
    if (!isZoom && event.deltaX === 0) {
      if (rows.length * LANE + TOP + 6 <= this.canvas.clientHeight) return;
      event.preventDefault();
      this.scrolled += event.deltaY;
      return this.draw();
    }
    event.preventDefault();
    const shown = this.extent(rows);
    const size = shown.to - shown.from;
    const width = this.canvas.clientWidth - LEFT - RIGHT;
    if (!isZoom) {
      const by = (event.deltaX / width) * size;
      return this.show({ from: shown.from + by, to: shown.to + by });
    }
    const part = (point.x - LEFT) / width;
    const wanted = Math.max(20, size * Math.exp(event.deltaY / 300));
    const from = shown.from + part * (size - wanted);
    this.show({ from, to: from + wanted });
  }

  /** Shows what is under the pointer. @param {{row: Row, span: Span | undefined} | null} hit
   * @param {{x: number, y: number}} point */
  explain(hit, point) {
    const { tip, canvas } = this;
    const span = hit?.span;
    tip.hidden = !span;
    if (!span || !hit) return;
    const [title, ...facts] = words(span, hit.row, this.now(), this.reason(hit.row, span));
    render(html`<b>${title[0]}</b><dl>${facts.map(([name, value, kind]) => html`<dt>${name}</dt><dd class=${kind ?? ""}>${value}</dd>`)}</dl>`, tip);
    tip.style.left = `${Math.max(4, Math.min(point.x + 14, canvas.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${canvas.offsetTop + point.y + 18}px`;
  }

  /** Returns why a call has failed, such as `exit 1`, if its transcript is read. @param {Row} row
   * @param {Span} span @returns {string | undefined} */
  reason(row, [, begin, , label, failed]) {
    const { opened } = this.model;
    if (!failed || opened?.run !== row.runId) return undefined;
    const found = [...opened.transcript.calls.values()].find(({ call }) => call?.begin === begin && call.title.startsWith(label));
    return found?.call?.words ?? undefined;
  }

  /** Says how long the marked time is and what it cost. @param {Row[]} rows */
  markedWords(rows) {
    const marked = /** @type {Extent} */ (this.marked);
    let dollars = 0;
    let number = 0;
    for (const row of rows) {
      for (const [, , end, , , usage] of this.spans(row.runId, marked)) {
        if (!usage || end === null || end < marked.from || end > marked.to) continue;
        dollars += usage[4] ?? 0;
        number += usage[0] + usage[1] + usage[2] + usage[3];
      }
    }
    const figures = cost(dollars) || (number > 0 ? `${number.toLocaleString("en-US")} tokens` : "");
    return [took(marked.to - marked.from), figures].filter(Boolean).join(" · ");
  }
}

/** Returns how high the lanes are on this screen. @param {Row[]} rows */
function heightOf(rows) {
  return Math.min(MOST_HEIGHT, window.innerHeight * (window.innerWidth < 760 ? 0.24 : 0.36), TOP + rows.length * LANE + 6);
}

/** Returns everything that decides how a scene looks. What is over stays as it is while the time goes
 * on. @param {import("./painter.js").Scene} scene @returns {any[]} */
function factsOf({ rows, width, height, all, shown, marked, scrolled, now, selected, spans, steered }) {
  const ofRun = (/** @type {Row} */ row) => [row, spans(row.runId, shown), spans(row.runId, shown).at(-1), steered(row.runId).length];
  const time = rows.every(isOver) ? 0 : now;
  return [width, height, window.devicePixelRatio, all.from, all.to, shown.from, shown.to, marked?.from, marked?.to, scrolled, selected, time, ...rows.flatMap(ofRun)];
}
