// What runs spent their time on: one lane per run, drawn on a canvas. An overview with a brush stands
// above the lanes; screen readers get a table.

import { html, nothing } from "./lit-html.js";
import { clock, extent, isOver, timeOfDay, took } from "./figures.js";
import { lanes } from "./model.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Span} Span */
/** @typedef {import("./model.js").Model} Model */

const LANE = 26;
const OVERVIEW = 22;
const AXIS = 20;
const TOP = OVERVIEW + AXIS;
const MOST_HEIGHT = 268;
const LEFT = 104;
const RIGHT = 16;

/** @type {[string, string][]} */
const KINDS = [
  ["model", "model"],
  ["read", "read"],
  ["search", "search"],
  ["edit", "edit"],
  ["shell", "shell"],
  ["other", "other"],
];

/** How far apart the ticks of the axis may be, in seconds. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];

export class Timeline {
  /** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
  constructor(model, dispatch) {
    this.model = model;
    this.dispatch = dispatch;
    /** @type {{from: number, to: number} | null} What is shown; null fits everything. */
    this.shown = null;
    /** @type {{from: number, to: number} | null} What a person has marked. */
    this.marked = null;
    this.scrolled = 0;
    /** @type {{x: number, y: number} | null} */
    this.pointer = null;
    /** @type {{kind: string, x: number, shown: {from: number, to: number}} | null} */
    this.drag = null;
    this.lastFleet = "";
    /** @type {Record<string, string>} */
    this.colours = {};
    this.canvas = document.createElement("canvas");
    this.canvas.className = "timeline";
    this.canvas.setAttribute("aria-hidden", "true");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  view() {
    const rows = lanes(this.model);
    if (rows.length === 0) return nothing;
    const marked = this.marked ? this.markedWords(rows) : "";
    return html`<section class="timeline-box" aria-label="Timeline">
      <div class="timeline-head"><b>Timeline</b>${KINDS.map(([kind, name]) => html`<span class="key-label"><i class=${`key ${kind}`}></i>${name}</span>`)}
        <span class="space"></span><span class="marked">${marked}</span>
        <button class="quiet" @click=${() => this.fit()}>fit</button></div>
      ${this.canvas}<div class="tip" id="tip" hidden></div>
      ${this.table(rows)}
    </section>`;
  }

  /** Draws the same for screen readers. @param {Row[]} rows */
  table(rows) {
    return html`<table class="for-readers"><caption>What each run spent its time on</caption>
      <tr><th>run</th><th>state</th>${KINDS.map(([, name]) => html`<th>${name}</th>`)}</tr>
      ${rows.map((row) => {
        const sums = this.sums(row.runId);
        return html`<tr><td>${row.name}</td><td>${row.status}</td>${KINDS.map(([kind]) => html`<td>${took(sums[kind] ?? 0)}</td>`)}</tr>`;
      })}</table>`;
  }

  /** Returns the time of each kind. @param {string} run @returns {Record<string, number>} */
  sums(run) {
    /** @type {Record<string, number>} */
    const sums = {};
    const now = this.now();
    for (const [kind, begin, end] of this.spans(run)) sums[kind] = (sums[kind] ?? 0) + ((end ?? now) - begin);
    return sums;
  }

  now() {
    return Date.now() + this.model.ahead;
  }

  /** @param {string} run @returns {Span[]} */
  spans(run) {
    return this.model.lanes.get(run)?.spans ?? [];
  }

  /** Returns the time from the first lane to the last. @param {Row[]} rows */
  whole(rows) {
    let from = Infinity;
    let to = -Infinity;
    for (const row of rows) {
      from = Math.min(from, Date.parse(row.acceptedAt));
      to = Math.max(to, extent(row).end ?? this.now());
    }
    const slack = Math.max(200, (to - from) * 0.02);
    return { from: from - slack, to: to + slack };
  }

  fit() {
    this.shown = null;
    this.marked = null;
    this.draw();
    this.dispatch({ type: "redraw" });
  }

  draw() {
    const rows = lanes(this.model);
    if (rows.length === 0 || !this.canvas.isConnected) return;
    const fleet = rows.map((row) => row.runId).join();
    if (fleet !== this.lastFleet) {
      this.lastFleet = fleet;
      this.shown = null;
      this.marked = null;
      this.scrolled = 0;
    }
    const height = Math.min(MOST_HEIGHT, TOP + rows.length * LANE + 6);
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.canvas.style.height = `${height}px`;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const pen = this.context;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.colours = colours(this.canvas);
    const all = this.whole(rows);
    const shown = this.shown ?? all;
    this.overview(pen, rows, all, shown, width);
    this.axis(pen, shown, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(0, TOP - 2, width, height - TOP + 2);
    pen.clip();
    this.scrolled = Math.max(0, Math.min(this.scrolled, rows.length * LANE + TOP + 6 - height));
    rows.forEach((row, place) => {
      const y = TOP + place * LANE - this.scrolled;
      if (y > -LANE && y < height) this.lane(pen, row, y, shown, width);
    });
    this.cursor(pen, rows, shown, width, height);
    pen.restore();
  }

  /** @param {CanvasRenderingContext2D} pen @param {Row[]} rows @param {{from: number, to: number}} all
   * @param {{from: number, to: number}} shown @param {number} width */
  overview(pen, rows, all, shown, width) {
    const { line, accent, faint } = this.colours;
    const at = placer(all, width);
    pen.fillStyle = line;
    pen.fillRect(LEFT, 3, width - LEFT - RIGHT, OVERVIEW - 6);
    const room = (OVERVIEW - 8) / rows.length;
    rows.forEach((row, place) => {
      let last = -1;
      for (const [kind, begin, end, , failed] of this.spans(row.runId)) {
        const from = at(begin);
        const to = Math.max(from + 1, at(end ?? this.now()));
        if (to - last < 1) continue;
        last = to;
        pen.fillStyle = failed ? this.colours.bad : (this.colours[kind] ?? faint);
        pen.globalAlpha = kind === "model" ? 0.5 : 0.95;
        pen.fillRect(from, 4 + place * room, to - from, Math.max(1, room - 0.4));
      }
    });
    pen.globalAlpha = 1;
    pen.strokeStyle = accent;
    pen.strokeRect(at(shown.from) + 0.5, 2.5, Math.max(3, at(shown.to) - at(shown.from) - 1), OVERVIEW - 5);
    pen.fillStyle = faint;
    pen.font = font(10.5);
    pen.textBaseline = "middle";
    pen.fillText(`all ${clock(all.to - all.from)}`, 12, OVERVIEW / 2);
  }

  /** @param {CanvasRenderingContext2D} pen @param {{from: number, to: number}} shown @param {number} width
   * @param {number} height */
  axis(pen, shown, width, height) {
    const { line, faint } = this.colours;
    const at = placer(shown, width);
    const seconds = (shown.to - shown.from) / 1000;
    const step = (STEPS.find((step) => ((width - LEFT - RIGHT) * step) / seconds > 84) ?? seconds) * 1000;
    pen.font = font(10.5);
    pen.textBaseline = "middle";
    for (let t = Math.ceil(shown.from / step) * step; t < shown.to; t += step) {
      const x = Math.round(at(t)) + 0.5;
      pen.strokeStyle = line;
      pen.beginPath();
      pen.moveTo(x, OVERVIEW + 4);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = faint;
      const text = step < 1000 ? `${timeOfDay(t)}.${String(Math.floor(t % 1000)).padStart(3, "0").slice(0, 1)}` : timeOfDay(t);
      if (x + 60 < width) pen.fillText(text, x + 4, OVERVIEW + AXIS / 2);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Row} row @param {number} y
   * @param {{from: number, to: number}} shown @param {number} width */
  lane(pen, row, y, shown, width) {
    const { text, muted, chosen, accent, ok, bad } = this.colours;
    const at = placer(shown, width);
    const isSelected = this.model.selected === row.runId;
    if (isSelected) {
      pen.fillStyle = chosen;
      pen.fillRect(0, y, width, LANE);
    }
    pen.font = font(12, isSelected ? 600 : 400);
    pen.textBaseline = "middle";
    pen.fillStyle = isSelected ? text : muted;
    pen.fillText(fitted(pen, row.name, LEFT - 22), 12, y + LANE / 2);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, y, width - LEFT, LANE);
    pen.clip();
    this.blocks(pen, row, y, at, width);
    const end = extent(row).end;
    if (isOver(row) && end !== undefined) {
      pen.font = font(12, 600);
      pen.fillStyle = row.status === "completed" ? ok : bad;
      pen.fillText(row.status === "completed" ? "✓" : row.status === "failed" ? "✗" : "■", at(end) + 3, y + LANE / 2);
    }
    for (const t of this.model.lanes.get(row.runId)?.steered ?? []) {
      pen.fillStyle = accent;
      pen.beginPath();
      pen.moveTo(at(t) - 4, y + 1);
      pen.lineTo(at(t) + 4, y + 1);
      pen.lineTo(at(t), y + 7);
      pen.fill();
    }
    pen.restore();
  }

  /** @param {CanvasRenderingContext2D} pen @param {Row} row @param {number} y
   * @param {(t: number) => number} at @param {number} width */
  blocks(pen, row, y, at, width) {
    const now = this.now();
    const middle = y + LANE / 2;
    let last = -1;
    let lastKind = "";
    pen.font = font(10.5, 400, true);
    for (const [kind, begin, end, label, failed] of this.spans(row.runId)) {
      const from = at(begin);
      const to = at(end ?? now);
      if (to < LEFT || from > width) continue;
      const isThin = kind === "model" || kind === "queued";
      // Spans of one pixel that lie on each other are drawn once.
      if (to - from < 1 && Math.floor(to) === last && kind === lastKind && !failed) continue;
      last = Math.floor(to);
      lastKind = kind;
      const size = Math.max(isThin ? 0.5 : 2, to - from - (isThin ? 0 : 1));
      if (kind === "queued") {
        this.hatch(pen, from, middle - 4, size, 8);
        continue;
      }
      pen.fillStyle = this.colours[kind] ?? this.colours.other;
      if (isThin) {
        pen.globalAlpha = 0.75;
        pen.fillRect(from, middle - 3, size, 6);
        pen.globalAlpha = 1;
        continue;
      }
      pen.beginPath();
      pen.roundRect(from, middle - 9, size, 18, Math.min(3, size / 2));
      pen.fill();
      if (failed) {
        pen.fillStyle = this.colours.bad;
        pen.fillRect(from, middle + 9, size, 2.5);
      }
      if (size > 34 && label) {
        pen.fillStyle = this.colours.onBlock;
        const words = fitted(pen, label.replace(/^\$ |^bash → /, ""), size - 8);
        if (words.length > 2) pen.fillText(words, Math.max(from, LEFT) + 4, middle + 0.5);
      }
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} h */
  hatch(pen, x, y, w, h) {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, w, h);
    pen.clip();
    pen.fillStyle = this.colours.line;
    pen.fillRect(x, y, w, h);
    pen.strokeStyle = this.colours.faint;
    pen.globalAlpha = 0.6;
    const begin = Math.max(x - h, LEFT - h);
    for (let place = begin; place < Math.min(x + w, LEFT + 4000); place += 6) {
      pen.beginPath();
      pen.moveTo(place, y + h);
      pen.lineTo(place + h, y);
      pen.stroke();
    }
    pen.restore();
  }

  /** Draws what is marked, the moment under the pointer, and now. @param {CanvasRenderingContext2D} pen
   * @param {Row[]} rows @param {{from: number, to: number}} shown @param {number} width @param {number} height */
  cursor(pen, rows, shown, width, height) {
    const at = placer(shown, width);
    if (this.marked) {
      pen.fillStyle = this.colours.accent;
      pen.globalAlpha = 0.14;
      pen.fillRect(at(this.marked.from), TOP - 2, at(this.marked.to) - at(this.marked.from), height);
      pen.globalAlpha = 1;
    }
    if (rows.some((row) => !isOver(row))) {
      pen.strokeStyle = this.colours.bad;
      pen.globalAlpha = 0.8;
      pen.beginPath();
      pen.moveTo(at(this.now()) + 0.5, TOP - 2);
      pen.lineTo(at(this.now()) + 0.5, height);
      pen.stroke();
      pen.globalAlpha = 1;
    }
  }

  /** Returns the run and the span at a point. @param {number} x @param {number} y
   * @returns {{row: Row, span: Span | undefined} | undefined} */
  hit(x, y) {
    const rows = lanes(this.model);
    if (y < TOP) return undefined;
    const row = rows[Math.floor((y - TOP + this.scrolled) / LANE)];
    if (!row) return undefined;
    if (x < LEFT) return { row, span: undefined };
    const at = placer(this.shown ?? this.whole(rows), this.canvas.clientWidth);
    /** @type {Span | undefined} */
    let best;
    for (const span of this.spans(row.runId)) {
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
    canvas.addEventListener("pointerleave", () => this.tip(null, { x: 0, y: 0 }));
    canvas.addEventListener("pointerdown", (event) => {
      const { x, y } = point(event);
      canvas.setPointerCapture(event.pointerId);
      const rows = lanes(this.model);
      const shown = this.shown ?? this.whole(rows);
      const kind = y < OVERVIEW ? "brush" : event.shiftKey ? "mark" : "pan";
      this.drag = { kind, x, shown };
    });
    canvas.addEventListener("pointerup", (event) => {
      const { x, y } = point(event);
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag.x - x) < 3 && drag.kind !== "brush") {
        const hit = this.hit(x, y);
        if (hit) this.dispatch({ type: "reveal", run: hit.row.runId, at: hit.span?.[1], label: hit.span?.[3] });
      }
    });
    canvas.addEventListener("wheel", (event) => this.wheel(event, point(event)), { passive: false });
    canvas.addEventListener("dblclick", () => this.fit());
  }

  /** @param {{x: number, y: number}} point */
  moved(point) {
    const rows = lanes(this.model);
    const all = this.whole(rows);
    const width = this.canvas.clientWidth;
    const drag = this.drag;
    if (!drag) return this.tip(this.hit(point.x, point.y) ?? null, point);
    const scale = (/** @type {{from: number, to: number}} */ span) => (span.to - span.from) / (width - LEFT - RIGHT);
    if (drag.kind === "pan") {
      const by = (drag.x - point.x) * scale(drag.shown);
      if (Math.abs(point.x - drag.x) > 2) this.shown = { from: drag.shown.from + by, to: drag.shown.to + by };
    } else {
      const span = drag.kind === "brush" ? all : drag.shown;
      const t = (/** @type {number} */ x) => span.from + (x - LEFT) * scale(span);
      const [from, to] = [t(drag.x), t(point.x)].sort((a, b) => a - b);
      if (drag.kind === "mark") this.marked = { from, to };
      else if (to - from > 50) this.shown = { from: Math.max(from, all.from), to: Math.min(to, all.to) };
      this.dispatch({ type: "redraw" });
    }
    this.draw();
  }

  /** @param {WheelEvent} event @param {{x: number, y: number}} point */
  wheel(event, point) {
    const rows = lanes(this.model);
    if (!event.ctrlKey && !event.metaKey && event.deltaX === 0) {
      const room = rows.length * LANE + TOP + 6 - this.canvas.clientHeight;
      if (room <= 0) return;
      event.preventDefault();
      this.scrolled += event.deltaY;
      return this.draw();
    }
    event.preventDefault();
    const shown = this.shown ?? this.whole(rows);
    const width = this.canvas.clientWidth - LEFT - RIGHT;
    if (event.deltaX !== 0 && !event.ctrlKey) {
      const by = (event.deltaX / width) * (shown.to - shown.from);
      this.shown = { from: shown.from + by, to: shown.to + by };
      return this.draw();
    }
    const under = shown.from + ((point.x - LEFT) / width) * (shown.to - shown.from);
    const factor = Math.exp(event.deltaY / 300);
    const size = Math.max(20, (shown.to - shown.from) * factor);
    const left = ((under - shown.from) / (shown.to - shown.from)) * size;
    this.shown = { from: under - left, to: under - left + size };
    this.draw();
  }

  /** Shows what is under the pointer. @param {{row: Row, span: Span | undefined} | null} hit
   * @param {{x: number, y: number}} point */
  tip(hit, point) {
    const tip = document.getElementById("tip");
    if (!tip) return;
    const span = hit?.span;
    tip.hidden = !span;
    if (!span || !hit) return;
    const now = this.now();
    const time = (span[2] ?? now) - span[1];
    const { begin, end = now } = extent(hit.row);
    const share = Math.round((time / Math.max(1, end - begin)) * 100);
    const lines = [
      span[3] || span[0],
      `${hit.row.name} · ${timeOfDay(span[1])}`,
      `${span[2] === null ? "goes on for" : "took"} ${took(time)}${span[0] === "queued" ? "" : ` · ${share} % of the run`}`,
      span[4] ? "failed" : "",
    ].filter(Boolean);
    tip.replaceChildren(...lines.map((line, place) => {
      const part = document.createElement(place === 0 ? "b" : "div");
      part.textContent = line;
      return part;
    }));
    const width = this.canvas.clientWidth;
    tip.style.left = `${Math.min(point.x + 12, width - 290)}px`;
    tip.style.top = `${point.y + 52}px`;
  }

  /** Says how long the marked time is and what it cost. @param {Row[]} rows */
  markedWords(rows) {
    const marked = /** @type {{from: number, to: number}} */ (this.marked);
    let dollars = 0;
    let number = 0;
    for (const row of rows) {
      for (const [, , end, , , usage] of this.spans(row.runId)) {
        if (!usage || end === null || end < marked.from || end > marked.to) continue;
        dollars += usage[4] ?? 0;
        number += usage[0] + usage[1] + usage[2] + usage[3];
      }
    }
    const figures = dollars > 0 ? `$${dollars.toFixed(2)}` : number > 0 ? `${number.toLocaleString("en-US")} tokens` : "";
    return [took(marked.to - marked.from), figures].filter(Boolean).join(" · ");
  }
}

/** @param {{from: number, to: number}} shown @param {number} width @returns {(t: number) => number} */
function placer(shown, width) {
  const scale = (width - LEFT - RIGHT) / (shown.to - shown.from);
  return (t) => LEFT + (t - shown.from) * scale;
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {number} room */
function fitted(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const letters = Math.floor((text.length * room) / pen.measureText(text).width) - 1;
  return letters > 0 ? `${text.slice(0, letters)}…` : "";
}

/** @param {number} size @param {number} [weight] @param {boolean} [isMono] */
function font(size, weight = 400, isMono = false) {
  return `${weight} ${size}px ${isMono ? "ui-monospace, Menlo, Consolas, monospace" : "Inter, system-ui, sans-serif"}`;
}

/** Reads the colours of the page. @param {Element} element @returns {Record<string, string>} */
function colours(element) {
  const style = getComputedStyle(element);
  const names = ["text", "muted", "faint", "line", "accent", "ok", "bad", "chosen", "model", "read", "search", "edit", "shell", "other"];
  const found = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--paint-${name}`).trim()]));
  found.onBlock = style.getPropertyValue("--paint-on-block").trim();
  return found;
}
