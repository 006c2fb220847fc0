// Draws what a model wrote, element by element. No text ever becomes HTML. Each block goes in the
// direction of its own words.

import { html, nothing } from "./lit-html.js";
import { block } from "./code.js";

/** @param {any[] | null | undefined} tree */
export function words(tree) {
  return (tree ?? []).map(node);
}

/** @param {any} value @returns {any} */
function node(value) {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return nothing;
  const [name, ...inside] = value;
  switch (name) {
    case "p":
      return html`<p dir="auto">${inside.map(node)}</p>`;
    case "h3":
      return html`<h3 dir="auto">${inside.map(node)}</h3>`;
    case "h4":
      return html`<h4 dir="auto">${inside.map(node)}</h4>`;
    case "h5":
    case "h6":
      return html`<h5 dir="auto">${inside.map(node)}</h5>`;
    case "pre":
      return block(inside[0] ?? "", inside.slice(1).filter((part) => typeof part === "string").join(""));
    case "blockquote":
      return html`<blockquote dir="auto">${inside.map(node)}</blockquote>`;
    case "ul":
      return html`<ul dir="auto">${inside.map(node)}</ul>`;
    case "ol":
      return html`<ol dir="auto">${inside.map(node)}</ol>`;
    case "li":
      return html`<li dir="auto">${inside.map(node)}</li>`;
    case "table":
      return html`<div class="wide"><table>${inside.map(node)}</table></div>`;
    case "thead":
      return html`<tr class="head">${inside.map(node)}</tr>`;
    case "tr":
      return html`<tr>${inside.map(node)}</tr>`;
    case "td":
      return html`<td dir="auto">${inside.map(node)}</td>`;
    case "em":
      return html`<em>${inside.map(node)}</em>`;
    case "strong":
      return html`<strong>${inside.map(node)}</strong>`;
    case "del":
      return html`<del>${inside.map(node)}</del>`;
    case "code":
      return html`<code>${inside.map(node)}</code>`;
    case "br":
      return html`<br>`;
    case "hr":
      return html`<hr>`;
    case "a":
      return inside[0]
        ? html`<a href=${inside[0]} target="_blank" rel="noopener noreferrer">${inside.slice(1).map(node)}</a>`
        : html`<span>${inside.slice(1).map(node)}</span>`;
    case "img":
      return html`<span class="muted">[picture: ${(inside[1] ?? []).map(node)} ${inside[0]}]</span>`;
    default:
      return html`<p dir="auto">${inside.map(node)}</p>`;
  }
}

/** Leaves the marks of Markdown out of the beginning of an answer. @param {import("./types.js").Row} row @param {string} line */
export function plainLine(row, line) {
  return row.status === "completed" ? line.replace(/(^|\s)#+ /g, "$1").replace(/\|(:?-+:?\|)+ ?/g, "").replace(/\*\*|`/g, "") : line;
}

/** The marks of states: their shape says the same as their colour.
 * @type {Record<string, [string, string]>} */
export const MARKS = {
  queued: ["◌", "queued"],
  running: ["●", "running"],
  completed: ["✓", "completed"],
  failed: ["✗", "failed"],
  stopped: ["■", "stopped"],
};

/** Draws the state of a run. @param {string} status @param {boolean} [isDoubtful] somebody should look */
export function mark(status, isDoubtful = false) {
  const [shape, name] = MARKS[status] ?? ["?", status];
  const words = isDoubtful ? `${name}, with a warning` : name;
  return html`<span class="mark ${status} ${isDoubtful ? "doubtful" : ""}" role="img" aria-label=${words} title=${words}>${shape}</span>`;
}

/** Draws the name of a run. A model may have picked it, so its direction ends where it ends.
 * @param {string} name */
export function named(name) {
  return html`<bdi>${name}</bdi>`;
}

/** Returns the name of a run for a text that has no elements. @param {string} name */
export function isolated(name) {
  return `\u2068${name}\u2069`;
}
