/** What outlives a session of pi: `/new`, `/resume`, `/fork` and `/reload` find it again. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import type { Host } from "./host.ts";
import type { Json, Offered } from "./manifest.ts";

/** One per pi process, kept in `globalThis`. */
export interface Place {
  session: Session | undefined;
  host: Host | undefined;
  /** The version of the messages that we exchange with the host. */
  protocol: number;
  /** How tools are drawn, once it was needed. */
  views: typeof import("./views.ts") | undefined;
  /** Registers the tools for something, once the session has it. */
  offer: ((what: Offered) => void) | undefined;
  /** What the session has, as far as a reload has to know it. */
  has: Set<Offered>;
  /** How many rows our lines above pi's editor take. */
  widgetRows: number;
  /** The models that pi had when it was last looked. */
  models: string[];
  /** By the name of a tool: which agents it takes. */
  choices: Map<string, string>;
  /** Tools of ours that are not registered, because the user leaves their names to another extension. */
  leftToOthers: Set<string>;
  /** Tools of which the user was told that another extension has one of the same name. */
  toldOfOthers: Set<string>;
}

/** The session that pi is in; the next one has a new `pi` and `ctx`, and the old ones throw. */
export interface Session {
  pi: ExtensionAPI;
  ctx: ExtensionContext;
  reason: string;
  /** When pi has opened it, as `Date.now` counts. */
  startedAt: number;
  /** Whether a host was told of it. */
  wasAnnounced: boolean;
  /** Messages that wait until the agent is idle. */
  held: Held[];
}

interface Held {
  message: Json;
  resolve: () => void;
  reject: (error: Error) => void;
}
