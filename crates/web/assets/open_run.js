// The run that is read: its transcript, from both ends of the record, and what of it is open.

import { Transcript } from "./fold.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Told} Told */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Changes} Changes */
/** @typedef {import("./model.js").Effect} Effect */

/**
 * @typedef {object} Opened The run that is read.
 * @property {string} run
 * @property {Transcript} transcript
 * @property {Transcript} before What was read from the beginning, until it meets the end.
 * @property {Told[]} later What was read from the end of the record, before the beginning is there.
 * @property {number} begin The place where `later` begins; 0 when everything is there.
 * @property {number} next The place behind what was read.
 * @property {boolean} isRead
 * @property {string} words What the model is writing.
 * @property {string} activity
 * @property {Set<string>} open The keys of the entries that are open.
 * @property {Map<string, any[]>} texts Whole texts that were fetched.
 * @property {boolean} isFollowed
 * @property {string | undefined} chosen The key of the entry that keys act on.
 * @property {Row | undefined} whole
 * @property {{lines: [number, string, boolean][], next: number} | undefined} raw
 * @property {Changes | undefined} changes What git knows about the worktree of the run.
 * @property {any[] | undefined} budgets The budgets in which the run counts.
 * @property {any} fits What a merge would do, after somebody has asked.
 * @property {string | undefined} problem
 * @property {boolean} isLaneDue Whether the lane must be asked for, because it did not come with the items.
 */

/** Longer changes stay folded, and so do those of lock files. */
const LONGEST_DIFF = 400;
const MOST_DIFFS = 50;

/** How many calls are opened at once. */
const MOST_OPENED = 200;

/** @param {string} run @returns {Opened} */
export function newlyOpened(run) {
  return {
    run,
    transcript: new Transcript(),
    before: new Transcript(),
    later: [],
    begin: 0,
    next: 0,
    isRead: false,
    words: "",
    activity: "",
    open: new Set(),
    texts: new Map(),
    isFollowed: true,
    chosen: undefined,
    whole: undefined,
    raw: undefined,
    changes: undefined,
    budgets: undefined,
    fits: undefined,
    problem: undefined,
    isLaneDue: false,
  };
}

/** Takes what was read of the record: its end first, then the beginning up to where the end begins.
 * The beginning comes in pieces, and each is folded when it comes, so that no frame waits for long.
 * @param {Opened} opened @param {{run: string, from?: number, begin: number, next: number,
 * events: Told[], spans?: any}} read @returns {Effect[]} */
export function eventsRead(opened, { run, from, begin, next, events, spans }) {
  // The lane comes with the last of the items; a server that has lost its place does not send it.
  const isLast = from === undefined ? begin === 0 : next >= opened.begin || next <= from;
  if (isLast && !spans) opened.isLaneDue = true;
  if (from === undefined) {
    opened.isRead = true;
    opened.begin = begin;
    opened.next = next;
    opened.transcript.apply(events);
    if (begin > 0) opened.later = events;
    const look = { do: "look" };
    return begin > 0 ? [look, { do: "events", run, from: 0 }] : [look];
  }
  opened.before.apply(events.filter((event) => event.p < opened.begin));
  if (next < opened.begin && next > from) return [{ do: "events", run, from: next }];
  opened.before.apply(opened.later);
  opened.transcript = opened.before;
  opened.before = new Transcript();
  opened.later = [];
  opened.begin = 0;
  return [];
}

/** Takes what has happened since. @param {Opened} opened @param {Told[]} events @param {number} place */
export function addEvents(opened, events, place) {
  if (!opened.isRead || place <= opened.next) return;
  const answers = opened.transcript.answers;
  const news = events.filter((event) => event.p >= opened.next);
  opened.next = place;
  // Until the beginning is there, everything is folded again once it is.
  if (opened.begin > 0) opened.later = opened.later.concat(news);
  opened.transcript.apply(news);
  const isOver = news.some((event) => event.k === "ended");
  if (opened.transcript.answers > answers || isOver) {
    opened.words = "";
    opened.activity = "";
  }
}

/** Takes what the model is writing. @param {Opened} opened @param {any} piece */
export function takeWords(opened, piece) {
  if (piece.number < opened.transcript.answers && opened.begin === 0) return;
  opened.words = piece.words ?? "";
  opened.activity = piece.activity ?? "";
}

/** Opens or closes an entry. @param {Opened} opened @param {string} key @returns {Effect[]} */
export function toggle(opened, key) {
  opened.chosen = key;
  if (opened.open.delete(key)) return [];
  opened.open.add(key);
  return textEffects(opened, key);
}

/** Opens or closes all calls. @param {Opened} opened @returns {Effect[]} */
export function toggleAll(opened) {
  const calls = opened.transcript.items.filter((item) => item.call).slice(-MOST_OPENED);
  if (calls.some((item) => opened.open.has(item.key))) {
    opened.open.clear();
    return [];
  }
  return calls.flatMap((item) => {
    opened.open.add(item.key);
    return textEffects(opened, item.key);
  });
}

/** Returns what the tab of a run needs. @param {Opened} opened @param {string} tab
 * @param {Row | undefined} row @returns {Effect[]} */
export function tabEffects(opened, tab, row) {
  if (tab === "raw" && !opened.raw) return [{ do: "raw", run: opened.run, from: 0 }];
  if (tab !== "changes") return [];
  if (hasOwnChanges(row)) return opened.changes ? [] : [{ do: "changes", run: opened.run }];
  const items = [...opened.transcript.files.values()].flatMap((file) => file.items);
  const short = (/** @type {Item} */ { call }) =>
    (call?.changes?.[0] ?? 0) + (call?.changes?.[1] ?? 0) <= LONGEST_DIFF && !isLock(call?.path);
  return items.filter(short).slice(-MOST_DIFFS).flatMap((item) => {
    opened.open.add(item.key);
    return textEffects(opened, item.key);
  });
}

/** Returns whether git knows exactly what a run has changed. @param {Row | undefined} row */
export function hasOwnChanges(row) {
  return ["captured", "merged", "discarded"].includes(row?.workspace?.state ?? "");
}

/** Returns whether a file is written by programs, so that nobody reads its changes.
 * @param {string | undefined} path */
export function isLock(path) {
  return /(\.lock|-lock\.json|\.lockb)$/.test(path ?? "");
}

/** Returns what must be fetched before an entry can be read whole. @param {Opened} opened
 * @param {string} key @returns {Effect[]} */
function textEffects(opened, key) {
  const item = opened.transcript.items.find((item) => item.key === key);
  if (!item || opened.texts.has(key)) return [];
  const call = item.call;
  const places = call
    ? [call.called, call.answered, call.kind === "edit" ? call.ended : undefined]
    : item.cut
      ? [item.place]
      : [];
  const known = call?.arguments !== undefined;
  if (known || places.length === 0) return [];
  return [{ do: "texts", run: opened.run, key, places }];
}
