/**
 * The host: `pi-subagents host`, one per pi process, whatever becomes of pi's session.
 *
 * It is started by the first use, and started again by the next use when it has died.
 */

import { answer, sendHeld } from "./answers.ts";
import { type Binary, findBinary } from "./binary.ts";
import { Connection } from "./connection.ts";
import { plain } from "./draw.ts";
import { entriesHere, entriesOf } from "./entries.ts";
import type { Json } from "./manifest.ts";
import type { Place } from "./place.ts";
import type { Batch } from "./room.ts";

/** A call of a tool that is under way. */
interface Call {
  update: (params: Json) => void;
  /** What the host was told last. */
  isExpanded: boolean;
  columns: number | undefined;
}

export class Host {
  readonly place: Place;
  readonly calls = new Map<string, Call>();
  readonly #batches = new Map<string, Batch>();
  #connection: Connection | undefined;
  #binary: Binary | undefined;
  #announced: Promise<void> = Promise.resolve();

  private constructor(place: Place) {
    this.place = place;
  }

  static of(place: Place): Host {
    place.host ??= new Host(place);
    return place.host;
  }

  get isRunning(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** Starts the host unless it runs, and waits until it knows pi's session. */
  async ready(): Promise<Connection> {
    if (!this.isRunning) void this.announce();
    await this.#announced;
    if (!this.#connection) throw new Error("pi-subagents was closed.");
    return this.#connection;
  }

  /** Sends pi's session to the host, which is started if necessary. */
  announce(): Promise<void> {
    this.#announced = this.#tellSession();
    // The callers that wait for it get the error.
    this.#announced.catch(() => {});
    return this.#announced;
  }

  /** Puts a call that begins beside those that are under way; returns what to do when it is over. */
  join(callId: string): () => void {
    const [batch = { total: 0, open: 0 }] = this.#batches.values();
    batch.total += 1;
    batch.open += 1;
    this.#batches.set(callId, batch);
    return () => {
      batch.open -= 1;
      if (batch.open === 0) this.#batches.clear();
    };
  }

  /** Returns the calls that are on the screen with this one, as long as one of them is under way. */
  batchOf(callId: string): Batch | undefined {
    return this.#batches.get(callId);
  }

  /** Updates of a call carry all lines only while somebody looks at them, as wide as the terminal is. */
  tellLook(callId: string, expanded: boolean): void {
    const call = this.calls.get(callId);
    const columns = process.stdout.columns;
    if (!call || (call.isExpanded === expanded && call.columns === columns)) return;
    call.isExpanded = expanded;
    call.columns = columns;
    this.#connection?.notify("tool/look", { callId, expanded, columns });
  }

  tellIdle(idle: boolean): void {
    this.#connection?.notify("idle", { idle });
    if (idle && this.place.session) sendHeld(this.place.session);
  }

  /** Ends the host and all it runs. */
  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  async #tellSession(): Promise<void> {
    if (!this.#connection?.isOpen) {
      this.#binary = findBinary();
      this.#connection = new Connection(this.#binary, (method, params) => answer(this, method, params));
    }
    const binary = this.#binary as Binary;
    const { session } = this.place;
    if (!session) return;
    const { sessionManager } = session.ctx;
    // A later host needs the entries that this one has written to the session.
    const reason = session.wasAnnounced && session.reason === "new" ? "resume" : session.reason;
    session.wasAnnounced = true;
    const greeting = await this.#connection.request("session/start", {
      reason,
      cwd: session.ctx.cwd,
      sessionId: sessionManager.getSessionId(),
      sessionFile: sessionManager.getSessionFile(),
      hasTerminal: session.ctx.mode === "tui",
      entries: reason === "new" ? [] : entriesOf(entriesHere(sessionManager)),
    });
    this.#check(greeting, binary);
    this.tellIdle(session.ctx.isIdle());
  }

  /** Refuses a host whose messages we would misunderstand. */
  #check({ protocol, version }: Json, { path }: Binary): void {
    const ours = this.place.protocol;
    if (protocol === ours) return;
    this.close();
    const isOlder = typeof protocol !== "number" || protocol < ours;
    const theirs = `${path} ${typeof version === "string" ? `(version ${plain(version)}) ` : ""}`;
    throw new Error(
      isOlder
        ? `${theirs}is older than the pi package pi-subagents. Update the program: build or install it again.`
        : `${theirs}is newer than the pi package pi-subagents. Update the package with \`pi update\`, or install it again with \`pi install\`, and restart pi.`,
    );
  }
}
