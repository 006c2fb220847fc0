// What the palette shows: pages, runs that the page has, and what the server finds in all runs and
// their transcripts.

import { fullModel } from "./figures.js";
import { noPastRuns, readPastRuns } from "./past_runs.js";

/** @typedef {import("./types.js").Row} Row */
/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Message} Message */
/** @typedef {import("./model.js").Effect} Effect */
/** @typedef {{key: string, page?: string, name?: string, row?: Row}} Entry A place that the palette leads to. */

/** The names of the pages. @type {Record<string, string>} */
export const NAMES = { review: "Needs you", runs: "Runs", history: "History", compare: "Compare", usage: "Usage", agents: "Agents" };

/** How many runs that the page has are listed. */
const MOST_HERE = 8;

export function noPalette() {
  return { words: "", /** The entry that Enter opens. */ at: 0, found: noPastRuns("palette") };
}

/** Returns the places that fit the words. @param {Model} model @param {string[]} pages @returns {Entry[]} */
export function entriesOf(model, pages) {
  const words = model.palette.words.trim().toLowerCase();
  const has = (/** @type {string | undefined} */ text) => (text ?? "").toLowerCase().includes(words);
  const named = pages.filter((page) => has(NAMES[page]));
  const here = model.all.filter((row) => [row.name, row.task, row.agent, fullModel(row), row.runId, row.sessionId].some(has)).slice(0, MOST_HERE);
  const known = new Set(here.map((row) => row.runId));
  const found = words ? model.palette.found.rows.filter((row) => !known.has(row.runId)) : [];
  return [
    ...named.map((page) => ({ key: `page ${page}`, page, name: NAMES[page] })),
    ...[...here, ...found].map((row) => ({ key: `run ${row.runId}`, row })),
  ];
}

/** Takes a message of the palette. @param {Model} model @param {Message} message
 * @returns {Effect[] | undefined} */
export function fromPalette(model, message) {
  const { palette } = model;
  switch (message.type) {
    case "paletteWords":
      [palette.words, palette.at] = [message.words, 0];
      return [{ do: "paletteLater" }];
    case "paletteFind": {
      const words = palette.words.trim();
      if (palette.found.words === words && palette.found.isRead) return [];
      palette.found = noPastRuns("palette", words);
      return words && model.connection !== "recorded" ? readPastRuns(palette.found) : [];
    }
    case "paletteAt":
      palette.at = message.at;
      return [];
    default:
      return undefined;
  }
}
