/** JSON-RPC with a process of ours: one object per line on its stdin and stdout. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

import type { Binary } from "./binary.ts";
import type { Json } from "./manifest.ts";

const LINE_FEED = 0x0a;

/** How much of a program's other output is repeated in the error. */
const MAX_SAID = 300;
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
  readonly #binary: Binary;
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #answer: Answerer;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  /** The pieces of a line that has not ended yet. */
  #pieces: Buffer[] = [];
  #isOpen = true;
  /** Whether the process has sent a message of the protocol. */
  #isOurs = false;
  /** Other output of the process before its first message. */
  #said = "";

  constructor(binary: Binary, answer: Answerer) {
    this.#binary = binary;
    this.#answer = answer;
    this.#process = spawn(binary.path, ["host"], { stdio: ["pipe", "pipe", "pipe"] });
    this.#process.on("error", (error) => this.#end(`could not be started (${error.message})`));
    this.#process.on("close", (code, signal) => this.#end(`has stopped (${signal ?? `exit code ${code}`})`));
    // `close` reports it; without this listener a broken pipe would end pi.
    for (const stream of this.#streams()) stream.on("error", () => {});
    this.#process.stdout.on("data", (bytes: Buffer) => this.#read(bytes));
    // It would garble the screen of pi.
    this.#process.stderr.on("data", (bytes: Buffer) => this.#keepSaid(bytes.toString("utf8")));
    this.#hold();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  request(method: string, params: Json): Promise<Json> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) {
        reject(new Error(`${this.#binary.path} has stopped.`));
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
      message = null;
    }
    if (typeof message !== "object" || message === null) {
      if (!this.#isOurs) this.#refuse(line);
      return;
    }
    this.#isOurs = true;
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

  /** Gives up on a program that prints for ever and is not ours. */
  #refuse(line: string): void {
    this.#keepSaid(line);
    this.#end("talked of something else");
    this.#process.kill();
  }

  #keepSaid(text: string): void {
    if (!this.#isOurs) this.#said = (this.#said + text).slice(0, MAX_SAID);
  }

  #end(why: string): void {
    this.#isOpen = false;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error(this.#reason(why)));
  }

  #reason(why: string): string {
    const { path, advice } = this.#binary;
    if (this.#isOurs) {
      const rest = "What it ran has ended with it, and /subagents shows how far that got; the next call starts it again.";
      return `${path} ${why}. ${rest}`;
    }
    const said = this.#said.replace(/[\p{Cc}\s]+/gu, " ").trim();
    return [
      `\`${path} host\` should be the program pi-subagents, but it ${why} before it answered anything.`,
      ...(said ? [`It said: ${said}`] : []),
      advice,
    ].join("\n");
  }

  #streams(): Socket[] {
    const { stdin, stdout, stderr } = this.#process;
    return [stdin, stdout, stderr] as unknown as Socket[];
  }

  /** Lets pi exit while nothing is asked, and makes it wait while something is. */
  #hold(): void {
    const change = this.#waiting.size > 0 ? "ref" : "unref";
    this.#process[change]();
    for (const stream of this.#streams()) stream[change]();
  }
}
