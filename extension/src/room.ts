/**
 * How many rows a call may take. Pi draws all of its screen again, and clears what was scrolled
 * away, whenever something changes above the rows that are seen; so a call that changes must stay in them.
 */

import type { Place } from "./place.ts";

/** What pi draws below a call: the end of its box, a blank row, the editor, two rows and a status line, and one to spare. */
const BELOW = 9;
/** The blank row above the box of a call, and the first and last row of the box, which have no words. */
const AROUND = 2;
/** What every call gets, however low the terminal is. */
const LEAST = 3;
/** How many rows completions take that pi offers below the editor. */
const COMPLETIONS = 6;

/** Calls that one answer of pi's model has begun. They are on the screen together until the last is over. */
export interface Batch {
  total: number;
  open: number;
}

/** Returns how many rows the result of a call may take below its own lines. */
export function roomOf(place: Place, callId: string, callLines: number): number {
  const rows = process.stdout.rows ?? 24;
  const batch = place.host?.batchOf(callId);
  // A call that is over keeps its height, whatever happens below it: it may be far up by now.
  const calls = batch?.total ?? 1;
  const below = BELOW + (batch ? editorGrowth(place) + place.widgetRows : 0);
  const share = Math.floor((rows - below) / calls) - (calls - 1 > 0 ? 1 : 0);
  return Math.max(share - AROUND - callLines, LEAST);
}

/** Returns how many rows more than one the editor takes. */
function editorGrowth({ session }: Place): number {
  if (session?.ctx.mode !== "tui") return 0;
  const text = session.ctx.ui.getEditorText();
  const lines = text.split("\n").length - 1;
  return lines + (/(^\/|(^|\s)@)\S*$/u.test(text) ? COMPLETIONS : 0);
}
