//! The script of the GitHub Action, with made-up variables of a runner: what it shows, when it fails,
//! and for whom it does nothing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A runner with a checkout of a pull request.
struct Runner {
    stage: Stage,
    base: String,
}

impl Runner {
    /// Makes a repository with two commits, and a model that plays this script.
    fn new(script: &Value) -> Self {
        let stage = Stage::new();
        stage.sandbox.write("script.json", &script.to_string());
        stage.sandbox.write("temp/.keep", "");
        stage.sandbox.write("project/lamp.txt", "one\n");
        let runner = Self {
            stage,
            base: String::new(),
        };
        runner.git(&["init", "--quiet", "--initial-branch", "main"]);
        runner.commit();
        let base = runner.git(&["rev-parse", "HEAD"]);
        runner.stage.sandbox.write("project/lamp.txt", "two\n");
        runner.commit();
        Self { base, ..runner }
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        let git = git
            .args(arguments)
            .current_dir(self.stage.sandbox.project());
        let output = git.env("HOME", self.stage.sandbox.home()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        let ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        self.git(&[&ada[..], &["commit", "--quiet", "-m", "a"]].concat());
    }

    /// Runs the script for a pull request from this repository.
    fn review(&self, inputs: &[(&str, &str)]) -> CommandOutput {
        self.run("pull_request", &self.pull_request("ada/lighthouse"), inputs)
    }

    fn pull_request(&self, from: &str) -> Value {
        json!({"pull_request": {
            "base": {"sha": self.base},
            "head": {"repo": {"full_name": from}},
        }})
    }

    fn run(&self, event: &str, payload: &Value, inputs: &[(&str, &str)]) -> CommandOutput {
        let sandbox = &self.stage.sandbox;
        let root = sandbox.root();
        sandbox.write("event.json", &payload.to_string());
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../packaging/action/run.mjs"
        );
        let model = format!("scripted/{}", root.join("script.json").display());
        let mut command = sandbox
            .command(&PathBuf::from("node"))
            .arg(script)
            .env_remove("PI_CODING_AGENT_DIR")
            .env("GITHUB_EVENT_NAME", event)
            .env("GITHUB_EVENT_PATH", root.join("event.json"))
            .env("GITHUB_REPOSITORY", "ada/lighthouse")
            .env("GITHUB_STEP_SUMMARY", root.join("summary.md"))
            .env("GITHUB_OUTPUT", root.join("outputs"))
            .env("RUNNER_TEMP", root.join("temp"))
            .env("PI_SUBAGENTS_ACTION_AGENTS", "reviewer")
            .env("PI_SUBAGENTS_ACTION_MAX_COST", "2")
            .env("PI_SUBAGENTS_ACTION_TIMEOUT", "60")
            .env("PI_SUBAGENTS_ACTION_MODEL", model)
            .env(
                "PI_SUBAGENTS_ACTION_PROGRAM",
                env!("CARGO_BIN_EXE_pi-subagents"),
            );
        for (name, value) in inputs {
            command = command.env(format!("PI_SUBAGENTS_ACTION_{name}"), value);
        }
        command.run()
    }

    fn written(&self, name: &str) -> String {
        fs::read_to_string(self.stage.sandbox.root().join(name)).unwrap_or_default()
    }

    /// Returns the lines of the log that GitHub reads as commands, without those that switch commands off.
    fn commands(output: &CommandOutput) -> Vec<&str> {
        let lines = output.stdout.lines().filter(|line| line.contains("::"));
        lines
            .filter(|line| !line.starts_with("::stop-commands::") && !line.ends_with("::"))
            .collect()
    }
}

/// A model that reports two findings, with characters that GitHub would read as commands.
fn findings() -> Value {
    let report = json!({
        "summary": "The lamp <b>fails</b>.\n::error::not a command",
        "findings": [
            {"severity": "low", "path": "lamp.txt", "line": 1, "problem": "Two | is odd."},
            {"severity": "high", "path": "a,b:c.txt", "line": 3, "problem": "100%\n::error::broken", "fix": "Say one."},
        ],
    });
    json!({"rules": [{"turns": [
        {"toolCalls": [{"name": "subagent_finalize", "arguments": {"status": "SUCCESS", "result": report}}]},
        {"text": "Done."},
    ]}]})
}

/// The number of tokens depends on the length of the prompt.
fn without_tokens(summary: &str) -> String {
    let cell = summary.split_once("| $0.0000 | ");
    let number = cell.and_then(|(_, rest)| rest.split(' ').next());
    summary.replace(number.unwrap_or("none"), "TOKENS")
}

#[test]
fn findings_become_annotations_a_summary_and_a_page() {
    let runner = Runner::new(&findings());
    let output = runner.review(&[]);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    insta::assert_snapshot!(Runner::commands(&output).join("\n"), @r#"
    ::error file=a%2Cb%3Ac.txt,line=3,title=reviewer::100%25%0A::error::broken%0AFix: Say one.
    ::notice file=lamp.txt,line=1,title=reviewer::Two | is odd.
    "#);
    insta::assert_snapshot!(without_tokens(&runner.written("summary.md")), @r#"
    ## pi-subagents

    | agent | ended | findings | cost | tokens |
    |---|---|---|---|---|
    | reviewer | ✓ completed | 2 | $0.0000 | TOKENS |

    | severity | where | what | by |
    |---|---|---|---|
    | high | a,b:c.txt:3 | 100%<br>::error::broken<br>Fix: Say one. | reviewer |
    | low | lamp.txt:1 | Two \| is odd. | reviewer |

    **reviewer**: The lamp &lt;b>fails&lt;/b>.
    ::error::not a command
    "#);
    let outputs = runner.written("outputs");
    let lines: Vec<&str> = outputs.lines().collect();
    assert_eq!(lines[..2], ["findings=2", "cost=0"]);
    let page = fs::read_to_string(lines[2].strip_prefix("page=").unwrap()).unwrap();
    assert!(page.contains("<!doctype html>") || page.contains("<!DOCTYPE html>"));
    // The home of the machine is not touched.
    assert!(
        !runner
            .stage
            .sandbox
            .agent_dir()
            .join("agent-profiles")
            .exists()
    );
}

#[test]
fn a_finding_fails_the_job_if_the_workflow_wants_that() {
    let runner = Runner::new(&findings());
    assert_eq!(runner.review(&[("FAIL_ON", "medium")]).code, Some(1));
    assert_eq!(runner.review(&[("FAIL_ON", "never")]).code, Some(0));
}

#[test]
fn an_agent_that_does_not_finish_fails_the_job() {
    let script = json!({"rules": [{"turns": [{"error": "the model is away"}]}]});
    let runner = Runner::new(&script);
    let output = runner.review(&[]);
    assert_eq!(output.code, Some(1));
    insta::assert_snapshot!(Runner::commands(&output).join("\n"), @"::error title=pi-subagents::reviewer did not finish: the model is away");
    assert!(runner.written("summary.md").contains("✗ failed"));
}

#[test]
fn nothing_runs_on_forks_and_events_with_secrets_are_refused() {
    let runner = Runner::new(&findings());
    let fork = runner.run("pull_request", &runner.pull_request("eve/lighthouse"), &[]);
    assert_eq!(fork.code, Some(0));
    let mut said = vec![fork.stdout];
    for event in ["pull_request_target", "issue_comment", "workflow_run"] {
        let refused = runner.run(event, &runner.pull_request("ada/lighthouse"), &[]);
        assert_eq!(refused.code, Some(1), "{event}");
        said.push(refused.stdout);
    }
    insta::assert_snapshot!(said.concat(), @r#"
    ::notice title=pi-subagents::This pull request comes from eve/lighthouse, and agents never run on forks: their code could reach your keys. Nothing was run.
    ::error title=pi-subagents::This action does not run on pull_request_target: such a job can have secrets while it works on the code of strangers. Use: on: pull_request
    ::error title=pi-subagents::This action does not run on issue_comment: such a job can have secrets while it works on the code of strangers. Use: on: pull_request
    ::error title=pi-subagents::This action does not run on workflow_run: such a job can have secrets while it works on the code of strangers. Use: on: pull_request
    "#);
    assert_eq!(
        fs::read_dir(runner.stage.sandbox.root().join("temp"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn wrong_inputs_are_refused_before_anything_runs() {
    let runner = Runner::new(&findings());
    let mut said = String::new();
    for input in [
        ("AGENTS", " "),
        ("AGENTS", "../x"),
        ("MAX_COST", "much"),
        ("TIMEOUT", "0"),
        ("FAIL_ON", "severe"),
        ("AGENTS", "gardener"),
    ] {
        let refused = runner.review(&[input]);
        assert_eq!(refused.code, Some(1), "{input:?}");
        said += &Runner::commands(&refused).join("\n");
        said += "\n";
    }
    insta::assert_snapshot!(said, @r#"
    ::error title=pi-subagents::agents names 0 agents. Name 1 to 16, for example: agents: reviewer
    ::error title=pi-subagents::agents names "../x", which is not the name of an agent. An example: agents: reviewer tester
    ::error title=pi-subagents::max-cost is "much". Use a number above 0, for example: max-cost: 2
    ::error title=pi-subagents::timeout is "0". Use a number above 0, for example: timeout: 2
    ::error title=pi-subagents::fail-on is "severe". Use one of: high, medium, low, never
    ::error title=pi-subagents::There is no ready-made agent "gardener". Its names: scout, reviewer, tester, fixer, planner, security-reviewer, documenter, second-opinion
    "#);
}

#[test]
fn a_shallow_checkout_is_named() {
    let mut runner = Runner::new(&findings());
    runner.base = "1".repeat(40);
    let output = runner.review(&[]);
    assert_eq!(output.code, Some(1));
    assert!(
        output.stdout.contains("fetch-depth: 0"),
        "{}",
        output.stdout
    );
}
