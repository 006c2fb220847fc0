// The state of the page. It takes one message after the other and says what is to be done; what is
// drawn is a function of it.

import { isOver } from "./figures.js";
import { filters, laneEffects, lanes, list } from "./visible_runs.js";
import { noPastRuns, noteNews, readOlderRuns, readPastRuns, takePastRuns } from "./past_runs.js";
import { noReview, readQueue, selectItem, updateReview } from "./review.js";
import { fromPalette, noPalette } from "./palette_state.js";
import { addEvents, eventsRead, newlyOpened, tabEffects, takeWords, toggle, toggleAll } from "./open_run.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./types.js").Lane} Lane */
/** @typedef {import("./open_run.js").Opened} Opened */
/** @typedef {{type: string, [field: string]: any}} Message */
/** @typedef {{do: string, [field: string]: any}} Effect */

/** The pages, and the tabs of a run, that an address can name. */
export const PAGES = ["review", "runs", "history", "compare", "usage", "agents"];
const TABS = ["transcript", "answer", "changes", "task", "raw"];

/** More runs do not fit beside each other. */
export const MOST_COMPARED = 6;

export function initial() {
  return {
    /** @type {any} */ about: null,
    /** Whether it is known what is shown. */ isBegun: false,
    /** @type {"opening" | "live" | "waiting" | "lost" | "recorded" | "refused"} */ connection: "opening",
    /** Why the server did not take the code of the address. */ refusal: "",
    /** @type {Map<string, Row>} */ rows: new Map(),
    /** @type {Map<string, Row>} The runs of the call that is read, which no list has sent. */ beside: new Map(),
    /** @type {Row[]} All rows in their order. */ all: [],
    /** @type {Row[]} */ listed: [],
    isListed: false,
    /** @type {Set<string> | null} The runs that a new stream has told so far, until it has told all. */ told: null,
    /** @type {import("./types.js").Counts | null} */ counts: null,
    /** @type {number | null} How many results wait for a person, in the whole project. */ waiting: null,
    /** @type {import("./types.js").Totals | null} */ totals: null,
    /** @type {import("./types.js").Totals | null} */ today: null,
    /** By how much the clock of the server differs from ours. */ ahead: 0,
    /** @type {number | null} When the server was last heard of, while it is away. */ silentSince: null,
    /** @type {Map<string, Lane>} */ lanes: new Map(),
    /** @type {Set<string>} */ askedLanes: new Set(),
    /** @type {Row[]} The lanes that were shown when another run was chosen. */ lanesBefore: [],
    page: "runs",
    /** Whether the page may still choose its first view itself. */ isFirstView: false,
    review: noReview(),
    tab: "transcript",
    filter: "all",
    words: "",
    /** @type {string | null} */ project: null,
    /** @type {string | null} */ selected: null,
    hasChosen: false,
    /** @type {Opened | null} */ opened: null,
    isZoomed: false,
    /** @type {{text: string, isError: boolean} | null} */ notice: null,
    /** @type {"stop" | "discard" | "review" | null} What a person is asked before it is done. */ asked: null,
    /** @type {"keys" | "share" | "palette" | null} What is shown above the page. */ shown: null,
    palette: noPalette(),
    /** Whether the figures are shown where there is no room for them beside the run. */ hasFigures: false,
    /** @type {Set<string>} */ compared: new Set(),
    /** @type {Map<string, Row>} */ wholes: new Map(),
    history: noPastRuns("history"),
    /** What a filter or words find for the list of runs. */ found: noPastRuns("found"),
    /** @type {any} */ usage: null,
    usageBy: "days",
    /** @type {any} */ agents: null,
    /** @type {any} */ redacted: null,
  };
}

/** @typedef {ReturnType<typeof initial>} Model */

/** Returns the run that is read, if it is this one. @param {Model} model @param {string} run */
function openedRun(model, run) {
  return model.opened && model.opened.run === run ? model.opened : null;
}

/** Returns what is known about the run that is read. @param {Model} model @returns {Row | undefined} */
export function openedRow(model) {
  const opened = model.opened;
  return opened ? (model.rows.get(opened.run) ?? opened.whole) : undefined;
}

/** Returns whether nobody sees a message that the model has taken: the beginning of a transcript is
 * shown once it meets the end. @param {Model} model @param {Message} message */
export function isUnseen(model, message) {
  if (message.type !== "eventsRead" || message.from === undefined) return false;
  const opened = openedRun(model, message.run);
  return opened === null || opened.begin > 0;
}

/** Takes a message, and returns what is to be done. @param {Model} model @param {Message} message
 * @returns {Effect[]} */
export function update(model, message) {
  const meant = openedRun(model, message.run);
  switch (message.type) {
    case "begun":
      return begin(model, message);
    case "aboutRead":
      model.about = message.about;
      model.redacted = message.redacted ?? null;
      model.ahead = message.about.now - Date.now();
      return [];
    case "piece":
      return take(model, message.piece);
    case "connection":
      model.connection = message.state;
      if (["lost", "waiting"].includes(message.state)) model.silentSince ??= Date.now();
      return [];
    case "select":
      return select(model, message.run, true);
    case "open":
      // One step: the Back button leads to the list that it was opened from.
      model.page = "runs";
      return select(model, message.run, true);
    case "page":
      model.isFirstView = false;
      return turnTo(model, message.page);
    case "tab":
      model.tab = message.tab;
      return model.opened ? tabEffects(model.opened, model.tab, openedRow(model)) : [];
    case "eventsRead":
      if (!meant) return [];
      if (message.spans) model.lanes.set(meant.run, message.spans);
      // The lanes are asked for before the beginning of the transcript, which can wait longest.
      return [...lanesAfter(model, eventsRead(meant, /** @type {any} */ (message))), ...(isUnseen(model, message) ? [] : tabEffects(meant, model.tab, openedRow(model)))];
    case "wholeRead":
      model.wholes.set(message.run, message.row);
      if (meant) {
        const isFirst = openedRow(model) === undefined;
        meant.whole = message.row;
        takeCall(model, message.row);
        // What a tab needs depends on the row, which no list may ever send.
        const tab = isFirst ? tabEffects(meant, model.tab, message.row) : [];
        const budgets = message.row.granted && model.connection !== "recorded" ? [{ do: "budgets", run: message.run }] : [];
        return [...withWorkspace(model, message.row), ...laneEffects(model), ...tab, ...budgets];
      }
      return withWorkspace(model, message.row);
    case "settled":
      if (meant) [meant.changes, meant.fits] = [undefined, undefined];
      return meant ? [{ do: "whole", run: meant.run }, ...tabEffects(meant, model.tab, openedRow(model))] : [];
    case "textsRead":
      if (meant) meant.texts.set(message.key, message.texts);
      return [];
    case "rawRead":
      if (meant) {
        const before = message.from === 0 ? [] : (meant.raw?.lines ?? []);
        meant.raw = { lines: [...before, ...message.lines], next: message.next };
      }
      return [];
    case "changesRead":
      if (meant) meant.changes = message.changes;
      return [];
    case "budgetsRead":
      if (meant) meant.budgets = message.budgets;
      return [];
    case "fitsRead":
      if (meant) meant.fits = message.fits;
      return [];
    case "toggle":
      return model.opened ? toggle(model.opened, message.key) : [];
    case "toggleAll":
      return model.opened ? toggleAll(model.opened) : [];
    case "choose":
      if (model.opened) model.opened.chosen = message.key;
      return [];
    case "follow":
      if (model.opened) model.opened.isFollowed = message.on;
      return [];
    case "filter":
      model.filter = message.filter;
      return find(model);
    case "words":
      model.words = message.words;
      // Until a person has stopped typing, only the rows that are there are looked through.
      list(model);
      return [{ do: "findLater" }];
    case "find":
      return find(model);
    case "moreRuns":
      return model.found.isRead ? readOlderRuns(model.found) : readPastRuns(model.found);
    case "address":
      return goTo(model, message.said);
    case "notice":
      model.notice = { text: message.text, isError: message.isError ?? false };
      return [];
    case "forgetNotice":
      model.notice = null;
      return [];
    case "ask":
      model.asked = message.what;
      return [];
    case "show":
      model.shown = model.shown === message.what ? null : message.what;
      if (model.shown === "palette") model.palette = noPalette();
      return [];
    case "figures":
      model.hasFigures = message.on;
      return [];
    case "zoom":
      model.isZoomed = message.on;
      return [];
    case "project":
      return changeProject(model, message.project);
    case "lanesRead":
      for (const [run, lane] of Object.entries(message.spans)) {
        if (!lane) continue;
        // A part is kept beside the whole, which is thinner.
        const whole = model.lanes.get(run);
        if (message.part && whole) whole.part = { ...message.part, spans: lane.spans };
        else model.lanes.set(run, lane);
      }
      return [];
    case "partOfLanes": {
      const thin = message.runs.filter((/** @type {string} */ run) => model.lanes.get(run)?.isThin);
      return thin.length > 0 ? [{ do: "lanes", runs: thin, part: message.part }] : [];
    }
    case "compare":
      if (model.compared.delete(message.run)) return [];
      if (model.compared.size >= MOST_COMPARED) {
        model.notice = { text: `At most ${MOST_COMPARED} runs are compared. Leave one out on Compare.`, isError: true };
        return [];
      }
      model.compared.add(message.run);
      return model.page === "compare" ? readCompared(model) : [];
    case "runsRead": {
      const read = listNamed(model, message.list);
      const effects = takePastRuns(read, /** @type {any} */ (message));
      if (message.answer.counts) model.counts = message.answer.counts;
      list(model);
      return effects;
    }
    case "runsFailed": {
      listNamed(model, message.list).isReading = false;
      return [];
    }
    case "searchHistory": {
      model.page = "history";
      const { words = model.history.words, state = model.history.state } = message;
      model.history = noPastRuns("history", words, state);
      return readPastRuns(model.history);
    }
    case "moreHistory":
      return readOlderRuns(model.history);
    case "usageRead":
      model.usage = message.usage;
      return [];
    case "usageBy":
      model.usageBy = message.by;
      return [];
    case "agentsRead":
      model.agents = message.agents;
      return [];
    case "problem":
      if (meant) [meant.problem, model.lanesBefore] = [message.text, []];
      return [];
    default:
      return fromPalette(model, message) ?? updateReview(model, message) ?? [];
  }
}

/** Returns one of the lists that the server finds. @param {Model} model @param {string} name */
export function listNamed(model, name) {
  if (name === "palette") return model.palette.found;
  return name === "history" ? model.history : model.found;
}

/** @param {Model} model @param {Message} message @returns {Effect[]} */
function begin(model, { said }) {
  model.isBegun = true;
  model.project = said.get("all") ? null : (said.get("project") ?? model.about?.project) || null;
  // Runs that are named with the command are compared.
  if (said.get("compare") && !said.get("page") && !said.get("run")) said.set("page", "compare");
  model.isFirstView = !said.get("page") && !said.get("run");
  return [{ do: "look" }, ...goTo(model, said), { do: "reviewCount" }];
}

/** Shows what an address says. @param {Model} model @param {URLSearchParams} said @returns {Effect[]} */
function goTo(model, said) {
  /** @type {Effect[]} */
  const effects = [];
  const project = said.get("all") ? null : (said.get("project") ?? model.project);
  if (project !== model.project) effects.push(...changeProject(model, project));
  model.compared = new Set((said.get("compare") ?? "").split(",").filter(Boolean).slice(0, MOST_COMPARED));
  const filter = said.get("filter") ?? "all";
  model.filter = filter in filters ? filter : "all";
  model.words = said.get("q") ?? "";
  model.tab = TABS.includes(said.get("tab") ?? "") ? (said.get("tab") ?? "") : "transcript";
  model.usageBy = said.get("by") ?? "days";
  const [words, state] = [said.get("find") ?? "", said.get("state") ?? "all"];
  if (words !== model.history.words || state !== model.history.state) model.history = noPastRuns("history", words, state);
  const run = said.get("run");
  if (run) effects.push(...select(model, run, true));
  else if (model.hasChosen) [model.hasChosen, model.isZoomed] = [false, false];
  if (run && model.opened?.run === run) effects.push(...tabEffects(model.opened, model.tab, openedRow(model)));
  const result = said.get("result");
  if (result) effects.push(...selectItem(model, result, true));
  model.review.beside = said.get("with");
  if (model.review.beside) effects.push({ do: "reviewed", run: model.review.beside });
  const page = said.get("page") ?? "runs";
  return [...effects, ...find(model), ...turnTo(model, PAGES.includes(page) ? page : "runs")];
}

/** Finds what the filter and the words of the list mean, in the whole project. @param {Model} model
 * @returns {Effect[]} */
function find(model) {
  const words = model.words.trim();
  const isSame = model.found.words === words && model.found.state === model.filter;
  if (!isSame) model.found = noPastRuns("found", words, model.filter);
  list(model);
  // The runs that have not ended are all here.
  const isHere = model.connection === "recorded" || (!words && ["all", "running"].includes(model.filter));
  return isHere ? [] : readPastRuns(model.found);
}

/** Takes the other runs of the call of the run that is read, which may be older than every list.
 * @param {Model} model @param {Row} whole */
function takeCall(model, whole) {
  model.beside = new Map([whole, ...(whole.call ?? [])].map((row) => [row.runId, row]));
  list(model);
}

/** Puts the questions for lanes before those for the rest of a transcript. @param {Model} model
 * @param {Effect[]} rest @returns {Effect[]} */
function lanesAfter(model, rest) {
  return [...laneEffects(model), ...rest];
}

/** Takes a piece of the stream. @param {Model} model @param {any} piece @returns {Effect[]} */
function take(model, piece) {
  /** @type {Effect[]} */
  const effects = [];
  // What a window that waits has asked for is no news.
  if (!piece.isOld) model.silentSince = null;
  if (piece.counts) model.counts = piece.counts;
  if (typeof piece.waiting === "number") model.waiting = piece.waiting;
  // The sums come behind the first rows; until then nobody says that there are none.
  if (piece.totals) [model.totals, model.isListed] = [piece.totals, true];
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
function takeRows(model, { rows, gone = [], begins = false, isWhole = false }) {
  if (begins) model.told = new Set();
  for (const past of [model.history, model.found]) noteNews(past, { rows, gone, begins });
  /** @type {Effect[]} */
  const effects = [];
  let isQueueOld = false;
  for (const run of gone) model.rows.delete(run);
  for (const row of rows) {
    const before = model.rows.get(row.runId);
    const opened = openedRun(model, row.runId);
    if (opened && !openedRow(model)) effects.push(...tabEffects(opened, model.tab, row));
    model.rows.set(row.runId, row);
    model.told?.add(row.runId);
    isQueueOld ||= !begins && needOf(before) !== needOf(row);
    const isNews = before && (before.status !== row.status || before.workspace?.state !== row.workspace?.state);
    if (isNews && isOver(row)) effects.push(...readAgain(model, row.runId));
  }
  // The rows of the server that went away stay until everything was told again.
  if (isWhole) {
    for (const run of model.rows.keys()) if (model.told && !model.told.has(run)) model.rows.delete(run);
    model.told = null;
  }
  // What could not be read while the server was away is read now.
  if (begins) effects.push(...turnTo(model, model.page), ...find(model));
  if (isQueueOld) effects.push({ do: "reviewLater" });
  list(model);
  if (!model.hasChosen && model.listed.length > 0 && !isBusy(model)) {
    effects.push(...select(model, model.listed[0].runId, false));
  }
  return effects;
}

/** Returns what of a run can make it wait for a person. @param {any} row */
function needOf(row) {
  if (!row) return "";
  const open = (row.questions ?? []).filter((/** @type {any} */ one) => !one.outcome).length;
  return [row.status === "failed" ? "failed" : "", row.workspace?.state ?? "", open || ""].join("");
}

/** Takes what became of the worktree of a run, which is in no list. @param {Model} model
 * @param {Row} row @returns {Effect[]} */
function withWorkspace(model, row) {
  const listed = model.rows.get(row.runId);
  if (listed && listed.workspace?.state !== row.workspace?.state) {
    model.rows.set(row.runId, { ...listed, workspace: row.workspace });
    list(model);
  }
  return [];
}

/** Reads again what has changed with the end of a run. @param {Model} model @param {string} run @returns {Effect[]} */
function readAgain(model, run) {
  model.wholes.delete(run);
  const opened = openedRun(model, run);
  if (!opened) return model.page === "compare" && model.compared.has(run) ? [{ do: "whole", run }] : [];
  opened.changes = undefined;
  opened.fits = undefined;
  return [{ do: "whole", run }, ...tabEffects(opened, model.tab, model.rows.get(run))];
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
  for (const span of news.spans) lane.spans.push(span);
  lane.steered = news.steered;
  model.lanes.set(run, lane);
}

/** @param {Model} model @param {string | null} run @param {boolean} isChosen @returns {Effect[]} */
function select(model, run, isChosen) {
  model.hasChosen = model.hasChosen || isChosen;
  model.asked = null;
  model.notice = null;
  if (isChosen) model.isZoomed = true;
  if (model.opened?.run === run) return [];
  model.lanesBefore = lanes(model);
  model.selected = run;
  model.hasFigures = false;
  if (!run) {
    model.opened = null;
    return [{ do: "look" }];
  }
  const opened = newlyOpened(run);
  model.opened = opened;
  return [{ do: "events", run }, { do: "whole", run }, ...tabEffects(opened, model.tab, model.rows.get(run))];
}

/** @param {Model} model @param {string} page @returns {Effect[]} */
function turnTo(model, page) {
  model.page = page;
  switch (page) {
    case "review":
      model.hasFigures = false;
      return readQueue(model);
    case "history":
      return readPastRuns(model.history);
    case "usage":
      return [{ do: "usage" }];
    case "agents":
      return model.agents ? [] : [{ do: "agents" }];
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
  model.beside = new Map();
  model.listed = [];
  model.isListed = false;
  model.counts = null;
  model.waiting = null;
  model.usage = null;
  model.agents = null;
  model.history = noPastRuns("history");
  model.found = noPastRuns("found", model.words.trim(), model.filter);
  model.review = noReview();
  model.hasChosen = false;
  model.selected = null;
  model.opened = null;
  return [{ do: "look" }, ...turnTo(model, model.page), ...(model.isBegun && model.page !== "review" ? [{ do: "reviewCount" }] : [])];
}

