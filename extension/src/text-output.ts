/** Shows texts to the person, where they will see them. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import type { Line } from "./draw.ts";
import { SHOWN } from "./entries.ts";

/** What a command prints. */
export interface View {
  title?: string;
  lines: Line[];
}

export type Level = "info" | "warning" | "error";

/** Shows lines in the chat, which the model does not see; without a terminal they are text. */
export function show(pi: ExtensionAPI, ctx: ExtensionContext, view: View): void {
  if (ctx.mode === "tui") {
    pi.appendEntry(SHOWN, view);
    return;
  }
  const lines = view.lines.map((line) => line.map((span) => span.text).join(""));
  say(ctx, [...(view.title ? [view.title] : []), ...lines].join("\n"), "info");
}

/** Shows a sentence as a notification, or on stderr if there is no UI. */
export function say(ctx: ExtensionContext, message: string, level: Level): void {
  if (ctx.hasUI) ctx.ui.notify(message, level);
  else console.error(message);
}
