// The page: messages go into the model, what is to be done is done by the effects, and every frame is
// drawn from the model.

import { html, noChange, render } from "./lit-html.js";
import { noteAddress, takeAddress } from "./address.js";
import { Connection, Refused } from "./connection.js";
import { RecordedConnection, recordedData } from "./exported_runs.js";
import { initial, isUnseen, update } from "./model.js";
import { laneEffects } from "./visible_runs.js";
import { Effects, save } from "./effects.js";
import { framed } from "./frame.js";
import { isOver } from "./figures.js";
import { plain } from "./fold.js";
import { RunList } from "./runs.js";
import { RunView } from "./run.js";
import { Timeline } from "./timeline.js";
import { History } from "./history.js";
import { callHead } from "./call.js";
import { composer } from "./composer.js";
import { side } from "./side.js";
import { compare } from "./compare.js";
import { csv, usage } from "./usage.js";
import { agents } from "./agents.js";
import { Dialog } from "./dialog.js";
import { reviewQueue } from "./review_queue.js";
import { reviewResult } from "./review_result.js";
import { reviewSide } from "./review_side.js";
import { inView } from "./review_diff.js";
import { askAll, pressedInReview } from "./review_keys.js";
import { allowNotices, markIcon, tellWhenNeeded, title } from "./attention.js";
import { listen } from "./keys.js";

/** @typedef {import("./model.js").Message} Message */
/** @typedef {import("./model.js").Effect} Effect */

const model = initial();
const data = recordedData();
const connection = /** @type {Connection} */ (data ? new RecordedConnection(data) : new Connection());
const effects = new Effects(model, connection, dispatch);
const runList = new RunList(model, dispatch);
const runView = new RunView(model, dispatch);
const timeline = new Timeline(model, dispatch);
const history = new History(model, dispatch);
const dialog = new Dialog(model, dispatch);

let isDrawn = true;
let isWaiting = false;
/** @type {string | null} The question that has the keyboard. */
let focused = null;
/** @type {any[]} What was known of the run that is read when a frame was last drawn. */
let known = [];
/** How many frames the last part of the page is behind the first. */
let behind = 0;

/** Takes a message. @param {Message} message */
function dispatch(message) {
  for (const effect of [...act(message), ...update(model, message)]) effects.run(effect);
  if (message.type === "piece" && message.piece.rows) for (const effect of laneEffects(model)) effects.run(effect);
  noteAddress(model, message);
  forgetLater();
  if (!isUnseen(model, message)) redraw();
}

/** How long a notice stays that nobody has to act on. */
const NOTICE = 7000;

/** @type {any} The notice that is forgotten by itself. */
let fading = null;

/** Lets a notice go by itself: it lies over the page, and after a while it is not true any more. */
function forgetLater() {
  const { notice } = model;
  if (!notice || notice.isError || notice === fading) return;
  fading = notice;
  setTimeout(() => model.notice === notice && dispatch({ type: "forgetNotice" }), NOTICE);
}

/** Does what needs the page itself. @param {Message} message @returns {Effect[]} */
function act(message) {
  switch (message.type) {
    case "steer":
      return [{ do: "wish", run: message.run, what: "steer", body: { message: message.words } }];
    case "goOn":
      return [{ do: "wish", run: message.run, what: "continue", body: { message: message.words } }];
    case "again":
      return [{ do: "wish", run: message.run, what: "again", body: { message: message.model } }];
    case "stop":
    case "merge":
    case "discard":
      model.asked = null;
      return [{ do: "wish", run: message.run, what: message.type, body: {} }];
    case "check":
      return [{ do: "fits", run: message.run }];
    case "download":
      return [{ do: "download", what: message.what, runs: message.run }];
    case "saveUsage":
      save(new Blob([csv(model.usage)], { type: "text/csv" }), "subagents-usage.csv");
      return [];
    case "moreRaw":
      return model.opened?.raw ? [{ do: "raw", run: model.opened.run, from: model.opened.raw.next }] : [];
    case "open":
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
      copy(message);
      return [];
    case "reviewAskAll":
      askAll(model, dispatch);
      return [];
    case "reviewKey":
      pressedInReview(message.key, model, dispatch);
      return [];
    case "allowNotices":
      allowNotices(dispatch);
      return [];
    default:
      return [];
  }
}

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

/** @param {Message} message */
function copy({ what, text = copied(what) }) {
  if (!text) return dispatch({ type: "notice", text: "There is no answer to copy." });
  navigator.clipboard.writeText(text).then(
    () => dispatch({ type: "notice", text: `Copied the ${what}.` }),
    () => dispatch({ type: "notice", text: "The browser did not let us copy.", isError: true }),
  );
}

/** Returns what of the run that is read shall be copied. @param {string} what */
function copied(what) {
  return what === "id" ? model.opened?.run : plain(model.opened?.whole?.answer);
}

function redraw() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(draw);
}

/** Draws a frame. What is new of a run is drawn alone; the figures beside it come with the next frame
 * and the timeline with the one behind that, so that none of them is late. */
function draw() {
  isDrawn = true;
  behind = isNewRun() ? 2 : Math.max(0, behind - 1);
  render(framed(model, dispatch, content(), dialog.element), document.body);
  if (model.page === "runs") {
    runList.draw();
    runView.draw();
    if (behind === 0) timeline.draw();
    // The lists are measured once everything is drawn: the first that is asked lays the page out.
    runList.list.settle();
    runView.list.settle();
  } else if (model.page === "history") {
    history.draw();
  }
  dialog.draw();
  document.title = title(model);
  markIcon(model);
  if (model.page === "review") readWhatIsSeen();
  focusQuestion();
  if (behind > 0) redraw();
  tick();
}

/** Puts the keyboard on the answer that changes nothing, when a person is asked something, and back
 * to the button that asked. */
function focusQuestion() {
  const focus = (/** @type {string} */ place) => /** @type {HTMLElement | null} */ (document.querySelector(place))?.focus();
  if (model.asked && model.asked !== focused) focus("[role=alertdialog] button:last-child");
  if (!model.asked && focused && document.activeElement === document.body) focus(".composer .danger");
  focused = model.asked;
}

/** Returns whether there is news of the run that is read, and its frame has much to draw. */
function isNewRun() {
  const { opened, page } = model;
  const now = [opened, opened?.isRead, opened?.whole, opened?.transcript];
  const isNews = page === "runs" && opened !== null && now.some((part, place) => part !== known[place]);
  known = now;
  return isNews;
}

/** Lets the clocks go on while a run is under way and the server is heard. */
function tick() {
  if (isWaiting || document.hidden || model.silentSince !== null || !isUnderWay()) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    redraw();
  }, 1000);
}

/** Asks for the differences that came into view, once the page has settled. */
function readWhatIsSeen() {
  const { diffs } = model.review;
  const wanted = inView().filter(({ run, file }) => !diffs.has(`${run} ${file}`));
  if (wanted.length > 0) dispatch({ type: "reviewDiffs", wanted });
}

function isUnderWay() {
  for (const row of model.rows.values()) if (!isOver(row)) return true;
  return false;
}

function content() {
  switch (model.page) {
    case "review":
      return html`${reviewQueue(model, dispatch)}${reviewResult(model, dispatch)}${reviewSide(model, dispatch)}`;
    case "history":
      return history.view();
    case "compare":
      return compare(model, dispatch);
    case "usage":
      return usage(model, dispatch);
    case "agents":
      return agents(model, dispatch);
    default:
      return html`${runList.view()}<main class="centre">${callHead(model, dispatch)}${timeline.view()}${runView.view()}${composer(model, dispatch)}</main>${behind > 1 ? noChange : side(model, dispatch)}`;
  }
}

/** What the address says, and its code, which is used once. */
const { code, said: view } = data ? { code: null, said: new URLSearchParams() } : takeAddress();
let isEntered = code === null;

async function begin() {
  try {
    if (!isEntered) await connection.enter(/** @type {string} */ (code));
    isEntered = true;
  } catch (error) {
    const isRefused = error instanceof Refused;
    if (isRefused) model.refusal = error.message;
    dispatch({ type: "connection", state: isRefused ? "refused" : "lost" });
    if (!isRefused) setTimeout(begin, 1000);
    return;
  }

  // The address usually says what is shown, and then nobody waits to be told who serves.
  const isKnown = view.has("all") || view.has("project");
  if (isKnown && !model.isBegun) dispatch({ type: "begun", said: view });
  try {
    dispatch({ type: "aboutRead", about: await connection.ask("about"), redacted: data?.redacted });
    if (!model.isBegun) dispatch({ type: "begun", said: view });
  } catch (error) {
    const isRefused = error instanceof Refused && error.status === 401;
    dispatch({ type: "connection", state: isRefused ? "refused" : "lost" });
    if (!isRefused) setTimeout(begin, 1000);
  }
}

document.body.replaceChildren(...(data ? [document.getElementById("recorded") ?? ""] : []));
listen(model, dispatch);
// The Back button, and an address that somebody types.
window.addEventListener("popstate", () => {
  const said = new URLSearchParams(location.hash.slice(1));
  if (said.has("code")) return location.reload();
  if (model.isBegun) dispatch({ type: "address", said });
});
// Differences are read when they come into view.
document.addEventListener("scroll", () => model.page === "review" && readWhatIsSeen(), { capture: true, passive: true });
tellWhenNeeded(model, async () => (await connection.ask("review/count", { project: model.project })).count);
// The timeline is as high as the window allows.
window.addEventListener("resize", redraw);
redraw();
begin();
