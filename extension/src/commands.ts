/** The commands: every question and every line of theirs comes from the host. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";

import { caller } from "./caller.ts";
import { Host } from "./host.ts";
import type { Place } from "./place.ts";
import { say } from "./text-output.ts";

export async function run(
  pi: ExtensionAPI,
  place: Place,
  command: string,
  args: string,
  ctx: ExtensionContext,
): Promise<void> {
  try {
    const connection = await Host.of(place).ready();
    await connection.request("command/run", { command, arguments: args, caller: caller(place, pi, ctx) });
  } catch (error) {
    say(ctx, (error as Error).message, "error");
  }
}

/** Offers no completions if something goes wrong; the command itself will report it. */
export async function complete(place: Place, command: string, prefix: string): Promise<AutocompleteItem[] | null> {
  const { session } = place;
  if (!session) return null;
  try {
    const connection = await Host.of(place).ready();
    const asked = { command, prefix, caller: caller(place, session.pi, session.ctx) };
    const { items = [] } = (await connection.request("command/complete", asked)) as { items?: AutocompleteItem[] };
    // If everything is typed already, Enter should run the command and not complete it.
    const isWhole = items.length === 1 && items[0]?.value === prefix;
    return items.length === 0 || isWhole ? null : items;
  } catch {
    return null;
  }
}
