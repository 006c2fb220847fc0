// What a run has changed: exactly, as git knows it for a run with a worktree of its own; else what
// edit and write did.

import { html, nothing } from "./lit-html.js";
import { changedLines } from "./fold.js";
import { count, timeOfDay } from "./figures.js";
import { hasOwnChanges, isLock } from "./open_run.js";
import { changes as diff } from "./code.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./open_run.js").Opened} Opened */
/** @typedef {import("./transcript.js").Transcript} Transcript */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** Longer changes of one file stay folded. */
const LONGEST_PATCH = 400;

/** @param {Row} row @param {Opened} opened @param {Transcript} transcript @param {Dispatch} dispatch */
export function changes(row, opened, transcript, dispatch) {
  return hasOwnChanges(row) ? exact(row, opened, dispatch) : ofCalls(opened, transcript, dispatch);
}

/** @param {Row} row @param {Opened} opened @param {Dispatch} dispatch */
function exact(row, opened, dispatch) {
  const found = opened.changes;
  if (!found) return html`<p class="empty">Asking git…</p>`;
  const state = row.workspace?.state === "merged" || found.merged ? "merged" : row.workspace?.state === "discarded" ? "discarded" : "not merged yet";
  const lines = (/** @type {"added" | "removed"} */ side) => found.files.reduce((sum, file) => sum + (file[side] ?? 0), 0);
  return html`<div class="page"><p class="muted">${count(found.files.length, "file")} <span class="plus">+${lines("added")}</span> <span class="minus">−${lines("removed")}</span>
      ${row.workspace?.branch ? html`on <code>${row.workspace.branch}</code>, ` : nothing}${state}</p>
    ${found.files.length > 1 ? contents(found.files) : nothing}
    ${found.files.map((file) => patch(file, opened, dispatch))}</div>`;
}

/** Lists the files, each of which leads to its changes. @param {import("./types.js").ChangedFile[]} files */
function contents(files) {
  const go = (/** @type {string} */ path) => document.getElementById(`file ${path}`)?.scrollIntoView({ block: "start" });
  return html`<nav class="contents" aria-label="Files">${files.map(
    (file) => html`<button class="link" @click=${() => go(file.path)}><span>${file.path}</span> ${figures(file.added, file.removed)}</button>`,
  )}</nav>`;
}

/** @param {import("./types.js").ChangedFile} file @param {Opened} opened @param {Dispatch} dispatch */
function patch(file, opened, dispatch) {
  const key = `patch ${file.path}`;
  const isLong = (file.patch ?? "").split("\n").length > LONGEST_PATCH || isLock(file.path);
  const isOpen = opened.open.has(key) !== !isLong;
  const from = file.from ? html` <span class="muted">from ${file.from}</span>` : nothing;
  const lines = file.patch === undefined ? "" : changedPart(file.patch);
  const why = file.added === undefined ? "a binary file" : file.patch === undefined ? "too long to show" : "no line has changed";
  const body = lines ? diff(lines) : html`<pre class="muted">${why}</pre>`;
  return html`<div class="call" id=${`file ${file.path}`}><button class="fold" aria-expanded=${isOpen} @click=${() => dispatch({ type: "toggle", key })}>
      <span class="kind edit"></span><span class="title">${file.path}${from}</span> <span class="muted">${file.status}</span>
      <span class="space"></span>${figures(file.added, file.removed, file.mode)}</button>${isOpen ? body : nothing}</div>`;
}

/** Leaves out the head of a patch: the line above says it shorter. @param {string} patch */
function changedPart(patch) {
  const begin = patch.indexOf("\n@@");
  return begin < 0 ? "" : patch.slice(begin + 1);
}

/** @param {number | undefined} added @param {number | undefined} removed @param {string} [mode] */
function figures(added, removed, mode) {
  return html`${mode ? html`<span class="muted">mode ${mode}</span> ` : nothing}${added ? html`<span class="plus">+${added}</span> ` : nothing}${removed ? html`<span class="minus">−${removed}</span>` : nothing}`;
}

/** @param {Opened} opened @param {Transcript} transcript @param {Dispatch} dispatch */
function ofCalls(opened, transcript, dispatch) {
  const files = [...opened.transcript.files];
  if (files.length === 0) return html`<p class="empty">No tool has changed a file with edit or write.</p>`;
  return html`<div class="page">
    <p class="muted">What edit and write did. A command may have changed more; a run with a worktree of its own shows all of it here.</p>
    ${files.map(([path, file]) => {
      const { added, removed } = changedLines(file);
      return html`<h2 class="file">${path} ${figures(added, removed)}</h2>${file.items.map((item) => change(item, opened, transcript, dispatch))}`;
    })}</div>`;
}

/** @param {Item} item @param {Opened} opened @param {Transcript} transcript @param {Dispatch} dispatch */
function change(item, opened, transcript, dispatch) {
  const call = /** @type {import("./types.js").Call} */ (item.call);
  const toggle = () => dispatch({ type: "toggle", key: item.key });
  if (!opened.open.has(item.key)) return html`<button class="fold" @click=${toggle}>${timeOfDay(item.t)} ${call.title} — show</button>`;
  return html`<div class="call">${transcript.inside(item, call)}</div>`;
}
