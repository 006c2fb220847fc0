/**
 * The pi package: registers the tools and commands of pi-subagents in a pi.
 *
 * Nothing is started here, because pi does this for `--help` too, and what does the work is read
 * when it is used for the first time, because every file that pi reads makes its start longer.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionContext, ToolDefinition } from "@earendil-works/pi-coding-agent";

import type { CommandEntry, Json, Manifest, Offered, ToolEntry } from "./manifest.ts";
import type { OtherTool } from "./taken-names.ts";
import type { Place } from "./place.ts";

/** Everything that is read later. Two readings at once would give one of them half a module. */
const views = inTurn(() => import("./views.ts"));
const life = inTurn(() => import("./life.ts"));
const calls = inTurn(() => import("./execute.ts"));
const commands = inTurn(() => import("./commands.ts"));
const choices = inTurn(() => import("./choices.ts"));
const others = inTurn(() => import("./taken-names.ts"));
const binary = inTurn(() => import("./binary.ts"));

const PLACE = Symbol.for("pi-subagents.host");

// Also in `entries.ts`, which is not read before it is needed.
const SHOWN = "pi-subagents:shown";
const RUNS = ["pi-subagents:bg-run", "pi-subagents:run"];
const BACKGROUND_NOTICES = ["pi-subagents:bg-done", "pi-subagents:bg-ask"];
const OFFERS: Record<string, Offered> = { "pi-subagents:result": "results", "pi-subagents:question": "questions" };

/** How long after pi's start we look for the program, in milliseconds. */
const LOOK_AFTER = 1_000;

/** How many models the error names if a call names an unknown one. */
const MAX_NAMES = 40;

/** The tool whose description lists the models, and how many it lists: every request of the model carries them. */
const NAMES_MODELS = "subagent";
const MAX_LISTED = 30;

/** The kinds of entries that we may have to draw. */
const DRAWN = ["message", "custom", "custom_message"];

export default function register(pi: ExtensionAPI): void {
  // A sub-agent has no sub-agents.
  if (process.env.PI_SUBAGENTS_CHILD === "1") return;
  const manifest = readManifest();
  const place = placeOfThisProcess();
  place.protocol = manifest.protocol;
  // A reload may have brought new ones.
  place.views = undefined;
  for (const tool of manifest.tools) {
    if (isThereAtOnce(tool)) registerTool(pi, place, tool);
  }
  for (const command of manifest.commands) registerCommand(pi, place, command);
  pi.registerEntryRenderer(SHOWN, (entry, _options, theme) => viewsOf(place).drawShown(entry.data, theme));
  for (const notice of BACKGROUND_NOTICES) {
    pi.registerMessageRenderer(notice, ({ content }, _options, theme) => viewsOf(place).drawMessage(content, theme));
  }
  followSession(pi, place, manifest);
}

/** Other tools wait for models, for something to merge, or for a question. */
function isThereAtOnce({ models, results, questions }: ToolEntry): boolean {
  return models !== true && results !== true && questions !== true;
}

let reading: Promise<unknown> | undefined;

/** Reads a module once, after those that are being read; one that cannot be read stops no other. */
function inTurn<Module>(read: () => Promise<Module>): () => Promise<Module> {
  let module: Promise<Module> | undefined;
  return () => {
    if (!module) {
      module = (reading ?? Promise.resolve()).then(read);
      reading = module.catch(() => {});
    }
    return module;
  };
}

function readManifest(): Manifest {
  const file = new URL("../manifest.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}

function placeOfThisProcess(): Place {
  const places = globalThis as unknown as Record<symbol, Place | undefined>;
  places[PLACE] ??= { session: undefined, host: undefined, protocol: 0, views: undefined, offer: undefined, has: new Set(), widgetRows: 0, models: [], choices: new Map(), leftToOthers: new Set(), toldOfOthers: new Set() };
  return places[PLACE];
}

function registerTool(pi: ExtensionAPI, place: Place, tool: ToolEntry): void {
  pi.registerTool({
    name: tool.name,
    label: tool.label,
    description: [tool.description, place.choices.get(tool.name)].filter(Boolean).join(" "),
    promptSnippet: tool.promptSnippet,
    promptGuidelines: tool.promptGuidelines,
    parameters: tool.parameters as ToolDefinition["parameters"],
    prepareArguments(args) {
      const fitting = fitted(args, tool.parameters);
      return tool.models === true ? withFullNames(fitting, place.models) : fitting;
    },
    async execute(callId, params, signal, onUpdate, ctx) {
      lookForModels(place, ctx);
      const { execute } = await calls();
      return execute(pi, place, { callId, tool: tool.name, arguments: params }, signal, onUpdate, ctx);
    },
    renderCall: (args, theme) => viewsOf(place).drawCall(tool.name, args, theme),
    renderResult(result, { expanded, isPartial }, theme, { toolCallId, isError, args }) {
      if (isPartial) place.host?.tellLook(toolCallId, expanded);
      const { drawResult, roomFor } = viewsOf(place);
      const room = (width: number) => roomFor(place, { toolCallId, tool: tool.name, args }, width, theme);
      return drawResult(result, { expanded, isError, room }, theme);
    },
  });
}

/** Draws a tool; if this throws, pi draws it in its own way. */
function viewsOf(place: Place): NonNullable<Place["views"]> {
  if (!place.views) throw new Error("nothing can be drawn yet");
  return place.views;
}

async function readViews(place: Place): Promise<void> {
  place.views ??= await views();
}

function registerCommand(pi: ExtensionAPI, place: Place, { name, description }: CommandEntry): void {
  pi.registerCommand(name, {
    description,
    async getArgumentCompletions(prefix) {
      const { complete } = await commands();
      return complete(place, name, prefix);
    },
    async handler(args, ctx) {
      lookForModels(place, ctx);
      await readViews(place);
      const { run } = await commands();
      await run(pi, place, name, args, ctx);
    },
  });
}

function followSession(pi: ExtensionAPI, place: Place, { tools }: Manifest): void {
  const needModels = tools.filter((tool) => tool.models === true);
  let known = "";
  const registerWith = (models: string[]) => {
    // Another order is no news; without models there is nothing that a call could name.
    const set = models.toSorted().join("\n");
    if (models.length === 0 || set === known) return;
    known = set;
    for (const tool of needModels.filter(({ name }) => !place.leftToOthers.has(name))) {
      registerTool(pi, place, withModels(tool, models));
    }
  };
  const registerForModels = (ctx: ExtensionContext) => {
    lookForModels(place, ctx);
    registerWith(place.models);
  };
  // Pi draws the calls of a session before it emits `session_start`.
  registerWith(place.models);

  const areOffered = new Set<Offered>();
  const offer = (what: Offered) => {
    place.has.add(what);
    if (areOffered.has(what)) return;
    areOffered.add(what);
    for (const tool of tools.filter((tool) => tool[what] === true)) registerTool(pi, place, tool);
  };
  // A reload draws the calls of the session with the tools that are there before it.
  for (const what of place.has) offer(what);

  let telling: Promise<void> | undefined;
  const tellChoices = async (cwd: string) => {
    const { readChoices } = await choices();
    const told = await readChoices(cwd);
    const news = tools.filter(({ name }) => told.get(name) !== place.choices.get(name));
    if (news.length === 0 || place.session?.pi !== pi) return;
    place.choices = told;
    for (const tool of news) {
      if (isThereAtOnce(tool)) registerTool(pi, place, tool);
    }
    known = "";
    registerWith(place.models);
  };

  pi.on("session_start", async ({ reason }, ctx) => {
    place.session = { pi, ctx, reason, startedAt: Date.now(), wasAnnounced: false, held: [] };
    place.widgetRows = 0;
    place.offer = offer;
    const found = toolsOfOthers(pi, needModels);
    if (found.length > 0) (await others()).leave(place, found);
    registerForModels(ctx);
    telling = undefined;
    const stay = new Set(toolsOfOthers(pi, needModels).map(({ name }) => name));
    const replaced = found.filter(({ name }) => !stay.has(name));
    if (replaced.length > 0) (await others()).tell(place, ctx, replaced);
    const entries = ctx.sessionManager.getEntries();
    for (const entry of entries) {
      const what = entry.type === "custom" ? OFFERS[entry.customType] : undefined;
      if (what) offer(what);
    }
    // The first entries of a new session are pi's settings, which nobody draws.
    const isDrawn = entries.some(({ type }) => DRAWN.includes(type));
    if (ctx.mode === "tui" && isDrawn) await readViews(place);
    const mayRun = entries.some((entry) => entry.type === "custom" && RUNS.includes(entry.customType));
    if (place.host || mayRun) await (await life()).begin(place);
    if (reason === "startup" && ctx.mode === "tui") setTimeout(() => void tellMissing(), LOOK_AFTER).unref();
  });
  // Pi has drawn its first screen by then, and waits for none of it.
  const tellMissing = async () => {
    const { missing } = await binary();
    const message = missing();
    if (message && place.session?.pi === pi) place.session.ctx.ui.notify(message, "warning");
  };
  // Another branch has had other runs.
  pi.on("session_tree", async () => {
    if (place.host) await (await life()).begin(place);
  });
  pi.on("session_shutdown", async ({ reason }) => {
    if (place.session?.pi !== pi) return;
    // Another session has to have something of its own.
    if (reason !== "reload") place.has.clear();
    place.offer = undefined;
    if (place.host) await (await life()).end(place.host, place.session, reason);
    place.session = undefined;
  });
  pi.on("model_select", (_event, ctx) => registerForModels(ctx));
  // A login or another extension may bring models without one being selected.
  pi.on("before_agent_start", async (_event, ctx) => {
    registerForModels(ctx);
    // Once in a session: its first request waits for it, and pi's start does not.
    telling ??= tellChoices(ctx.cwd).catch(() => {});
    await telling;
  });
  pi.on("agent_start", async (_event, ctx) => {
    if (ctx.mode === "tui") await readViews(place);
    place.host?.tellIdle(false);
  });
  pi.on("agent_settled", () => place.host?.tellIdle(true));
}

/** The tools of these names that pi has from another extension. Which of two counts depends on their order. */
function toolsOfOthers(pi: ExtensionAPI, tools: ToolEntry[]): OtherTool[] {
  const names = new Set(tools.map(({ name }) => name));
  const here = fileURLToPath(import.meta.url);
  const found = pi.getAllTools().filter(({ name, sourceInfo }) => names.has(name) && sourceInfo.path !== here);
  return found.map(({ name, sourceInfo }) => ({ name, path: sourceInfo.path }));
}

/** The models that pi could talk to now, as provider/id in pi's order. */
function lookForModels(place: Place, ctx: ExtensionContext): void {
  const available = ctx.modelRegistry.getAvailable();
  place.models = [...new Set(available.map(({ provider, id }) => `${provider}/${id}`))];
}

/** The tool with the names that its `model` takes, if they are few; other names are looked up when they are used. */
function withModels(tool: ToolEntry, models: string[]): ToolEntry {
  const { properties } = tool.parameters as Schema;
  if (tool.name !== NAMES_MODELS || models.length > MAX_LISTED || !properties?.model) return tool;
  const model = { ...properties.model, enum: models };
  return { ...tool, parameters: { ...tool.parameters, properties: { ...properties, model } } };
}

/**
 * Arguments as their schema has them, before pi checks them: an optional field that a model filled
 * in without meaning it is left out, and a single value becomes a list of one.
 */
function fitted(value: unknown, schema: Json): unknown {
  const { items, properties, required, anyOf } = schema as Schema;
  if (items) return (Array.isArray(value) ? value : [value]).map((item) => fitted(item, items));
  if (typeof value !== "object" || value === null) return value;
  const object = anyOf?.find(({ type }) => type === "object");
  if (object) return fitted(value, object);
  if (!properties) return value;
  const isGiven = (field: string, content: unknown) => required?.includes(field) || saysSomething(content, properties[field]);
  const given = Object.entries(value).filter(([field, content]) => isGiven(field, content));
  return Object.fromEntries(given.map(([field, content]) => [field, fitted(content, properties[field] ?? {})]));
}

interface Schema {
  items?: Json;
  properties?: Record<string, Json>;
  required?: string[];
  anyOf?: Json[];
}

/** A zero says nothing where a number must be greater. */
function saysSomething(content: unknown, schema: Json | undefined): boolean {
  if (content === 0 || content === "0") return !(typeof schema?.minimum === "number" && schema.minimum > 0);
  return content !== null && !(typeof content === "string" && content.trim() === "");
}

/** Gives each model its full name. Pi alone would refuse another one without saying which there are. */
function withFullNames(args: unknown, models: string[]): unknown {
  if (typeof args !== "object" || args === null) return args;
  const { model, tasks } = args as Json;
  const named = { ...args } as Json;
  if (typeof model === "string") named.model = fullName(model, models);
  if (Array.isArray(tasks)) named.tasks = tasks.map((task) => withFullNames(task, models));
  return named;
}

function fullName(model: string, models: string[]): string {
  const meant = models.filter((name) => name === model || name.slice(name.indexOf("/") + 1) === model);
  if (meant.includes(model)) return model;
  if (meant.length === 1) return meant[0] as string;
  const names = meant.length > 0 ? meant : models;
  const shown = names.slice(0, MAX_NAMES).join(", ");
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  const problem = meant.length > 0 ? "is the name of several models" : "is not a model that can be used here";
  throw new Error(`"${model}" ${problem}. Use one of: ${shown}${more}; or leave it out for the preset's own.`);
}
