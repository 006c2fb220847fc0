//! Gates of a review over results of confined sub-agents: they execute code that these wrote, and reach
//! no more than these could.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::reviews::project;
use super::stage::WorktreeStage;

const DOCS: (&str, &str) = ("docs", "mkdir docs; echo guide > docs/guide.txt");
const BUMP: (&str, &str) = ("bump", "echo two 2.0 >> Cargo.lock");

/// A gate that ends with another code for each act that a sandbox must refuse, and for each that it must allow.
const GATE: &str = "touch \"$HOME/made\" && exit 3; cat \"$HOME/.ssh/id\" && exit 4; \
    cat .pi/subagents/runs/*/events.jsonl && exit 5; echo x > \"$PI_SUBAGENTS_PROJECT/made\" && exit 6; \
    touch built.log ../built.log && mktemp && sh ../check.sh || true; pwd | grep -q '/src$'";

/// A project in which one result was made in a sandbox, and one without.
fn stage() -> WorktreeStage {
    let stage = project();
    // The script that its child runs lies among temporary files, which a sandbox replaces.
    stage.settings(&json!({"sandboxReadable": [stage.stage().path("script-0")]}));
    let confined = stage
        .command(&[DOCS])
        .args(["--sandbox", "workspace-write"]);
    confined.run().expect_success();
    stage.run(&[BUMP]);
    std::fs::create_dir_all(stage.home_path(".ssh")).unwrap();
    std::fs::write(stage.home_path(".ssh/id"), "secret").unwrap();
    stage
}

fn is_made(stage: &WorktreeStage) -> bool {
    std::fs::exists(stage.home_path("made")).unwrap()
}

/// Runs a review from a directory of the project.
fn accept(stage: &WorktreeStage, arguments: &[&str]) -> (Option<i32>, Value, String) {
    let review = stage.ours(&["review", "--accept-all", "--json"]);
    let output = review
        .args(arguments)
        .cwd(stage.project().join("src"))
        .run();
    (output.code, output.json(), stage.normalise(&output.stderr))
}

#[test]
fn gates_over_results_of_confined_runs_have_their_sandbox() {
    let stage = stage();
    stage.settings(&json!({"worktreeSetup": "touch \"$HOME/made\"; echo ready > ready.log"}));
    let (code, report, said) = accept(&stage, &["--gate", GATE]);
    assert_eq!(
        (code, &report["taken"]),
        (Some(0), &json!(2)),
        "{report} {said}"
    );
    assert_eq!(report["gateSandbox"], "workspace-write, network none");
    let first = said.lines().next().unwrap();
    assert_eq!(
        first,
        "gates run in the sandbox of the results: workspace-write, network none"
    );
    assert!(!is_made(&stage) && !stage.project().join("made").exists());

    // The rest of a step has the sandbox of those who made it.
    let touches = "! touch \"$HOME/made\"";
    let red = stage
        .ours(&["undo", "bump", "--gate", "touch \"$HOME/made\""])
        .run();
    assert_eq!(red.code, Some(1));
    let hint = "[sandbox: workspace-write, network none] The path or host may be outside what this run may use.";
    assert!(red.stderr.contains(hint), "{red}");
    let undone = stage.ours(&["undo", "bump", "--gate", touches]).run();
    undone.expect_success();
    assert!(!is_made(&stage));
    stage.ours(&["undo"]).run().expect_success();
}

#[test]
fn a_red_gate_names_its_sandbox_and_results_of_open_runs_are_gated_as_before() {
    let stage = stage();
    let (code, report, _) = accept(
        &stage,
        &[
            "docs",
            "--gate",
            "test ! -e ../docs || touch \"$HOME/made\"",
        ],
    );
    assert_eq!(code, Some(1));
    let output = report["results"][0]["output"].as_str().unwrap();
    assert!(
        output.ends_with("[sandbox: workspace-write, network none] The path or host may be outside what this run may use."),
        "{report}"
    );
    assert!(!is_made(&stage));
    let (code, report, said) = accept(&stage, &["bump", "--gate", "touch \"$HOME/made\""]);
    assert_eq!(
        (code, &report["gateSandbox"]),
        (Some(0), &Value::Null),
        "{report} {said}"
    );
    assert!(is_made(&stage));
}

#[test]
fn a_gate_without_its_sandbox_proves_nothing() {
    let stage = stage();
    let review = ["review", "--accept-all", "--gate", "touch \"$HOME/made\""];
    let review = stage
        .ours(&review)
        .env("PI_SUBAGENTS_CONFINE_FAULT", "unshare");
    let output = review.run();
    assert_eq!(output.code, Some(1));
    let said: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| !line.ends_with('…'))
        .collect();
    insta::assert_snapshot!(stage.normalise(&said.join("\n")), @r#"
    gates run in the sandbox of the results: workspace-write, network none
    error: the gate `touch "$HOME/made"` proved nothing, and nothing was taken
      caused by: The sandbox could not be made: unshare: Operation not permitted. Nothing was run; doctor says more.
    "#);
    assert!(!is_made(&stage));
    assert_eq!(stage.status(), "");
}
