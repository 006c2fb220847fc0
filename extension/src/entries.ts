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

/** Tells whether a background run has begun of which no end is known. */
export function hasUnfinishedRun(entries: SessionEntry[]): boolean {
  const running = new Set<unknown>();
  for (const { customType, data } of entriesOf(entries)) {
    const { runId, status } = (data ?? {}) as Json;
    if (customType === BACKGROUND_RUN) running.add(runId);
    if (customType === BACKGROUND_UPDATE && status !== "running") running.delete(runId);
  }
  return running.size > 0;
}
