/** What is registered: the shape of `manifest.json`, which `cargo xtask docs` writes. */

export type Json = Record<string, unknown>;

export interface Manifest {
  /** The version of the messages that we exchange with the host. */
  protocol: number;
  tools: ToolEntry[];
  commands: CommandEntry[];
}

export interface ToolEntry {
  name: string;
  label: string;
  description: string;
  promptSnippet: string;
  promptGuidelines: string[];
  /** A JSON Schema. */
  parameters: Json;
  /** Whether it is there only while pi has models, whose names its `model` takes. */
  models?: boolean;
  /** Whether it is there only once a run of the session has left something to merge. */
  results?: boolean;
  /** Whether it is there only once a sub-agent has a question that the model can answer. */
  questions?: boolean;
}

/** What tools may wait for. */
export type Offered = "results" | "questions";

export interface CommandEntry {
  name: string;
  description: string;
}
