/** Sub-agents for programs: starts the program `pi-subagents` and reads its JSON. */

/** A value as JSON has it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** How the program is found and started. */
export interface ClientOptions {
	/** The program; unless given, the one that `PI_SUBAGENTS_BIN` names, else the one on `PATH`. */
	program?: string;
	/** The directory in which it is started; the project is found from there. */
	directory?: string;
	/** Further variables of its environment. */
	variables?: Record<string, string>;
	/** Agents of this program, which need no file of the user. */
	agents?: Agent[];
	/** Uses the agents, the settings and the skills of the project, whatever the user has decided. */
	trustProject?: boolean;
}

/** An agent that is defined in code. Other keys are those of an agent file. */
export interface Agent {
	name: string;
	systemPrompt: string;
	model?: string;
	tools?: string[];
	mcpServers?: Record<string, Json>;
	[key: string]: Json | undefined;
}

/** A task for one sub-agent. `T` is what it returns: text, unless `returns` is given. */
export interface Task<T = string> {
	prompt: string;
	/** The name that lists and events show. */
	name?: string;
	/** The agent that does it: one of the user's, or one of `ClientOptions.agents`. */
	agent?: string;
	model?: string;
	/** How it runs: `auto`, `pi`, `embedded`, `claude` and so on. */
	runner?: string;
	/** The only tools that it has. */
	tools?: string[];
	/** An absolute path. */
	directory?: string;
	/** Files that are put before the prompt. */
	files?: string[];
	/** Seconds. */
	timeout?: number;
	/** Dollars. */
	maxCost?: number;
	maxTurns?: number;
	isolation?: "none" | "worktree";
	sandbox?: "off" | "workspace-write" | "read-only";
	/** The session that it continues. */
	resume?: string;
	/** A JSON schema: the sub-agent answers with data that meet it. */
	returns?: { [key: string]: Json };
	/** Checks the data and gives them their type, as `schema.parse` of a library does. */
	parse?: (value: unknown) => T;
}

/** Where a run stands. A newer program may have more words. */
export type Status = "queued" | "running" | "waiting" | "completed" | "failed" | "stopped" | (string & {});

/** How a run ended. */
export interface Ending {
	kind: string;
	[key: string]: unknown;
}

/** A run, as the program reports it. A newer program may have more fields. */
export interface Run {
	runId: string;
	sessionId: string;
	name: string;
	status: Status;
	ending?: Ending;
	errorMessage?: string;
	output?: string;
	structured?: unknown;
	model?: string;
	usage?: { input: number; output: number; cacheRead: number; cacheWrite: number; cost: number | null };
	warnings?: string[];
	[key: string]: unknown;
}

/** Something that happened in a run: a line of `--json-stream`. */
export interface Event {
	type: "event";
	runId: string;
	sessionId: string;
	name: string;
	at: string;
	event: { type: string; [key: string]: unknown };
}

/** The answer of a run. */
export interface Answer<T> {
	value: T;
	run: Run;
}

/** A message of a conversation. */
export interface Message {
	role: string;
	[key: string]: unknown;
}

export type ErrorKind = "program" | "usage" | "notFound" | "noAnswer" | "run" | "result" | "protocol" | "failed";

/** The reason why a call has no answer. */
export class ClientError extends Error {
	readonly kind: ErrorKind;
	/** What to do about it, if the program says so. */
	readonly hint: string | undefined;
	/** The run, if there is one. */
	readonly run: Run | undefined;
}

/** A call under way: its events as they happen, and its answer. Aborting or leaving the loop early ends its run. */
export class Call<T = string> implements AsyncIterable<Event> {
	/** The id of the run, as soon as an event has named it. */
	readonly runId: string | undefined;
	[Symbol.asyncIterator](): AsyncIterator<Event>;
	/** Waits for the end and returns what the task returns. A run that did not complete is an error. */
	answer(): Promise<Answer<T>>;
	/** Waits for the end and returns the run, whatever became of it. */
	run(): Promise<Run>;
	/** Sends the sub-agent a message, which it reads before its next turn. */
	steer(message: string): Promise<void>;
	/** Stops the run, and returns when all its processes are gone. */
	stop(): Promise<Run>;
	/** Ends the program, and with it the run, at once. */
	abort(): void;
}

/** Starts sub-agents with the settings, the keys and the agents of the user. */
export class Client {
	constructor(options?: ClientOptions);
	/** Starts a task. */
	start<T = string>(task: Task<T>): Call<T>;
	/** Does a task to its end. */
	run<T = string>(task: Task<T>): Promise<Answer<T>>;
	/** Goes on with an earlier run or session. */
	resume(id: string, prompt: string): Call<string>;
	/** Starts a task in the background; its run goes on when this program ends. */
	spawn(task: Task<unknown>): Promise<Run>;
	/** Waits until a run is over. */
	wait(id: string): Promise<Run>;
	stop(id: string): Promise<Run>;
	/** Returns a run with its whole answer. */
	output(id: string): Promise<Run>;
	steer(id: string, message: string): Promise<void>;
	/** Lists the runs of the project, the finished ones too, newest first. */
	runs(): Promise<Run[]>;
	/** Returns the conversation of a run or session. */
	session(id: string): Promise<Message[]>;
}
