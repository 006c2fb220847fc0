// The queue: everything that waits for a person, in the order in which it is proposed.

import { html, nothing } from "./lit-html.js";
import { clock, count, present } from "./figures.js";
import { atHome } from "./frame.js";
import { takenTogether } from "./review.js";
import { named } from "./words.js";

/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** The parts of the queue, in their order. @type {[string, string[]][]} */
const PARTS = [
  ["Stand still until you answer", ["question", "limit"]],
  ["Changes to take", ["change"]],
  ["Failed", ["failure", "unreachable"]],
];

/** The words for what waits, as in the terminal. @type {Record<string, string>} */
const WORDS = { question: "asks", limit: "limit", failure: "failed", unreachable: "lost" };

/** A shape for every word, so that no colour says it alone. @type {Record<string, string>} */
const SHAPES = { asks: "?", limit: "‖", fits: "✓", look: "◔", careful: "◑", decide: "⇄", failed: "✗", lost: "✗" };

/** A window so narrow that the queue and the result take turns. */
const PHONE = matchMedia("(max-width: 760px)");

/** Returns the risk of a result, or the kind of anything else, in one word. @param {Waiting} one */
export function wordOf(one) {
  return one.kind === "change" ? (one.tier ?? "fits") : WORDS[one.kind];
}

/** Draws the shape of a word. @param {string} word */
export function shape(word) {
  return html`<span class="mark is-${word}" aria-hidden="true">${SHAPES[word]}</span>`;
}

/** @param {Model} model @param {Dispatch} dispatch */
export function reviewQueue(model, dispatch) {
  const { review } = model;
  const waiting = /** @type {Waiting[]} */ (review.queue?.waiting ?? []);
  const later = waiting.filter((one) => one.later);
  const now = waiting.filter((one) => !one.later);
  const parts = [...PARTS.map(([title, kinds]) => [title, now.filter((one) => kinds.includes(one.kind))]), ["Later", later]];
  return html`<section class="list review-list" role=${PHONE.matches && !review.isOpen && !review.accepting ? "main" : "complementary"} aria-label="Needs you">
    <div class="review-head"><h1>Needs you <span class="badge">${now.length}</span></h1><span class="space"></span>${notices(dispatch)}
      <button class="quiet" title="Read the queue again (g)" @click=${() => dispatch({ type: "page", page: "review" })}>Refresh</button></div>
    <div class="queue" role="listbox" aria-label="What waits" tabindex="0" aria-activedescendant=${review.selected ? `item-${review.selected}` : nothing}>
      ${parts.map(([title, some]) => part(/** @type {string} */ (title), /** @type {Waiting[]} */ (some), model, dispatch))}</div>
    ${review.queue?.problem ? html`<p class="empty bad">${review.queue.problem}</p>` : nothing}
    ${elsewhere(model, dispatch)}${together(model, dispatch)}</section>`;
}

/** @param {string} title @param {Waiting[]} some @param {Model} model @param {Dispatch} dispatch */
function part(title, some, model, dispatch) {
  if (some.length === 0) return nothing;
  return html`<div role="group" aria-label=${title}><div class="group" role="presentation"><span>${title}</span>
    <span>${title === "Changes to take" ? "safe ones first" : ""}</span></div>${some.map((one) => row(one, model, dispatch))}</div>`;
}

/** @param {Waiting} one @param {Model} model @param {Dispatch} dispatch */
function row(one, model, dispatch) {
  const word = wordOf(one);
  const isSelected = model.review.selected === one.runId;
  const figures = one.kind === "change" ? html`<span class="plus">+${one.added}</span> <span class="minus">−${one.removed}</span>` : clock(present(model) - Date.parse(one.since));
  return html`<div class="run" role="option" id=${`item-${one.runId}`} aria-selected=${isSelected}
    @click=${() => dispatch({ type: "reviewSelect", run: one.runId })}>
    ${shape(word)}<span class="who"><b dir="auto">${named(one.name)}</b> <span class="model">${word}</span></span>
    <span class="figures">${figures}</span><span class="reasons" dir="auto">${reasonsOf(one)}</span></div>`;
}

/** Says in a line why something is where it is. @param {Waiting} one */
function reasonsOf(one) {
  if (one.kind !== "change") return one.message ?? "";
  const reasons = [...standOf(one), ...(one.reasons ?? []).map((reason) => reason.words)];
  return reasons.length > 0 ? reasons.join(" · ") : "nothing to look at";
}

/** Says how much of a result waits, on which results it stands, and among how many attempts it was picked. @param {Waiting} one
 * @returns {string[]} */
export function standOf({ remainder, otherAttempts = [], standsOn = [] }) {
  const some = remainder ? [`remainder, ${remainder.left} of ${count(remainder.of, "part")}`] : [];
  if (standsOn.length > 0) some.push(`stands on ${standsOn.join(", ")}`);
  return otherAttempts.length > 0 ? [...some, `picked of ${otherAttempts.length + 1} attempts`] : some;
}

/** @param {Model} model @param {Dispatch} dispatch */
function together(model, dispatch) {
  const some = takenTogether(model.review);
  if (some.length === 0 || !model.about?.mayAct) return nothing;
  const all = () => dispatch({ type: "reviewAskAll" });
  return html`<div class="together"><button ?disabled=${isBusy(model)} @click=${all}>Accept all that stay green <kbd>A</kbd></button>
    <p class="muted">${some.map((one) => one.name).slice(0, 6).join(", ")}${some.length > 6 ? ` and ${some.length - 6} more` : ""}</p></div>`;
}

/** Returns whether results are being accepted now. @param {Model} model */
export function isBusy({ review }) {
  return review.accepting !== null && !review.accepting.report;
}

/** Names the other projects in which results wait. @param {Model} model @param {Dispatch} dispatch */
function elsewhere(model, dispatch) {
  const others = /** @type {{project: string, count: number}[]} */ (model.review.queue?.elsewhere ?? []);
  if (others.length === 0) return nothing;
  return html`<div class="elsewhere"><div class="group"><span>In other projects</span></div>${others.map(
    (other) => html`<button class="quiet" @click=${() => dispatch({ type: "project", project: other.project })}>${atHome(model, other.project)} <span class="badge">${other.count}</span></button>`,
  )}</div>`;
}

/** Offers one notice of the browser when somebody is needed. @param {Dispatch} dispatch */
function notices(dispatch) {
  if (!("Notification" in window) || Notification.permission !== "default") return nothing;
  return html`<button class="quiet" title="One notice of the browser when something waits and this tab is not seen" @click=${() => dispatch({ type: "allowNotices" })}>Tell me</button>`;
}

/** Draws the page while nothing waits. @param {Model} model @param {Dispatch} dispatch */
export function nothingWaits(model, dispatch) {
  const { review } = model;
  if (review.isReading || !review.queue) return html`<p class="empty" role="status">Looking at what waits…</p>`;
  const others = (review.queue.elsewhere ?? []).length;
  return html`<div class="invitation"><h2>Nothing waits for you in this project</h2>
    <p>Questions of sub-agents, changes that nobody has taken, runs at a limit and failures come here by themselves, in the order of their risk.${others > 0 ? ` Results wait in ${count(others, "other project")}.` : ""}</p>
    <p><button @click=${() => dispatch({ type: "page", page: "runs" })}>Show the runs</button></p></div>`;
}
