// Several runs beside each other: how they ended, where their time went, what they cost and answered.

import { html, nothing } from "./lit-html.js";
import { plain } from "./fold.js";
import { cost, costOf, count, extent, fullModel, isOver, present, price as costWords, tokens, took, totalTokens } from "./figures.js";
import { firstRuns, hasNoRuns, invitation } from "./invitation.js";
import { MOST_COMPARED } from "./model.js";
import { files, flags, tests } from "./receipts.js";
import { mark, named, words } from "./words.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {(message: import("./model.js").Message) => void} Dispatch */

const WILL_BE_HERE = "Two to six runs stand here beside each other: how they ended, where their time went, what they cost, changed and answered.";

/** @param {Model} model @param {Dispatch} dispatch */
export function compare(model, dispatch) {
  const rows = [...model.compared].map((run) => newest(model, run)).filter((row) => row !== undefined);
  if (model.compared.size === 0) {
    return html`<main class="wide-page"><div class="page-head"><h1>Compare</h1></div>${hasNoRuns(model) ? firstRuns(model, dispatch, WILL_BE_HERE) : choosing(model, dispatch)}</main>`;
  }
  const now = present(model);
  const time = (/** @type {Row} */ row) => (extent(row).end ?? now) - extent(row).begin;
  const longest = Math.max(...rows.map(time), 1);
  const isSameTask = rows.length > 1 && rows.every((row) => row.task === rows[0].task);
  /** @param {string} name @param {(row: Row, place: number) => any} cell */
  const line = (name, cell) => html`<tr><th scope="row">${name}</th>${rows.map((row, place) => html`<td>${cell(row, place)}</td>`)}</tr>`;
  const fastest = least(rows, time);
  const cheapest = least(rows, (row) => (cost(row.usage?.cost) && !row.usage?.costIsAtLeast ? row.usage?.cost : null));
  const units = rows.map((row) => unitsOf(row.answer ?? []));
  return html`<main class="wide-page"><div class="page-head"><h1>${isSameTask ? title(rows) : `Compare ${count(rows.length, "run")}`}</h1></div>
    ${isSameTask ? html`<p class="muted task-line">“${rows[0].task}”</p>` : nothing}
    <div class="wide" tabindex="0" role="region" aria-label="Runs beside each other"><table class="compare"><thead><tr><td></td>${rows.map((row) => heading(row, dispatch))}</tr></thead><tbody>
    ${line("ended", ended)}
    ${line("where time went", (row) => share(model, row, time(row) / longest))}
    ${line("took", (row) => html`<span class=${time(row) === fastest ? "best" : ""}>${took(time(row))}</span>`)}
    ${line("cost", (row) => html`<span class=${cheapest !== null && row.usage?.cost === cheapest ? "best" : ""}>${price(row)}</span>`)}
    ${line("tokens", tokenWords)}
    ${line("tools", (row) => calls(row))}
    ${line("files changed", changed)}
    ${line("tests", (row) => tested(row))}
    ${rows.some((row) => row.receipt?.gate) ? line("gate", gate) : nothing}
    ${line("answer", (row, place) => answer(row, units[place], units.filter((_, other) => other !== place)))}
    ${isSameTask ? nothing : line("task", (row) => html`<div class="said clipped" tabindex="0" role="region" aria-label="task">${words(row.taskTree)}</div>`)}
    </tbody></table></div>
    <div class="buttons below">${rows.length < MOST_COMPARED ? adding(model, dispatch) : nothing}${again(model, rows, dispatch)}
      ${model.connection === "recorded" ? nothing : html`<button @click=${() => dispatch({ type: "download", what: "export.html", run: [...model.compared].join(",") })}>Export HTML</button>`}</div></main>`;
}

/** Returns all that is known of a run; what the stream tells of a run under way is newer.
 * @param {Model} model @param {string} run @returns {Row | undefined} */
function newest(model, run) {
  const [whole, live] = [model.wholes.get(run), model.rows.get(run)];
  if (!whole || !live || isOver(live)) return whole;
  return { ...whole, ...live, task: whole.task };
}

/** Says how runs are chosen. @param {Model} model @param {Dispatch} dispatch */
function choosing(model, dispatch) {
  // Who reads a file may not have the program.
  /** @type {[string, string][]} */
  const commands = model.connection === "recorded" ? [] : [["pi-subagents web last last~2", "The last run and the one two before it."]];
  const here = html`<p>Choose them here: ${adding(model, dispatch)}</p><p class="muted">“Compare” beside a run does the same, and so does the key <kbd>c</kbd>.</p>`;
  return invitation("Nothing to compare yet", WILL_BE_HERE, commands, dispatch, here);
}

/** @param {Row[]} rows */
function title(rows) {
  const models = new Set(rows.map((row) => fullModel(row))).size;
  const numbers = ["", "one", "two", "three", "four", "five", "six"];
  const number = (/** @type {number} */ of) => numbers[of] ?? String(of);
  return models === rows.length ? `Same task, ${number(models)} models` : `Same task, ${number(rows.length)} runs`;
}

/** @param {Row} row @param {Dispatch} dispatch */
function heading(row, dispatch) {
  const open = () => {
    dispatch({ type: "open", run: row.runId });
  };
  return html`<th scope="col"><button class="link" @click=${open}>${named(row.name)}</button> <span class="muted">${row.model}</span>
    <button class="quiet" aria-label=${`Leave ${row.name} out`} @click=${() => dispatch({ type: "compare", run: row.runId })}>×</button></th>`;
}

/** Lets a person add a run. @param {Model} model @param {Dispatch} dispatch */
function adding(model, dispatch) {
  // All of them, also those that a filter leaves out of the list.
  const rows = [...model.rows.values()].sort((a, b) => b.sequence - a.sequence);
  const others = rows.filter((row) => !model.compared.has(row.runId)).slice(0, 60);
  if (others.length === 0) return nothing;
  const add = (/** @type {Event} */ event) => {
    const select = /** @type {HTMLSelectElement} */ (event.target);
    if (select.value) dispatch({ type: "compare", run: select.value });
    select.value = "";
  };
  return html`<select aria-label="Add a run" @change=${add}><option value="">+ Add a run</option>
    ${others.map((row) => html`<option value=${row.runId}>${row.name} · ${row.model}</option>`)}</select>`;
}

/** Lets a person start the task again with another model. @param {Model} model @param {Row[]} rows
 * @param {Dispatch} dispatch */
function again(model, rows, dispatch) {
  const row = rows[0];
  if (!row || !model.about?.mayAct) return nothing;
  const start = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const input = /** @type {HTMLInputElement} */ (document.getElementById("again"));
    if (input.value.trim()) dispatch({ type: "again", run: row.runId, model: input.value.trim() });
    input.value = "";
  };
  const models = new Set([...model.rows.values()].map((other) => fullModel(other)));
  return html`<form class="again" @submit=${start}><input id="again" list="models" placeholder=${`Run ${row.name} again with model…`} aria-label=${`Run ${row.name} again with this model`}>
    <datalist id="models">${[...models].filter(Boolean).map((name) => html`<option value=${name}></option>`)}</datalist><button>Run again</button></form>`;
}

/** Returns the least of what is known of all runs. @param {Row[]} rows
 * @param {(row: Row) => number | null | undefined} value @returns {number | null} */
function least(rows, value) {
  const known = rows.map(value).filter((one) => one !== null && one !== undefined);
  return rows.length > 1 && known.length > 1 ? Math.min(.../** @type {number[]} */ (known)) : null;
}

/** @param {Row} row */
function ended(row) {
  const warnings = flags(row);
  return html`${mark(row.status, warnings.length > 0)} ${row.status}${warnings.map((text) => html`<span class="warn">, ${text}</span>`)}
    ${row.errorMessage ? html`<div class="bad">${row.errorMessage}</div>` : nothing}`;
}

/** @param {Row} row */
function price(row) {
  const used = row.usage ? `${tokens(totalTokens(row.usage))} tokens` : "";
  if (!row.usage || row.usage.cost === null) return html`<span class="muted">price unknown</span>${used ? ` · ${used}` : ""}`;
  return costOf(row) || costWords(row.usage.cost);
}

/** @param {Row} row */
function tokenWords({ usage }) {
  if (!usage) return "unknown";
  const sent = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead ? ` (${Math.round((100 * usage.cacheRead) / sent)} % cached)` : "";
  return `${tokens(sent)} in${cached} · ${tokens(usage.output)} out`;
}

/** @param {Row} row */
function calls(row) {
  const errors = row.receipt?.toolErrors ?? 0;
  return html`${row.toolCalls === undefined ? "unknown" : count(row.toolCalls, "tool call")}${errors > 0 ? html` · <span class="bad">${errors} failed</span>` : nothing}`;
}

/** @param {Row} row */
function changed(row) {
  const found = files(row);
  if (!found) return html`<span class="muted">unknown</span>`;
  if (found.length === 0) return html`<span class="muted">–</span>`;
  const lines = (/** @type {"added" | "removed"} */ side) => found.reduce((sum, file) => sum + (file[side] ?? 0), 0);
  const figures = row.workspace?.files ? html` <span class="plus">+${lines("added")}</span> <span class="minus">−${lines("removed")}</span>` : nothing;
  return html`<span title=${found.map((file) => file.path).join("\n")}>${found.length}${figures} <span class="muted">${found.slice(0, 3).map((file) => file.path).join(", ")}${found.length > 3 ? " …" : ""}</span></span>`;
}

/** @param {Row} row */
function tested(row) {
  const [said, kind, command] = tests(row);
  return html`<span class=${kind}>${said}</span>${command ? html` <code>${command}</code>` : nothing}`;
}

/** @param {Row} row */
function gate(row) {
  const seen = row.receipt?.gate;
  if (!seen) return html`<span class="muted">not run</span>`;
  const passed = seen.exit === 0;
  return html`<span class=${passed ? "plus" : "bad"}>${passed ? "passes" : "fails"}</span> <code>${seen.command}</code>`;
}

/** Draws where the time of a run went in its order, all runs in one scale. @param {Model} model
 * @param {Row} row @param {number} part */
function share(model, row, part) {
  const now = present(model);
  const spans = (model.lanes.get(row.runId)?.spans ?? []).filter(([kind]) => kind !== "queued");
  /** @type {[string, number][]} */
  const parts = [];
  /** @type {Record<string, number>} */
  const sums = {};
  for (const [kind, begin, end] of spans) {
    const time = (end ?? now) - begin;
    sums[kind] = (sums[kind] ?? 0) + time;
    const last = parts.at(-1);
    if (last && last[0] === kind) last[1] += time;
    else parts.push([kind, time]);
  }
  // Many small parts are added up by kind, which says more than stripes.
  const shown = parts.length > 80 ? Object.entries(sums) : parts;
  const said = Object.entries(sums).map(([kind, time]) => `${kind} ${took(time)}`).join(", ");
  return html`<div class="share" role="img" aria-label=${said} title=${said} .style=${`width:${Math.max(2, part * 100)}%`}>${shown.map(
    ([kind, time]) => html`<i class=${kind} .style=${`flex:${Math.max(time, 1)}`}></i>`,
  )}</div>`;
}

/** Returns the parts of an answer that are compared: paragraphs, and the entries of lists.
 * @param {any[]} tree @returns {string[]} */
function unitsOf(tree) {
  return tree.flatMap((block) => (isList(block) ? block.slice(1).map((/** @type {any} */ one) => text(one)) : [text(block)]));
}

/** @param {any} block */
function isList(block) {
  return Array.isArray(block) && (block[0] === "ul" || block[0] === "ol");
}

/** @param {any} block */
function text(block) {
  return plain([block]).trim();
}

/** Draws an answer, and marks what no other run says. @param {Row} row @param {string[]} own
 * @param {string[][]} others */
function answer(row, own, others) {
  if (!row.answer) return html`<span class="muted">none</span>`;
  const said = new Set(others.flat());
  // Where answers have nothing in common, there is nothing to mark.
  const hasShared = own.some((one) => said.has(one));
  const kind = (/** @type {any} */ block) => (hasShared && !said.has(text(block)) ? "different" : "");
  const entry = (/** @type {any} */ one) => html`<li class=${kind(one)}>${words(one.slice(1))}</li>`;
  const drawn = (/** @type {any} */ block) => {
    if (!isList(block)) return html`<div class=${kind(block)}>${words([block])}</div>`;
    const entries = block.slice(1).map(entry);
    return block[0] === "ol" ? html`<ol>${entries}</ol>` : html`<ul>${entries}</ul>`;
  };
  return html`<div class="said clipped" tabindex="0" role="region" aria-label="answer">${row.answer.map(drawn)}</div>`;
}
