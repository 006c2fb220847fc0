/** How calls of tools and their results look in pi. */

import type { Theme } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";

import { component, cut, lineList, list, paint, plain, wrap } from "./draw.ts";
import type { Json } from "./manifest.ts";
import type { Place } from "./place.ts";
import { roomOf } from "./room.ts";
import { drawWindows } from "./windows.ts";

export { drawMessage } from "./message.ts";

const MAX_CALL_LINES = 4;
const MAX_NAME = 60;

/** A call in a line: `delegate_to_subagents 3 sub-agents (default profile: researcher) …`. */
export function drawCall(tool: string, args: unknown, theme: Theme): Component {
  return component((width) => callLines(tool, args, width, theme));
}

/** Returns the lines of a call, of which its result has to know the number. */
function callLines(tool: string, args: unknown, width: number, theme: Theme): string[] {
  const words = callWords(args).map((word) => ` ${word}`).join("");
  const line = theme.bold(theme.fg("toolTitle", tool)) + theme.fg("muted", words);
  return wrap(line, width).slice(0, MAX_CALL_LINES);
}

/** Returns how many rows the result of a call may take. */
export function roomFor(place: Place, call: DrawnCall, width: number, theme: Theme): number {
  return roomOf(place, call.toolCallId, callLines(call.tool, call.args, width, theme).length);
}

interface DrawnCall {
  toolCallId: string;
  tool: string;
  args: unknown;
}

/** What a call is about. While it is still being written, anything may be missing. */
function callWords(args: unknown): string[] {
  const { tasks, profile, preset, agent, sessionId, runId, runs, check, commit } = (args ?? {}) as Json;
  const count = list(tasks).length;
  return [
    Array.isArray(tasks) ? `${count} sub-agent${count === 1 ? "" : "s"}` : "",
    word(profile) && `(default profile: ${word(profile)})`,
    ...["profile", "preset", "agent"].map((field) => namesIn(list(tasks), field)),
    word(preset ?? agent),
    word(sessionId),
    word(runId),
    ...(Array.isArray(runs) ? runs.map(word) : []),
    check === true ? "(check)" : "",
    commit === true ? "(as commits)" : "",
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
  if (!look.isError && Array.isArray(details.windows)) return drawWindows(details, look, theme);
  const lines = textOf(result.content).split("\n").map(plain);
  if (look.isError) {
    return component((width) => lines.flatMap((line) => wrap(theme.fg("error", line), width)));
  }
  if (details.check || details.merge) return drawMerge(lines, theme);
  const limit = typeof details.maxLines === "number" && !look.expanded ? details.maxLines : undefined;
  return drawText(lines, limit, theme);
}

export interface Look {
  expanded: boolean;
  isError: boolean;
  /** How many rows it may take while it is not expanded. */
  room: (width: number) => number;
}

/** Draws what was merged, or what fits. A table keeps its rows; sentences are wrapped. */
function drawMerge(lines: string[], theme: Theme): Component {
  const drawn = (line: string, width: number) => {
    if (line.startsWith("✓ ")) return wrap(theme.fg("success", line), width);
    if (line.startsWith("✗ ")) return wrap(theme.fg("error", line), width);
    const painted = theme.fg("toolOutput", line);
    return line.includes("  ") ? [cut(painted, width)] : wrap(painted, width);
  };
  return component((width) => lines.flatMap((line) => drawn(line, width)));
}

/** Draws the first rows of a text and says how many are missing, or draws all of it without a limit. */
function drawText(lines: string[], limit: number | undefined, theme: Theme): Component {
  return component((width) => {
    const rows = lines.flatMap((line) => wrap(theme.fg("toolOutput", line), width));
    const more = rows.length - (limit ?? rows.length);
    if (more <= 0) return rows;
    const note = theme.fg("muted", `... (${more} more line${more === 1 ? "" : "s"})`);
    return [...rows.slice(0, limit), cut(note, width)];
  });
}

function textOf(content: unknown): string {
  return list(content).map((part) => (typeof part.text === "string" ? part.text : "")).join("\n");
}
