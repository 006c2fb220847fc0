/** How calls of tools and their results look in pi. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";

import { component, cut, paint, plain, wrap } from "./draw.ts";
import type { Json } from "./manifest.ts";

export { drawMessage } from "./message.ts";

const MARGIN = 2;
const MAX_CALL_LINES = 4;
const MAX_ERROR_LINES = 6;
const MAX_NAME = 60;

/** A call in a line: `delegate_to_subagents 3 sub-agents (default profile: researcher) …`. */
export function drawCall(tool: string, args: unknown, theme: Theme): Component {
  const words = callWords(args).map((word) => ` ${word}`).join("");
  const line = theme.bold(theme.fg("toolTitle", tool)) + theme.fg("muted", words);
  return component((width) => wrap(line, width).slice(0, MAX_CALL_LINES));
}

/** What a call is about. While it is still being written, anything may be missing. */
function callWords(args: unknown): string[] {
  const { tasks, profile, preset, agent, sessionId, runId } = (args ?? {}) as Json;
  const count = list(tasks).length;
  return [
    Array.isArray(tasks) ? `${count} sub-agent${count === 1 ? "" : "s"}` : "",
    word(profile) && `(default profile: ${word(profile)})`,
    ...["profile", "preset", "agent"].map((field) => namesIn(list(tasks), field)),
    word(preset ?? agent),
    word(sessionId),
    word(runId),
  ].filter(Boolean);
}

/** The names that tasks have in a field: `profiles: [researcher, tester]`. */
function namesIn(tasks: Json[], field: string): string {
  const names = new Set(tasks.map((task) => word(task[field])).filter(Boolean));
  return names.size > 0 ? `${field}s: [${[...names].join(", ")}]` : "";
}

function word(value: unknown): string {
  const characters = [...plain(value)];
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join("")}…` : characters.join("");
}

/** What a command has printed. */
export function drawShown(data: unknown, theme: Theme): Component {
  const { title, lines } = (data ?? {}) as Json;
  const heading = plain(title) && theme.bold(theme.fg("customMessageLabel", plain(title)));
  const body = lineList(lines).map((line) => paint(line, theme));
  const drawn = heading ? [heading, ...body] : body;
  return component((width) => drawn.flatMap((line) => wrap(line, width - 1)).map((line) => cut(` ${line}`, width)));
}

/** A result by the shape of its details: windows, text of which the beginning is shown, or text. */
export function drawResult(result: { content: unknown; details: unknown }, look: Look, theme: Theme): Component {
  const details = (result.details ?? {}) as Json;
  if (!look.isError && Array.isArray(details.windows)) return drawWindows(details, look.expanded, theme);
  const lines = textOf(result.content).split("\n").map(plain);
  if (look.isError) {
    return component((width) => lines.flatMap((line) => wrap(theme.fg("error", line), width)));
  }
  const limit = typeof details.maxLines === "number" && !look.expanded ? details.maxLines : undefined;
  return drawText(lines, limit, theme);
}

export interface Look {
  expanded: boolean;
  isError: boolean;
}

/** Draws the first lines of a text, or all of it without a limit. */
function drawText(lines: string[], limit: number | undefined, theme: Theme): Component {
  const painted = (line: string) => theme.fg("toolOutput", line);
  if (limit === undefined) return component((width) => lines.flatMap((line) => wrap(painted(line), width)));
  const shown = lines.slice(0, limit).map(painted);
  const more = lines.length - shown.length;
  if (more > 0) shown.push(theme.fg("muted", `... (${more} more line${more === 1 ? "" : "s"})`));
  return component((width) => shown.map((line) => cut(line, width)));
}

function drawWindows(details: Json, expanded: boolean, theme: Theme): Component {
  const windows = list(details.windows);
  const newest = typeof details.maxLinesPerWindow === "number" ? details.maxLinesPerWindow : 15;
  return component((width) => [
    cut(paint(details.header, theme), width),
    ...windows.flatMap((window) => drawWindow(window, expanded, newest, width, theme)),
    ...lineList(details.footer).map((line) => cut(paint(line, theme), width)),
  ]);
}

/** Returns the lines of a window. While a call runs, an update has only those for the current view. */
function shownLines(window: Json, expanded: boolean, newest: number): Json[] {
  if (expanded) return list(window.allMessages ?? window.lines);
  return window.lines === undefined ? list(window.allMessages).slice(-newest) : list(window.lines);
}

function drawWindow(
  window: Json,
  expanded: boolean,
  newest: number,
  width: number,
  theme: Theme,
): string[] {
  const lines = shownLines(window, expanded, newest);
  const painted = lines.map((line) => paint(spansOf(line), theme));
  const laid = expanded ? painted.flatMap((line) => wrap(line, width - MARGIN)) : painted;
  const body = laid.map((line) => indented(line, width));
  const error = errorLines(window.errorMessage, width, theme);
  if (body.length === 0 && error.length === 0) {
    const words = window.status === "running" && !expanded ? "(starting...)" : "(no output)";
    body.push(indented(theme.fg("muted", words), width));
  }
  return [cut(paint(window.header, theme), width), ...body, ...error];
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

function textOf(content: unknown): string {
  return list(content).map((part) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

function lineList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A list of objects, whatever it really is. */
function list(value: unknown): Json[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => (typeof item === "object" && item !== null ? (item as Json) : {}));
}
