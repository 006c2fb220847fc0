// Drives an agent with pi's own client. Every line on stdout is for the test that runs this.
const { RpcClient } = await import(process.env.PI_PACKAGE);

const client = new RpcClient({
  // The client starts `node <cliPath> --mode rpc …`; the `node` it finds is ours.
  cliPath: "embedded",
  cwd: process.env.PROJECT,
  args: ["--session", process.env.SESSION, "--tools", "bash"],
});
const say = (value) => console.log(JSON.stringify(value));
const events = [];
client.onEvent((event) => events.push(event));
const lastText = () => {
  const ends = events.filter((event) => event.type === "message_end");
  const said = ends.filter((event) => event.message.role === "assistant").at(-1);
  return said.message.content.filter((block) => block.type === "text").map((block) => block.text).join("");
};
await client.start();

const begun = await client.getState();
let idle = client.waitForIdle();
await client.prompt("Say hello.");
await idle;
const hello = lastText();

// The test says when the model has been asked, and holds its answer back until it is steered.
const modelWasAsked = new Promise((resolve) => process.stdin.once("data", resolve));
idle = client.waitForIdle();
await client.prompt("Work, please.");
await modelWasAsked;
process.stdin.destroy();
await client.steer("Do it backwards.");
say("steered");
await idle;
const steered = lastText();

const asked = new Promise((resolve) => client.onEvent((event) => {
  if (event.type === "message_end" && event.message.role === "user") resolve();
}));
idle = client.waitForIdle();
await client.prompt("Take your time.");
await asked;
await client.abort();
await idle;
const aborted = events.filter((event) => event.type === "message_end").at(-1).message.stopReason;

const models = await client.getAvailableModels();
const model = await client.setModel("fake", "other-model");
await client.setThinkingLevel("low");
idle = client.waitForIdle();
await client.prompt("Who are you?");
await idle;
const other = lastText();
const ended = await client.getState();
await client.stop();

say({
  begun, hello, steered, aborted, models: models.map((one) => one.id), model, other, ended,
});
