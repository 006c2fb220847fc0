// The palette: one field that leads to every page, every run and what was said in it, from anywhere.

import { html, nothing } from "./lit-html.js";
import { count, moment, present } from "./figures.js";
import { pages } from "./keys.js";
import { entriesOf } from "./palette_state.js";
import { mark, named, plainLine } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./palette_state.js").Entry} Entry */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @param {Model} model @param {Dispatch} dispatch */
export function palette(model, dispatch) {
  const entries = entriesOf(model, pages(model).map(({ page }) => page));
  const at = Math.max(0, Math.min(model.palette.at, entries.length - 1));
  const typed = (/** @type {InputEvent} */ event) => dispatch({ type: "paletteWords", words: /** @type {HTMLInputElement} */ (event.target).value });
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) move(entries.length, at + by, dispatch);
    else if (event.key === "Enter" && entries[at]) open(entries[at], dispatch);
    // A field for a search would only be emptied.
    else if (event.key === "Escape") dispatch({ type: "show", what: "palette" });
    else return;
    event.preventDefault();
  };
  return html`<div class="palette"><input id="palette" type="search" role="combobox" autofocus autocomplete="off" aria-expanded="true" aria-controls="places" aria-autocomplete="list"
      aria-activedescendant=${entries.length > 0 ? `place-${at}` : nothing} .value=${model.palette.words} aria-label="Go to a page, a run or words of a transcript" placeholder="Page, run, or words of a transcript" @input=${typed} @keydown=${pressed}>
    <ul id="places" role="listbox" aria-label="Places">${entries.map((entry, place) => html`<li id=${`place-${place}`} role="option" aria-selected=${place === at} @click=${() => open(entry, dispatch)}>${entryWords(entry, model)}</li>`)}</ul>
    <p class="muted" role="status">${state(entries, model)}</p></div>`;
}

/** @param {Entry} entry @param {Model} model */
function entryWords({ page, name, row }, model) {
  if (page || !row) return html`<b>${name}</b><span class="muted">page</span>`;
  const when = moment(Date.parse(row.acceptedAt), present(model));
  const words = row.hit ?? plainLine(row, row.task ?? row.doing ?? "");
  return html`${mark(row.status, false)}<b dir="auto">${named(row.name)}</b><span class="doing muted" dir="auto">${words}</span><span class="muted">${when}</span>`;
}

/** @param {Entry[]} entries @param {Model} model */
function state(entries, { palette }) {
  const words = palette.words.trim();
  if (!words) return "Type words of a name, a task, an answer or a transcript.";
  if (palette.found.words !== words || palette.found.isReading) return "Searching all runs and transcripts…";
  return entries.length === 0 ? `Nothing has “${words}”.` : `${count(entries.length, "place")} ↑ ↓ Enter`;
}

/** @param {number} length @param {number} at @param {Dispatch} dispatch */
function move(length, at, dispatch) {
  const place = Math.max(0, Math.min(length - 1, at));
  dispatch({ type: "paletteAt", at: place });
  requestAnimationFrame(() => document.getElementById(`place-${place}`)?.scrollIntoView({ block: "nearest" }));
}

/** @param {Entry} entry @param {Dispatch} dispatch */
function open({ page, row }, dispatch) {
  dispatch({ type: "show", what: "palette" });
  if (page) dispatch({ type: "page", page });
  else if (row) dispatch({ type: "open", run: row.runId });
}
