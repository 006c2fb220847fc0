/** The windows of a call: a header for all, one block for each run, and what stands below them. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, visibleWidth } from "@earendil-works/pi-tui";

import { component, cut, lineList, list, paint, plain, wrap } from "./draw.ts";
import { type Block, type Frame, squeezed, type State, whole } from "./layout.ts";
import type { Json } from "./manifest.ts";
import type { Look } from "./views.ts";

const MARGIN = 2;
const MAX_ERROR_LINES = 6;
const MAX_WARNINGS = 3;

export function drawWindows(details: Json, { expanded, room }: Look, theme: Theme): Component {
  const windows = list(details.windows);
  const newest = typeof details.maxLinesPerWindow === "number" ? details.maxLinesPerWindow : 15;
  if (expanded) {
    return component((width) => {
      const blocks = windows.map((window) => block(window, Number.POSITIVE_INFINITY, true, width, theme));
      return whole(blocks, frame(details, true, width, theme));
    });
  }
  const draw = (width: number, rows: number) => {
    const blocks = windows.map((window) => block(window, newest, false, width, theme));
    return squeezed(blocks, frame(details, false, width, theme), rows);
  };
  return component(draw, room);
}

function frame(details: Json, expanded: boolean, width: number, theme: Theme): Frame {
  return {
    above: [cut(paint(details.header, theme), width), ...warnings(details.warnings, expanded, width, theme)],
    results: lineList(details.results).map((line) => cut(paint(line, theme), width)),
    below: lineList(details.footer).map((line) => cut(paint(line, theme), width)),
    more: (lines) => indented(theme.fg("dim", `… ${counted(lines, "more line")}`), width),
    noted: (header, lines) => noted(header, theme.fg("dim", ` … ${counted(lines, "more line")}`), width),
    rest: (hidden) => cut(theme.fg("muted", `… and ${kinds(hidden)}`), width),
  };
}

/** What the caller's model was warned of, such as files that are missing. */
function warnings(value: unknown, expanded: boolean, width: number, theme: Theme): string[] {
  const all = lineList(value).map((warning) => theme.fg("warning", `! ${plain(warning)}`));
  if (expanded) return all.flatMap((line) => wrap(line, width));
  const shown = all.slice(0, all.length > MAX_WARNINGS ? MAX_WARNINGS - 1 : MAX_WARNINGS);
  const more = all.length - shown.length;
  const rest = more > 0 ? [theme.fg("warning", `! … and ${counted(more, "more warning")}`)] : [];
  return [...shown, ...rest].map((line) => cut(line, width));
}

function noted(header: string, note: string, width: number): string {
  return visibleWidth(header) + visibleWidth(note) <= width ? header + note : header;
}

/** `7 queued, 3 done` */
function kinds(hidden: Block[]): string {
  const states: State[] = ["running", "queued", "failed", "done"];
  const counts = states.map((state) => [hidden.filter((block) => block.state === state).length, state] as const);
  return counts
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count} ${state}`)
    .join(", ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function block(window: Json, newest: number, expanded: boolean, width: number, theme: Theme): Block {
  const draw = (lines: Json[]) => lines.flatMap((line) => rows(line, expanded, width, theme));
  const lines = shownLines(window, expanded);
  const laid = draw(lines);
  const error = errorLines(window.errorMessage, width, theme);
  const state = stateOf(window);
  const words = lines.length + error.length > 0 ? undefined : placeholder(state, expanded);
  const note = words ? [indented(theme.fg("muted", words), width)] : [];
  const before = typeof window.hiddenLines === "number" && !expanded ? window.hiddenLines : 0;
  return {
    header: cut(paint(window.header, theme), width),
    body: [...laid.slice(-newest), ...note, ...error],
    answer: state === "done" && !expanded ? draw(answerOf(list(window.allMessages))).slice(0, newest) : [],
    hidden: before + laid.length - Math.min(laid.length, newest),
    state,
  };
}

/** What the model said last, after its last call. */
function answerOf(lines: Json[]): Json[] {
  const lastCall = lines.findLastIndex(({ kind }) => kind === "tool");
  return lines.slice(lastCall + 1);
}

function stateOf({ status, isQueued }: Json): State {
  if (isQueued === true) return "queued";
  if (status === "running") return "running";
  return status === "completed" ? "done" : "failed";
}

/** The words in an empty window; also in `windows/src/body.rs`. */
function placeholder(state: State, expanded: boolean): string | undefined {
  if (state === "running" && !expanded) return "(starting...)";
  return state === "running" || state === "done" ? "(no output)" : undefined;
}

/** Returns the lines of a window. While a call runs, an update has only those for the current view. */
function shownLines(window: Json, expanded: boolean): Json[] {
  return expanded ? list(window.allMessages ?? window.lines) : list(window.lines ?? window.allMessages);
}

/** Words are wrapped, because they are read; the call of a tool is one row, unless everything is to be seen. */
function rows(line: Json, expanded: boolean, width: number, theme: Theme): string[] {
  const painted = paint(spansOf(line), theme);
  if (line.kind === "tool" && !expanded) return [indented(painted, width)];
  return wrap(painted, width - MARGIN).map((row) => indented(row, width));
}

/** A line without spans has the usual role of its kind; as in `window_json.rs`. */
function spansOf({ spans, text, kind }: Json): unknown {
  return spans ?? [{ text, role: kind === "tool" ? "muted" : "plain" }];
}

/** An error is wrapped in either view: it is what a person has to read to its end. */
function errorLines(message: unknown, width: number, theme: Theme): string[] {
  if (typeof message !== "string") return [];
  return `Error: ${message}`
    .split("\n")
    .flatMap((line) => wrap(theme.fg("error", plain(line)), width - MARGIN))
    .slice(0, MAX_ERROR_LINES)
    .map((line) => indented(line, width));
}

function indented(line: string, width: number): string {
  return cut(" ".repeat(MARGIN) + line, width);
}
