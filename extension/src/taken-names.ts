/** Tools of ours whose names another extension has taken too. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ExtensionContext, getAgentDir } from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";
import type { Place } from "./place.ts";
import { say } from "./text-output.ts";

export interface OtherTool {
  name: string;
  path: string;
}

/** Leaves each tool to the other where the user's settings say so. */
export function leave(place: Place, others: OtherTool[]): void {
  const left = leaveTools(settingsFile());
  place.leftToOthers = new Set(others.map(({ name }) => name).filter((name) => left.includes(name)));
}

/** Notifies the user once for each tool that ours replaces. */
export function tell(place: Place, ctx: ExtensionContext, replaced: OtherTool[]): void {
  for (const { name, path } of replaced.filter(({ name }) => !place.toldOfOthers.has(name))) {
    place.toldOfOthers.add(name);
    say(
      ctx,
      `Another extension (${path}) has a tool ${name} too; that of pi-subagents takes its place. ` +
        `To leave it to the other, put "leaveTools": ["${name}"] under "subagents" in ${settingsFile()}.`,
      "warning",
    );
  }
}

function settingsFile(): string {
  return join(getAgentDir(), "settings.json");
}

/** Returns the setting `subagents.leaveTools`, or nothing if the file cannot be read. */
function leaveTools(file: string): unknown[] {
  try {
    const { subagents } = JSON.parse(readFileSync(file, "utf8")) as { subagents?: Json };
    return Array.isArray(subagents?.leaveTools) ? subagents.leaveTools : [];
  } catch {
    return [];
  }
}
