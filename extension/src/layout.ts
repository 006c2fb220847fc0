/** Puts windows into the rows that a terminal has, as `crates/view/src/layout.rs` does outside pi. */

/** A window that is drawn, ready to be placed. */
export interface Block {
  /** One line: all that is left of a window that is folded. */
  header: string;
  /** What is seen below it, oldest first. */
  body: string[];
  /** The answer of a run that is done: its beginning is seen where there is no room for everything. */
  answer: string[];
  /** How many lines came before the body. */
  hidden: number;
  state: State;
}

export type State = "running" | "queued" | "failed" | "done";

/** What stands around the windows. */
export interface Frame {
  above: string[];
  /** What waits to be merged. It stays as long as it takes no more than half of the rows. */
  results: string[];
  /** Left out where there is no room for all. */
  below: string[];
  /** Draws how many lines are hidden, as a line of its own. */
  more: (lines: number) => string;
  /** Adds to a header how many lines are hidden, if there is room for it. */
  noted: (header: string, lines: number) => string;
  /** Draws which windows are hidden. */
  rest: (hidden: Block[]) => string;
}

/** Which windows stay when there is no room for the headers of all. */
const IMPORTANCE: State[] = ["running", "failed", "queued", "done"];

/** How much of a run that is at work is seen before the headers of others are. */
const FIRST_ROWS = 2;

/** Lays out everything, however long it is. */
export function whole(blocks: Block[], frame: Frame): string[] {
  const windows = blocks.flatMap((block) => ["", ...drawn(block, needs(block), frame)]);
  const below = [frame.results, frame.below].flatMap((lines) => (lines.length > 0 ? ["", ...lines] : []));
  return [...frame.above, ...windows.slice(1), ...below];
}

/**
 * Lays out as much as fits into the rows. Windows that run, or failed, stay open and share the
 * rows, while the others are folded to their headers; those that have no room are counted.
 */
export function squeezed(blocks: Block[], frame: Frame, rows: number): string[] {
  const all = whole(blocks, frame);
  if (all.length <= rows) return all;
  const withoutEnd = whole(blocks, { ...frame, below: [] });
  if (withoutEnd.length <= rows) return withoutEnd;
  const results = frame.results.length * 2 <= rows ? frame.results : [];
  const room = Math.max(rows - frame.above.length - results.length, 1);
  const kept = mostImportant(blocks, room);
  const left = blocks.filter((block) => !kept.includes(block));
  const end = left.length > 0 ? [frame.rest(left)] : [];
  const opened = open(kept, room - kept.length - end.length);
  const lines = kept.flatMap((block, place) => drawn(block, opened[place] ?? 0, frame));
  return [...frame.above, ...lines, ...end, ...results].slice(0, rows);
}

/** Returns the windows that are seen, in their order. The others are counted in a row of their own. */
function mostImportant(blocks: Block[], room: number): Block[] {
  const byImportance = blocks.toSorted((one, other) => importance(one) - importance(other));
  const first = byImportance.filter(isOpenFirst);
  const opened = first.reduce((rows, block) => rows + Math.min(needs(block), FIRST_ROWS), 0);
  const headers = Math.max(room - opened, Math.min(first.length, room));
  const count = headers >= blocks.length ? blocks.length : Math.min(Math.max(headers - 1, first.length), room - 1);
  const kept = new Set(byImportance.slice(0, Math.max(count, 0)));
  return blocks.filter((block) => kept.has(block));
}

function importance({ state }: Block): number {
  return IMPORTANCE.indexOf(state);
}

/**
 * Shares rows among the bodies: first among those that run or failed, then among the rest. Who
 * needs less than a fair share leaves the rest to others.
 */
function open(blocks: Block[], room: number): number[] {
  const given = new Map<Block, number>();
  let left = Math.max(room, 0);
  for (const isFirst of [true, false]) {
    const sharing = blocks.filter((block) => isOpenFirst(block) === isFirst);
    sharing.sort((one, other) => needs(one) - needs(other));
    for (const [served, block] of sharing.entries()) {
      const rows = Math.min(needs(block), Math.floor(left / (sharing.length - served)));
      given.set(block, rows);
      left -= rows;
    }
  }
  return blocks.map((block) => given.get(block) ?? 0);
}

function isOpenFirst({ state }: Block): boolean {
  return state === "running" || state === "failed";
}

function needs({ body, hidden }: Block): number {
  return body.length + (hidden > 0 ? 1 : 0);
}

/** Draws a window in a row for its header and so many for its body, and says how much is hidden. */
function drawn({ header, body, answer, hidden }: Block, rows: number, { more, noted }: Frame): string[] {
  if (hidden === 0 && body.length <= rows) return [header, ...body];
  const hasRow = rows > FIRST_ROWS;
  const room = hasRow ? rows - 1 : rows;
  // The newest lines end with the answer, so an answer that fits is among them.
  const isAnswer = answer.length > room;
  const seen = isAnswer ? answer.slice(0, room) : newest(body, room);
  const unseen = hidden + body.length - seen.length;
  if (!hasRow) return [noted(header, unseen), ...seen];
  return isAnswer ? [header, ...seen, more(unseen)] : [header, more(unseen), ...seen];
}

function newest(lines: string[], rows: number): string[] {
  return rows > 0 ? lines.slice(-rows) : [];
}
