// What is selected in the queue: its task, its answer in short, what was seen of it and what was not,
// and its changes; two results beside each other where they conflict; and results while they are
// accepted.

import { html, nothing } from "./lit-html.js";
import { costOf, count, fullModel, lasted, present, tokens, totalTokens, took } from "./figures.js";
import { cards, contents } from "./review_diff.js";
import { isBusy, nothingWaits, shape, standOf, wordOf } from "./review_queue.js";
import { commentsOn, selectedItem } from "./review.js";
import { chosenWords } from "./review_parts.js";
import { questionForm } from "./question_form.js";
import { named, words } from "./words.js";

/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @param {Model} model @param {Dispatch} dispatch */
export function reviewResult(model, dispatch) {
  const { review } = model;
  const item = selectedItem(review);
  if (review.accepting) return html`<main class="centre review">${accepting(model, dispatch)}</main>`;
  if (!item) return html`<main class="centre review">${nothingWaits(model, dispatch)}</main>`;
  const detail = review.details.get(item.runId);
  const other = review.beside ? review.queue.waiting.find((/** @type {Waiting} */ one) => one.runId === review.beside) : undefined;
  return html`<main class="centre review" aria-label="Result"><div class="review-page">
      ${head(item, detail, model, dispatch)}
      ${!detail ? html`<p class="empty">Reading…</p>` : detail.problem ? html`<p class="empty bad">${detail.problem}</p>` : other ? beside(item, other, model, dispatch) : details(item, detail, model, dispatch)}
    </div>${footer(item, model, dispatch)}</main>`;
}

/** @param {Waiting} item @param {any} detail @param {Model} model @param {Dispatch} dispatch */
function head(item, detail, model, dispatch) {
  const row = detail?.run;
  const about = row ? [row.agent, fullModel(row), row.toolCalls ? count(row.toolCalls, "call") : ""].filter(Boolean).join(" · ") : "";
  const figures = row ? [lasted(row, present(model)), totalTokens(row.usage) ? `${tokens(totalTokens(row.usage))} tokens` : "", costOf(row)].filter(Boolean).join(" · ") : "";
  return html`<header class="run-header"><button class="back" aria-label="Back to the queue" @click=${() => dispatch({ type: "reviewBack" })}>‹</button>
    ${shape(wordOf(item))}<h1 dir="auto">${named(item.name)}</h1><span class="tag">${wordOf(item)}</span><span class="muted about">${about}</span>
    <span class="space"></span><span class="muted figures">${figures}</span></header>`;
}

/** @param {Waiting} item @param {any} detail @param {Model} model @param {Dispatch} dispatch */
function details(item, detail, model, dispatch) {
  const row = detail.run;
  return html`<div class="review-body">
    ${row.taskTree ? html`<section class="said task" tabindex="0" aria-label="Task">${words(row.taskTree)}</section>` : nothing}
    ${questionForm(item, model, dispatch)}
    ${item.message && item.kind !== "question" ? html`<p class="warning">${item.message}</p>` : nothing}
    ${seen(item, detail)}
    ${attempts(item, dispatch)}
    ${row.answer ? html`<details class="answer" ?open=${item.kind !== "change"}><summary>${short(row.output)}</summary><div class="said">${words(row.answer)}</div></details>` : nothing}
    ${clashes(item, dispatch)}
    ${detail.files.length > 1 ? contents(model, item.runId, detail.files) : nothing}
    ${cards(model, item.runId, detail.files, dispatch)}</div>`;
}

/** Says an answer in its first sentence. @param {string | undefined} output */
function short(output) {
  const [first] = (output ?? "").replace(/[#*_`>]/g, "").trim().split(/(?<=[.!?])\s|\n/);
  return first ? `It answered: ${first.slice(0, 240)}` : "Its answer";
}

/** Lists what was seen, what was not, and the reasons to look. @param {Waiting} item @param {any} detail */
function seen(item, detail) {
  const files = item.kind === "change" ? html`${count(item.files ?? 0, "file")} <span class="plus">+${item.added}</span> <span class="minus">−${item.removed}</span>` : nothing;
  const base = [detail.base, ...standOf(item)].filter(Boolean).join(" · ");
  return html`<p class="muted base">${base}${base && item.kind === "change" ? " · " : ""}${files}</p>
    <dl class="seen">${detail.seen.length > 0 ? html`<div><dt class="plus">Seen</dt><dd>${detail.seen.map((/** @type {string} */ line) => html`<p>${line}</p>`)}</dd></div>` : nothing}
    ${detail.unseen.length > 0 ? html`<div><dt class="warn">Not seen</dt><dd>${detail.unseen.map((/** @type {string} */ line) => html`<p>${line.replace(/^not seen: /, "")}</p>`)}</dd></div>` : nothing}</dl>`;
}

/** Names the other attempts at its task, before which it was picked. @param {Waiting} item
 * @param {Dispatch} dispatch */
function attempts(item, dispatch) {
  const others = item.otherAttempts ?? [];
  if (others.length === 0) return nothing;
  return html`<p class="muted">Picked before ${others.map((one, place) => html`${place > 0 ? ", " : ""}<button class="link" @click=${() => dispatch({ type: "open", run: one.runId })}>${named(one.name)}</button>`)}</p>`;
}

/** Names the results with which it conflicts, each with a way to read both. @param {Waiting} item
 * @param {Dispatch} dispatch */
function clashes(item, dispatch) {
  const some = item.conflicts ?? [];
  const checkout = item.conflictsWithCheckout ?? [];
  if (some.length + checkout.length === 0) return nothing;
  return html`<section class="clashes" aria-label="Conflicts">
    ${checkout.length > 0 ? html`<p><b class="bad">conflicts with your checkout</b> <code>${checkout.slice(0, 4).join(", ")}</code></p>` : nothing}
    ${some.map((clash) => html`<p><b class="bad">conflicts with ${named(clash.name)}</b> <code>${clash.places.slice(0, 4).join(", ")}</code>
      <button @click=${() => dispatch({ type: "reviewBeside", run: clash.runId })}>Side by side</button></p>`)}</section>`;
}

/** Draws the files in which two results conflict, beside each other. @param {Waiting} item
 * @param {Waiting} other @param {Model} model @param {Dispatch} dispatch */
function beside(item, other, model, dispatch) {
  const clash = (item.conflicts ?? []).find((one) => one.runId === other.runId);
  const places = clash?.places ?? [];
  const isMeant = (/** @type {any} */ file) => places.some((place) => place === file.path || place.startsWith(`${file.path}:`));
  const side = (/** @type {Waiting} */ one) => {
    const files = model.review.details.get(one.runId)?.files ?? [];
    return html`<section class="beside-one" aria-label=${one.name}><h2>${named(one.name)} <span class="plus">+${one.added}</span> <span class="minus">−${one.removed}</span></h2>
      ${cards(model, one.runId, files, dispatch, isMeant)}</section>`;
  };
  const redo = (/** @type {Waiting} */ one, /** @type {Waiting} */ on) => {
    if (!model.about?.mayAct) return nothing;
    const again = () => dispatch({ type: "reviewWish", run: one.runId, what: "send-back", body: { note: "", comments: told(model, one.runId), on: on.runId } });
    return html`<button ?disabled=${isBusy(model)} @click=${again}>Redo ${named(one.name)} on top of ${named(on.name)}</button>`;
  };
  return html`<div class="review-body"><p><b>Both changed</b> <code>${places.slice(0, 6).join(", ")}</code>
      <span class="space"></span>${redo(item, other)} ${redo(other, item)} <button @click=${() => dispatch({ type: "reviewBeside", run: null })}>One column</button></p>
    <div class="beside">${side(item)}${side(other)}</div></div>`;
}

/** @param {Waiting} item @param {Model} model @param {Dispatch} dispatch */
function footer(item, model, dispatch) {
  if (!model.about?.mayAct) return nothing;
  if (model.review.asked) return html`<footer class="composer">${asking(model, dispatch)}</footer>`;
  if (!["change", "failure", "limit"].includes(item.kind)) return nothing;
  const comments = commentsOn(model.review, item.runId);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const input = /** @type {HTMLTextAreaElement} */ (document.getElementById("note"));
    const note = input.value.trim();
    if (!note && comments.length === 0) return input.focus();
    dispatch({ type: "reviewWish", run: item.runId, what: "send-back", body: { note, comments: told(model, item.runId) } });
    input.value = "";
  };
  const typed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  const label = comments.length > 0 ? "Anything else? It is read after your comments" : item.kind === "change" ? "Say what should change, or comment on lines" : "Say how to continue";
  return html`<footer class="composer">${comments.length > 0 ? html`<div class="line chips" aria-label="Comments for the next prompt">${comments.map(
      (one) => html`<span class="chip"><code>${one.path.split("/").at(-1)}:${one.line ?? one.old ?? ""}</code> ${one.words.slice(0, 40)}</span>`,
    )}</div>` : nothing}
    <form class="line" @submit=${send}><textarea id="note" rows="1" aria-label=${label} placeholder=${label} @keydown=${typed}></textarea>
    <button class="primary">${comments.length > 0 ? `Send back with ${count(comments.length, "comment")}` : "Send back"} <kbd>Ctrl ⏎</kbd></button></form></footer>`;
}

/** Returns the comments on a result, as the server takes them. @param {Model} model
 * @param {string} run */
function told(model, run) {
  return commentsOn(model.review, run).map(({ path, line, quoted, words }) => ({ path, line, quoted, words }));
}

/** @param {Model} model @param {Dispatch} dispatch */
function asking(model, dispatch) {
  const asked = /** @type {NonNullable<Model["review"]["asked"]>} */ (model.review.asked);
  const names = html`${asked.runs.map((one, place) => html`${place > 0 ? ", " : ""}<b>${named(one.name)}</b>`)}`;
  const close = () => dispatch({ type: "reviewAsk", asked: null });
  const [run] = asked.runs;
  const wish = (/** @type {string} */ what) => dispatch({ type: "reviewWish", run: run?.runId, what });
  const dialog = (/** @type {string} */ label, /** @type {any} */ question, /** @type {any} */ yes) =>
    html`<div class="line asking" role="alertdialog" aria-label=${label}><span class="space">${question}</span>${yes}<button @click=${close}>Not now</button></div>`;
  switch (asked.what) {
    case "discard":
      return dialog("Discard the result", html`Discard what ${names} has changed, and remove its worktree?`, html`<button class="danger" id="discard-yes" @click=${() => wish("discard")}>Discard it</button>`);
    case "dismiss":
      return dialog("Dismiss the run", html`List ${names} no more? Its record stays.`, html`<button id="dismiss-yes" @click=${() => wish("dismiss")}>List it no more</button>`);
    case "undo":
      return dialog("Undo", "Take the last accept back? Its files become what they were, and its results wait again.", html`<button class="danger" id="undo-yes" @click=${() => wish("undo")}>Take it back</button>`);
    default:
      return dialog("Accept", html`${gates(asked, names, model)}`, html`<button class="primary" id="accept-yes" @click=${() => dispatch({ type: "reviewAccept" })}>${asked.gates.length > 0 ? "Run it and accept" : "Accept"}</button>`);
  }
}

/** Says what will be run before anything is accepted. @param {{runs: Waiting[], gates: string[]}} asked
 * @param {any} names @param {Model} model */
function gates({ runs, gates }, names, { review }) {
  const part = runs.length === 1 ? chosenWords(review, runs[0].runId) : null;
  const what = part ? html`Accept ${part} of ${names}?` : runs.length === 1 ? html`Accept ${names}?` : html`Accept ${count(runs.length, "result")} as far as they stay green: ${names}?`;
  if (gates.length === 0) return html`${what} <span class="warn">No gate is set, so nothing is run to prove it.</span> <span class="muted">subagents.reviewGate in the settings names one.</span>`;
  return html`${what} This runs ${gates.map((gate) => html`<code class="gate">${gate}</code> `)} as you, in a scratch copy of what you have now. Your checkout is not touched before the last gate has ended.`;
}

/** Draws results while they are accepted, and what became of each. @param {Model} model
 * @param {Dispatch} dispatch */
function accepting(model, dispatch) {
  const { review } = model;
  const now = /** @type {NonNullable<Model["review"]["accepting"]>} */ (review.accepting);
  const report = now.report?.report;
  const title = !now.report ? "Trying them in a scratch copy" : now.problem ? "Nothing was taken" : report.taken > 0 ? `${count(report.taken, "result")} taken in one step` : "Nothing was taken";
  return html`<div class="review-page"><header class="run-header"><h1>${title}</h1><span class="space"></span><span class="muted figures">${now.names.join(", ")}</span></header>
    <div class="review-body"><p class="muted">${now.report ? "" : "Your checkout is not touched before the last gate has ended. You can continue working."}</p>
      <ol class="news" role="status" aria-label="What happens">${now.news.filter((one, place) => one.kind !== "began" || place === now.news.length - 1).map(piece)}</ol>
      ${now.problem ? html`<p class="warning">${now.problem}</p>` : nothing}
      ${report ? html`<ul class="fates">${report.results.map((/** @type {any} */ one, /** @type {number} */ place) => fate(one, now.report.words[place], model, dispatch))}</ul>
        ${now.report.notes.map((/** @type {string} */ note) => html`<p class="muted">${note}</p>`)}
        ${report.taken > 0 ? html`<p>${count(report.files.length, "file")} changed in your checkout.</p>` : nothing}` : nothing}
      ${isBusy(model) ? nothing : html`<div class="buttons">${report?.taken > 0 ? html`<button @click=${() => dispatch({ type: "reviewAsk", asked: { what: "undo", runs: [], gates: [] } })}>Undo <kbd>u</kbd></button>` : nothing}
        <button class="primary" id="accepted-close" @click=${() => dispatch({ type: "reviewCloseAccept" })}>Back to what waits</button></div>`}</div></div>
    ${review.asked ? html`<footer class="composer">${asking(model, dispatch)}</footer>` : nothing}`;
}

/** @param {any} news */
function piece(news) {
  if (news.kind !== "ended") return html`<li class="muted">${news.words}</li>`;
  const isGreen = news.code === 0;
  return html`<li><span class=${isGreen ? "plus" : "bad"}>${isGreen ? "✓ green" : "✗ red"}</span> <code>${news.command}</code> → ${news.code}
    <span class="muted">${took(news.seconds * 1000)} · ${news.results.length > 0 ? news.results.join(", ") : "your checkout alone"}</span></li>`;
}

/** @param {any} one @param {string} why @param {Model} model @param {Dispatch} dispatch */
function fate(one, why, model, dispatch) {
  const isTaken = one.fate === "taken";
  const [mark, word, kind] = isTaken ? ["✓", "taken", "plus"] : one.fate === "notTried" ? ["–", "not tried", "muted"] : ["✗", "left out", "bad"];
  const tell = () => {
    // The server adds the gate and its output.
    const note = "Fix what this gate names.";
    dispatch({ type: "reviewWish", run: one.runId, what: "send-back", body: { note, comments: [] } });
  };
  return html`<li><b class=${kind}>${mark} ${word}</b> <b dir="auto">${named(one.name)}</b> <span class="muted">${why}</span>
    ${one.output ? html`<pre class="gate-output" tabindex="0" aria-label=${`Output of the gate on ${one.name}`}>${one.output.split("\n").slice(-14).join("\n")}</pre>` : nothing}
    ${one.fate === "red" && model.about?.mayAct ? html`<button @click=${tell}>Send this output back to ${named(one.name)}</button>` : nothing}</li>`;
}
