/** The pi package: registers the tools and commands of pi-subagents in a pi. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default async function piSubagents(pi: ExtensionAPI): Promise<void> {
  // A sub-agent has no sub-agents, and need not even read the rest.
  if (process.env.PI_SUBAGENTS_CHILD === "1") return;
  const { register } = await import("./register.ts");
  register(pi);
}
