// Does with the TypeScript client what the tests of all clients do, and prints what it has seen.

const { Client } = await import(process.argv[2]);

const client = new Client({
	agents: [{ name: "counter", systemPrompt: "You count things.", tools: ["read", "ls"] }],
});
const returns = { type: "object", required: ["files"], properties: { files: { type: "integer" } } };
const typed = await client.run({ prompt: "How many files are here?", agent: "counter", returns });

const call = client.start({ prompt: "Say hello" });
const said = [];
for await (const { event } of call) {
	if (event.type !== "message_end" || event.message.role !== "assistant") continue;
	said.push(...event.message.content.filter((block) => block.type === "text").map((block) => block.text));
}
const hello = await call.answer();
const resumed = await client.resume(hello.run.sessionId, "Say more").answer();
const roles = (await client.session(resumed.run.runId)).map((message) => message.role);

const slow = client.start({ prompt: "Take your time" });
const events = slow[Symbol.asyncIterator]();
for (;;) {
	const { value } = await events.next();
	if (value.event.type === "run_started") break;
}
await slow.steer("Hurry.");
await slow.stop();
const stopped = await slow.run();

const begun = await client.spawn({ prompt: "Say hello" });
const spawned = await client.wait(begun.runId);
const runs = (await client.runs()).length;

const kind = (promise) => promise.then(() => "none", (error) => error.kind);
const errors = [
	await kind(client.output("nothing-like-this")),
	await kind(client.run({ prompt: "x", agent: "nobody" })),
	await kind(new Client({ program: "/no/such/program" }).runs()),
];
console.log(
	JSON.stringify({
		typed: typed.value.files,
		said,
		resumed: resumed.value,
		roles,
		stopped: stopped.status,
		spawned: spawned.status,
		runs,
		errors,
	}),
);
