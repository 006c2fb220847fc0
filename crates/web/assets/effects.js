// What the model wants done: questions, wishes, files, and the one stream of this tab.

import { Refused } from "./connection.js";
import { Leisure } from "./leisure.js";
import { listNamed } from "./model.js";

/** @typedef {import("./connection.js").Connection} Connection */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Message} Message */
/** @typedef {import("./model.js").Effect} Effect */

/** How long it takes until a lost server is looked for again, at first and at most. */
const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;

/** How long a person must have stopped typing before all runs are searched. */
const TYPING = 250;

/** How long the runs must have been still before what waits is looked at again. */
const SETTLING = 800;

/** How closely the lanes of finished runs are asked for, in spans. */
const CLOSELY = 1500;

export class Effects {
  /** @param {Model} model @param {Connection} connection @param {(message: Message) => void} dispatch */
  constructor(model, connection, dispatch) {
    this.model = model;
    this.connection = connection;
    this.dispatch = dispatch;
    this.leisure = new Leisure();
    /** @type {ReturnType<typeof setTimeout> | undefined} Ends when a person has stopped typing. */
    this.finding = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} Ends when what waits is looked at again. */
    this.looking = undefined;
    /** How many streams were wanted; only the last is read, older ones end by themselves. */
    this.wanted = 0;
    this.isFollowing = false;
    this.isTurning = false;
    /** @type {number | undefined} The number of the stream, once it is open. */
    this.stream = undefined;
    /** @type {{project: string | null, opened: import("./open_run.js").Opened | null} | null} What the
     * server was last told that this tab looks at. */
    this.told = null;
    // A browser gives a server few connections, so a tab that nobody sees keeps none.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.wanted += 1;
        this.isFollowing = false;
        this.stream = undefined;
        connection.leave();
      } else if (model.isBegun) {
        this.look();
      }
    });
  }

  /** Does what the model wants done. @param {Effect} effect */
  async run(effect) {
    try {
      await this.perform(effect);
    } catch (error) {
      if (effect.run && ["events", "whole"].includes(effect.do)) {
        return this.dispatch({ type: "problem", run: effect.run, text: said(error) });
      }
      if (effect.do === "runs") this.dispatch({ type: "runsFailed", list: effect.list });
      if (effect.do === "wish" && effect.body.message) giveBack(effect.body.message);
      this.dispatch({ type: "notice", text: said(error), isError: true });
    }
  }

  /** @param {Effect} effect */
  async perform(effect) {
    const { connection, model, dispatch } = this;
    const { run } = effect;
    const id = run ? encodeURIComponent(run) : "";
    const ask = connection.ask.bind(connection);
    switch (effect.do) {
      case "look":
        return this.look();
      case "events": {
        const { from } = effect;
        const read = () => ask(`runs/${id}/events`, { from });
        // A person reads the end of a run first; its beginning can wait.
        return dispatch({ type: "eventsRead", run, from, ...(await (from === undefined ? read() : this.leisure.ask(read))) });
      }
      case "whole":
        return dispatch({ type: "wholeRead", run, row: await ask(`runs/${id}`) });
      case "texts": {
        const at = effect.places.map((/** @type {any} */ place) => (place ?? [0, 99999]).join(".")).join(",");
        return dispatch({ type: "textsRead", run, key: effect.key, ...(await ask(`runs/${id}/texts`, { at })) });
      }
      case "raw":
        if (connection.isRecorded) return;
        return dispatch({ type: "rawRead", run, from: effect.from, ...(await ask(`runs/${id}/raw`, { from: effect.from })) });
      case "changes":
        return dispatch({ type: "changesRead", run, changes: await ask(`runs/${id}/changes`) });
      case "fits":
        return dispatch({ type: "fitsRead", run, fits: await ask("fits", { runs: run }) });
      case "lanes": {
        const part = effect.part;
        const query = { runs: effect.runs.join(","), from: part?.from, to: part?.to, most: CLOSELY };
        const read = () => ask("spans", query);
        return dispatch({ type: "lanesRead", part, ...(await (part ? read() : this.leisure.ask(read))) });
      }
      case "runs": {
        const { words, state } = listNamed(model, effect.list);
        const { from, before, list } = effect;
        // The palette looks everywhere: a person who knows a word does not know where it stood.
        const where = list === "palette" ? { in: "transcripts" } : { project: model.project };
        const query = { ...where, q: words, state: state === "all" ? "" : state, from, before, count: 200 };
        return dispatch({ type: "runsRead", list, from, before, words, state, answer: await ask("runs", query) });
      }
      case "findLater":
        clearTimeout(this.finding);
        this.finding = setTimeout(() => dispatch({ type: "find" }), TYPING);
        return;
      case "paletteLater":
        clearTimeout(this.finding);
        this.finding = setTimeout(() => dispatch({ type: "paletteFind" }), TYPING);
        return;
      case "budgets":
        return dispatch({ type: "budgetsRead", run, ...(await ask(`runs/${id}/budgets`)) });
      case "review":
        return this.readQueue();
      case "reviewCount":
        if (connection.isRecorded) return;
        return dispatch({ type: "reviewCount", ...(await ask("review/count", { project: model.project })) });
      case "reviewLater":
        clearTimeout(this.looking);
        this.looking = setTimeout(() => this.run(model.page === "review" ? { do: "review" } : { do: "reviewCount" }), SETTLING);
        return;
      case "reviewed":
        return this.readReviewed(run);
      case "reviewParts": {
        const answer = await ask(`review/${id}/parts`, { project: model.project }).catch((error) => ({ problem: said(error) }));
        return dispatch({ type: "reviewPartsRead", run, answer });
      }
      case "reviewDiff": {
        const diff = await ask(`review/${id}/diff`, { project: model.project, file: effect.file }).catch((error) => ({ problem: said(error) }));
        return dispatch({ type: "reviewDiffRead", run, file: effect.file, diff });
      }
      case "accept":
        return this.accept(effect);
      case "reviewWish": {
        const path = effect.what === "undo" ? "undo" : `runs/${id}/${effect.what}`;
        const body = effect.what === "undo" ? { project: model.project } : effect.body;
        const answer = await connection.post(path, body).catch((error) => {
          giveBackNote(effect);
          throw error;
        });
        return dispatch({ type: "reviewDone", run, what: effect.what, answer });
      }
      case "usage":
        return dispatch({ type: "usageRead", usage: await ask("usage", { project: model.project }) });
      case "agents":
        return dispatch({ type: "agentsRead", agents: await ask("agents", { project: model.project }) });
      case "wish": {
        const answer = await connection.wish(run, effect.what, effect.body);
        if (answer.run) dispatch({ type: "select", run: answer.run });
        // What became of a worktree stands in no index that is followed.
        if (effect.what === "merge" || effect.what === "discard") dispatch({ type: "settled", run });
        return dispatch({ type: "notice", text: answer.message, isError: answer.failed });
      }
      case "download": {
        const file = await connection.file(effect.what, { runs: effect.runs });
        const ending = effect.what === "export.html" ? "html" : "trace.json";
        return save(file, `subagent-${effect.runs.split(",")[0]}.${ending}`);
      }
    }
  }

  async readQueue() {
    const { connection, model, dispatch } = this;
    try {
      dispatch({ type: "reviewRead", queue: await connection.ask("review", { project: model.project }) });
    } catch (error) {
      dispatch({ type: "reviewFailed" });
      throw error;
    }
  }

  /** @param {string} run */
  async readReviewed(run) {
    const { connection, model, dispatch } = this;
    const read = connection.ask(`review/${encodeURIComponent(run)}`, { project: model.project });
    const detail = await read.catch((error) => ({ problem: said(error), files: [], seen: [], unseen: [] }));
    dispatch({ type: "reviewedRead", run, detail });
  }

  /** Accepts results, and tells what happens until the server has told what became of each.
   * @param {Effect} effect */
  async accept({ runs, gates, parts }) {
    const { connection, model, dispatch } = this;
    let answer;
    const take = (/** @type {any} */ piece) => {
      if (piece.news) dispatch({ type: "reviewNews", news: piece.news });
      else answer = piece;
    };
    try {
      await connection.read("accept", { project: model.project, runs, gates, parts }, take);
    } catch (error) {
      answer = { problem: said(error), notes: [], words: [] };
    }
    dispatch({ type: "reviewAccepted", answer: answer ?? { problem: "The server ended before it was done. What it began, the next look finishes or takes back.", notes: [], words: [] } });
  }

  /** Returns what the server is to be told, and remembers it. A run is followed from where its record
   * was read to. */
  tell() {
    const { project, opened } = this.model;
    this.told = { project, opened: opened?.isRead ? opened : null };
    return opened?.isRead ? { project, run: opened.run, from: opened.next } : { project };
  }

  /** Returns whether the server knows what this tab looks at. */
  isTold() {
    const { project, opened } = this.model;
    return this.told?.project === project && this.told?.opened === (opened?.isRead ? opened : null);
  }

  /** Tells the server what this tab looks at now: with the stream that is open, or with a new one. */
  async look() {
    if (!this.isFollowing) return this.follow();
    if (this.isTurning) return;
    this.isTurning = true;
    try {
      // One after the other: two that are under way at once may overtake each other.
      while (this.stream !== undefined && !this.isTold()) await this.connection.turn(this.stream, this.tell());
    } catch {
      // The stream has just ended. The next one begins with this view.
    }
    this.isTurning = false;
  }

  /** Follows what happens, and goes on by itself when the server was away. */
  async follow() {
    const { connection, dispatch } = this;
    const number = ++this.wanted;
    const isWanted = () => number === this.wanted && !document.hidden;
    this.isFollowing = true;
    let wait = FIRST_WAIT;
    while (isWanted()) {
      const take = (/** @type {any} */ piece) => {
        if (!isWanted()) return;
        wait = FIRST_WAIT;
        this.take(piece);
      };
      try {
        await connection.follow(() => this.tell(), take, () => isWanted() && this.wait());
      } catch (error) {
        if (!isWanted()) return;
        if (error instanceof Refused && error.status === 401) {
          return dispatch({ type: "connection", state: "refused" });
        }
      }
      if (!isWanted()) return;
      this.stream = undefined;
      dispatch({ type: "connection", state: "lost" });
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  /** Says that the other windows have all streams. A window that shows nothing yet asks once for what
   * it would be sent. */
  async wait() {
    const { model, connection, dispatch } = this;
    dispatch({ type: "connection", state: "waiting" });
    if (model.isListed) return;
    const { runs, ...sums } = await connection.ask("runs", { project: model.project, count: 200 });
    if (!model.isListed) dispatch({ type: "piece", piece: { rows: runs, ...sums, isOld: true } });
  }

  /** Takes a piece of the stream. The first has its number. @param {any} piece */
  take(piece) {
    const { model, connection, dispatch } = this;
    model.connection = connection.isRecorded ? "recorded" : "live";
    if (piece.stream === undefined) return dispatch({ type: "piece", piece });
    this.stream = piece.stream;
    // A person may have opened another run since the stream was asked for.
    this.look();
  }
}

/** Gives back a note that reached nobody. @param {Effect} effect */
function giveBackNote({ what, body }) {
  const input = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("note"));
  if (what === "send-back" && input && !input.value) input.value = body.note;
}

/** Gives back the words of a person that reached nobody. @param {string} words */
function giveBack(words) {
  const input = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("message"));
  if (input && !input.value) input.value = words;
}

/** Gives a person a file. @param {Blob} content @param {string} name */
export function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Returns what a person reads of an error. @param {unknown} error */
function said(error) {
  if (error instanceof TypeError) return "The server cannot be reached.";
  return error instanceof Error ? error.message : String(error);
}
