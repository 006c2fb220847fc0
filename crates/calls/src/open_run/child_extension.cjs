// Written by pi-subagents for one run: what a child of pi needs beside its flags. It is CommonJS,
// because pi would spend a sixth of a second on turning a new ES module into it.
const { closeSync, readFileSync, realpathSync } = require("node:fs");
const { basename, dirname, join, resolve, sep } = require("node:path");
const { homedir } = require("node:os");

const FINALIZE = __FINALIZE__;
const PROVIDER = __PROVIDER__;
const GUARD = __GUARD__;
const WRAP_UP = __WRAP_UP__;
const ASK = __ASK__;
const COMMANDS = __COMMANDS__;
const SANDBOX = __SANDBOX__;
const WINDOWS = __WINDOWS__;

// Stands before a token of a login.
const TOKEN_PREFIX = "Bearer ";

// Where a wire format has its key; all others have it as a bearer token.
const KEY_HEADERS = {
  "anthropic-messages": "x-api-key",
  "azure-openai-responses": "api-key",
  "google-generative-ai": "x-goog-api-key",
};

// The provider for which the key is: a key of nobody's in particular is that of the first model's
// provider, and no model that takes over gets it.
let keyProvider = PROVIDER;

module.exports = function (pi) {
  const key = takeKey();
  // Pi has a stand-in for a login, so that it asks its provider as it does with the login itself.
  if (key?.isToken === false) lendKey(pi, key.secret);
  pi.on("before_provider_headers", (event, ctx) => {
    const provider = ctx.model?.provider;
    keyProvider ??= provider;
    if (key !== undefined && provider === keyProvider) {
      useKey(event.headers, key, ctx.model?.api);
    }
    if (provider === "github-copilot") sayWhoAsks(event.headers);
  });
  if (FINALIZE !== null) registerFinalize(pi);
  if (GUARD !== null) guardCheckout(pi);
  if (WRAP_UP !== null) registerWrapUp(pi);
  if (COMMANDS !== null) limitCommands(pi);
  if (ASK !== null) registerAsk(pi);
  if (SANDBOX !== null) explainRefusals(pi);
  if (WINDOWS !== null) tellWindows(pi);
};

// The descriptor is read and closed before anything else can look at it.
function takeKey() {
  const descriptor = process.env.PI_SUBAGENTS_KEY_FD;
  if (descriptor === undefined) return undefined;
  delete process.env.PI_SUBAGENTS_KEY_FD;
  const key = readFileSync(Number(descriptor), "utf8");
  closeSync(Number(descriptor));
  const isToken = key.startsWith(TOKEN_PREFIX);
  return { isToken, secret: isToken ? key.slice(TOKEN_PREFIX.length) : key };
}

// Lets pi start without a key of its own.
function lendKey(pi, key) {
  if (PROVIDER !== null) {
    pi.registerProvider(PROVIDER, { apiKey: key });
    return;
  }
  pi.on("session_start", (_event, ctx) => {
    if (!ctx.model) return;
    keyProvider ??= ctx.model.provider;
    pi.registerProvider(keyProvider, { apiKey: key });
  });
}

// Beats a key that pi has stored, which would be put into this header later.
function useKey(headers, { isToken, secret }, api) {
  const header = isToken ? undefined : KEY_HEADERS[api];
  const isBearer = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (header !== undefined) setHeader(headers, header, secret);
  if (header === undefined || isBearer) setHeader(headers, "Authorization", `Bearer ${secret}`);
}

// Copilot counts what a person asks for apart from what an agent does.
function sayWhoAsks(headers) {
  setHeader(headers, "X-Initiator", "agent");
}

function setHeader(headers, name, value) {
  for (const other of Object.keys(headers)) {
    if (other.toLowerCase() === name.toLowerCase()) delete headers[other];
  }
  headers[name] = value;
}

// A worktree is of no use if its agent writes to the checkout by a path that it has read somewhere.
function guardCheckout(pi) {
  pi.on("tool_call", (event) => {
    if (event.toolName !== "write" && event.toolName !== "edit") return undefined;
    const path = event.input?.path ?? event.input?.file_path;
    if (typeof path !== "string") return undefined;
    const real = realPath(resolve(process.cwd(), path.replace(/^@/, "").replace(/^~(?=\/|$)/, homedir())));
    if (isInside(real, GUARD.own)) return undefined;
    const found = GUARD.leftAlone.find((directory) => isInside(real, directory));
    if (found === undefined) return undefined;
    const inside = real.slice(found.length);
    // Beside the own worktree are those of others, and the first part of a path names one of them.
    const isOfAnother = found === dirname(GUARD.own);
    const whose = isOfAnother ? "the worktree of another sub-agent" : "your caller's checkout";
    const copy = join(GUARD.own, isOfAnother ? inside.split(sep).slice(2).join(sep) : inside);
    return { block: true, reason: `That is ${whose}. Your copy is ${copy}` };
  });
}

// Takes all tools away but the report, when the owner of the run says so: at once, or after a number
// of answers, which are counted here because a tool may be faster than a message of the owner. The
// name of the command is a secret of the run, so no other extension and no text is taken for it.
function registerWrapUp(pi) {
  let stop;
  pi.registerCommand(WRAP_UP, {
    description: "Lets a sub-agent come to its end",
    handler: async (words) => {
      const [, answers, reason] = /^(\d+) ([^]*)$/.exec(words);
      stop = { answers: Number(answers), reason };
    },
  });
  pi.on("message_end", ({ message }) => {
    const isAnswer = message.role === "assistant" && !["error", "aborted"].includes(message.stopReason);
    if (stop !== undefined && isAnswer) stop.answers -= 1;
  });
  pi.on("tool_call", (event) => {
    if (stop === undefined || stop.answers > 0 || event.toolName === "subagent_finalize") return undefined;
    return { block: true, reason: stop.reason };
  });
}

// The owner of the run knows the commands that its shell may run; without its answer nothing runs.
function limitCommands(pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const answer = await ctx.ui.input(COMMANDS.question + (event.input?.command ?? ""));
    if (answer === COMMANDS.fits) return undefined;
    return { block: true, reason: answer ?? "Not run: nobody could say whether this command is allowed." };
  });
}

// A command that failed because of the sandbox says so only in words that could mean anything.
function explainRefusals(pi) {
  pi.on("tool_result", (event) => {
    if (event.toolName !== "bash" || !event.isError) return undefined;
    const text = event.content.map((part) => part.text ?? "").join("\n");
    if (!SANDBOX.words.some((words) => text.includes(words))) return undefined;
    return { content: [...event.content, { type: "text", text: SANDBOX.hint }] };
  });
}

// The owner of the run passes the question on to somebody who can answer it.
function registerAsk(pi) {
  pi.registerTool({
    name: "ask_parent",
    label: "Ask",
    description:
      "Ask the person or the agent that gave you this task, and wait for the answer. Use it only for a decision that you cannot make from the task and the files.",
    promptSnippet: "Ask whoever gave you this task",
    parameters: {
      type: "object",
      required: ["question"],
      properties: {
        question: { type: "string", description: "The question, in one or two sentences" },
        options: { type: "array", items: { type: "string" }, description: "Answers to choose from, if there are a few" },
        context: { type: "string", description: "What somebody who has not read the files must know to answer" },
      },
    },
    async execute(_id, { question, options, context }, signal, _onUpdate, ctx) {
      const title = ASK.word + JSON.stringify({ question, options: options ?? [], context });
      const answer = await ctx.ui.input(title, undefined, { signal });
      return { content: [{ type: "text", text: answer ?? ASK.nobody }], details: {} };
    },
  });
}

// The owner of the run knows which share of the provider's windows may be used.
function tellWindows(pi) {
  pi.on("after_provider_response", ({ headers }, ctx) => {
    const isTold = ([name]) => WINDOWS.headers.some((begin) => name.toLowerCase().startsWith(begin));
    const told = Object.entries(headers ?? {}).filter(isTold);
    if (told.length === 0) return;
    const lower = told.map(([name, value]) => [name.toLowerCase(), String(value)]);
    ctx.ui.setTitle(WINDOWS.title + JSON.stringify(Object.fromEntries(lower)));
  });
}

function isInside(path, directory) {
  return path === directory || path.startsWith(directory + sep);
}

// Where a path leads, as far as the disk knows it; the rest stays as it is.
function realPath(path) {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

function registerFinalize(pi) {
  const isTyped = FINALIZE.result !== null;
  const description =
    "Report the final result of your task. Call it once, as your last action; text outside of it is not seen by anybody.";
  const result = { type: "string", description: "The result; needed with SUCCESS, partial with ERROR" };
  pi.registerTool({
    name: "subagent_finalize",
    label: "Finalize",
    description: FINALIZE.remark === null ? description : `${description} ${FINALIZE.remark}`,
    promptSnippet: "Report the final result of the task",
    promptGuidelines: ["End by calling subagent_finalize with everything the caller needs to know."],
    parameters: {
      type: "object",
      required: ["status"],
      properties: {
        status: { type: "string", enum: ["SUCCESS", "ERROR"] },
        result: isTyped ? FINALIZE.result : result,
        error: { type: "string", description: "What went wrong; needed with ERROR" },
      },
    },
    // Pi would convert a result and check it in words of its own, before anybody sees it.
    ...(isTyped ? { prepareArguments: (report) => ({ status: "SUCCESS", report }) } : {}),
    execute: isTyped ? reportTyped : report,
  });
}

function reported(details) {
  return { content: [{ type: "text", text: "Reported." }], details, terminate: true };
}

async function report(_id, report) {
  const says = (text) => typeof text === "string" && text.trim() !== "";
  if (report.status === "SUCCESS" && !says(report.result)) {
    throw new Error("SUCCESS needs a non-empty result");
  }
  if (report.status === "ERROR" && !says(report.error)) {
    throw new Error("ERROR needs a non-empty error");
  }
  return reported(report);
}

// The owner of the run has the schema, and has seen the call; it says whether the result fits.
async function reportTyped(id, { report }, signal, _onUpdate, ctx) {
  const answer = await ctx.ui.input(FINALIZE.question + id, undefined, { signal });
  if (answer !== undefined && answer !== FINALIZE.fits) throw new Error(answer);
  return reported(report);
}
