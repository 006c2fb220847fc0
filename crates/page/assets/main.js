// The page: messages go into the model, what is to be done is done here, and every frame is drawn
// from the model.

import { html, nothing, render } from "./lit-html.js";
import { Connection, Refused, takeToken } from "./connection.js";
import { RecordedConnection, recordedData } from "./recorded.js";
import { initial, laneEffects, update } from "./model.js";
import { cost, count, isOver, spent, tokens } from "./figures.js";
import { plain } from "./fold.js";
import { RunList } from "./runs.js";
import { RunView } from "./transcript.js";
import { Timeline } from "./timeline.js";
import { History } from "./history.js";
import { composer } from "./composer.js";
import { side } from "./side.js";
import { compare } from "./compare.js";
import { csv, usage } from "./usage.js";
import { definitions } from "./definitions.js";
import { help, listen, PAGES } from "./keys.js";

/** @typedef {import("./model.js").Message} Message */
/** @typedef {import("./model.js").Effect} Effect */

/** How long it takes until a lost server is looked for again, at first and at most. */
const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;

const model = initial();
const data = recordedData();
const connection = data ? new RecordedConnection(data) : new Connection();
const runList = new RunList(model, dispatch);
const runView = new RunView(model, dispatch);
const timeline = new Timeline(model, dispatch);
const history = new History(model, dispatch);
const NAMES = ["Runs", "History", "Compare", "Usage", "Definitions"];

let isDrawn = true;
/** The number of the stream that is wanted; older ones end by themselves. */
let stream = 0;
let isWaiting = false;

/** Takes a message. @param {Message} message */
function dispatch(message) {
  for (const effect of [...act(message), ...update(model, message)]) run(effect);
  if (message.type === "piece" && message.piece.rows) for (const effect of laneEffects(model)) run(effect);
  redraw();
}

/** Does what needs the page itself. @param {Message} message @returns {Effect[]} */
function act(message) {
  switch (message.type) {
    case "steer":
      return [{ do: "wish", run: message.run, what: "steer", body: { message: message.words } }];
    case "goOn":
      return [{ do: "wish", run: message.run, what: "continue", body: { message: message.words } }];
    case "stop":
      model.isStopAsked = false;
      return [{ do: "wish", run: message.run, what: "stop", body: {} }];
    case "download":
      return [{ do: "download", what: message.what, runs: message.run }];
    case "saveUsage":
      save(new Blob([csv(model.usage)], { type: "text/csv" }), "subagents-usage.csv");
      return [];
    case "moreRaw":
      return model.opened?.raw ? [{ do: "raw", run: model.opened.run, from: model.opened.raw.next }] : [];
    case "select":
      requestAnimationFrame(() => runList.list.reveal(message.run));
      return [];
    case "fit":
      timeline.fit();
      return [];
    case "reveal":
      queueMicrotask(() => reveal(message));
      return [];
    case "nextCall":
      nextCall(message.by);
      return [];
    case "toEnd":
      if (model.opened) model.opened.isFollowed = message.isEnd;
      runView.list.isFollowing = message.isEnd;
      if (!message.isEnd) runView.list.scrollTo(0);
      return [];
    case "copy":
      copy(message.what);
      return [];
    default:
      return [];
  }
}

/** Does what the model wants done. @param {Effect} effect */
async function run(effect) {
  try {
    await perform(effect);
  } catch (error) {
    if (effect.run && ["events", "whole"].includes(effect.do)) {
      return dispatch({ type: "problem", run: effect.run, text: said(error) });
    }
    dispatch({ type: "notice", text: said(error), isError: true });
  }
}

/** @param {Effect} effect */
async function perform(effect) {
  const id = effect.run ? encodeURIComponent(effect.run) : "";
  switch (effect.do) {
    case "stream":
      return openStream();
    case "events": {
      const answer = await connection.ask(`runs/${id}/events`, { from: effect.from });
      return dispatch({ type: "eventsRead", run: effect.run, from: effect.from, ...answer });
    }
    case "whole":
      return dispatch({ type: "wholeRead", run: effect.run, row: await connection.ask(`runs/${id}`) });
    case "texts": {
      const at = effect.places.map((/** @type {any} */ place) => (place ?? [0, 99999]).join(".")).join(",");
      const { texts } = await connection.ask(`runs/${id}/texts`, { at });
      return dispatch({ type: "textsRead", run: effect.run, key: effect.key, texts });
    }
    case "raw": {
      if (connection.isRecorded) return;
      const answer = await connection.ask(`runs/${id}/raw`, { from: effect.from });
      return dispatch({ type: "rawRead", run: effect.run, from: effect.from, ...answer });
    }
    case "lanes":
      return dispatch({ type: "lanesRead", ...(await connection.ask("spans", { runs: effect.runs.join(",") })) });
    case "history": {
      const query = { project: model.project, q: model.history.words, from: effect.from, count: 200 };
      return dispatch({ type: "historyRead", from: effect.from, answer: await connection.ask("runs", query) });
    }
    case "usage":
      return dispatch({ type: "usageRead", usage: await connection.ask("usage", { project: model.project }) });
    case "definitions":
      return dispatch({ type: "definitionsRead", definitions: await connection.ask("definitions", { project: model.project }) });
    case "wish": {
      const answer = await /** @type {Connection} */ (connection).wish(effect.run, effect.what, effect.body);
      if (answer.run) dispatch({ type: "select", run: answer.run });
      return dispatch({ type: "notice", text: answer.message });
    }
    case "download": {
      const file = await /** @type {Connection} */ (connection).file(effect.what, { runs: effect.runs });
      return save(file, `subagent-${effect.runs.split(",")[0]}.${effect.what === "export.html" ? "html" : "trace.json"}`);
    }
  }
}

/** Follows what happens, and goes on by itself when the server was away. */
async function openStream() {
  const number = ++stream;
  let wait = FIRST_WAIT;
  while (number === stream && !document.hidden) {
    const query = { project: model.project, run: model.opened?.run, from: model.opened?.next };
    try {
      await connection.follow(query, (piece) => {
        if (number !== stream) return;
        wait = FIRST_WAIT;
        model.connection = connection.isRecorded ? "recorded" : "live";
        dispatch({ type: "piece", piece });
      });
    } catch (error) {
      if (number !== stream) return;
      if (error instanceof Refused && error.status === 401) {
        return dispatch({ type: "connection", state: "refused" });
      }
    }
    if (number !== stream || document.hidden) return;
    dispatch({ type: "connection", state: "lost" });
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

// A browser gives a server few connections, so a tab that nobody sees keeps none.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream += 1;
    connection.leave();
  } else if (model.about) {
    openStream();
  }
});

/** Shows what happened at a moment. @param {Message} message */
function reveal({ run, at }) {
  dispatch({ type: "select", run });
  if (model.tab !== "transcript") dispatch({ type: "tab", tab: "transcript" });
  const items = model.opened?.transcript.items ?? [];
  if (at === undefined || items.length === 0) return;
  const item = items.find((item) => (item.call?.begin ?? item.t) >= at - 2) ?? items[items.length - 1];
  dispatch({ type: "follow", on: false });
  dispatch({ type: "choose", key: item.key });
  requestAnimationFrame(() => runView.list.reveal(item.key));
}

/** Selects the next or previous call. @param {number} by */
function nextCall(by) {
  const opened = model.opened;
  if (!opened) return;
  const calls = opened.transcript.items.filter((item) => item.call);
  const place = calls.findIndex((item) => item.key === opened.chosen);
  const next = place < 0 ? (by > 0 ? calls[0] : calls.at(-1)) : calls[place + by];
  if (!next) return;
  opened.chosen = next.key;
  opened.isFollowed = false;
  runView.list.isFollowing = false;
  requestAnimationFrame(() => runView.list.reveal(next.key));
}

/** @param {string} what */
function copy(what) {
  const opened = model.opened;
  const text = what === "id" ? opened?.run : plain(opened?.whole?.answer);
  if (!text) return dispatch({ type: "notice", text: "There is no answer to copy." });
  navigator.clipboard.writeText(text).then(
    () => dispatch({ type: "notice", text: `Copied the ${what}.` }),
    () => dispatch({ type: "notice", text: "The browser did not let us copy.", isError: true }),
  );
}

/** Gives a person a file. @param {Blob} content @param {string} name */
function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** @param {unknown} error */
function said(error) {
  if (error instanceof TypeError) return "The server cannot be reached.";
  return error instanceof Error ? error.message : String(error);
}

function redraw() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(draw);
}

function draw() {
  isDrawn = true;
  render(page(), document.body);
  if (model.page === "runs") {
    runList.draw();
    runView.draw();
    timeline.draw();
  } else if (model.page === "history") {
    history.draw();
  }
  tick();
}

/** Lets the clocks go on while a run is under way. */
function tick() {
  const isUnderWay = [...model.rows.values()].some((row) => !isOver(row));
  if (isWaiting || !isUnderWay || document.hidden) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    redraw();
  }, 1000);
}

function page() {
  if (model.connection === "refused") {
    return html`<main class="wide-page"><h1>This page needs its token</h1>
      <p>Open the whole address that <code>pi-subagents web</code> prints in the terminal. The part behind the # is the token.</p></main>`;
  }
  document.body.className = `${model.page} ${model.isZoomed ? "zoomed" : ""}`;
  return html`${bar()}${content()}${foot()}${help(model, dispatch)}`;
}

function bar() {
  const today = model.today;
  const spentToday = today ? cost(today.usage.cost) || (today.usage.totalTokens > 0 ? `${tokens(today.usage.totalTokens)} tokens` : "") : "";
  const isRecorded = model.connection === "recorded";
  const pages = isRecorded ? ["runs", "compare"] : PAGES;
  return html`<header class="bar"><span class="logo">pi<i>·</i>subagents</span>
    ${isRecorded ? nothing : projects()}
    <nav aria-label="Pages">${PAGES.map((name, place) => (pages.includes(name) ? html`<button aria-current=${model.page === name ? "page" : "false"} @click=${() => dispatch({ type: "page", page: name })}>${NAMES[place]}${name === "compare" && model.compared.size > 0 ? html` <span class="muted">${model.compared.size}</span>` : nothing}</button>` : nothing))}</nav>
    <span class="space"></span>
    ${spentToday ? html`<span class="today muted">today <b>${spentToday}</b></span>` : nothing}
    <input id="search" type="search" .value=${model.words} placeholder="Filter runs   /" aria-label="Show only runs with these words" @input=${(/** @type {InputEvent} */ event) => dispatch({ type: "words", words: /** @type {HTMLInputElement} */ (event.target).value })}>
    <button class="quiet" aria-label="Keys" @click=${() => dispatch({ type: "help" })}>?</button></header>`;
}

function projects() {
  const own = model.about?.project ?? "";
  const known = new Set([own, ...[...model.rows.values()].map((row) => row.project ?? "")].filter(Boolean));
  if (model.project) known.add(model.project);
  const short = (/** @type {string} */ path) => (model.about?.home && path.startsWith(`${model.about.home}/`) ? `~${path.slice(model.about.home.length)}` : path);
  const change = (/** @type {Event} */ event) => dispatch({ type: "project", project: /** @type {HTMLSelectElement} */ (event.target).value || null });
  return html`<select aria-label="Project" @change=${change}><option value="" ?selected=${!model.project}>all projects</option>
    ${[...known].sort().map((path) => html`<option value=${path} ?selected=${model.project === path}>${short(path)}</option>`)}</select>`;
}

function content() {
  switch (model.page) {
    case "history":
      return history.view();
    case "compare":
      return compare(model, dispatch);
    case "usage":
      return usage(model, dispatch);
    case "definitions":
      return definitions(model);
    default:
      return html`${runList.view()}<main class="centre">${timeline.view()}${runView.view()}${composer(model, dispatch)}</main>${side(model, dispatch)}`;
  }
}

function foot() {
  const states = {
    opening: "connecting…",
    live: "live",
    lost: "the server cannot be reached; this page goes on by itself when it is back",
    recorded: "a file: nothing here changes any more",
    refused: "",
  };
  const sums = model.totals ? [count(model.totals.runs, "run"), count(model.totals.toolCalls, "call"), `${tokens(model.totals.usage.totalTokens)} tokens`, spent(model.totals.usage).startsWith("$") ? spent(model.totals.usage) : ""] : [];
  return html`<footer class="foot"><span class="state ${model.connection}" role="status">● ${states[model.connection]}</span>
    <span class="sums">${sums.filter(Boolean).join(" · ")}</span><span class="space"></span>
    ${model.about && !model.about.mayAct && model.connection !== "recorded" ? html`<span>read-only</span>` : nothing}
    <span>${connection.isRecorded ? "" : location.host}</span><span>${model.about ? `v${model.about.version}` : ""}</span></footer>`;
}

async function begin() {
  const view = data ? new URLSearchParams() : takeToken();
  try {
    const about = await connection.ask("about");
    dispatch({ type: "begun", about, said: view, redacted: data?.redacted });
  } catch (error) {
    const isRefused = error instanceof Refused && error.status === 401;
    dispatch({ type: "connection", state: isRefused ? "refused" : "lost" });
    if (!isRefused) setTimeout(begin, 1000);
  }
}

document.body.replaceChildren(...(data ? [document.getElementById("recorded") ?? ""] : []));
listen(model, dispatch);
window.addEventListener("hashchange", () => new URLSearchParams(location.hash.slice(1)).has("t") && location.reload());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
redraw();
begin();
