/**
 * The GitHub Action: installs the program, lets agents look at the change, and hands on what they found.
 * It exits with 1 if an agent did not finish, or found something that the workflow does not accept.
 */

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { annotations, costOf, findingsOf, isOverLimit, remark, summary } from "./report.mjs";
import { Refusal, baseOf, promptFor, readWishes, reasonToSkip } from "./wishes.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What a call may print; more than that is not a result. */
const LARGEST_RESULT = 256 * 1024 * 1024;

try {
  process.exitCode = main(process.env);
} catch (error) {
  console.log(remark("error", error instanceof Refusal ? error.message : (error.stack ?? error)));
  process.exitCode = 1;
}

function main(environment) {
  const wishes = readWishes(environment);
  const event = JSON.parse(readFileSync(environment.GITHUB_EVENT_PATH, "utf8"));
  const skip = reasonToSkip(environment.GITHUB_EVENT_NAME, event, environment.GITHUB_REPOSITORY);
  if (skip) {
    console.log(remark("notice", skip));
    append(environment.GITHUB_STEP_SUMMARY, `## pi-subagents\n\n${skip}\n`);
    return 0;
  }
  const base = baseOf(event);
  requireCommit(base);
  const place = join(environment.RUNNER_TEMP, "pi-subagents");
  mkdirSync(place, { recursive: true });
  const program = wishes.program || install(place);
  // The directory of pi that the machine may have is not touched.
  const surroundings = { ...environment, PI_CODING_AGENT_DIR: environment.PI_CODING_AGENT_DIR ?? join(place, "agent") };
  const call = quietly(() => delegate(program, surroundings, wishes, base));
  const runs = resultOf(call);
  const findings = findingsOf(runs);
  annotations(findings).forEach((line) => console.log(line));
  append(environment.GITHUB_STEP_SUMMARY, summary(runs, findings));
  const page = quietly(() => exportPage(program, surroundings, runs, place));
  const outputs = { findings: findings.length, cost: costOf(runs) ?? "", page };
  append(environment.GITHUB_OUTPUT, Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`).join(""));
  return verdict(call, runs, findings, wishes);
}

/** A shallow checkout lacks the commit with which the change is compared. */
function requireCommit(base) {
  if (base === undefined) return;
  const found = spawnSync("git", ["cat-file", "-e", `${base}^{commit}`], { stdio: "ignore" });
  if (found.status !== 0) {
    throw new Refusal(`The checkout does not have the commit ${base}. Give actions/checkout the line: fetch-depth: 0`);
  }
}

/** Installs the version of this action and returns the path of the program. */
function install(place) {
  const { name, version } = JSON.parse(readFileSync(here("../../extension/package.json"), "utf8"));
  const words = ["install", "--global", "--ignore-scripts", "--no-fund", "--no-audit", "--prefix", place, `${name}@${version}`];
  const installed = spawnSync("npm", words, { stdio: ["ignore", 2, 2] });
  if (installed.status !== 0) throw new Refusal(`npm could not install ${name}@${version}. Its log says why.`);
  return join(place, "bin/pi-subagents");
}

/** Runs an act whose output GitHub does not read as commands: models wrote some of it. */
function quietly(act) {
  const token = randomUUID();
  console.log(`::stop-commands::${token}`);
  try {
    return act();
  } finally {
    console.log(`::${token}::`);
  }
}

function delegate(program, surroundings, wishes, base) {
  for (const agent of wishes.agents) addAgent(program, surroundings, agent);
  const prompt = promptFor(wishes.prompt, base);
  const tasks = wishes.agents.map((agent) => ({ name: agent, profile: agent, prompt }));
  const words = ["delegate", "-", "--json", "--runner", "embedded", "--output-schema", here("findings.json")];
  words.push("--budget-cost", String(wishes.maxCost), "--timeout", String(wishes.timeout));
  if (wishes.model) words.push("--model", wishes.model);
  return run(program, words, surroundings, JSON.stringify({ tasks }));
}

/** Copies a ready-made agent; files of the repository are not trusted, so it cannot replace one. */
function addAgent(program, surroundings, agent) {
  if (existsSync(join(surroundings.PI_CODING_AGENT_DIR, "agent-profiles", `${agent}.md`))) return;
  const added = run(program, ["agents", "add", agent, "--quiet"], surroundings, "");
  if (added.status !== 0) {
    throw new Refusal(`There is no ready-made agent "${agent}". Its names: scout, reviewer, tester, fixer, planner, security-reviewer, documenter, second-opinion`);
  }
}

function run(program, words, surroundings, input) {
  const ended = spawnSync(program, words, { env: surroundings, input, stdio: ["pipe", "pipe", "inherit"], maxBuffer: LARGEST_RESULT });
  if (ended.error) throw new Refusal(`${program} does not start: ${ended.error.message}`);
  return { status: ended.status ?? 1, stdout: ended.stdout.toString() };
}

/** Returns the runs of a call, or throws its error. */
function resultOf(call) {
  const result = JSON.parse(call.stdout || "{}");
  if (Array.isArray(result.runs)) return result.runs;
  const { message, hint } = result.error ?? { message: `pi-subagents ended with ${call.status} and no result` };
  throw new Refusal([message, hint].filter(Boolean).join("\n"));
}

/** Writes the page and returns its path, or nothing if it could not be written. */
function exportPage(program, surroundings, runs, place) {
  const page = join(place, `${runs[0].runId}.html`);
  const words = ["export", "--quiet", "--html", "--output", page, ...runs.map((one) => one.runId)];
  return run(program, words, surroundings, "").status === 0 ? page : "";
}

function append(file, text) {
  if (file) appendFileSync(file, text);
}

function verdict(call, runs, findings, wishes) {
  const failed = runs.filter((one) => one.status !== "completed");
  for (const one of failed) {
    console.log(remark("error", `${one.name} did not finish: ${one.errorMessage ?? one.ending?.kind ?? one.status}`));
  }
  if (failed.length > 0 || call.status !== 0) return 1;
  return isOverLimit(findings, wishes.failOn) ? 1 : 0;
}
