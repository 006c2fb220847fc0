// Code and changes as people read them: with colours, line numbers, marks inside of lines that were
// changed, and a button that copies. No text ever becomes HTML.

import { html, nothing } from "./lit-html.js";

/** Longer texts have no colours: nobody reads them line by line. */
const LONGEST = 60000;

/** Longer lines are not compared letter by letter. */
const LONGEST_LINE = 600;

/** What most languages have in common: comments, texts, numbers and words. The first group that fits
 * says what it is. */
const PARTS = /(\/\/.*|#(?![[!{a-fA-F0-9]{3,8}\b).*|\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\b(\d[\d_.]*(?:e[+-]?\d+)?|0x[\da-f_]+)\b|\b([A-Za-z_]\w*)\b/g;

const KEYWORDS = new Set(
  ("abstract and as assert async await break case catch class const continue crate def default defer del do dyn elif else enum except export extends false final finally fn for from func function go if impl implements import in instanceof interface is lambda let loop match mod move mut new nil none None not null or package pass private protected pub public raise ref return self Self static struct super switch this throw trait true True False try type typeof undefined unsafe use using var void where while with yield").split(" "),
);

const KINDS = ["", "comment", "text", "number", "word"];

/** Draws some code with colours. @param {string} code */
export function coloured(code) {
  if (code.length > LONGEST) return code;
  const parts = [];
  let last = 0;
  for (const found of code.matchAll(PARTS)) {
    const kind = KINDS[found.findIndex((group, place) => place > 0 && group !== undefined)];
    if (kind === "word" && !KEYWORDS.has(found[0])) continue;
    if (found.index > last) parts.push(code.slice(last, found.index));
    parts.push(html`<i class=${kind === "word" ? "is-keyword" : `is-${kind}`}>${found[0]}</i>`);
    last = found.index + found[0].length;
  }
  parts.push(code.slice(last));
  return parts;
}

/** Draws a block of code with its language and a button that copies it. @param {string} language
 * @param {string} code */
export function block(language, code) {
  const copy = (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    navigator.clipboard.writeText(code).then(() => (button.textContent = "Copied"), () => (button.textContent = "not allowed"));
  };
  return html`<div class="code-block"><div class="code-head"><span>${language || "code"}</span><button class="quiet" @click=${copy}>Copy</button></div>
    <pre class="code" tabindex="0" aria-label=${language || "code"}>${coloured(code)}</pre></div>`;
}

/** @typedef {{kind: "add" | "del" | "hunk" | "head" | "", text: string, old?: number, new?: number,
 *   from?: number, to?: number}} Line A line of a change: its numbers in the old and in the new file,
 *   and the part of it that has changed. */

/** Draws the lines of a change. @param {string} diff */
export function changes(diff) {
  const lines = linesOf(diff);
  const isNumbered = lines.some((line) => line.old !== undefined || line.new !== undefined);
  return html`<pre class="diff ${isNumbered ? "numbered" : ""}" tabindex="0" aria-label="changes">${lines.map(
    (line) => html`<span class=${line.kind}>${isNumbered ? html`<em aria-hidden="true">${line.old ?? ""}</em><em aria-hidden="true">${line.new ?? ""}</em>` : nothing}${inColours(line)}\n</span>`,
  )}</pre>`;
}

/** Draws the text of a line, with a mark on the part of it that has changed. @param {Line} line */
export function inColours({ kind, text, from, to }) {
  if (kind === "hunk" || kind === "head") return text;
  if (from === undefined || to === undefined || from >= to) return coloured(text);
  return html`${coloured(text.slice(0, from))}<b>${text.slice(from, to)}</b>${coloured(text.slice(to))}`;
}

/** Reads the lines of a change. @param {string} diff @returns {Line[]} */
export function linesOf(diff) {
  /** @type {Line[]} */
  const lines = [];
  /** @type {[number, number] | undefined} */
  let at;
  for (const text of diff.replace(/\n$/, "").split("\n")) {
    const hunk = text.match(/^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/);
    if (hunk) at = [Number(hunk[1]), Number(hunk[2])];
    const kind = kindOf(text);
    /** @type {Line} */
    const line = { kind, text };
    if (at && kind !== "hunk" && kind !== "head" && !text.startsWith("\\")) {
      if (kind !== "add") line.old = at[0]++;
      if (kind !== "del") line.new = at[1]++;
    }
    lines.push(line);
  }
  markChanged(lines);
  return lines;
}

/** @param {string} line @returns {Line["kind"]} */
function kindOf(line) {
  if (/^(diff --git|index |--- |\+\+\+ |old mode|new mode)/.test(line)) return "head";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
}

/** Marks what has changed inside of lines: as many lines that went as lines that came, one for one.
 * @param {Line[]} lines */
export function markChanged(lines) {
  for (let begin = 0; begin < lines.length; begin++) {
    let middle = begin;
    while (lines[middle]?.kind === "del") middle++;
    let end = middle;
    while (lines[end]?.kind === "add") end++;
    if (middle > begin && middle - begin === end - middle) {
      for (let place = begin; place < middle; place++) markPair(lines[place], lines[place + middle - begin]);
    }
    if (end > begin) begin = end - 1;
  }
}

/** @param {Line} old @param {Line} now */
function markPair(old, now) {
  const [a, b] = [old.text, now.text];
  if (a.length > LONGEST_LINE || b.length > LONGEST_LINE) return;
  let from = 1;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let same = 0;
  while (same < a.length - from && same < b.length - from && a.at(-1 - same) === b.at(-1 - same)) same++;
  // Lines that have little in common are other lines.
  if (from - 1 + same < Math.min(a.length, b.length) / 3) return;
  [old.from, old.to, now.from, now.to] = [from, a.length - same, from, b.length - same];
}
