/** The facts about pi that go with every call. */

import {
  type ExtensionAPI,
  type ExtensionContext,
  hasTrustRequiringProjectResources,
  VERSION,
} from "@earendil-works/pi-coding-agent";

import type { Json } from "./manifest.ts";
import type { Place } from "./place.ts";

/** The script inside a pi that was compiled to one program. */
const COMPILED = "/$bunfs/root/";
const SKILL = "skill:";

export function caller({ models }: Place, pi: ExtensionAPI, ctx: ExtensionContext): Json {
  return {
    cwd: ctx.cwd,
    columns: ctx.mode === "tui" ? process.stdout.columns : undefined,
    mode: ctx.mode,
    hasUI: ctx.hasUI,
    trusted: ctx.isProjectTrusted(),
    hasTrustQuestion: hasTrustRequiringProjectResources(ctx.cwd),
    model: ctx.model ? `${ctx.model.provider}/${ctx.model.id}` : undefined,
    thinking: pi.getThinkingLevel(),
    models,
    activeTools: pi.getActiveTools(),
    allTools: pi.getAllTools().map(({ name }) => name),
    skills: skills(pi),
    pi: thisPi(),
  };
}

function skills(pi: ExtensionAPI): Json[] {
  return pi
    .getCommands()
    .filter((command) => command.source === "skill")
    .map((command) => ({
      name: command.name.startsWith(SKILL) ? command.name.slice(SKILL.length) : command.name,
      path: command.sourceInfo.path,
      description: command.description ?? "",
    }));
}

function thisPi(): Json {
  const script = process.argv[1];
  return {
    execPath: process.execPath,
    script: script?.startsWith(COMPILED) ? undefined : script,
    version: VERSION,
  };
}
