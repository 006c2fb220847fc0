/** What happens to pi's session, told to the host. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import { sendHeld } from "./answers.ts";
import { hasUnfinishedRun } from "./entries.ts";
import type { Host } from "./host.ts";
import { say } from "./shown.ts";
import type { ModelTools } from "./tools.ts";

/** Pi waits for its extensions as long as they like. */
const PATIENCE_MS = 2000;

export function followLife(pi: ExtensionAPI, host: Host, modelTools: ModelTools): void {
  pi.on("session_start", async ({ reason }, ctx) => {
    host.session = { pi, ctx, reason, wasAnnounced: false, held: [] };
    modelTools.refresh(ctx);
    if (!host.isRunning && !hasUnfinishedRun(ctx.sessionManager.getEntries())) return;
    try {
      await atMost(PATIENCE_MS, host.announce());
    } catch (error) {
      say(ctx, (error as Error).message, "warning");
    }
  });

  pi.on("session_shutdown", async ({ reason }) => {
    if (host.session?.pi !== pi) return;
    try {
      if (host.isRunning) await atMost(PATIENCE_MS, host.request("session/shutdown", { reason }));
    } catch {
      // It has died, and everything it ran with it.
    }
    host.session = undefined;
    if (reason === "quit") host.close();
  });

  pi.on("model_select", (_event, ctx) => modelTools.refresh(ctx));
  pi.on("agent_start", () => host.notify("idle", { idle: false }));
  pi.on("agent_settled", () => {
    host.notify("idle", { idle: true });
    if (host.session?.pi === pi) sendHeld(host.session);
  });
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
