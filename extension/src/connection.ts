/** JSON-RPC with a process of ours: one object per line on its stdin and stdout. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

import type { Json } from "./manifest.ts";

const LINE_FEED = 0x0a;
const UNKNOWN_METHOD = -32601;
const FAILED = -32603;

/** Answers what the process asks; `undefined` says that the method is unknown. */
export type Answerer = (method: string, params: Json) => Promise<Json | undefined>;

interface Waiting {
  resolve: (result: Json) => void;
  reject: (error: Error) => void;
}

interface Message {
  id?: number | string;
  method?: string;
  params?: Json;
  result?: Json;
  error?: { code: number; message: string };
}

export class Connection {
  readonly #program: string;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answer: Answerer;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  /** The pieces of a line that has not ended yet. */
  #pieces: Buffer[] = [];
  #isOpen = true;

  constructor(program: string, args: string[], answer: Answerer) {
    this.#program = program;
    this.#answer = answer;
    // What it says on stderr would garble the screen of pi.
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.#process.on("error", (error) => this.#end(`could not be started: ${error.message}`));
    this.#process.on("close", (code, signal) => this.#end(`has stopped (${signal ?? `exit code ${code}`})`));
    // It is told by `close`; without a listener a broken pipe would end pi.
    this.#process.stdin.on("error", () => {});
    this.#process.stdout.on("error", () => {});
    this.#process.stdout.on("data", (bytes: Buffer) => this.#read(bytes));
    this.#hold();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  request(method: string, params: Json): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) {
        reject(new Error(`${this.#program} has stopped.`));
        return;
      }
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#hold();
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: Json): void {
    this.#send({ method, params });
  }

  /** Closes its stdin, which ends it and all it runs. */
  close(): void {
    this.#isOpen = false;
    this.#process.stdin.end();
  }

  #send(message: Message): void {
    if (this.#isOpen) this.#process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Cuts at line feeds only: other ends of lines may stand inside a string. */
  #read(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#pieces.push(bytes.subarray(start, end));
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.#pieces = [];
      start = end + 1;
      this.#receive(line);
    }
    if (start < bytes.length) this.#pieces.push(bytes.subarray(start));
  }

  #receive(line: string): void {
    let message: Message | null;
    try {
      message = JSON.parse(line) as Message | null;
    } catch {
      return;
    }
    if (typeof message !== "object" || message === null) return;
    if (message.method !== undefined) void this.#serve(message, message.method);
    else if (typeof message.id === "number") this.#settle(message.id, message);
  }

  #settle(id: number, message: Message): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    this.#hold();
    if (message.error) waiting.reject(new Error(message.error.message));
    else waiting.resolve(message.result ?? {});
  }

  async #serve(message: Message, method: string): Promise<void> {
    let answer: Message;
    try {
      const result = await this.#answer(method, message.params ?? {});
      answer = result ? { result } : { error: { code: UNKNOWN_METHOD, message: `there is no method ${method}` } };
    } catch (error) {
      answer = { error: { code: FAILED, message: String(error) } };
    }
    if (message.id !== undefined) this.#send({ id: message.id, ...answer });
  }

  #end(why: string): void {
    this.#isOpen = false;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) {
      reject(new Error(`${this.#program} ${why}. What it ran has ended with it; the next call starts it again.`));
    }
  }

  /** Lets pi exit while nothing is asked, and makes it wait while something is. */
  #hold(): void {
    const change = this.#waiting.size > 0 ? "ref" : "unref";
    this.#process[change]();
    (this.#process.stdin as Socket)[change]();
    (this.#process.stdout as Socket)[change]();
  }
}
