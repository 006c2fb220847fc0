/** Asks the program for the agents that a model can choose, which are added to the descriptions of the tools. */

import { execFile } from "node:child_process";

import { findBinary } from "./binary.ts";
import type { Json } from "./manifest.ts";

/** How long the program may take, in milliseconds; a pi does not wait for it longer. */
const PATIENCE = 1_000;
const LONGEST_ANSWER = 1 << 20;

/** Returns a sentence for each tool that names the agents it takes, or nothing if the program cannot be asked. */
export function readChoices(cwd: string): Promise<Map<string, string>> {
  return new Promise((resolve) => {
    const answered = (error: Error | null, stdout: string) => resolve(error ? new Map() : choicesIn(stdout));
    try {
      const options = { cwd, timeout: PATIENCE, killSignal: "SIGKILL", maxBuffer: LONGEST_ANSWER } as const;
      execFile(findBinary().path, ["tools", "--json", "--choices"], options, answered);
    } catch {
      // The next tool call reports what is missing.
      resolve(new Map());
    }
  });
}

function choicesIn(stdout: string): Map<string, string> {
  try {
    const { tools } = JSON.parse(stdout) as { tools: Json[] };
    const told = tools.filter(({ choices }) => typeof choices === "string");
    return new Map(told.map(({ name, choices }) => [String(name), String(choices)]));
  } catch {
    return new Map();
  }
}
