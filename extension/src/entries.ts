/** Our entries in a session of pi. */

import type { SessionEntry } from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";

const OURS = "pi-subagents";
const BACKGROUND_RUN = "pi-subagents:bg-run";
const BACKGROUND_UPDATE = "pi-subagents:bg-update";

/** What a command has printed: kept to be drawn again, of no use to the host. */
export const SHOWN = "pi-subagents:shown";

interface OurEntry {
  customType: string;
  data: unknown;
}

/** The entries that the host has written, in their order. */
export function entriesOf(entries: SessionEntry[]): OurEntry[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "custom" || entry.customType === SHOWN) return [];
    const isOurs = entry.customType === OURS || entry.customType.startsWith(`${OURS}:`);
    return isOurs ? [{ customType: entry.customType, data: entry.data }] : [];
  });
}

/** How many background runs a session has had, and of how many no end is known. */
export interface BackgroundRuns {
  running: number;
  total: number;
}

/** Counts the background runs; what is no entry of one is passed over, as the host does it. */
export function backgroundRuns(entries: SessionEntry[]): BackgroundRuns {
  const begun = new Set<unknown>();
  const over = new Set<unknown>();
  for (const { customType, data } of entriesOf(entries)) {
    const run = (data ?? {}) as Json;
    if (customType === BACKGROUND_RUN && isRun(run)) begun.add(run.runId);
    if (customType === BACKGROUND_UPDATE && begun.has(run.runId) && run.status !== "running") over.add(run.runId);
  }
  return { running: begun.size - over.size, total: begun.size };
}

/** What `row.rs` cannot do without. */
function isRun(run: Json): boolean {
  const words = ["runId", "sessionId", "name", "task", "cwd", "acceptedAt", "status"];
  const { directory } = (run.artifacts ?? {}) as Json;
  return words.every((field) => typeof run[field] === "string") && typeof directory === "string";
}
