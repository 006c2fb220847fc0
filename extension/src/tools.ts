/** The tools: forwarded to the host, drawn here. */

import type { AgentToolResult, ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";

import { availableModels, caller } from "./caller.ts";
import type { Host } from "./host.ts";
import type { Json, ToolEntry } from "./manifest.ts";
import { drawCall, drawResult } from "./views.ts";

type Result = AgentToolResult<unknown>;

export function registerTool(pi: ExtensionAPI, host: Host, tool: ToolEntry): void {
  const definition: ToolDefinition = {
    name: tool.name,
    label: tool.label,
    description: tool.description,
    promptSnippet: tool.promptSnippet ?? tool.label,
    promptGuidelines: tool.promptGuidelines ?? [],
    parameters: tool.parameters as ToolDefinition["parameters"],
    execute: (callId, params, signal, onUpdate, ctx) => {
      const call = { callId, tool: tool.name, arguments: params, caller: caller(pi, ctx) };
      return execute(host, call, signal, onUpdate);
    },
    renderCall: (args, theme) => drawCall(tool.name, args, theme),
    renderResult: (result, { expanded, isPartial }, theme, context) => {
      if (isPartial) tellExpanded(host, context.toolCallId, expanded);
      return drawResult(result, { expanded, isError: context.isError }, theme);
    },
  };
  pi.registerTool(definition);
}

/** Waits for the answer also after an abort: it tells what the sub-agents said until then. */
async function execute(
  host: Host,
  call: Json & { callId: string },
  signal: AbortSignal | undefined,
  onUpdate: ((partial: Result) => void) | undefined,
): Promise<Result> {
  const { callId } = call;
  const connection = await host.ready();
  signal?.throwIfAborted();
  const cancel = () => connection.notify("tool/cancel", { callId });
  host.calls.set(callId, {
    update: ({ content, details }) => onUpdate?.({ content, details } as Result),
    isExpanded: false,
  });
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const { content, details, usage } = await connection.request("tool/execute", call);
    return { content, details, ...(usage ? { usage } : {}) } as Result;
  } finally {
    signal?.removeEventListener("abort", cancel);
    host.calls.delete(callId);
  }
}

/** Updates carry all lines only while somebody looks at them. */
function tellExpanded(host: Host, callId: string, expanded: boolean): void {
  const call = host.calls.get(callId);
  if (!call || call.isExpanded === expanded) return;
  call.isExpanded = expanded;
  host.notify("tool/expand", { callId, expanded });
}

/** The tools that are there only while pi has models, and know their names. */
export class ModelTools {
  readonly #pi: ExtensionAPI;
  readonly #host: Host;
  readonly #tools: ToolEntry[];
  /** The models that were registered last, in an order of no meaning. */
  #known = "";

  constructor(pi: ExtensionAPI, host: Host, tools: ToolEntry[]) {
    this.#pi = pi;
    this.#host = host;
    this.#tools = tools;
  }

  /** Registers them anew when other models are there than before. */
  refresh(ctx: ExtensionContext): void {
    if (this.#tools.length === 0) return;
    const models = [...new Set(availableModels(ctx))];
    const known = models.toSorted().join("\n");
    if (models.length === 0 || known === this.#known) return;
    this.#known = known;
    for (const tool of this.#tools) {
      registerTool(this.#pi, this.#host, { ...tool, parameters: withModels(tool.parameters, models) });
    }
  }
}

/** A schema whose every property `model` takes one of these, also inside of others. */
function withModels(schema: Json, models: string[]): Json {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [key, value];
    const inner = withModels(value as Json, models);
    const { model } = inner;
    if (key === "properties" && typeof model === "object") inner.model = { ...model, enum: models };
    return [key, inner];
  });
  return Object.fromEntries(entries);
}
