// Paints the lanes of the timeline on a canvas. What is smaller than a pixel is painted once.

import { clock, extent, isOver } from "./figures.js";
import { AXIS, LANE, LEFT, OVERVIEW, placer, RIGHT, ticks, TOP } from "./scale.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Span} Span */
/** @typedef {import("./scale.js").Extent} Extent */

/**
 * @typedef {object} Scene What is painted.
 * @property {Row[]} rows
 * @property {Extent} all
 * @property {Extent} shown
 * @property {Extent | null} marked
 * @property {number} scrolled
 * @property {number} width
 * @property {number} height
 * @property {number} now
 * @property {string | null} selected
 * @property {(run: string, shown?: Extent) => Span[]} spans
 * @property {(run: string) => number[]} steered
 */

export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Record<string, string> | null} The colours of the page, once they were asked for. */
    this.known = null;
  }

  get colours() {
    // To ask for them makes the browser find the styles of the whole page, so they are kept.
    this.known ??= colours(this.canvas);
    return this.known;
  }

  /** Asks for the colours again, because the page has others now. */
  forgetColours() {
    this.known = null;
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { pen, canvas } = this;
    const { width, height, rows, shown } = scene;
    const ratio = window.devicePixelRatio || 1;
    const size = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.overview(scene);
    this.axis(scene);
    pen.save();
    pen.beginPath();
    pen.rect(0, TOP - 2, width, height - TOP + 2);
    pen.clip();
    rows.forEach((row, place) => {
      const y = TOP + place * LANE - scene.scrolled;
      if (y > -LANE && y < height) this.lane(scene, row, y, placer(shown, width));
    });
    this.cursor(scene);
    pen.restore();
    this.thumb(scene);
  }

  /** Paints a scroll bar if there are more lanes than fit. @param {Scene} scene */
  thumb({ rows, width, height, scrolled }) {
    const { pen } = this;
    const [room, all] = [height - TOP - 6, rows.length * LANE];
    if (all <= room) return;
    pen.fillStyle = this.colours.faint;
    pen.globalAlpha = 0.6;
    pen.beginPath();
    pen.roundRect(width - 6, TOP + (scrolled / all) * room, 4, (room / all) * room, 2);
    pen.fill();
    pen.globalAlpha = 1;
  }

  /** @param {Scene} scene */
  overview({ rows, all, shown, width, now, spans }) {
    const { pen } = this;
    const { line, accent, faint, bad } = this.colours;
    const at = placer(all, width);
    pen.fillStyle = line;
    pen.fillRect(LEFT, 3, width - LEFT - RIGHT, OVERVIEW - 6);
    const room = (OVERVIEW - 8) / rows.length;
    rows.forEach((row, place) => {
      let last = -1;
      for (const [kind, begin, end, , failed] of spans(row.runId)) {
        const from = at(begin);
        const to = Math.max(from + 1, at(end ?? now));
        if (to - last < 1) continue;
        last = to;
        pen.fillStyle = failed ? bad : (this.colours[kind] ?? faint);
        pen.globalAlpha = kind === "model" ? 0.5 : 0.95;
        pen.fillRect(from, 4 + place * room, to - from, Math.max(1, room - 0.4));
      }
    });
    pen.globalAlpha = 1;
    const [left, right] = [Math.max(LEFT, at(shown.from)), Math.min(width - RIGHT, at(shown.to))];
    pen.fillStyle = accent;
    pen.globalAlpha = 0.08;
    pen.fillRect(left, 3, right - left, OVERVIEW - 6);
    pen.globalAlpha = 1;
    pen.strokeStyle = accent;
    pen.strokeRect(left + 0.5, 2.5, Math.max(3, right - left - 1), OVERVIEW - 5);
    pen.fillStyle = faint;
    pen.font = font(10.5);
    pen.textBaseline = "middle";
    pen.fillText(`all ${clock(all.to - all.from)}`, 14, OVERVIEW / 2);
  }

  /** @param {Scene} scene */
  axis({ shown, width, height }) {
    const { pen } = this;
    const { line, faint } = this.colours;
    const at = placer(shown, width);
    pen.font = font(10.5);
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    for (const [t, words] of ticks(shown, width)) {
      const x = Math.round(at(t)) + 0.5;
      pen.strokeStyle = line;
      pen.beginPath();
      pen.moveTo(x, OVERVIEW + AXIS - 2);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = faint;
      if (x - 26 > LEFT - 20 && x + 34 < width) pen.fillText(words, x, OVERVIEW + AXIS / 2);
    }
    pen.textAlign = "start";
  }

  /** @param {Scene} scene @param {Row} row @param {number} y @param {(t: number) => number} at */
  lane(scene, row, y, at) {
    const { pen } = this;
    const { text, muted, chosen, accent, ok, bad } = this.colours;
    const isSelected = scene.selected === row.runId;
    if (isSelected) {
      pen.fillStyle = chosen;
      pen.fillRect(0, y, scene.width, LANE);
    }
    pen.font = font(12, isSelected ? 600 : 400);
    pen.textBaseline = "middle";
    pen.fillStyle = isSelected ? text : muted;
    pen.fillText(fitted(pen, row.name, LEFT - 26), 14, y + LANE / 2);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, y, scene.width - LEFT, LANE);
    pen.clip();
    this.blocks(scene, row, y, at);
    const end = extent(row).end;
    if (isOver(row) && end !== undefined) {
      pen.font = font(12, 600);
      pen.fillStyle = row.status === "completed" ? ok : bad;
      pen.fillText(row.status === "completed" ? "✓" : row.status === "failed" ? "✗" : "■", at(end) + 5, y + LANE / 2);
    }
    for (const t of scene.steered(row.runId)) {
      pen.fillStyle = accent;
      pen.beginPath();
      pen.moveTo(at(t) - 5, y + 1);
      pen.lineTo(at(t) + 5, y + 1);
      pen.lineTo(at(t), y + 8);
      pen.fill();
    }
    pen.restore();
    this.beyond(scene, row, y);
  }

  /** Paints an arrow where a lane goes beyond the time that is shown. @param {Scene} scene @param {Row} row
   * @param {number} y */
  beyond({ shown, width, now }, row, y) {
    const { pen } = this;
    pen.font = font(11, 600);
    pen.fillStyle = this.colours.muted;
    if (Date.parse(row.acceptedAt) < shown.from) pen.fillText("◂", LEFT - 11, y + LANE / 2);
    if ((extent(row).end ?? now) > shown.to) pen.fillText("▸", width - RIGHT + 8, y + LANE / 2);
  }

  /** @param {Scene} scene @param {Row} row @param {number} y @param {(t: number) => number} at */
  blocks(scene, row, y, at) {
    const { pen } = this;
    const middle = y + LANE / 2;
    let last = -1;
    let lastKind = "";
    for (const [kind, begin, end, label, failed] of scene.spans(row.runId, scene.shown)) {
      const from = at(begin);
      const to = at(end ?? scene.now);
      if (to < LEFT || from > scene.width) continue;
      // Spans of one pixel that lie on each other are painted once.
      if (to - from < 1 && Math.floor(to) === last && kind === lastKind && !failed) continue;
      last = Math.floor(to);
      lastKind = kind;
      const isOn = end === null;
      if (kind === "queued") this.queued(from, middle, to - from);
      else if (kind === "model") this.thin(from, middle, to, isOn);
      else this.call(from, middle, to, isOn, kind, label, failed !== 0);
    }
  }

  /** Paints the time of the model as a line. @param {number} from @param {number} middle
   * @param {number} to @param {boolean} isOn */
  thin(from, middle, to, isOn) {
    const { pen } = this;
    pen.fillStyle = isOn ? this.fading(from, to, this.colours.model) : this.colours.model;
    pen.fillRect(from, middle - 3, Math.max(0.5, to - from), 6);
  }

  /** @param {number} from @param {number} middle @param {number} to @param {boolean} isOn
   * @param {string} kind @param {string} label @param {boolean} isFailed */
  call(from, middle, to, isOn, kind, label, isFailed) {
    const { pen } = this;
    const colour = this.colours[kind] ?? this.colours.other;
    const size = Math.max(2.5, to - from - 1);
    pen.fillStyle = isOn ? this.fading(from, from + size, colour) : colour;
    pen.beginPath();
    pen.roundRect(from, middle - 9, size, 18, Math.min(3, size / 2));
    pen.fill();
    if (isFailed) {
      pen.fillStyle = this.colours.bad;
      pen.fillRect(from, middle + 8, size, 3);
    }
    const left = Math.max(from, LEFT);
    const room = from + size - left - 10;
    if (room < 26 || !label) return;
    pen.font = font(10.5, 400, true);
    pen.fillStyle = this.colours.onBlock;
    const words = fitted(pen, label.replace(/^\w+ → /, ""), room);
    if (words.length > 2) pen.fillText(words, left + 5, middle + 0.5);
  }

  /** Returns a colour that ends in nothing: what goes on has no end yet. @param {number} from
   * @param {number} to @param {string} colour */
  fading(from, to, colour) {
    const fade = this.pen.createLinearGradient(Math.max(from, to - 26), 0, to, 0);
    fade.addColorStop(0, colour);
    // Nothing of the same colour: "transparent" would be grey on its way there.
    fade.addColorStop(1, colour.startsWith("rgb(") ? colour.replace("rgb(", "rgba(").replace(")", ", 0)") : colour);
    return fade;
  }

  /** @param {number} x @param {number} middle @param {number} w */
  queued(x, middle, w) {
    const { pen } = this;
    const [y, h] = [middle - 3, 6];
    pen.save();
    pen.beginPath();
    pen.rect(x, y, w, h);
    pen.clip();
    pen.fillStyle = this.colours.line;
    pen.fillRect(x, y, w, h);
    pen.strokeStyle = this.colours.faint;
    pen.globalAlpha = 0.6;
    // All strokes at once: one by one they take most of the time of a frame.
    pen.beginPath();
    const last = Math.min(x + w, this.canvas.width);
    for (let place = Math.max(x - h, LEFT - h); place < last; place += 5) {
      pen.moveTo(place, y + h);
      pen.lineTo(place + h, y);
    }
    pen.stroke();
    pen.restore();
    if (w < 52) return;
    pen.font = font(9.5);
    pen.fillStyle = this.colours.faint;
    pen.fillText("queued", Math.max(x, LEFT) + 2, middle - 8.5);
  }

  /** Paints what is marked, and now. @param {Scene} scene */
  cursor({ rows, shown, marked, width, height, now }) {
    const { pen } = this;
    const at = placer(shown, width);
    if (marked) {
      pen.fillStyle = this.colours.accent;
      pen.globalAlpha = 0.14;
      pen.fillRect(at(marked.from), TOP - 2, at(marked.to) - at(marked.from), height);
      pen.globalAlpha = 1;
    }
    if (!rows.some((row) => !isOver(row))) return;
    pen.strokeStyle = this.colours.bad;
    pen.globalAlpha = 0.8;
    pen.beginPath();
    pen.moveTo(at(now) + 0.5, TOP - 2);
    pen.lineTo(at(now) + 0.5, height);
    pen.stroke();
    pen.globalAlpha = 1;
  }
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {number} room */
function fitted(pen, text, room) {
  const width = pen.measureText(text).width;
  if (width <= room) return text;
  const letters = Math.floor((text.length * room) / width) - 1;
  return letters > 0 ? `${text.slice(0, letters)}…` : "";
}

/** @param {number} size @param {number} [weight] @param {boolean} [isMono] */
function font(size, weight = 400, isMono = false) {
  const family = isMono ? '"JetBrains Mono", ui-monospace, Menlo, Consolas, monospace' : "Inter, ui-sans-serif, system-ui, sans-serif";
  return `${weight} ${size}px ${family}`;
}

/** Reads the colours of the page. @param {Element} element @returns {Record<string, string>} */
function colours(element) {
  const style = getComputedStyle(element);
  const names = ["text", "muted", "faint", "line", "accent", "ok", "bad", "chosen", "model", "read", "search", "edit", "shell", "other"];
  const found = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--paint-${name}`).trim()]));
  found.onBlock = style.getPropertyValue("--paint-on-block").trim();
  return found;
}
