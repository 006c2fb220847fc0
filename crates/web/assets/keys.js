// The keys, which are those of attach where both can do the same.

import { html } from "./lit-html.js";
import { isOver } from "./figures.js";
import { PAGES } from "./model.js";
import { pressedInReview, REVIEW_KEYS } from "./review_keys.js";

/** @typedef {import("./model.js").Model} Model */

/** @type {[string, string][]} */
const KEYS = [
  ["j k, ↓ ↑", "select the run below or above"],
  ["Enter", "open the run, on a small screen"],
  ["[ ]", "select the tool call above or below"],
  ["Space", "open or close the selected tool call"],
  ["e", "open or close all tool calls"],
  ["g G", "go to the beginning or to the end"],
  ["PgUp PgDn", "scroll one page"],
  ["f", "follow: stay at the end as it grows, or stop following"],
  ["o", "read what the run answered, or go back"],
  ["d", "see what the run changed, or go back"],
  ["i", "see what the run was asked and did: model, tests, files; or go back"],
  ["s", "steer: say something to the run"],
  ["r", "continue a finished run with a new prompt"],
  ["x", "stop the run, after a question"],
  ["c", "compare the run with others"],
  ["y Y", "copy the id or the answer of the run"],
  ["Ctrl K", "go to a page, a run or words of a transcript, over all projects"],
  ["/", "show only runs with these words"],
  ["a", "show the runs of all projects, or of this one"],
  ["z", "show all of the timeline"],
  ["b", "show or hide the figures where there is no room for them"],
  ["0 … 5", "Needs you, Runs, History, Compare, Usage, Agents"],
  ["Esc", "go back one step"],
  ["?", "show or hide this help"],
];

/** What an exported file can show. */
const PAGES_OF_A_FILE = ["runs", "compare"];

/** Returns the pages that there are. Their keys are those of a page with a server, also in a file.
 * @param {Model} model @returns {{page: string, key: number}[]} */
export function pages(model) {
  const all = PAGES.map((page, place) => ({ page, key: place }));
  return model.connection === "recorded" ? all.filter(({ page }) => PAGES_OF_A_FILE.includes(page)) : all;
}

/** @param {(message: import("./model.js").Message) => void} dispatch */
export function help(dispatch) {
  return html`<div>
    <h2>Keys</h2><dl>${KEYS.map(([keys, does]) => html`<dt>${keys}</dt><dd>${does}</dd>`)}</dl>
    <h2>Under “Needs you”</h2><dl>${REVIEW_KEYS.map(([keys, does]) => html`<dt>${keys}</dt><dd>${does}</dd>`)}</dl>
    <p class="muted">On the timeline: drag moves, Ctrl and the wheel zoom, Shift and a drag mark a time, a double click shows all. ▼ is a message to the run, a red line under a call says that it failed, hatched is the time in the queue.</p>
    <div class="choice"><span class="space"></span><button class="quiet" @click=${() => dispatch({ type: "show", what: "keys" })}>Close</button></div></div>`;
}

/** Listens to the keys. @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
export function listen(model, dispatch) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k" && model.isBegun) {
      event.preventDefault();
      dispatch({ type: "show", what: "palette" });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // What is shown above the page has the keys.
    if (model.shown && event.key !== "Escape" && event.key !== "?") return;
    const isBox = target.matches("input[type=checkbox]");
    if (!isBox && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const isButton = (isBox || target.tagName === "BUTTON") && (event.key === "Enter" || event.key === " ");
    if (!isButton && pressed(event.key, model, dispatch)) event.preventDefault();
  });
}

/** Does what a key stands for, and returns whether it stands for anything. @param {string} key
 * @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch @returns {boolean} */
function pressed(key, model, dispatch) {
  const opened = model.opened;
  const row = opened ? (model.rows.get(opened.run) ?? opened.whole) : undefined;
  const place = model.listed.findIndex((one) => one.runId === model.selected);
  const to = (/** @type {number} */ by) => {
    const next = model.listed[Math.max(0, Math.min(model.listed.length - 1, place + by))];
    if (next) dispatch({ type: "select", run: next.runId, isStep: true });
  };
  const meant = pages(model).find((page) => String(page.key) === key);
  if (meant) {
    dispatch({ type: "page", page: meant.page });
    return true;
  }
  switch (key) {
    case "?":
      dispatch({ type: "show", what: "keys" });
      return true;
    case "Escape":
      escape(model, dispatch);
      return true;
    case "/":
      document.getElementById(model.page === "history" ? "search-history" : "search")?.focus();
      return true;
    case "a":
      if (model.page === "review") break;
      dispatch({ type: "project", project: model.project ? null : model.about?.project });
      return true;
  }
  if (model.page === "review") return pressedInReview(key, model, dispatch);
  if (model.page !== "runs") return false;
  switch (key) {
    case "j":
    case "ArrowDown":
      to(1);
      return true;
    case "k":
    case "ArrowUp":
      to(-1);
      return true;
    case "z":
      dispatch({ type: "fit" });
      return true;
    case "b":
      dispatch({ type: "figures", on: !model.hasFigures });
      return true;
  }
  if (!opened || !row) return false;
  switch (key) {
    case "Enter":
      dispatch({ type: "zoom", on: true });
      return true;
    case "[":
    case "]":
      dispatch({ type: "nextCall", by: key === "]" ? 1 : -1 });
      return true;
    case " ":
      if (opened.chosen) dispatch({ type: "toggle", key: opened.chosen });
      return true;
    case "e":
      dispatch({ type: "toggleAll" });
      return true;
    case "g":
    case "G":
      dispatch({ type: "toEnd", isEnd: key === "G" });
      return true;
    case "f":
      dispatch({ type: "follow", on: !opened.isFollowed });
      return true;
    case "o":
      dispatch({ type: "tab", tab: model.tab === "answer" ? "transcript" : "answer" });
      return true;
    case "d":
      dispatch({ type: "tab", tab: model.tab === "changes" ? "transcript" : "changes" });
      return true;
    case "i":
      dispatch({ type: "tab", tab: model.tab === "task" ? "transcript" : "task" });
      return true;
    case "PageUp":
    case "PageDown":
      scrollPage(key === "PageDown" ? 1 : -1);
      return true;
    case "s":
    case "r":
      if (isOver(row) === (key === "r")) document.getElementById("message")?.focus();
      return true;
    case "x":
      if (!isOver(row) && model.about?.mayAct) dispatch({ type: "ask", what: "stop" });
      return true;
    case "c":
      dispatch({ type: "compare", run: row.runId });
      return true;
    case "y":
    case "Y":
      dispatch({ type: "copy", what: key === "y" ? "id" : "answer" });
      return true;
    default:
      return false;
  }
}

/** Scrolls what is read by a page. @param {number} by */
function scrollPage(by) {
  const read = document.querySelector(".body .virtual, .body .page");
  read?.scrollBy({ top: by * read.clientHeight * 0.9 });
}

/** @param {Model} model @param {(message: import("./model.js").Message) => void} dispatch */
function escape(model, dispatch) {
  if (model.shown) dispatch({ type: "show", what: model.shown });
  else if (model.review.asked) dispatch({ type: "reviewAsk", asked: null });
  else if (model.asked) dispatch({ type: "ask", what: null });
  else if (model.hasFigures) dispatch({ type: "figures", on: false });
  else if (model.notice) dispatch({ type: "forgetNotice" });
  else if (model.page === "review" && model.review.beside) dispatch({ type: "reviewBeside", run: null });
  else if (model.page === "review" && model.review.isOpen) dispatch({ type: "reviewBack" });
  else if (model.page !== "runs") dispatch({ type: "page", page: "runs" });
  else if (model.tab !== "transcript") dispatch({ type: "tab", tab: "transcript" });
  else if (model.words) dispatch({ type: "words", words: "" });
  else dispatch({ type: "zoom", on: false });
}
