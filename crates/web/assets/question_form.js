// The form for a question of a sub-agent: its options, yes or no, or words.

import { html, nothing } from "./lit-html.js";
import { clock, present } from "./figures.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./types.js").Waiting} Waiting */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

/** @param {Waiting} item @param {Model} model @param {Dispatch} dispatch */
export function questionForm(item, model, dispatch) {
  const question = item.question;
  if (!question) return nothing;
  const reply = (/** @type {any} */ given) => dispatch({ type: "reviewWish", run: item.runId, what: "answer", body: { question: question.id, reply: given } });
  const left = question.lapsesAt ? Date.parse(question.lapsesAt) - present(model) : undefined;
  return html`<section class="question" aria-label="Question">
    <h2 dir="auto">${question.text}</h2>${question.context ? html`<p class="muted context-text" dir="auto">${question.context}</p>` : nothing}
    ${left === undefined ? nothing : html`<p class="muted">${left > 0 ? `Without an answer it continues in ${clock(left)}.` : "Its time has run out."}</p>`}
    ${model.about?.mayAct ? answers(question, reply) : html`<p class="muted">This page is read-only.</p>`}</section>`;
}

/** @param {any} question @param {(reply: any) => void} reply */
function answers(question, reply) {
  const options = (question.options ?? []).map(
    (/** @type {string} */ option, /** @type {number} */ place) => html`<button @click=${() => reply({ option: place + 1 })}><kbd>${place + 1}</kbd> <span dir="auto">${option}</span></button>`,
  );
  const refuse = html`<button class="quiet" @click=${() => reply("cancel")}>Give no answer</button>`;
  if (question.form === "yesNo") return html`<div class="options"><button class="primary" @click=${() => reply("yes")}>Yes</button><button @click=${() => reply("no")}>No</button>${refuse}</div>`;
  if (question.form === "choice") return html`<div class="options">${options}${refuse}</div>`;
  return html`<div class="options">${options}</div>${words(question, reply)}${refuse}`;
}

/** @param {any} question @param {(reply: any) => void} reply */
function words(question, reply) {
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const input = /** @type {HTMLInputElement} */ (document.getElementById("reply"));
    const said = input.value.trim();
    if (!said) return;
    input.value = "";
    reply({ words: said });
  };
  const typed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  const field = question.secret
    ? html`<input id="reply" type="password" autocomplete="off" aria-label="Your answer; it is not kept in any record">`
    : html`<textarea id="reply" rows="2" aria-label="Your answer" placeholder="Your answer" @keydown=${typed}></textarea>`;
  return html`<form class="line" @submit=${send}>${field}<button class="primary">Answer ⏎</button></form>`;
}
