// The state of the page. It takes one message after the other and says what is to be done; what is
// drawn is a function of it.

import { Transcript } from "./fold.js";
import { extent, isOver } from "./figures.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Lane} Lane */
/** @typedef {import("./types.js").Told} Told */
/** @typedef {{type: string, [field: string]: any}} Message */
/** @typedef {{do: string, [field: string]: any}} Effect */

/**
 * @typedef {object} Opened The run that is read.
 * @property {string} run
 * @property {Transcript} transcript
 * @property {Told[]} later What was read from the end of the record, before the beginning is there.
 * @property {Told[]} earlier What was read from its beginning, until it meets the end.
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
 * @property {string | undefined} problem
 */

export function initial() {
  return {
    /** @type {any} */ about: null,
    /** @type {"opening" | "live" | "lost" | "recorded" | "refused"} */ connection: "opening",
    /** @type {Map<string, Row>} */ rows: new Map(),
    /** @type {Row[]} */ listed: [],
    isListed: false,
    /** @type {import("./types.js").Counts | null} */ counts: null,
    /** @type {import("./types.js").Totals | null} */ totals: null,
    /** @type {import("./types.js").Totals | null} */ today: null,
    /** By how much the clock of the server differs from ours. */ ahead: 0,
    /** @type {Map<string, Lane>} */ lanes: new Map(),
    /** @type {Set<string>} */ askedLanes: new Set(),
    page: "runs",
    tab: "transcript",
    filter: "all",
    words: "",
    /** @type {string | null} */ project: null,
    /** @type {string | null} */ selected: null,
    hasChosen: false,
    /** @type {Opened | null} */ opened: null,
    isZoomed: false,
    /** @type {{text: string, isError: boolean} | null} */ notice: null,
    isStopAsked: false,
    isHelpShown: false,
    /** @type {Set<string>} */ compared: new Set(),
    /** @type {Map<string, Row>} */ wholes: new Map(),
    /** @type {{rows: Row[], found: number, isAll: boolean, isReading: boolean, words: string}} */
    history: { rows: [], found: 0, isAll: true, isReading: false, words: "" },
    /** @type {any} */ usage: null,
    usageBy: "days",
    /** @type {any} */ definitions: null,
    /** @type {any} */ redacted: null,
  };
}

/** @typedef {ReturnType<typeof initial>} Model */

/** Returns the run that is read, if it is this one. @param {Model} model @param {string} run */
function openedRun(model, run) {
  return model.opened && model.opened.run === run ? model.opened : null;
}

/** Takes a message, and returns what is to be done. @param {Model} model @param {Message} message
 * @returns {Effect[]} */
export function update(model, message) {
  const meant = openedRun(model, message.run);
  switch (message.type) {
    case "begun":
      return begin(model, message);
    case "piece":
      return take(model, message.piece);
    case "connection":
      model.connection = message.state;
      return [];
    case "select":
      return select(model, message.run, true);
    case "page":
      return turnTo(model, message.page);
    case "tab":
      model.tab = message.tab;
      return tabEffects(model);
    case "eventsRead":
      return eventsRead(model, message);
    case "wholeRead":
      model.wholes.set(message.run, message.row);
      if (meant) meant.whole = message.row;
      return [];
    case "textsRead":
      if (meant) meant.texts.set(message.key, message.texts);
      return [];
    case "rawRead":
      if (meant) {
        const before = message.from === 0 ? [] : (meant.raw?.lines ?? []);
        meant.raw = { lines: [...before, ...message.lines], next: message.next };
      }
      return [];
    case "toggle":
      return toggle(model, message.key);
    case "toggleAll":
      return toggleAll(model);
    case "choose":
      if (model.opened) model.opened.chosen = message.key;
      return [];
    case "follow":
      if (model.opened) model.opened.isFollowed = message.on;
      return [];
    case "filter":
      model.filter = message.filter;
      return list(model);
    case "words":
      model.words = message.words;
      return list(model);
    case "notice":
      model.notice = { text: message.text, isError: message.isError ?? false };
      return [];
    case "forgetNotice":
      model.notice = null;
      return [];
    case "askStop":
      model.isStopAsked = message.on;
      return [];
    case "help":
      model.isHelpShown = !model.isHelpShown;
      return [];
    case "zoom":
      model.isZoomed = message.on;
      return [];
    case "project":
      return changeProject(model, message.project);
    case "lanesRead":
      for (const [run, lane] of Object.entries(message.spans)) {
        if (lane) model.lanes.set(run, { spans: lane.spans, steered: lane.steered });
      }
      return [];
    case "compare":
      if (!model.compared.delete(message.run)) model.compared.add(message.run);
      return model.page === "compare" ? readCompared(model) : [];
    case "historyRead":
      historyRead(model, message);
      return [];
    case "searchHistory":
      model.history = { rows: [], found: 0, isAll: true, isReading: true, words: message.words };
      return [{ do: "history", from: 0 }];
    case "moreHistory":
      if (model.history.isReading || model.history.rows.length >= model.history.found) return [];
      model.history.isReading = true;
      return [{ do: "history", from: model.history.rows.length }];
    case "usageRead":
      model.usage = message.usage;
      return [];
    case "usageBy":
      model.usageBy = message.by;
      return [];
    case "definitionsRead":
      model.definitions = message.definitions;
      return [];
    case "problem":
      if (meant) meant.problem = message.text;
      return [];
    default:
      return [];
  }
}

/** Returns what the tab of a run needs. @param {Model} model @returns {Effect[]} */
function tabEffects(model) {
  const opened = model.opened;
  if (!opened) return [];
  if (model.tab === "raw" && !opened.raw) return [{ do: "raw", run: opened.run, from: 0 }];
  if (model.tab !== "changes") return [];
  const short = (/** @type {import("./types.js").Item} */ item) =>
    item.call?.kind === "edit" && (item.call.changes?.[0] ?? 0) + (item.call.changes?.[1] ?? 0) <= LONGEST_DIFF && !isLock(item.call.path);
  return opened.transcript.items.filter(short).slice(-MOST_DIFFS).flatMap((item) => {
    opened.open.add(item.key);
    return textEffects(opened, item.key);
  });
}

/** Longer changes stay folded, and so do those of lock files. */
const LONGEST_DIFF = 400;
const MOST_DIFFS = 50;

/** @param {string | undefined} path */
function isLock(path) {
  return /(\.lock|-lock\.json|\.lockb)$/.test(path ?? "");
}

/** @param {Model} model @param {Message} message @returns {Effect[]} */
function begin(model, { about, said, redacted }) {
  model.about = about;
  model.redacted = redacted ?? null;
  model.ahead = about.now - Date.now();
  model.project = said.get("all") ? null : (said.get("project") ?? about.project) || null;
  const compared = said.get("compare");
  if (compared) {
    for (const run of compared.split(",")) model.compared.add(run);
    model.page = "compare";
  } else if (said.get("page")) {
    model.page = said.get("page") ?? "runs";
  }
  const run = said.get("run");
  const effects = run ? select(model, run, true) : [{ do: "stream" }];
  return [...effects, ...turnTo(model, model.page)];
}

/** Takes a piece of the stream. @param {Model} model @param {any} piece @returns {Effect[]} */
function take(model, piece) {
  /** @type {Effect[]} */
  const effects = [];
  if (piece.counts) model.counts = piece.counts;
  if (piece.totals) model.totals = piece.totals;
  if (piece.today) model.today = piece.today;
  if (piece.now) model.ahead = piece.now - Date.now();
  if (piece.problem) model.notice = { text: piece.problem, isError: true };
  for (const [run, news] of Object.entries(piece.spans ?? {})) takeSpans(model, run, news);
  if (piece.rows) effects.push(...takeRows(model, piece));
  const opened = openedRun(model, piece.run);
  if (opened && piece.events) addEvents(opened, piece.events, piece.place);
  else if (opened) takeWords(opened, piece);
  return effects;
}

/** @param {Model} model @param {any} piece @returns {Effect[]} */
function takeRows(model, { rows, gone = [], whole = false }) {
  if (whole) {
    const kept = new Set(rows.map((/** @type {Row} */ row) => row.runId));
    for (const run of model.rows.keys()) if (!kept.has(run)) model.rows.delete(run);
    model.isListed = true;
  }
  /** @type {Effect[]} */
  const effects = [];
  for (const run of gone) model.rows.delete(run);
  for (const row of rows) {
    const before = model.rows.get(row.runId);
    model.rows.set(row.runId, row);
    const hasEnded = before && !isOver(before) && isOver(row);
    if (hasEnded && model.opened?.run === row.runId) effects.push({ do: "whole", run: row.runId });
  }
  effects.push(...list(model));
  if (!model.hasChosen && model.listed.length > 0 && !isBusy(model)) {
    effects.push(...select(model, model.listed[0].runId, false));
  }
  return effects;
}

/** Returns whether the run that is open is worth staying with. @param {Model} model */
function isBusy(model) {
  const row = model.selected ? model.rows.get(model.selected) : undefined;
  return row !== undefined;
}

/** @param {Model} model @param {string} run @param {any} news */
function takeSpans(model, run, news) {
  const lane = model.lanes.get(run) ?? { spans: [], steered: [] };
  // What was told before a connection was lost is told again from its beginning.
  lane.spans.length = Math.min(lane.spans.length, news.from);
  lane.spans.push(...news.spans);
  lane.steered = news.steered;
  model.lanes.set(run, lane);
}

/** Sorts and filters the list. @param {Model} model @returns {Effect[]} */
function list(model) {
  const words = model.words.toLowerCase();
  const has = (/** @type {string | undefined} */ text) => (text ?? "").toLowerCase().includes(words);
  const fits = (/** @type {Row} */ row) =>
    filters[model.filter](row) &&
    (!words || [row.name, row.task, row.resolvedModel, row.status, row.runId, row.preset].some(has));
  const rows = [...model.rows.values()].filter(fits);
  const rank = (/** @type {Row} */ row) => (isOver(row) ? 1 : 0);
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  rows.sort((a, b) => rank(a) - rank(b) || b.sequence - a.sequence);
  for (const row of rows) {
    const key = groupKey(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  // The runs of one call stay together, in the order in which they were asked for.
  model.listed = [...groups.values()].flatMap((group) => group.sort((a, b) => a.sequence - b.sequence));
  return [];
}

/** Returns the call that a row belongs to. Background runs have nothing in common but their day.
 * @param {Row} row @returns {string} */
export function groupKey(row) {
  const day = row.group.startsWith("background") ? row.acceptedAt.slice(0, 10) : "";
  return `${isOver(row) && day ? "over" : ""} ${row.group} ${day}`;
}

/** @type {Record<string, (row: Row) => boolean>} */
export const filters = {
  all: () => true,
  running: (row) => !isOver(row),
  over: (row) => isOver(row),
  failed: (row) => row.status === "failed" || row.status === "aborted",
};

/** @param {Model} model @param {string | null} run @param {boolean} isChosen @returns {Effect[]} */
function select(model, run, isChosen) {
  model.hasChosen = model.hasChosen || isChosen;
  model.isStopAsked = false;
  model.notice = null;
  if (isChosen) model.isZoomed = true;
  if (model.opened?.run === run) return [];
  model.selected = run;
  model.opened = run ? newlyOpened(run) : null;
  if (!run) return [{ do: "stream" }];
  return [{ do: "events", run }, { do: "whole", run }, ...laneEffects(model)];
}

/** @param {string} run @returns {Opened} */
function newlyOpened(run) {
  return {
    run,
    transcript: new Transcript(),
    later: [],
    earlier: [],
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
    problem: undefined,
  };
}

/** Takes what was read of the record: its end first, then the beginning up to where the end begins.
 * @param {Model} model @param {Message} message @returns {Effect[]} */
function eventsRead(model, { run, from, begin, next, events }) {
  const opened = openedRun(model, run);
  if (!opened) return [];
  if (from === undefined) {
    opened.isRead = true;
    opened.begin = begin;
    opened.next = next;
    opened.later = events;
    opened.transcript.apply(events);
    const stream = { do: "stream" };
    return begin > 0 ? [stream, { do: "events", run, from: 0 }] : [stream];
  }
  const missing = events.filter((/** @type {Told} */ event) => event.p < opened.begin);
  opened.earlier = opened.earlier.concat(missing);
  if (next < opened.begin && events.length > 0) return [{ do: "events", run, from: next }];
  const whole = new Transcript();
  whole.apply(opened.earlier);
  whole.apply(opened.later);
  opened.transcript = whole;
  opened.begin = 0;
  opened.earlier = [];
  return [];
}

/** @param {Opened} opened @param {Told[]} events @param {number} place */
function addEvents(opened, events, place) {
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

/** @param {Opened} opened @param {any} piece */
function takeWords(opened, piece) {
  if (piece.number < opened.transcript.answers && opened.begin === 0) return;
  opened.words = piece.words ?? "";
  opened.activity = piece.activity ?? "";
}

/** @param {Model} model @param {string} key @returns {Effect[]} */
function toggle(model, key) {
  const opened = model.opened;
  if (!opened) return [];
  opened.chosen = key;
  if (opened.open.delete(key)) return [];
  opened.open.add(key);
  return textEffects(opened, key);
}

/** @param {Model} model @returns {Effect[]} */
function toggleAll(model) {
  const opened = model.opened;
  if (!opened) return [];
  const calls = opened.transcript.items.filter((item) => item.call).slice(-200);
  if (calls.some((item) => opened.open.has(item.key))) {
    opened.open.clear();
    return [];
  }
  return calls.flatMap((item) => {
    opened.open.add(item.key);
    return textEffects(opened, item.key);
  });
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

/** @param {Model} model @param {string} page @returns {Effect[]} */
function turnTo(model, page) {
  model.page = page;
  switch (page) {
    case "history":
      if (model.history.rows.length > 0) return [];
      model.history.isReading = true;
      return [{ do: "history", from: 0 }];
    case "usage":
      return [{ do: "usage" }];
    case "definitions":
      return [{ do: "definitions" }];
    case "compare":
      return readCompared(model);
    default:
      return [];
  }
}

/** @param {Model} model @returns {Effect[]} */
function readCompared(model) {
  const runs = [...model.compared];
  const wholes = runs.filter((run) => !model.wholes.has(run)).map((run) => ({ do: "whole", run }));
  const lanes = runs.filter((run) => !model.lanes.has(run));
  return lanes.length > 0 ? [...wholes, { do: "lanes", runs: lanes }] : wholes;
}

/** @param {Model} model @param {string | null} project @returns {Effect[]} */
function changeProject(model, project) {
  model.project = project;
  model.rows.clear();
  model.listed = [];
  model.isListed = false;
  model.history = { rows: [], found: 0, isAll: true, isReading: false, words: "" };
  model.hasChosen = false;
  model.selected = null;
  model.opened = null;
  return [{ do: "stream" }, ...turnTo(model, model.page)];
}

/** @param {Model} model @param {Message} message */
function historyRead(model, { from, answer }) {
  const history = model.history;
  history.rows = [...history.rows.slice(0, from), ...answer.runs];
  history.found = answer.found;
  history.isAll = answer.searchedAll;
  history.isReading = false;
}

/** Returns the runs that were at work while the selected run was: the lanes of the timeline.
 * @param {Model} model @returns {Row[]} */
export function lanes(model) {
  const chosen = model.selected ? model.rows.get(model.selected) : undefined;
  if (!chosen) return [];
  const now = Date.now() + model.ahead;
  const { begin, end = now } = extent(chosen);
  const slack = Math.max(5000, (end - begin) * 0.25);
  const overlaps = (/** @type {Row} */ row) => {
    if (row.runId === chosen.runId) return true;
    const other = extent(row);
    const accepted = Date.parse(row.acceptedAt);
    return accepted <= end + slack && (other.end ?? now) >= begin - slack;
  };
  return model.listed.filter(overlaps).slice(0, MOST_LANES);
}

const MOST_LANES = 60;

/** Returns what must be read before the lanes can be drawn. @param {Model} model @returns {Effect[]} */
export function laneEffects(model) {
  const missing = lanes(model).filter(
    (row) => isOver(row) && !model.lanes.has(row.runId) && !model.askedLanes.has(row.runId),
  );
  if (missing.length === 0) return [];
  for (const row of missing) model.askedLanes.add(row.runId);
  return [{ do: "lanes", runs: missing.map((row) => row.runId) }];
}
