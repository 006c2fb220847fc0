/** Writes what the agents found: annotations for the log, and a summary for people. Nothing here acts. */

import { SEVERITIES } from "./wishes.mjs";

/** GitHub shows no more annotations of one kind and step. */
const MOST_ANNOTATIONS = 10;

/** A summary may have one megabyte, so no agent may fill it alone. */
const LONGEST_TEXT = 20_000;

const KINDS = { high: "error", medium: "warning", low: "notice" };

/** Returns the findings of all runs, the most severe first. */
export function findingsOf(runs) {
  const all = runs.flatMap((run) => (run.structured?.findings ?? []).map((finding) => ({ ...finding, by: run.name })));
  const rank = (finding) => SEVERITIES.indexOf(finding.severity);
  return all.sort((one, other) => rank(one) - rank(other));
}

/** Returns whether a finding is at least as severe as the workflow's limit. */
export function isOverLimit(findings, failOn) {
  const limit = SEVERITIES.indexOf(failOn);
  return findings.some((finding) => SEVERITIES.indexOf(finding.severity) <= limit);
}

/** Returns the dollars of all runs, or undefined if a price is not known. */
export function costOf(runs) {
  const costs = runs.map((run) => run.usage?.cost);
  if (costs.some((cost) => typeof cost !== "number")) return undefined;
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Returns the commands with which GitHub marks lines. */
export function annotations(findings) {
  const shown = Object.keys(KINDS).flatMap((severity) =>
    findings.filter((finding) => finding.severity === severity).slice(0, MOST_ANNOTATIONS),
  );
  return shown.map((finding) => {
    const place = `file=${property(finding.path)},line=${Number(finding.line)},title=${property(finding.by)}`;
    return `::${KINDS[finding.severity]} ${place}::${message(withFix(finding))}`;
  });
}

/** Returns a command that says something about the whole job. */
export function remark(kind, text) {
  return `::${kind} title=pi-subagents::${message(text)}`;
}

function withFix(finding) {
  return finding.fix ? `${finding.problem}\nFix: ${finding.fix}` : finding.problem;
}

/** What a model wrote must stay text: these are the characters that commands consist of. */
function message(text) {
  return String(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text) {
  return message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Returns the summary in Markdown. */
export function summary(runs, findings) {
  return [
    "## pi-subagents\n",
    "| agent | ended | findings | cost | tokens |",
    "|---|---|---|---|---|",
    ...runs.map((run) => row([run.name, ending(run), countOf(run), dollars(run.usage?.cost), tokens(run.usage)])),
    "",
    ...findingTable(findings),
    ...runs.map(section),
    "",
  ].join("\n");
}

function ending(run) {
  return run.status === "completed" ? "✓ completed" : `✗ ${run.status}: ${run.errorMessage ?? run.ending?.kind ?? ""}`;
}

function countOf(run) {
  return run.structured?.findings?.length ?? "–";
}

function dollars(cost) {
  return typeof cost === "number" ? `$${cost.toFixed(4)}` : "unknown";
}

function tokens(usage) {
  return (usage?.input ?? 0) + (usage?.output ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
}

function findingTable(findings) {
  if (findings.length === 0) return ["No findings.\n"];
  const rows = findings.map((finding) =>
    row([finding.severity, `${finding.path}:${finding.line}`, withFix(finding), finding.by]),
  );
  return ["| severity | where | what | by |", "|---|---|---|---|", ...rows, ""];
}

function row(cells) {
  return `| ${cells.map(cell).join(" | ")} |`;
}

function cell(value) {
  return plain(value).replaceAll("|", "\\|").replace(/\s*\n\s*/g, "<br>");
}

function section(run) {
  const said = run.structured?.summary ?? run.output ?? "";
  if (said === "") return "";
  const text = said.length > LONGEST_TEXT ? `${said.slice(0, LONGEST_TEXT)} …` : said;
  return `**${plain(run.name)}**: ${plain(text)}\n`;
}

/** Takes away what would be HTML. */
function plain(value) {
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
