/** A page that a person scrolls and that nobody keeps, such as a long patch. */

import { DynamicBorder, type ExtensionContext, rawKeyHint, type Theme } from "@earendil-works/pi-coding-agent";
import { Container, matchesKey, Text, type TUI } from "@earendil-works/pi-tui";

import { component, cut, paint } from "./draw.ts";

/** The rows of the frame and of pi itself that the page leaves free. */
const AROUND = 9;

interface Page {
  title: string;
  lines: unknown[];
}

/** Shows the page until it is closed. */
export async function view(ctx: ExtensionContext, page: Page): Promise<void> {
  await ctx.ui.custom<undefined>((tui, theme, _keys, done) => scrolled(tui, theme, page, () => done(undefined)));
}

function scrolled(tui: TUI, theme: Theme, { title, lines }: Page, close: () => void): Container {
  const painted = lines.map((line) => paint(line, theme));
  let first = 0;
  const rows = () => Math.max(3, (process.stdout.rows ?? 24) - AROUND);
  const last = () => Math.max(0, painted.length - rows());
  const body = component(
    (width, from) => painted.slice(from, from + rows()).map((line) => cut(` ${line}`, width)),
    () => first,
  );
  const place = component(
    (width, from) => [cut(theme.fg("dim", ` ${placeWords(from, rows(), painted.length)}`), width)],
    () => first,
  );
  const keys = [rawKeyHint("↑↓ space b g G", "scroll"), rawKeyHint("q, esc", "close")].join("  ");
  const page = new Container();
  page.addChild(new DynamicBorder());
  page.addChild(new Text(theme.fg("accent", theme.bold(title)), 1, 0));
  page.addChild(body);
  page.addChild(place);
  page.addChild(new Text(keys, 1, 0));
  page.addChild(new DynamicBorder());
  return Object.assign(page, {
    handleInput(key: string) {
      if (matchesKey(key, "escape") || matchesKey(key, "ctrl+c") || matchesKey(key, "q")) return close();
      const step = stepOf(key, rows());
      if (step === undefined) return;
      first = Math.min(last(), Math.max(0, first + step));
      tui.requestRender();
    },
  });
}

/** How many rows a key goes down; none if it does something else. Pi 1.5 keeps the page keys for its own screen. */
function stepOf(key: string, rows: number): number | undefined {
  if (matchesKey(key, "down") || matchesKey(key, "j")) return 1;
  if (matchesKey(key, "up") || matchesKey(key, "k")) return -1;
  if (matchesKey(key, "pageDown") || matchesKey(key, "space")) return rows - 1;
  if (matchesKey(key, "pageUp") || matchesKey(key, "b")) return 1 - rows;
  if (matchesKey(key, "home") || matchesKey(key, "g")) return Number.NEGATIVE_INFINITY;
  if (matchesKey(key, "end") || matchesKey(key, "shift+g") || key === "G") return Number.MAX_SAFE_INTEGER;
  return undefined;
}

function placeWords(first: number, rows: number, all: number): string {
  if (all <= rows) return `${all} line${all === 1 ? "" : "s"}`;
  return `lines ${first + 1} to ${Math.min(all, first + rows)} of ${all}`;
}
