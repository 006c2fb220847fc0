/** How a message of ours looks: its first line is its title, the rest is what a sub-agent said. */

import { getMarkdownTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { Box, type Component, Markdown, Spacer, Text } from "@earendil-works/pi-tui";

import { plain } from "./draw.ts";

export function drawMessage(content: unknown, theme: Theme): Component {
  const text = typeof content === "string" ? content : "";
  const [title = "", ...rest] = text.split("\n").map(plain);
  const box = new Box(1, 1, (line) => theme.bg("customMessageBg", line));
  box.addChild(new Text(theme.bold(theme.fg("customMessageLabel", title)), 0, 0));
  const body = rest.join("\n").trim();
  if (body) {
    box.addChild(new Spacer(1));
    const color = (words: string) => theme.fg("customMessageText", words);
    box.addChild(new Markdown(body, 0, 0, getMarkdownTheme(), { color }));
  }
  return box;
}
