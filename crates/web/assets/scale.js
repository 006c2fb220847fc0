// Times as places on the timeline.

import { timeOfDay } from "./figures.js";

/** @typedef {{from: number, to: number}} Extent Some time, in milliseconds. */

export const LANE = 26;
export const OVERVIEW = 22;
export const AXIS = 20;
export const TOP = OVERVIEW + AXIS;
export const LEFT = 104;
export const RIGHT = 22;

/** How far apart the ticks of the axis may be, in seconds. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400];

/** How far apart two ticks are on the screen at least. */
const APART = 84;

/** Returns where a time is. @param {Extent} shown @param {number} width @returns {(t: number) => number} */
export function placer(shown, width) {
  const scale = (width - LEFT - RIGHT) / (shown.to - shown.from);
  return (t) => LEFT + (t - shown.from) * scale;
}

/** Returns the ticks of the axis, each with its words. @param {Extent} shown @param {number} width
 * @returns {[number, string][]} */
export function ticks(shown, width) {
  const seconds = (shown.to - shown.from) / 1000;
  const step = (STEPS.find((step) => ((width - LEFT - RIGHT) * step) / seconds > APART) ?? seconds) * 1000;
  /** @type {[number, string][]} */
  const found = [];
  for (let t = Math.ceil(shown.from / step) * step; t < shown.to; t += step) {
    const tenths = step < 1000 ? `.${String(Math.floor(t % 1000)).padStart(3, "0").slice(0, 1)}` : "";
    found.push([t, `${timeOfDay(t)}${tenths}`]);
  }
  return found;
}
