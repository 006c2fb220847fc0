/** Everything that is registered, without starting anything: pi does this for `--help` too. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import { registerCommands } from "./commands.ts";
import { Host } from "./host.ts";
import { followLife } from "./life.ts";
import { readManifest } from "./manifest.ts";
import { registerShown } from "./shown.ts";
import { ModelTools, registerTool } from "./tools.ts";

export function register(pi: ExtensionAPI): void {
  const manifest = readManifest();
  const host = Host.ofThisProcess(manifest.version);
  const needModels = manifest.tools.filter((tool) => tool.models === true);
  for (const tool of manifest.tools) {
    if (tool.models !== true) registerTool(pi, host, tool);
  }
  registerCommands(pi, host, manifest.commands);
  registerShown(pi);
  followLife(pi, host, new ModelTools(pi, host, needModels));
}
