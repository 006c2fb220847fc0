// What waits for a person: the queue as the server counts it, the result that is looked at, the
// comments on its lines, and what is asked before something is done.

import { chosenParts, forgetParts, partsAt, toggleParts } from "./review_parts.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Message} Message */
/** @typedef {import("./model.js").Effect} Effect */
/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {import("./types.js").Comment} Comment */
/** @typedef {ReturnType<typeof noReview>} Review */

/** Results of a higher risk are not taken together with others. */
const TOGETHER = ["fits", "look", "careful"];

/** Longer differences are shown when somebody asks for them. */
const LONGEST_DIFF = 600;

/** How many files are shown at first, and with every wish for more. */
export const FILES_AT_ONCE = 200;

export function noReview() {
  return {
    /** @type {any} The queue, in the order of the server. */ queue: null,
    /** @type {number | null} How much waits in the project, as the server counts it. */ count: null,
    isReading: false,
    /** @type {string | null} */ selected: null,
    /** @type {string | null} The result beside which the selected one is read. */ beside: null,
    /** Whether the result, not the queue, is shown where there is room for one of them. */ isOpen: false,
    /** @type {Map<string, any>} */ details: new Map(),
    /** @type {Map<string, {states?: string}>} The states between which results were the difference. */ states: new Map(),
    /** @type {Map<string, any>} The differences of files, by run and place. */ diffs: new Map(),
    /** @type {Set<string>} Files that a person has opened or closed. */ toggled: new Set(),
    files: FILES_AT_ONCE,
    /** @type {{file: number, line: number} | null} The line with the cursor. */ cursor: null,
    isCommenting: false,
    /** @type {Map<string, Comment[]>} */ comments: new Map(),
    /** @type {Map<string, {parts?: import("./review_parts.js").Part[], problem?: string}>} */ parts: new Map(),
    /** @type {Map<string, Set<string>>} The parts that a person has left out, by run. */ leftOut: new Map(),
    /** @type {{what: string, runs: Waiting[], gates: string[]} | null} */ asked: null,
    /** @type {{names: string[], news: any[], report: any, problem: string | null} | null} */ accepting: null,
    /** @type {string[]} Why results were left out, beside them. */ words: [],
  };
}

/** Returns what is selected. @param {Review} review @returns {Waiting | undefined} */
export function selectedItem(review) {
  return review.queue?.waiting.find((/** @type {Waiting} */ one) => one.runId === review.selected);
}

/** Returns the results that are taken together. @param {Review} review @returns {Waiting[]} */
export function takenTogether(review) {
  const all = /** @type {Waiting[]} */ (review.queue?.waiting ?? []);
  return all.filter((one) => one.kind === "change" && !one.later && TOGETHER.includes(one.tier ?? ""));
}

/** Names the difference of a file. @param {string} run @param {number} file */
export function fileKey(run, file) {
  return `${run} ${file}`;
}

/** Returns whether the difference of a file is shown. @param {Review} review @param {string} run
 * @param {any} file @param {number} place */
export function isShown(review, run, file, place) {
  const isLong = (file.added ?? 0) + (file.removed ?? 0) > LONGEST_DIFF;
  return review.toggled.has(fileKey(run, place)) !== !(file.isFolded || isLong);
}

/** Returns the comments on a result. @param {Review} review @param {string} run @returns {Comment[]} */
export function commentsOn(review, run) {
  return review.comments.get(run) ?? [];
}

/** Takes a message about the review. @param {Model} model @param {Message} message
 * @returns {Effect[] | null} what is to be done; null for other messages */
export function updateReview(model, message) {
  const { review } = model;
  switch (message.type) {
    case "reviewRead":
      return takeQueue(model, message.queue);
    case "reviewFailed":
      review.isReading = false;
      return [];
    case "reviewCount":
      return takeCount(model, message.count);
    case "reviewSelect":
      return selectItem(model, message.run, message.isOpen ?? true);
    case "reviewBack":
      review.isOpen = false;
      return [];
    case "reviewBeside":
      review.beside = message.run;
      return message.run ? needed(review, message.run) : [];
    case "reviewedRead":
      return takeDetail(model, message);
    case "reviewPartsRead":
      review.parts.set(message.run, message.answer);
      return [];
    case "reviewTake":
      return take(model, message);
    case "reviewDiffRead":
      review.diffs.set(fileKey(message.run, message.file), message.diff);
      return [];
    case "reviewDiffs":
      return wantDiffs(review, message.wanted);
    case "reviewToggle": {
      const key = fileKey(message.run, message.file);
      if (!review.toggled.delete(key)) review.toggled.add(key);
      return [];
    }
    case "reviewMoreFiles":
      review.files += FILES_AT_ONCE;
      return [];
    case "reviewCursor":
      review.cursor = message.cursor;
      review.isCommenting = message.isCommenting ?? false;
      return [];
    case "reviewComment":
      return comment(review, message);
    case "reviewUncomment":
      review.comments.set(message.run, commentsOn(review, message.run).filter((one) => one !== message.comment));
      return [];
    case "reviewAsk":
      review.asked = message.asked;
      model.asked = message.asked ? "review" : null;
      return [];
    case "reviewAccept":
      return accept(model);
    case "reviewNews":
      review.accepting?.news.push(message.news);
      return [];
    case "reviewAccepted":
      if (review.accepting) {
        review.accepting.report = message.answer;
        review.accepting.problem = message.answer.problem ?? null;
      }
      return readQueue(model);
    case "reviewCloseAccept":
      review.accepting = null;
      return [];
    case "reviewWish":
      review.asked = null;
      model.asked = null;
      return [{ do: "reviewWish", run: message.run, what: message.what, body: message.body ?? {} }];
    case "reviewDone":
      return done(model, message);
    default:
      return null;
  }
}

/** @param {Model} model @param {any} queue @returns {Effect[]} */
function takeQueue(model, queue) {
  const { review } = model;
  const before = /** @type {Waiting[]} */ (review.queue?.waiting ?? []);
  const place = before.findIndex((one) => one.runId === review.selected);
  review.queue = queue;
  review.isReading = false;
  review.count = queue.waiting.length;
  const waiting = /** @type {Waiting[]} */ (queue.waiting);
  const isThere = waiting.some((one) => one.runId === review.selected);
  if (!isThere) [review.beside, review.isOpen] = [null, false];
  // What a person looks at stays until it was read again; the rest is read when it is looked at.
  const looked = [review.selected, review.beside];
  for (const run of review.details.keys()) if (!looked.includes(run)) review.details.delete(run);
  const next = waiting[Math.min(Math.max(place, 0), waiting.length - 1)];
  const selected = isThere ? review.selected : (next?.runId ?? null);
  if (selected !== review.selected) return selectItem(model, selected, false);
  return looked.filter((run) => run !== null).map((run) => ({ do: "reviewed", run }));
}

/** Takes what there is to know of a result. What was known of another state of it is old.
 * @param {Model} model @param {Message} message @returns {Effect[]} */
function takeDetail({ review, about }, { run, detail }) {
  const before = review.details.get(run) ?? review.states.get(run);
  if (before && before.states !== detail.states) forgetParts(review, run);
  review.details.set(run, detail);
  review.states.set(run, { states: detail.states });
  const hasParts = about?.mayAct && detail.files.length > 0 && !review.parts.has(run);
  return hasParts ? [{ do: "reviewParts", run }] : [];
}

/** Leaves out a file or a hunk, or takes it again. @param {Model} model @param {Message} message
 * @returns {Effect[]} */
function take(model, { run, path, hunk }) {
  const { review } = model;
  const read = review.parts.get(run);
  if (!read?.parts) model.notice = { text: read?.problem ?? "Its parts are being read. Try again.", isError: Boolean(read) };
  else toggleParts(review, run, partsAt(review, run, path, hunk));
  return [];
}

/** The first view is that of what waits, if something does. @param {Model} model @param {number} count
 * @returns {Effect[]} */
function takeCount(model, count) {
  const { review } = model;
  review.count = count;
  const isFirst = model.isFirstView && count > 0 && model.page === "runs" && !model.hasChosen;
  model.isFirstView = false;
  if (isFirst) model.page = "review";
  return isFirst ? readQueue(model) : [];
}

/** Reads the queue again. @param {Model} model @returns {Effect[]} */
export function readQueue(model) {
  if (model.review.isReading || model.connection === "recorded") return [];
  model.review.isReading = true;
  return [{ do: "review" }];
}

/** @param {Model} model @param {string | null} run @param {boolean} isOpen @returns {Effect[]} */
export function selectItem(model, run, isOpen) {
  const { review } = model;
  if (review.selected !== run) {
    [review.beside, review.cursor, review.isCommenting, review.files] = [null, null, false, FILES_AT_ONCE];
    review.diffs.clear();
    review.toggled.clear();
  }
  review.selected = run;
  review.isOpen = isOpen && run !== null;
  review.asked = null;
  model.asked = null;
  if (isOpen) review.accepting = null;
  return run ? needed(review, run) : [];
}

/** @param {Review} review @param {string} run @returns {Effect[]} */
function needed(review, run) {
  return review.details.has(run) ? [] : [{ do: "reviewed", run }];
}

/** Asks for the differences that came into view. @param {Review} review
 * @param {{run: string, file: number}[]} wanted @returns {Effect[]} */
function wantDiffs(review, wanted) {
  const missing = wanted.filter(({ run, file }) => !review.diffs.has(fileKey(run, file)));
  for (const { run, file } of missing) review.diffs.set(fileKey(run, file), null);
  return missing.map(({ run, file }) => ({ do: "reviewDiff", run, file }));
}

/** @param {Review} review @param {Message} message @returns {Effect[]} */
function comment(review, { run, comment }) {
  review.isCommenting = false;
  if (comment) review.comments.set(run, [...commentsOn(review, run), comment]);
  return [];
}

/** @param {Model} model @returns {Effect[]} */
function accept(model) {
  const { review } = model;
  const asked = review.asked;
  review.asked = null;
  model.asked = null;
  if (!asked) return [];
  const runs = asked.runs.map((one) => one.runId);
  const chosen = runs.map((run) => [run, chosenParts(review, run)]).filter(([, parts]) => parts);
  review.accepting = { names: asked.runs.map((one) => one.name), news: [], report: null, problem: null };
  return [{ do: "accept", runs, gates: asked.gates, parts: Object.fromEntries(chosen) }];
}

/** @param {Model} model @param {Message} message @returns {Effect[]} */
function done(model, { run, what, answer }) {
  if (what === "send-back" && !answer.failed) model.review.comments.delete(run);
  model.notice = { text: answer.message, isError: answer.failed ?? false };
  return readQueue(model);
}

/** Returns the gates that decide about results: their own, and that of the settings.
 * @param {Review} review @param {Waiting[]} results @returns {string[]} */
export function gatesOf(review, results) {
  const own = results.flatMap((one) => one.gates ?? []);
  return [...new Set([...own, ...(review.queue?.gate ? [review.queue.gate] : [])])];
}
