/** Reports the beginning and the end of pi's session to the host. */

import { FOOTER, refuseHeld } from "./answers.ts";
import { backgroundRuns, entriesHere, hasLeftRun } from "./entries.ts";
import { Host } from "./host.ts";
import type { Place, Session } from "./place.ts";
import { say } from "./text-output.ts";

/** The longest time that we let pi wait; pi itself sets no limit. */
const PATIENCE_MS = 2000;

/** Sends the session to a running host; starts a host only for runs that are not settled. */
export async function begin(place: Place): Promise<void> {
  const { session } = place;
  if (!session) return;
  const entries = entriesHere(session.ctx.sessionManager);
  const { open, total } = backgroundRuns(entries);
  if (!place.host?.isRunning && open === 0 && !hasLeftRun(entries)) {
    // The words are the host's, which is not started just to say that nothing runs.
    if (total > 0) session.ctx.ui.setStatus(FOOTER, `bg: 0 running / ${total} total`);
    return;
  }
  try {
    await atMost(PATIENCE_MS, Host.of(place).announce());
  } catch (error) {
    say(session.ctx, (error as Error).message, "warning");
  }
}

export async function end(host: Host, session: Session, reason: string): Promise<void> {
  refuseHeld(session);
  if (!host.isRunning) return;
  try {
    const connection = await host.ready();
    await atMost(PATIENCE_MS, connection.request("session/shutdown", { reason }));
  } catch {
    // It has died, and everything it ran with it.
  }
  if (reason === "quit") host.close();
}

/** Waits for something, but not for ever. */
async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
