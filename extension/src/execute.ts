/** A call of a tool: forwarded to the host. */

import type { AgentToolResult, ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { caller } from "./caller.ts";
import { Host } from "./host.ts";
import type { Place } from "./place.ts";

type Result = AgentToolResult<unknown>;

interface ToolCall {
  callId: string;
  tool: string;
  arguments: unknown;
}

/** Waits for the answer also after an abort: it has what the sub-agents said until then. */
export async function execute(
  pi: ExtensionAPI,
  place: Place,
  call: ToolCall,
  signal: AbortSignal | undefined,
  onUpdate: ((partial: Result) => void) | undefined,
  ctx: ExtensionContext,
): Promise<Result> {
  const host = Host.of(place);
  const leave = host.join(call.callId);
  try {
    return await forward(pi, place, call, signal, onUpdate, ctx);
  } finally {
    leave();
  }
}

async function forward(
  pi: ExtensionAPI,
  place: Place,
  call: ToolCall,
  signal: AbortSignal | undefined,
  onUpdate: ((partial: Result) => void) | undefined,
  ctx: ExtensionContext,
): Promise<Result> {
  const host = Host.of(place);
  const connection = await host.ready();
  signal?.throwIfAborted();
  const { callId } = call;
  const cancel = () => connection.notify("tool/cancel", { callId });
  signal?.addEventListener("abort", cancel, { once: true });
  host.calls.set(callId, {
    update: ({ content, details }) => onUpdate?.({ content, details } as Result),
    isExpanded: false,
    columns: process.stdout.columns,
  });
  try {
    const answer = await connection.request("tool/execute", { ...call, caller: caller(place, pi, ctx) });
    const { content, details, usage } = answer;
    return { content, details, ...(usage ? { usage } : {}) } as Result;
  } finally {
    signal?.removeEventListener("abort", cancel);
    host.calls.delete(callId);
  }
}
