// The files of a result: each with its difference, the numbers of its lines, and comments on them.

import { html, nothing } from "./lit-html.js";
import { inColours, markChanged } from "./code.js";
import { count } from "./figures.js";
import { commentsOn, fileKey, isShown } from "./review.js";
import { partsAt, takenOf } from "./review_parts.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./types.js").Comment} Comment */
/** @typedef {import("./code.js").Line} Line */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @type {Record<string, string>} */
const SIGNS = { add: "+", del: "−" };

/** Returns the id of the card of a file. @param {string} run @param {number} place */
const cardId = (run, place) => `file ${run} ${place}`;

/** Draws the files of a result as cards. @param {Model} model @param {string} run @param {any[]} files
 * @param {Dispatch} dispatch @param {(file: any) => boolean} [fits] the files that are shown */
export function cards(model, run, files, dispatch, fits = () => true) {
  const shown = files.map((file, place) => ({ file, place })).filter(({ file }) => fits(file)).slice(0, model.review.files);
  const rest = files.filter(fits).length - shown.length;
  return html`${shown.map(({ file, place }) => card(model, run, file, place, dispatch))}
    ${rest > 0 ? html`<button @click=${() => dispatch({ type: "reviewMoreFiles" })}>Show ${count(Math.min(rest, 200), "more file")} of ${rest}</button>` : nothing}`;
}

/** @param {Model} model @param {string} run @param {any} file @param {number} place @param {Dispatch} dispatch */
function card(model, run, file, place, dispatch) {
  const isOpen = isShown(model.review, run, file, place);
  const toggle = () => dispatch({ type: "reviewToggle", run, file: place });
  const why = file.isFolded ? "written by a program" : file.isDeleted ? "deleted" : "";
  return html`<section class="file-card" id=${cardId(run, place)} data-run=${run} data-file=${place} data-open=${isOpen} aria-label=${file.path}>
    <div class="card-head">${box(model, run, file.path, null, `Take ${file.path}`, dispatch)}<button class="fold" aria-expanded=${isOpen} @click=${toggle}><span class="fold-mark" aria-hidden="true">${isOpen ? "▾" : "▸"}</span><span class="title">${file.path}</span>
      ${file.from ? html`<span class="muted">from ${file.from}</span>` : nothing}<span class="plus">+${file.added}</span> <span class="minus">−${file.removed}</span>
      ${why ? html`<span class="tag">${why}</span>` : nothing}${takenTag(model, run, file.path)}</button></div>
    ${isOpen ? body(model, run, file, place, dispatch) : nothing}</section>`;
}

/** Draws the box that takes a file or a hunk, or leaves it out. @param {Model} model @param {string} run
 * @param {string} path @param {number | null} hunk @param {string} label @param {Dispatch} dispatch */
function box(model, run, path, hunk, label, dispatch) {
  const { review, about } = model;
  const parts = partsAt(review, run, path, hunk);
  if (!about?.mayAct || review.beside || parts.length === 0) return nothing;
  const taken = takenOf(review, run, parts);
  return html`<input type="checkbox" class="take" aria-label=${label} title=${label} .checked=${taken > 0} .indeterminate=${taken > 0 && taken < parts.length}
    @change=${() => dispatch({ type: "reviewTake", run, path, hunk })}>`;
}

/** Says what of a file is left out. @param {Model} model @param {string} run @param {string} path */
function takenTag({ review }, run, path) {
  const parts = partsAt(review, run, path);
  const taken = takenOf(review, run, parts);
  if (taken === parts.length) return nothing;
  return html`<span class="tag">${taken === 0 ? "left out" : `${taken} of ${count(parts.length, "hunk")}`}</span>`;
}

/** @param {Model} model @param {string} run @param {any} file @param {number} place @param {Dispatch} dispatch */
function body(model, run, file, place, dispatch) {
  const diff = model.review.diffs.get(fileKey(run, place));
  if (!diff) return html`<p class="empty">Asking git…</p>`;
  if (diff.problem) return html`<p class="empty">${diff.problem}</p>`;
  const lines = linesOf(diff);
  const comments = commentsOn(model.review, run).filter((one) => one.path === file.path);
  let hunk = -1;
  return html`<div class="lines" tabindex="0" role="group" aria-label=${`Changes of ${file.path}`}>${lines.map((one, number) => {
    if (one.kind === "hunk") hunk += 1;
    return line(one, { model, run, file, place, number, hunk, comments, dispatch });
  })}</div>${diff.isCut ? html`<p class="empty">The difference continues; it is too long to show.</p>` : nothing}`;
}

/** Returns the lines of a difference, with marks inside of those that changed. Made once for each.
 * @param {any} diff @returns {Line[]} */
export function linesOf(diff) {
  if (!diff.made) {
    diff.made = diff.lines.map((/** @type {any[]} */ [kind, old, now, text]) => ({
      kind,
      // The comparison of two lines begins behind their sign.
      text: `${SIGNS[kind] ?? " "}${text}`,
      old: old ?? undefined,
      new: now ?? undefined,
    }));
    markChanged(diff.made);
  }
  return diff.made;
}

/** @param {Line} one @param {{model: Model, run: string, file: any, place: number, number: number,
 *   hunk: number, comments: Comment[], dispatch: Dispatch}} at */
function line(one, at) {
  const { model, run, file, place, number, hunk, comments, dispatch } = at;
  const parts = partsAt(model.review, run, file.path, hunk);
  if (one.kind === "hunk" || /** @type {string} */ (one.kind) === "about") {
    const isPart = one.kind === "hunk" && parts.some((part) => part.hunk !== null);
    const takes = isPart ? box(model, run, file.path, hunk, `Take hunk ${hunk + 1} of ${file.path}`, dispatch) : nothing;
    return html`<div class="line is-hunk">${takes}<span>${one.text.slice(1)}</span></div>`;
  }
  const isLeftOut = parts.length > 0 && takenOf(model.review, run, parts) === 0;
  const { cursor, isCommenting } = model.review;
  const isAt = cursor?.file === place && cursor.line === number && model.review.selected === run;
  const own = comments.filter((comment) => comment.line === (one.new ?? null) && comment.old === (one.old ?? null));
  const name = one.new === undefined ? `line ${one.old}, which was taken out` : `line ${one.new}`;
  const begin = () => dispatch({ type: "reviewCursor", cursor: { file: place, line: number }, isCommenting: true });
  return html`<div class="line is-${one.kind || "both"} ${isAt ? "at" : ""} ${isLeftOut ? "is-left-out" : ""}" id=${isAt ? "cursor" : nothing}>
    <button class="number" tabindex="-1" aria-label=${`Comment on ${name}`} title="Comment (c)" @click=${begin}><em data-number=${one.old ?? ""}></em><em data-number=${one.new ?? ""}></em></button><span class="sign">${SIGNS[one.kind] ?? ""}</span><code>${inColours({ ...one, text: one.text.slice(1), from: one.from && one.from - 1, to: one.to && one.to - 1 })}</code></div>
    ${own.map((comment) => remark(comment, run, name, dispatch))}
    ${isAt && isCommenting ? form(one, run, file.path, name, dispatch) : nothing}`;
}

/** @param {Comment} comment @param {string} run @param {string} name @param {Dispatch} dispatch */
function remark(comment, run, name, dispatch) {
  return html`<div class="remark-box"><p><b>you</b> <span class="muted">${name} · not sent yet</span><span class="space"></span>
    <button class="quiet" @click=${() => dispatch({ type: "reviewUncomment", run, comment })}>Remove</button></p><p class="words">${comment.words}</p></div>`;
}

/** @param {Line} one @param {string} run @param {string} path @param {string} name @param {Dispatch} dispatch */
function form(one, run, path, name, dispatch) {
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    const words = /** @type {HTMLTextAreaElement} */ (document.getElementById("comment")).value.trim();
    const comment = { path, line: one.new ?? null, old: one.old ?? null, quoted: one.text.slice(1), words };
    dispatch({ type: "reviewComment", run, comment: words ? comment : null });
  };
  const typed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
    if (event.key === "Escape") {
      event.stopPropagation();
      dispatch({ type: "reviewComment", run, comment: null });
    }
  };
  return html`<form class="remark-box" @submit=${save}><label for="comment">Comment on ${name}</label>
    <textarea id="comment" rows="2" @keydown=${typed}></textarea>
    <p><button class="primary">Keep for the next prompt</button> <button type="button" @click=${() => dispatch({ type: "reviewComment", run, comment: null })}>Cancel</button></p></form>`;
}

/** Lists the files beside the differences. @param {Model} model @param {string} run @param {any[]} files */
export function contents(model, run, files) {
  const go = (/** @type {number} */ place) => document.getElementById(cardId(run, place))?.scrollIntoView({ block: "start" });
  const comments = commentsOn(model.review, run);
  const row = (/** @type {any} */ file, /** @type {number} */ place) => html`<button class="link" title=${file.path} @click=${() => go(place)}><span>${file.path}</span>
    ${comments.some((one) => one.path === file.path) ? html`<span class="warn">${count(comments.filter((one) => one.path === file.path).length, "comment")}</span>` : nothing}
    <span class="plus">+${file.added}</span> <span class="minus">−${file.removed}</span></button>`;
  return html`<nav class="contents" aria-label="Files">${files.slice(0, model.review.files).map(row)}</nav>`;
}

/** Returns the differences that are in view and not read yet. @returns {{run: string, file: number}[]} */
export function inView() {
  const wanted = [];
  for (const card of document.querySelectorAll(".file-card[data-open=true]")) {
    const { top, bottom } = card.getBoundingClientRect();
    if (bottom < -400 || top > innerHeight + 800) continue;
    const { run, file } = /** @type {HTMLElement} */ (card).dataset;
    wanted.push({ run: run ?? "", file: Number(file) });
  }
  return wanted;
}
