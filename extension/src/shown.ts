/** What a command prints, for whoever typed it: drawn in the chat, never told to the model. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { component, cut, type Line, paint, plain } from "./draw.ts";
import { SHOWN } from "./entries.ts";

export interface View {
  title?: string;
  lines: Line[];
}

export type Level = "info" | "warning" | "error";

/** Lets pi draw what is shown, now and when the session is opened again. */
export function registerShown(pi: ExtensionAPI): void {
  pi.registerEntryRenderer<View>(SHOWN, (entry, _options, theme) => {
    const { title, lines } = entry.data ?? { lines: [] };
    const drawn = lines.map((line) => paint(line, theme));
    if (title) drawn.unshift(theme.bold(theme.fg("customMessageLabel", plain(title))));
    return component((width) => drawn.map((line) => cut(` ${line}`, width)));
  });
}

/** Shows lines where people look: in the chat, as a notice of an RPC client, or on stderr. */
export function show(pi: ExtensionAPI, ctx: ExtensionContext, view: View): void {
  if (ctx.mode === "tui") {
    pi.appendEntry(SHOWN, view);
    return;
  }
  const lines = view.lines.map((line) => line.map((span) => span.text).join(""));
  say(ctx, [...(view.title ? [view.title] : []), ...lines].join("\n"), "info");
}

/** Tells a person something, also where there is no UI. */
export function say(ctx: ExtensionContext, message: string, level: Level): void {
  if (ctx.hasUI) ctx.ui.notify(message, level);
  else console.error(message);
}
