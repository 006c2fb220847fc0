// The lanes of the timeline as a table, for screen readers.

import { html, render } from "./lit-html.js";
import { isOver, present, took } from "./figures.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Span} Span */
/** @typedef {import("./model.js").Model} Model */

/** The kinds of work that runs spend their time on. */
export const KINDS = ["model", "read", "search", "edit", "shell", "other"];

export class LaneTable {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.element = document.createElement("div");
    this.element.className = "for-readers";
    /** @type {any[]} What the table was last drawn of. */
    this.drawn = [];
    /** @type {WeakMap<Span[], {facts: any[], cells: string[]}>} The cells of each lane, and what they
     * were made of. */
    this.made = new WeakMap();
  }

  /** Draws the table if something has happened in a lane. The time alone changes nothing: a lane
   * counts what goes on when it begins and when it ends. @param {Row[]} rows */
  draw(rows) {
    const facts = rows.flatMap((row) => [row.name, ...this.factsOf(row)]);
    if (isSame(facts, this.drawn)) return;
    this.drawn = facts;
    render(this.table(rows), this.element);
  }

  /** @param {Row[]} rows */
  table(rows) {
    return html`<table><caption>What each run spent its time on</caption>
      <thead><tr><th scope="col">run</th><th scope="col">state</th>${KINDS.map((kind) => html`<th scope="col">${kind}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr><th scope="row">${row.name}</th><td>${row.status}</td>${this.cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
  }

  /** Returns everything that decides what stands in the line of a run. @param {Row} row */
  factsOf(row) {
    const spans = this.model.lanes.get(row.runId)?.spans;
    return [row.status, spans, spans?.length, spans?.at(-1)];
  }

  /** Returns the time of each kind. A lane may have thousands of spans, so they are added up once.
   * @param {Row} row @returns {string[]} */
  cells(row) {
    const spans = this.model.lanes.get(row.runId)?.spans;
    if (!spans) return KINDS.map(() => "not read yet");
    const facts = this.factsOf(row);
    const before = this.made.get(spans);
    if (before && isSame(facts, before.facts)) return before.cells;
    const sums = this.sums(row, spans);
    const cells = KINDS.map((kind) => took(sums[kind] ?? 0));
    this.made.set(spans, { facts, cells });
    return cells;
  }

  /** @param {Row} row @param {Span[]} spans @returns {Record<string, number>} */
  sums(row, spans) {
    /** @type {Record<string, number>} */
    const sums = {};
    const end = isOver(row) && row.endedAt ? Date.parse(row.endedAt) : present(this.model);
    for (const [kind, begin, till] of spans) sums[kind] = (sums[kind] ?? 0) + ((till ?? end) - begin);
    return sums;
  }
}

/** @param {any[]} one @param {any[]} other */
function isSame(one, other) {
  return one.length === other.length && one.every((fact, place) => fact === other[place]);
}
