/** Lines of spans, as Rust prepared them, in the colours of pi's theme. */

import type { Theme, ThemeColor } from "@earendil-works/pi-coding-agent";
import { type Component, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";

import type { Json } from "./manifest.ts";

export interface Span {
  text: string;
  role: string;
}

export type Line = Span[];

/** The roles of `windows/src/span.rs`. */
const COLOURS: Record<string, ThemeColor> = {
  plain: "text",
  title: "toolTitle",
  muted: "muted",
  added: "toolDiffAdded",
  removed: "toolDiffRemoved",
  failed: "error",
  accent: "accent",
  success: "success",
  warning: "warning",
  heading: "mdHeading",
  code: "mdCode",
  emphasis: "text",
  strong: "text",
  quote: "mdQuote",
};

const BOLD = new Set(["title", "heading", "strong"]);

/** Gives each span its colour. What is not a line, in a session somebody has edited, is empty. */
export function paint(line: unknown, theme: Theme): string {
  if (!Array.isArray(line)) return "";
  return (line as Partial<Span>[]).map((span) => paintSpan(span, theme)).join("");
}

function paintSpan(span: Partial<Span>, theme: Theme): string {
  const text = theme.fg(COLOURS[span?.role ?? ""] ?? "text", plain(span?.text));
  if (BOLD.has(span?.role ?? "")) return theme.bold(text);
  return span?.role === "emphasis" ? theme.italic(text) : text;
}

/** The text of a line without anything that could move the cursor or end the line. */
export function plain(text: unknown): string {
  if (typeof text !== "string") return "";
  return text.replace(/\t/g, "  ").replace(/[\p{Cc}\u2028\u2029]/gu, "");
}

/** A line wider than the screen ends pi. */
export function cut(line: string, width: number): string {
  return truncateToWidth(line, Math.max(width, 0), "…");
}

/** Breaks a painted line where it has to be read to its end. */
export function wrap(line: string, width: number): string[] {
  return wrapTextWithAnsi(line, Math.max(width, 1)).map((part) => cut(part, width));
}

/** A component that draws anew only when the width, or the number of rows it may take, has changed. */
export function component(draw: (width: number, rows: number) => string[], room?: (width: number) => number): Component {
  let drawn: { width: number; rows: number; lines: string[] } | undefined;
  return {
    render(width) {
      const rows = room ? room(width) : Number.POSITIVE_INFINITY;
      if (drawn?.width !== width || drawn.rows !== rows) drawn = { width, rows, lines: draw(width, rows) };
      return drawn.lines;
    },
    invalidate() {
      drawn = undefined;
    },
  };
}

export function lineList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A list of objects, whatever it really is. */
export function list(value: unknown): Json[] {
  if (!Array.isArray(value)) return [];
  return value.map((item) => (typeof item === "object" && item !== null ? (item as Json) : {}));
}
