// Sub-agents for programs: starts the program `pi-subagents` and reads its JSON. The types are in
// index.d.ts.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A name of a folder decides the format of its files: a profile answers with its last text. */
const FOLDER = "agent-profiles";

/** The fields of a task that are flags of the command. */
const FLAGS = { model: "--model", runner: "--runner", maxCost: "--max-cost" };

/** The fields of a task, and their names in a call. */
const FIELDS = {
	prompt: "prompt",
	name: "name",
	agent: "profile",
	directory: "cwd",
	files: "files",
	timeout: "timeout",
	maxTurns: "maxTurns",
	isolation: "isolation",
	sandbox: "sandbox",
	resume: "resume",
	returns: "outputSchema",
};

/** The names that the call of a background run has instead. */
const BACKGROUND = { prompt: "task", profile: "preset", resume: "sessionId" };

export class ClientError extends Error {
	constructor(kind, message, hint, run) {
		super(message);
		this.name = "ClientError";
		this.kind = kind;
		this.hint = hint;
		this.run = run;
	}

	static ofJson(error) {
		const kinds = { usage: "usage", notFound: "notFound", noAnswer: "noAnswer" };
		return new ClientError(kinds[error?.kind] ?? "failed", error?.message ?? "", error?.hint ?? undefined);
	}
}

function only(result) {
	const run = result.runs?.at(-1);
	if (run === undefined) throw new ClientError("protocol", "the result has no run");
	return run;
}

function flagsOf(task) {
	const flags = Object.entries(FLAGS).flatMap(([field, flag]) =>
		task[field] === undefined ? [] : [flag, String(task[field])],
	);
	return task.tools === undefined ? flags : [...flags, "--tools", task.tools.join(",")];
}

function fieldsOf(task) {
	const known = Object.entries(FIELDS).filter(([field]) => task[field] !== undefined);
	return { name: "task", ...Object.fromEntries(known.map(([field, name]) => [name, task[field]])) };
}

/** Returns the file of an agent. JSON is YAML, so no value needs an escape of its own. */
function agentFile({ systemPrompt, ...fields }) {
	const lines = Object.entries(fields)
		.filter(([, value]) => value !== undefined)
		.map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
	return ["---", ...lines, "---", systemPrompt, ""].join("\n");
}

export class Call {
	#client;
	#process;
	#lines;
	#result;
	#failure;
	#parse;
	#isTyped;
	runId;

	constructor(client, process, { parse, isTyped = false } = {}) {
		this.#client = client;
		this.#process = process;
		this.#parse = parse;
		this.#isTyped = isTyped;
		process.on("error", (error) => {
			this.#failure = new ClientError("program", `the program could not be started: ${error.message}`);
		});
		this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
	}

	async #next() {
		for (;;) {
			const { value: line, done } = await this.#lines.next();
			if (done) return undefined;
			let read;
			try {
				read = JSON.parse(line);
			} catch {
				throw new ClientError("protocol", "the program printed a line that is no JSON");
			}
			if (read.type === "event") {
				this.runId ??= read.runId;
				return read;
			}
			// The last line: a result, or an error.
			this.#result = read;
		}
	}

	[Symbol.asyncIterator]() {
		return {
			next: async () => {
				const value = await this.#next();
				return value === undefined ? { value, done: true } : { value, done: false };
			},
			return: async () => {
				this.abort();
				return { value: undefined, done: true };
			},
		};
	}

	async #begun() {
		while (this.runId === undefined) {
			if ((await this.#next()) === undefined) throw new ClientError("notFound", "no run has begun");
		}
		return this.runId;
	}

	async run() {
		while ((await this.#next()) !== undefined);
		if (this.#failure) throw this.#failure;
		if (this.#result === undefined) throw new ClientError("program", "the program printed no result");
		if (this.#result.type === "error") throw ClientError.ofJson(this.#result.error);
		return only(this.#result);
	}

	async answer() {
		const run = await this.run();
		if (run.status !== "completed") {
			throw new ClientError("run", run.errorMessage ?? `the run is ${run.status}`, undefined, run);
		}
		const returned = this.#isTyped ? run.structured : (run.output ?? "");
		if (this.#parse === undefined) return { value: returned, run };
		try {
			return { value: this.#parse(returned), run };
		} catch (error) {
			throw new ClientError("result", String(error?.message ?? error), undefined, run);
		}
	}

	async steer(message) {
		await this.#client.steer(await this.#begun(), message);
	}

	async stop() {
		return this.#client.stop(await this.#begun());
	}

	abort() {
		this.#process.kill("SIGTERM");
	}
}

export class Client {
	#options;

	constructor(options = {}) {
		this.#options = options;
	}

	start(task) {
		const call = JSON.stringify({ tasks: [fieldsOf(task)] });
		const process = this.#stream(["delegate", "-", ...flagsOf(task)], call);
		return new Call(this, process, { parse: task.parse, isTyped: task.returns !== undefined });
	}

	run(task) {
		return this.start(task).answer();
	}

	resume(id, prompt) {
		return new Call(this, this.#stream(["resume", id, "-"], prompt));
	}

	async spawn(task) {
		const { name, ...fields } = fieldsOf(task);
		const renamed = Object.entries(fields).map(([field, value]) => [BACKGROUND[field] ?? field, value]);
		const call = JSON.stringify(Object.fromEntries(renamed));
		return only(await this.#ask(["spawn", "--file", "-", ...flagsOf(task)], call));
	}

	async wait(id) {
		return only(await this.#ask(["wait", id]));
	}

	async stop(id) {
		return only(await this.#ask(["stop", id]));
	}

	async output(id) {
		return only(await this.#ask(["output", id]));
	}

	async steer(id, message) {
		await this.#ask(["steer", id, "-"], message);
	}

	async runs() {
		return (await this.#ask(["status", "--all"])).runs;
	}

	async session(id) {
		return (await this.#ask(["session", id])).runs.flatMap((run) => run.messages ?? []);
	}

	#stream(words, input) {
		const trust = this.#options.trustProject ? ["--trust"] : [];
		return this.#process([...words, "--json-stream", ...trust], input);
	}

	async #ask(words, input) {
		const process = this.#process([...words, "--json"], input);
		const chunks = [];
		process.stdout.on("data", (chunk) => chunks.push(chunk));
		await new Promise((resolve, reject) => {
			process.on("error", (error) => reject(new ClientError("program", error.message)));
			process.on("close", resolve);
		});
		let result;
		try {
			result = JSON.parse(Buffer.concat(chunks).toString("utf8"));
		} catch {
			throw new ClientError("program", "the program printed no JSON");
		}
		if (result.type === "error") throw ClientError.ofJson(result.error);
		return result;
	}

	#process(words, input = "") {
		const { program, directory, variables } = this.#options;
		const files = this.#files();
		const child = spawn(program ?? process.env.PI_SUBAGENTS_BIN ?? "pi-subagents", words, {
			cwd: directory,
			env: { ...process.env, ...variables, ...(files && { PI_SUBAGENTS_AGENT_DIRS: join(files, FOLDER) }) },
			stdio: ["pipe", "pipe", "ignore"],
		});
		if (files) child.on("close", () => rmSync(files, { recursive: true, force: true }));
		// A program that ends before it has read all of its input says why in its result.
		child.stdin.on("error", () => {});
		child.stdin.end(input);
		return child;
	}

	/** Writes the agents of this client, if it has any, into a directory that only its user may read. */
	#files() {
		const agents = this.#options.agents ?? [];
		if (agents.length === 0) return undefined;
		for (const { name } of agents) {
			if (!/^[A-Za-z0-9_-]+$/.test(name)) {
				throw new ClientError("usage", `the name of an agent has letters, digits, "-" and "_", not "${name}"`);
			}
		}
		const directory = mkdtempSync(join(tmpdir(), "pi-subagents-client-"));
		mkdirSync(join(directory, FOLDER));
		for (const agent of agents) writeFileSync(join(directory, FOLDER, `${agent.name}.md`), agentFile(agent));
		return directory;
	}
}
