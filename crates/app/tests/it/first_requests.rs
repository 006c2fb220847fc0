//! Expensive first requests: a person is asked before they are sent, and a long conversation that
//! continues says what that costs.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn, Usage};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::terminal::Terminal;

/// The words about a prompt of 40,000 bytes.
const EXPENSIVE: &str =
    "he first request sends about 10k tokens to fake/fake-model, which cost about $0.03";

fn stage() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("done")]));
    stage.sandbox.models_json(&server.base_url());
    stage.settings(&json!({"askAboveCost": 0.01}));
    (stage, server)
}

/// Hands over a prompt of 40,000 bytes, which is 10,000 tokens and three cents.
fn run(stage: &Stage, options: &[&str]) -> SandboxCommand {
    let prompt = "look ".repeat(8_000);
    let words = ["run", "--runner", "embedded"];
    let command = stage.command(&words).args(options);
    command.args([prompt.trim_end()])
}

#[test]
fn a_very_large_prompt_is_sent_from_a_script_with_a_warning() {
    let (stage, server) = stage();
    let output = run(&stage, &[]).run().expect_success();
    assert!(
        output.stderr.contains(&format!("! t{EXPENSIVE}")),
        "{output}"
    );
    let output = run(&stage, &["--yes"]).run().expect_success();
    assert!(!output.stderr.contains(EXPENSIVE), "{output}");
    stage.settings(&json!({"askAboveCost": 0}));
    let output = run(&stage, &[]).run().expect_success();
    assert!(!output.stderr.contains(EXPENSIVE), "{output}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_person_at_a_terminal_is_asked_before_a_very_large_prompt_is_sent() {
    let (stage, server) = stage();
    let mut terminal = Terminal::start_sized(run(&stage, &[]), 120, 30);
    terminal.wait_for("Send it?");
    terminal.press("n\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("nothing was sent"), "{screen}");
    assert_eq!(server.requests().len(), 0);
    assert!(!stage.sandbox.project().join(".pi").exists());
    let mut terminal = Terminal::start_sized(run(&stage, &[]), 120, 30);
    terminal.wait_for("Send it?");
    terminal.press("y\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("done"), "{screen}");
    let (code, screen) = Terminal::start_sized(run(&stage, &["--yes"]), 120, 30).end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains("Send it?"), "{screen}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_prompt_for_which_a_limit_has_no_room_is_not_sent() {
    let (stage, server) = stage();
    let error = |options: &[&str]| {
        let output = run(&stage, options).run();
        assert_ne!(output.code, Some(0), "{output}");
        output.stdout + &output.stderr
    };
    let budget = error(&["--budget-cost", "0.02"]);
    assert!(
        budget.contains("The prompt of default alone costs about $0.03, and the budget has $0.02."),
        "{budget}"
    );
    let own = error(&["--max-tokens", "5k"]);
    assert!(
        own.contains("alone has about 10k tokens, and the run has 5.0k."),
        "{own}"
    );
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn continuing_a_long_conversation_says_what_it_costs_against_a_fresh_run() {
    let stage = Stage::new();
    let usage = Usage {
        input: 100_000,
        output: 1_000,
        cache_read: 19_000,
        ..Usage::default()
    };
    let answers = ["one", "two"].map(|text| Turn::text(text).usage(usage));
    let server = LlmServer::start(Script::new().otherwise(answers));
    stage.sandbox.models_json(&server.base_url());
    let first = ["run", "--runner", "embedded", "first"];
    let output = stage.command(&first).run().expect_success();
    assert!(!output.stderr.contains("conversation"), "{output}");
    let output = stage
        .command(&["resume", "last", "more"])
        .run()
        .expect_success();
    let told = "its conversation has about 120k tokens, which the next request sends again for about $0.36 ($0.04 if the provider still has them in its cache); a fresh run with its last answer sends about 2 for about <$0.01";
    assert!(output.stderr.contains(told), "{output}");
}
