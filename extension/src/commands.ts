/** The commands: every question and every line of theirs comes from the host. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";

import { caller } from "./caller.ts";
import type { Host } from "./host.ts";
import type { CommandEntry } from "./manifest.ts";
import { say } from "./shown.ts";

export function registerCommands(pi: ExtensionAPI, host: Host, commands: CommandEntry[]): void {
  for (const { name, description } of commands) {
    pi.registerCommand(name, {
      description,
      getArgumentCompletions: (prefix) => complete(host, name, prefix),
      handler: async (args, ctx) => {
        try {
          await host.request("command/run", { command: name, arguments: args, caller: caller(pi, ctx) });
        } catch (error) {
          say(ctx, (error as Error).message, "error");
        }
      },
    });
  }
}

/** Nothing is offered where something goes wrong; the command itself will say it. */
async function complete(host: Host, command: string, prefix: string): Promise<AutocompleteItem[] | null> {
  const { session } = host;
  if (!session) return null;
  try {
    const asked = { command, prefix, caller: caller(session.pi, session.ctx) };
    const { items } = (await host.request("command/complete", asked)) as { items?: AutocompleteItem[] };
    return items?.length ? items : null;
  } catch {
    return null;
  }
}
