/** What is registered: `manifest.json`, generated from the Rust side by `cargo xtask docs`. */

import { readFileSync } from "node:fs";

export type Json = Record<string, unknown>;

export interface Manifest {
  version: string;
  tools: ToolEntry[];
  commands: CommandEntry[];
}

export interface ToolEntry {
  name: string;
  label: string;
  description: string;
  promptSnippet?: string;
  promptGuidelines?: string[];
  /** A JSON Schema. */
  parameters: Json;
  /** Whether it is there only while pi has models, whose names its `model` takes. */
  models?: boolean;
}

export interface CommandEntry {
  name: string;
  description: string;
}

export function readManifest(): Manifest {
  const file = new URL("../manifest.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}
