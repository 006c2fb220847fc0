// The frame around every page: the bar at the top, the line at the bottom, and what is shown above.

import { html, nothing } from "./lit-html.js";
import { costOf, count, tokens, totalTokens } from "./figures.js";
import { hasNoRuns } from "./invitation.js";
import { pages } from "./keys.js";
import { NAMES } from "./palette_state.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** How many letters of the path of a project are shown. */
const LONGEST_PATH = 24;

/** Draws a page in its frame. @param {Model} model @param {Dispatch} dispatch @param {any} content
 * @param {HTMLElement} dialog what is shown above the page */
export function framed(model, dispatch, content, dialog) {
  if (model.connection === "refused") {
    return html`<header class="bar"><span class="logo">pi<i>·</i>subagents</span></header>
      <main class="wide-page"><div class="page-head"><h1>This page is not open yet</h1></div>
      ${model.refusal ? html`<p>${model.refusal}</p>` : nothing}
      <p>Run <code>pi-subagents web --open</code>, or open the address that <code>pi-subagents web</code> prints in the terminal. Such an address opens one tab, once and within a minute; after that the tab stays open as long as you like.</p></main>
      <footer class="foot"></footer>`;
  }
  document.body.className = [`on-${model.page}`, model.isZoomed ? "zoomed" : "", model.review.isOpen || model.review.accepting ? "opened" : "", model.hasFigures ? "with-figures" : "", hasNoRuns(model) ? "bare" : "", model.silentSince === null ? "" : "silent"].join(" ");
  return html`${bar(model, dispatch)}${content}${foot(model)}${notice(model, dispatch)}${dialog}`;
}

/** Draws what has just happened, above every page. @param {Model} model @param {Dispatch} dispatch */
function notice(model, dispatch) {
  const { notice } = model;
  const close = () => dispatch({ type: "forgetNotice" });
  // The place is there before the words are: screen readers read what comes into it.
  return html`<div role="status">${notice ? html`<p class="notice above-all ${notice.isError ? "bad" : ""}"><span>${notice.text}</span>
    <button class="quiet" aria-label="Close" title="Close (Esc)" @click=${close}>×</button></p>` : nothing}</div>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
function bar(model, dispatch) {
  const isRecorded = model.connection === "recorded";
  const page = (/** @type {string} */ name) => html`<button aria-current=${model.page === name ? "page" : "false"}
    @click=${() => dispatch({ type: "page", page: name })}>${NAMES[name]}${name === "compare" && model.compared.size > 0 ? html` <span class="badge">${model.compared.size}</span>` : nothing}${name === "review" && model.review.count ? html` <span class="badge asks">${model.review.count}</span>` : nothing}</button>`;
  return html`<header class="bar"><span class="logo">pi<i>·</i>subagents</span>
    ${isRecorded ? nothing : projects(model, dispatch)}
    <nav aria-label="Pages">${pages(model).map((one) => page(one.page))}</nav>
    <span class="space"></span>${today(model)}${search(model, dispatch)}
    ${isRecorded ? nothing : html`<button class="share-button" @click=${() => dispatch({ type: "show", what: "share" })}>Share…</button>`}
    <button class="quiet" aria-label="Go to…" title="Go to a page, a run or words of a transcript (Ctrl K)" @click=${() => dispatch({ type: "show", what: "palette" })}>⌕</button>
    <button class="quiet" aria-label="Keys" title="Keys" @click=${() => dispatch({ type: "show", what: "keys" })}>?</button></header>`;
}

/** @param {Model} model */
function today({ today }) {
  if (!today || totalTokens(today.usage) === 0) return nothing;
  const spent = costOf(today) || `${tokens(totalTokens(today.usage))} tokens`;
  return html`<span class="today muted">today <b>${spent}</b></span>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
function search(model, dispatch) {
  const typed = (/** @type {InputEvent} */ event) => dispatch({ type: "words", words: /** @type {HTMLInputElement} */ (event.target).value });
  const submitted = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || !model.words.trim() || model.connection === "recorded") return;
    dispatch({ type: "searchHistory", words: model.words.trim(), state: "all" });
  };
  return html`<input id="search" type="search" .value=${model.words} placeholder="Search runs   /"
    aria-label="Show only runs with these words; Enter opens them in History" title="Enter opens them in History" @input=${typed} @keydown=${submitted}>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
function projects(model, dispatch) {
  const own = model.about?.project ?? "";
  const known = new Set([own, ...[...model.rows.values()].map((row) => row.project ?? "")].filter(Boolean));
  if (model.project) known.add(model.project);
  const change = (/** @type {Event} */ event) => dispatch({ type: "project", project: /** @type {HTMLSelectElement} */ (event.target).value || null });
  return html`<select aria-label="Project" @change=${change}><option value="" ?selected=${!model.project}>all projects</option>
    ${[...known].sort().map((path) => html`<option value=${path} title=${path} ?selected=${model.project === path}>${shortened(atHome(model, path))}</option>`)}</select>`;
}

/** Writes a path as a person at home does. @param {Model} model @param {string} path */
export function atHome(model, path) {
  const home = model.about?.home;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Leaves out the beginning of a long path: its end says which project it is. @param {string} path */
function shortened(path) {
  return path.length > LONGEST_PATH ? `…${path.slice(1 - LONGEST_PATH)}` : path;
}

/** @param {Model} model */
function foot(model) {
  const states = {
    opening: "connecting…",
    live: "live",
    waiting: "too many tabs are open; close one of the other five to update this one",
    lost: "the server cannot be reached; this page continues by itself when it is back",
    recorded: "a file: nothing here changes any more",
    refused: "",
  };
  const { about, totals } = model;
  const sums = totals ? [count(totals.runs, "run"), count(totals.toolCalls, "tool call"), `${tokens(totalTokens(totals.usage))} tokens`, costOf(totals)] : [];
  const isRecorded = model.connection === "recorded";
  return html`<footer class="foot"><span class="state ${model.connection}" role="status"><span class="dot" aria-hidden="true">●</span> ${states[model.connection]}</span>
    <span class="sums">${sums.filter(Boolean).join(" · ")}</span><span class="space"></span>
    ${about && !about.mayAct && !isRecorded ? html`<span>read-only</span>` : nothing}
    <span class="where">${isRecorded ? "" : location.host}</span><span>${about ? `v${about.version}` : ""}</span></footer>`;
}
