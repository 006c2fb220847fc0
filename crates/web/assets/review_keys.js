// The keys of the review, which are those of `pi-subagents review` on a terminal.

import { gatesOf, selectedItem, takenTogether } from "./review.js";
import { linesOf } from "./review_diff.js";
import { chosenParts } from "./review_parts.js";

/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @type {[string, string][]} */
export const REVIEW_KEYS = [
  ["j k, ↓ ↑", "select what waits below or above"],
  ["n p", "move the cursor to the next or previous changed line"],
  ["[ ]", "previous or next file"],
  ["c", "comment on the line with the cursor"],
  ["Space f", "leave out the hunk or the file with the cursor, or take it again"],
  ["a A", "accept the result without what is left out, or all that stay green"],
  ["b", "send back, with the comments and a note"],
  ["o", "send back, to be done again on top of another result"],
  ["u", "take the last accept back"],
  ["l x", "later; discard"],
  ["v", "read two results that conflict beside each other"],
  ["t", "the transcript of the run"],
];

/** Does what a key stands for, and returns whether it stands for anything. @param {string} key
 * @param {Model} model @param {Dispatch} dispatch @returns {boolean} */
export function pressedInReview(key, model, dispatch) {
  const { review } = model;
  const waiting = /** @type {Waiting[]} */ (review.queue?.waiting ?? []);
  const item = selectedItem(review);
  const to = (/** @type {number} */ by) => {
    const place = waiting.findIndex((one) => one.runId === review.selected) + by;
    const next = waiting[Math.max(0, Math.min(waiting.length - 1, place))];
    if (next) dispatch({ type: "reviewSelect", run: next.runId, isOpen: review.isOpen, isStep: true });
    requestAnimationFrame(() => document.getElementById(`item-${next?.runId}`)?.scrollIntoView({ block: "nearest" }));
  };
  switch (key) {
    case "j":
    case "ArrowDown":
      to(1);
      return true;
    case "k":
    case "ArrowUp":
      to(-1);
      return true;
    case "Enter":
      if (item) dispatch({ type: "reviewSelect", run: item.runId });
      return true;
    case "g":
      dispatch({ type: "page", page: "review" });
      return true;
    case "u":
      return mayAct(model) && ask(dispatch, "undo", [], []);
    case "A":
      return mayAct(model) && askAll(model, dispatch);
  }
  if (!item) return false;
  return pressedOnItem(key, item, model, dispatch);
}

/** @param {string} key @param {Waiting} item @param {Model} model @param {Dispatch} dispatch */
function pressedOnItem(key, item, model, dispatch) {
  const { review } = model;
  const isChange = item.kind === "change";
  switch (key) {
    case "n":
    case "p":
      moveCursor(model, dispatch, key === "n" ? 1 : -1);
      return true;
    case "[":
    case "]":
      moveFile(model, dispatch, key === "]" ? 1 : -1);
      return true;
    case "c":
      if (!review.cursor) moveCursor(model, dispatch, 1);
      if (review.cursor) dispatch({ type: "reviewCursor", cursor: review.cursor, isCommenting: true });
      requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("comment")?.focus()));
      return true;
    case "t":
      dispatch({ type: "open", run: item.runId });
      return true;
    case "v": {
      const [clash] = item.conflicts ?? [];
      if (clash) dispatch({ type: "reviewBeside", run: review.beside ? null : clash.runId });
      return true;
    }
  }
  if (!mayAct(model)) return false;
  switch (key) {
    case "a":
      return isChange && askFor([item], model, dispatch);
    case " ":
    case "f":
      return isChange && takeAtCursor(model, dispatch, key === "f");
    case "o":
      document.getElementById("redo-on")?.focus();
      return true;
    case "b":
      document.getElementById("note")?.focus();
      return true;
    case "l":
      dispatch({ type: "reviewWish", run: item.runId, what: "later" });
      return true;
    case "x":
      return item.kind !== "question" && ask(dispatch, isChange ? "discard" : "dismiss", [item], []);
    default:
      return false;
  }
}

/** @param {Model} model */
function mayAct({ about, review }) {
  return Boolean(about?.mayAct) && (review.accepting === null || review.accepting.report !== null);
}

/** @param {Dispatch} dispatch @param {string} what @param {Waiting[]} runs @param {string[]} gates */
function ask(dispatch, what, runs, gates) {
  dispatch({ type: "reviewAsk", asked: { what, runs, gates } });
  return true;
}

/** Asks whether all that stay green shall be accepted. @param {Model} model @param {Dispatch} dispatch */
export function askAll(model, dispatch) {
  const some = takenTogether(model.review);
  return some.length > 0 && askFor(some, model, dispatch);
}

/** Asks whether results shall be accepted, without those of which everything is left out.
 * @param {Waiting[]} results @param {Model} model @param {Dispatch} dispatch */
function askFor(results, { review }, dispatch) {
  const some = results.filter((one) => chosenParts(review, one.runId)?.length !== 0);
  if (some.length > 0) return ask(dispatch, "accept", some, gatesOf(review, some));
  dispatch({ type: "notice", text: "Everything is left out. Space takes a part again.", isError: true });
  return true;
}

/** Leaves out the hunk with the cursor or its file, or takes it again. @param {Model} model
 * @param {Dispatch} dispatch @param {boolean} isWholeFile */
function takeAtCursor({ review }, dispatch, isWholeFile) {
  const run = review.selected ?? "";
  const { file, line } = review.cursor ?? { file: 0, line: 0 };
  const path = review.details.get(run)?.files[file]?.path;
  if (!path || (!review.cursor && !isWholeFile)) return false;
  const diff = review.diffs.get(`${run} ${file}`);
  const before = diff?.lines ? linesOf(diff).slice(0, line + 1).filter((one) => one.kind === "hunk").length : 0;
  dispatch({ type: "reviewTake", run, path, hunk: isWholeFile ? null : Math.max(0, before - 1) });
  return true;
}

/** Moves the cursor over the lines that changed. @param {Model} model @param {Dispatch} dispatch @param {number} by */
function moveCursor(model, dispatch, by) {
  const { review } = model;
  const run = review.selected ?? "";
  const files = [...review.diffs].filter(([key, diff]) => diff?.lines && key.startsWith(`${run} `));
  const places = files.map(([key, diff]) => ({ file: Number(key.split(" ")[1]), lines: linesOf(diff) })).sort((a, b) => a.file - b.file);
  const changed = places.flatMap(({ file, lines }) => lines.flatMap((line, number) => (["add", "del"].includes(line.kind) ? [{ file, line: number }] : [])));
  const now = changed.findIndex((one) => one.file === review.cursor?.file && one.line === review.cursor?.line);
  const next = changed[now < 0 ? 0 : Math.max(0, Math.min(changed.length - 1, now + by))];
  if (!next) return;
  dispatch({ type: "reviewCursor", cursor: next });
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("cursor")?.scrollIntoView({ block: "nearest" })));
}

/** @param {Model} model @param {Dispatch} dispatch @param {number} by */
function moveFile(model, dispatch, by) {
  const { review } = model;
  const files = review.details.get(review.selected ?? "")?.files ?? [];
  const place = Math.max(0, Math.min(files.length - 1, (review.cursor?.file ?? (by > 0 ? -1 : 0)) + by));
  if (files.length === 0) return;
  dispatch({ type: "reviewCursor", cursor: { file: place, line: 0 } });
  document.getElementById(`file ${review.selected} ${place}`)?.scrollIntoView({ block: "start" });
}
