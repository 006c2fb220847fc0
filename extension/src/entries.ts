/** Our entries in a session of pi. */

import type { SessionEntry } from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";

const OURS = "pi-subagents";
const BACKGROUND_RUN = "pi-subagents:bg-run";
const BACKGROUND_UPDATE = "pi-subagents:bg-update";
const BACKGROUND_END = "pi-subagents:bg-done";

/** What a command has printed: kept to be drawn again, of no use to the host. */
export const SHOWN = "pi-subagents:shown";

interface OurEntry {
  customType: string;
  data: unknown;
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

/** The background runs that a session has had, and of how many of them it was not told the end. */
export interface BackgroundRuns {
  open: number;
  total: number;
}

/** Counts the background runs; what is no entry of one is passed over, as the host does it. */
export function backgroundRuns(entries: SessionEntry[]): BackgroundRuns {
  const ours = entriesOf(entries).map(({ customType, data }) => ({ customType, run: (data ?? {}) as Json }));
  const ids = (type: string, counts: (run: Json) => boolean) =>
    new Set(ours.filter(({ customType, run }) => customType === type && counts(run)).map(({ run }) => run.runId));
  const begun = ids(BACKGROUND_RUN, isRun);
  const over = ids(BACKGROUND_UPDATE, ({ status }) => status !== "running");
  const told = ids(BACKGROUND_END, () => true);
  const open = [...begun].filter((run) => !over.has(run) || !told.has(run));
  return { open: open.length, total: begun.size };
}

/** What `row.rs` cannot do without. */
function isRun(run: Json): boolean {
  const words = ["runId", "sessionId", "name", "task", "cwd", "acceptedAt", "status"];
  const { directory } = (run.artifacts ?? {}) as Json;
  return words.every((field) => typeof run[field] === "string") && typeof directory === "string";
}
