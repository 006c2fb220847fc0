/**
 * The host: `pi-subagents host`, one per pi process, whatever becomes of pi's session.
 *
 * It is started by the first use, and started again by the next use when it has died.
 */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { answer } from "./answers.ts";
import { findBinary } from "./binary.ts";
import { Connection } from "./connection.ts";
import { entriesOf } from "./entries.ts";
import type { Json } from "./manifest.ts";

const PLACE = Symbol.for("pi-subagents.host");

/** The session that pi is in; a new one has a new `pi` and `ctx`, and the old ones throw. */
export interface Session {
  pi: ExtensionAPI;
  ctx: ExtensionContext;
  reason: string;
  /** Whether a host was told of it. */
  wasAnnounced: boolean;
  /** Messages that wait until the agent is idle. */
  held: Json[];
}

/** A call of a tool that is under way. */
export interface Call {
  update: (params: Json) => void;
  /** What the host was told last. */
  isExpanded: boolean;
}

export class Host {
  session: Session | undefined;
  readonly calls = new Map<string, Call>();
  readonly #version: string;
  #connection: Connection | undefined;
  #announced: Promise<unknown> = Promise.resolve();

  private constructor(version: string) {
    this.#version = version;
  }

  /** The one host; a reload that brings another version gets a new one. */
  static ofThisProcess(version: string): Host {
    const places = globalThis as unknown as Record<symbol, Host | undefined>;
    let host = places[PLACE];
    if (host?.version !== version) {
      host?.close();
      host = new Host(version);
      places[PLACE] = host;
    }
    return host;
  }

  get version(): string {
    return this.#version;
  }

  get isRunning(): boolean {
    return this.#connection?.isOpen === true;
  }

  async request(method: string, params: Json): Promise<Json> {
    const connection = await this.ready();
    return connection.request(method, params);
  }

  /** Starts the host unless it runs, and waits until it knows pi's session. */
  async ready(): Promise<Connection> {
    if (!this.isRunning) this.announce();
    await this.#announced;
    if (!this.#connection) throw new Error("pi-subagents was closed.");
    return this.#connection;
  }

  /** Tells the host something, if it runs. */
  notify(method: string, params: Json): void {
    if (this.isRunning) this.#connection?.notify(method, params);
  }

  /** Tells the host of pi's session, and starts it for that. */
  announce(): Promise<unknown> {
    this.#announced = this.#tellSession();
    // Whoever makes a request hears of it.
    this.#announced.catch(() => {});
    return this.#announced;
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #tellSession(): Promise<void> {
    if (!this.#connection?.isOpen) {
      this.#connection = new Connection(findBinary(), ["host"], (method, params) => answer(this, method, params));
    }
    const session = this.session;
    if (!session) return;
    const { sessionManager } = session.ctx;
    // A host that comes later has to hear what the one before has left in the session.
    const reason = session.wasAnnounced && session.reason === "new" ? "resume" : session.reason;
    session.wasAnnounced = true;
    await this.#connection.request("session/start", {
      reason,
      cwd: session.ctx.cwd,
      sessionId: sessionManager.getSessionId(),
      sessionFile: sessionManager.getSessionFile(),
      entries: reason === "new" ? [] : entriesOf(sessionManager.getEntries()),
    });
  }
}
