/** The models that pi could talk to, for the tools that take one. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";

/** Their names as provider/id, in pi's order. */
export function availableModels(ctx: ExtensionContext): string[] {
  return [...new Set(ctx.modelRegistry.getAvailable().map(nameOf))];
}

export function nameOf(model: { provider: string; id: string }): string {
  return `${model.provider}/${model.id}`;
}

/** A schema whose every property `model` takes one of these names, also in schemas inside of it. */
export function withModels(schema: Json, models: string[]): Json {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [key, value];
    const inner = withModels(value as Json, models);
    if (key === "properties" && inner.model) inner.model = { ...inner.model, enum: models };
    return [key, inner];
  });
  return Object.fromEntries(entries);
}
