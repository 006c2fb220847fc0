/** Our entries in a session of pi. */

import type { ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";

const OURS = "pi-subagents";
const RUN = "pi-subagents:run";
const BACKGROUND_RUN = "pi-subagents:bg-run";
const BACKGROUND_UPDATE = "pi-subagents:bg-update";
const BACKGROUND_END = "pi-subagents:bg-done";

/** What a command has printed: kept to be drawn again, of no use to the host. */
export const SHOWN = "pi-subagents:shown";

/** A run has left something that can be merged. */
export const RESULT = "pi-subagents:result";

/** A call was answered with questions that the model can answer. */
export const QUESTION = "pi-subagents:question";

interface OurEntry {
  customType: string;
  data: unknown;
}

type SessionManager = ExtensionContext["sessionManager"];

/**
 * The entries of the branch that the session is on, and those of background runs of other branches
 * that are not settled: a person who leaves a branch still wants to know how its runs end.
 */
export function entriesHere(sessionManager: SessionManager): SessionEntry[] {
  const here = new Set(sessionManager.getBranch().map(({ id }) => id));
  const all = sessionManager.getEntries();
  const open = new Set(openRuns(all));
  return all.filter((entry) => here.has(entry.id) || open.has(backgroundRunOf(entry)));
}

function backgroundRunOf(entry: SessionEntry): unknown {
  const isBackground = entry.type === "custom" && entry.customType.startsWith(`${OURS}:bg-`);
  return isBackground ? ((entry.data ?? {}) as Json).runId : undefined;
}

/** Returns whether the session has a run without an end, because its pi was killed. */
export function hasLeftRun(entries: SessionEntry[]): boolean {
  const over = new Set(runs(entries, OURS).map(({ runId }) => runId));
  return runs(entries, RUN).some(({ runId }) => !over.has(runId));
}

/** What the entries of one type say about their runs. */
function runs(entries: SessionEntry[], type: string): Json[] {
  const ofType = entriesOf(entries).filter(({ customType }) => customType === type);
  return ofType.map(({ data }) => (data ?? {}) as Json);
}

/** The entries and messages that the host has written, in their order. */
export function entriesOf(entries: SessionEntry[]): OurEntry[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "custom" && entry.type !== "custom_message") return [];
    const { customType } = entry;
    const isOurs = customType === OURS || customType.startsWith(`${OURS}:`);
    if (!isOurs || customType === SHOWN) return [];
    return [{ customType, data: entry.type === "custom" ? entry.data : entry.details }];
  });
}

/** The number of background runs of a session, and of those whose end it has no message about. */
export interface BackgroundRuns {
  open: number;
  total: number;
}

/** Counts the background runs. */
export function backgroundRuns(entries: SessionEntry[]): BackgroundRuns {
  return { open: openRuns(entries).length, total: begunRuns(entries).size };
}

/** Returns the background runs whose end the session has no message about. */
function openRuns(entries: SessionEntry[]): unknown[] {
  const over = runs(entries, BACKGROUND_UPDATE).filter(({ status }) => status !== "running");
  const told = runs(entries, BACKGROUND_END);
  const has = (all: Json[], run: unknown) => all.some(({ runId }) => runId === run);
  return [...begunRuns(entries)].filter((run) => !has(over, run) || !has(told, run));
}

/** Skips entries that describe no run, as the host does. */
function begunRuns(entries: SessionEntry[]): Set<unknown> {
  const begun = runs(entries, BACKGROUND_RUN).filter(isRun);
  return new Set(begun.map(({ runId }) => runId));
}

/** The fields that `row.rs` needs. */
function isRun(run: Json): boolean {
  const words = ["runId", "sessionId", "name", "task", "cwd", "acceptedAt", "status"];
  const { directory } = (run.artifacts ?? {}) as Json;
  return words.every((field) => typeof run[field] === "string") && typeof directory === "string";
}
