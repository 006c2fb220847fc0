/** Reads what the workflow asks for, and whether it may be done for this event. Nothing here acts. */

export const SEVERITIES = ["high", "medium", "low"];

/** Events whose jobs see only code of people who may write to the repository. */
const EVENTS = ["merge_group", "pull_request", "push", "schedule", "workflow_dispatch"];

/** The most agents of one call, which is the limit of pi-subagents. */
const MOST_AGENTS = 16;

/** An input or an event that cannot be served; its message says what to change. */
export class Refusal extends Error {}

/** Returns the inputs as values, or throws a refusal. */
export function readWishes(environment) {
  const input = (name) => (environment[`PI_SUBAGENTS_ACTION_${name}`] ?? "").trim();
  const agents = [...new Set(input("AGENTS").split(/[\s,]+/).filter(Boolean))];
  if (agents.length === 0 || agents.length > MOST_AGENTS) {
    throw new Refusal(`agents names ${agents.length} agents. Name 1 to ${MOST_AGENTS}, for example: agents: reviewer`);
  }
  const odd = agents.find((name) => !/^[a-z][a-z0-9-]*$/.test(name));
  if (odd) throw new Refusal(`agents names "${odd}", which is not the name of an agent. An example: agents: reviewer tester`);
  const failOn = input("FAIL_ON") || "never";
  if (failOn !== "never" && !SEVERITIES.includes(failOn)) {
    throw new Refusal(`fail-on is "${failOn}". Use one of: high, medium, low, never`);
  }
  return {
    agents,
    failOn,
    maxCost: positive("max-cost", input("MAX_COST")),
    timeout: Math.ceil(positive("timeout", input("TIMEOUT"))),
    model: input("MODEL"),
    prompt: input("PROMPT"),
    program: input("PROGRAM"),
  };
}

function positive(name, text) {
  const number = Number(text);
  if (text !== "" && Number.isFinite(number) && number > 0) return number;
  throw new Refusal(`${name} is "${text}". Use a number above 0, for example: ${name}: 2`);
}

/**
 * Returns why nothing is done for this event, or undefined. Throws a refusal for an event whose secrets
 * the code of strangers could reach.
 */
export function reasonToSkip(name, event, repository) {
  if (!EVENTS.includes(name)) {
    throw new Refusal(
      `This action does not run on ${name}: such a job can have secrets while it works on the code of strangers. Use: on: pull_request`,
    );
  }
  if (name !== "pull_request") return undefined;
  const from = event.pull_request?.head?.repo?.full_name;
  if (from === repository) return undefined;
  return `This pull request comes from ${from ?? "a fork that is gone"}, and agents never run on forks: their code could reach your keys. Nothing was run.`;
}

/** Returns the commit with which the change is compared. */
export function baseOf(event) {
  return event.pull_request?.base?.sha ?? event.merge_group?.base_sha ?? realCommit(event.before);
}

/** A push that makes a branch has no commit before it, which git writes as zeros. */
function realCommit(commit) {
  return commit && !/^0+$/.test(commit) ? commit : undefined;
}

/** Returns the task of every agent. */
export function promptFor(prompt, base) {
  const change = base
    ? `The change is what \`git diff ${base}...HEAD\` shows; \`git log ${base}..HEAD\` has its commits.`
    : "The change is the last commit, which `git show HEAD` shows.";
  return `${prompt || "Review this change."}\n\n${change} Report each finding with its file and line as they are now.`;
}
