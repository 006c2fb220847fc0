/** A question with several answers. */

import {
  DynamicBorder,
  type ExtensionContext,
  getSelectListTheme,
  keyHint,
  rawKeyHint,
  type Theme,
} from "@earendil-works/pi-coding-agent";
import { Container, SelectList, Spacer, Text, type TUI } from "@earendil-works/pi-tui";

import { cut, wrap } from "./draw.ts";

/** What pi puts beside each option of its own dialog. */
const MARGIN = 4;

/** Asks with pi's dialog. That one does not scroll, so a list that is long gets one that does. */
export async function select(
  ctx: ExtensionContext,
  title: string,
  options: string[],
  timeout?: number,
): Promise<string | undefined> {
  const { ui, mode } = ctx;
  const { rows = 24, columns = 80 } = process.stdout;
  const space = Math.max(3, Math.floor(rows / 2));
  const lines = options.flatMap((option) => wrap(option, columns - MARGIN));
  if (mode !== "tui" || lines.length <= space) {
    return ui.select(title, options, timeout === undefined ? {} : { timeout });
  }
  return ui.custom<string | undefined>((tui, theme, _keys, done) => scrolling(tui, theme, { title, options, space }, done));
}

interface LongQuestion {
  title: string;
  options: string[];
  space: number;
}

function scrolling(tui: TUI, theme: Theme, question: LongQuestion, done: (chosen: string | undefined) => void): Container {
  const { title, options, space } = question;
  const items = options.map((option) => ({ value: option, label: option }));
  const truncatePrimary = ({ text, maxWidth }: { text: string; maxWidth: number }) => cut(text, maxWidth);
  const list = new SelectList(items, space, getSelectListTheme(), { truncatePrimary });
  list.onSelect = ({ value }) => done(value);
  list.onCancel = () => done(undefined);
  const keys = [
    rawKeyHint("↑↓", "navigate"),
    keyHint("tui.select.confirm", "select"),
    keyHint("tui.select.cancel", "cancel"),
  ].join("  ");
  const page = new Container();
  page.addChild(new DynamicBorder());
  page.addChild(new Spacer(1));
  page.addChild(new Text(theme.fg("accent", theme.bold(title)), 1, 0));
  page.addChild(new Spacer(1));
  page.addChild(list);
  page.addChild(new Spacer(1));
  page.addChild(new Text(keys, 1, 0));
  page.addChild(new Spacer(1));
  page.addChild(new DynamicBorder());
  return Object.assign(page, {
    handleInput(keys: string) {
      list.handleInput(keys);
      tui.requestRender();
    },
  });
}
