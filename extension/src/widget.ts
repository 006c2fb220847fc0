/** The lines above pi's editor: what the background runs do. */

import { component, cut, paint } from "./draw.ts";
import type { Place } from "./place.ts";

const KEY = "pi-subagents";

/** Shows these lines, or nothing if there are none. The host sends them only where pi has a terminal. */
export function setWidget(place: Place, lines: unknown[]): void {
  const { session } = place;
  if (session?.ctx.mode !== "tui") return;
  place.widgetRows = lines.length;
  if (lines.length === 0) {
    session.ctx.ui.setWidget(KEY, undefined);
    return;
  }
  session.ctx.ui.setWidget(KEY, (_tui, theme) => {
    const painted = lines.map((line) => ` ${paint(line, theme)}`);
    return component((width) => painted.map((line) => cut(line, width)));
  });
}
