// Times, tokens and costs as people read them; the same words as in the terminal.

/** @param {number} milliseconds @returns {string} */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86400)}d ${Math.floor((seconds % 86400) / 3600)}h`;
}

/** Writes a short time: `12 ms`, `3.4 s`, `2m 05s`. @param {number} milliseconds @returns {string} */
export function took(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return clock(milliseconds);
}

/** @param {number} number @returns {string} */
export function tokens(number) {
  if (number < 1000) return String(number);
  if (number < 10000) return `${Math.floor(number / 1000)}.${Math.floor((number % 1000) / 100)}k`;
  if (number < 1000000) return `${Math.floor(number / 1000)}k`;
  return `${Math.floor(number / 1000000)}.${Math.floor((number % 1000000) / 100000)}M`;
}

/** Writes a part as a share of the whole. @param {number} part @param {number} whole */
export function share(part, whole) {
  const percent = Math.round((part / whole) * 100);
  return percent === 0 && part > 0 ? "<1 %" : `${percent} %`;
}

/** Writes dollars; nothing where nobody knows them. @param {number | null | undefined} dollars */
export function cost(dollars) {
  if (dollars === null || dollars === undefined || dollars <= 0) return "";
  return dollars >= 0.005 ? `$${dollars.toFixed(2)}` : "<$0.01";
}

/** Writes dollars where there must be a word: nobody knows them, or it cost nothing.
 * @param {number | null | undefined} dollars */
export function price(dollars) {
  if (dollars === null || dollars === undefined) return "unknown";
  return cost(dollars) || "nothing";
}

/** Returns all tokens together. @param {import("./types.js").Usage | null | undefined} usage */
export function totalTokens(usage) {
  return usage ? usage.input + usage.output + usage.cacheRead + usage.cacheWrite : 0;
}

/** Writes what a run or several runs together cost, or what it is at least where some prices are unknown;
 * nothing where nobody knows. A run with a budget shows what it may cost too.
 * @param {{usage?: import("./types.js").Usage | null, granted?: {cost?: number | null} | null}} used */
export function costOf({ usage, granted }) {
  const dollars = cost(usage?.cost);
  if (granted?.cost) return `$${(usage?.cost ?? 0).toFixed(2)}/${granted.cost.toFixed(2)}`;
  return dollars && usage?.costIsAtLeast ? `at least ${dollars}` : dollars;
}

/** Writes what something cost, or its tokens where no price is known.
 * @param {import("./types.js").Usage | null | undefined} usage @returns {string} */
export function spent(usage) {
  return costOf({ usage }) || (totalTokens(usage) > 0 ? tokens(totalTokens(usage)) : "");
}

/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");

/** The browser's own words for a date are slow, and lists ask for hundreds of them. */
const DAY = new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric" });
const NUMBER = new Intl.NumberFormat("en-US");

/** @param {number} at @returns {string} */
export function timeOfDay(at) {
  const then = new Date(at);
  return `${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
}

/** Writes when something happened, as short as it is clear. @param {number} at @param {number} now */
export function moment(at, now) {
  const then = new Date(at);
  const today = new Date(now);
  const isToday = Math.abs(now - at) < 86400000 && then.getDate() === today.getDate();
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`;
  if (isToday) return time;
  return then.getFullYear() === today.getFullYear() ? `${DAY.format(then)} ${time}` : then.toISOString().slice(0, 10);
}

/** @param {number} number @param {string} noun @returns {string} */
export function count(number, noun) {
  return `${NUMBER.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Returns the model of a run with its provider. @param {import("./types.js").Row} row @returns {string} */
export function fullModel(row) {
  return [row.provider, row.model].filter(Boolean).join("/");
}

/** Returns the sandbox of a run with what its tools reach; nothing if it has none. @param {import("./types.js").Row} row @param {string} joint */
export function sandbox(row, joint) {
  if (!row.sandbox) return undefined;
  const network = [row.network ?? "full"].flat().join(", ");
  return `${row.sandbox}${joint}${network === "none" ? "no network" : network}`;
}

/** Returns when a run began and ended, in milliseconds. @param {import("./types.js").Row} row */
export function extent(row) {
  const begin = Date.parse(row.startedAt ?? row.acceptedAt);
  return { begin, end: row.endedAt ? Date.parse(row.endedAt) : undefined };
}

/** Returns how long a run took, or has been under way. @param {import("./types.js").Row} row
 * @param {number} now @returns {string} */
export function lasted(row, now) {
  const { begin, end } = extent(row);
  if (end === undefined && isOver(row)) return "";
  return clock((end ?? now) - begin);
}

/** Returns the time of the server. It stands still while nothing is heard from there: nobody knows
 * whether the runs still work. @param {{ahead: number, silentSince: number | null}} model */
export function present(model) {
  return (model.silentSince ?? Date.now()) + model.ahead;
}

/** @param {import("./types.js").Row} row @returns {boolean} */
export function isOver(row) {
  return row.status !== "running" && row.status !== "queued";
}
