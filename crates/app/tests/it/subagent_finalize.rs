//! The report that ends a sub-agent: its text for the caller, and the tools that the sub-agent is
//! given.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, for_each_pi};
use crate::subagent_stage::{SubagentStage, text};

for_each_pi! {
    a_report_of_success_is_the_result,
    a_report_of_an_error_keeps_what_was_found,
    a_report_that_is_missing_twice_and_then_given_counts,
    a_report_that_never_comes_is_an_error_that_keeps_the_text,
    the_report_tool_is_added_to_whatever_tools_there_are,
}

fn report(arguments: Value) -> Turn {
    Turn::tool_call("subagent_finalize", arguments)
}

fn success() -> Turn {
    report(json!({"status": "SUCCESS", "result": "It is in app.rs."}))
}

/// A stage with the prompt definition `reporter`.
fn reporting(pi: RealPi, turns: impl IntoIterator<Item = Turn>) -> SubagentStage {
    let stage = SubagentStage::beside(pi, Script::new().then(turns));
    stage.define("agents", "reporter", "", "You report.");
    stage
}

/// The answer of `reporter` with its report, by this kind of child.
fn answer(stage: &SubagentStage, runner: &str) -> (String, Value) {
    let command = ["run", "reporter", "find it", "--json", "--details"];
    let command = stage.stage.command(&command).args(["--runner", runner]);
    let output = stage.with_pi(command).run();
    let told = stage.stage.sandbox.normalise(&text(&output));
    (told, output.json()["finalized"].clone())
}

fn a_report_of_success_is_the_result(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = reporting(pi, [success()]);
        let (told, finalized) = answer(&stage, runner);
        assert_eq!(
            told,
            "**Status:** SUCCESS\n**Session ID:** `<session-1>`\n\n---\n\nIt is in app.rs."
        );
        let expected = json!({"status": "SUCCESS", "result": "It is in app.rs."});
        assert_eq!(finalized, expected);
        assert!(stage.last_messages()[0].1.contains("You report."));
    }
}

fn a_report_of_an_error_keeps_what_was_found(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let arguments =
            json!({"status": "ERROR", "error": "app.rs is gone", "result": "It was in app.rs."});
        let stage = reporting(pi, [report(arguments.clone())]);
        let (told, finalized) = answer(&stage, runner);
        assert_eq!(
            told,
            "**Status:** ERROR\n**Session ID:** `<session-1>`\n\n---\n\napp.rs is gone\n\nPartial result:\n\nIt was in app.rs."
        );
        assert_eq!(finalized, arguments);
    }
}

fn a_report_that_is_missing_twice_and_then_given_counts(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = reporting(
            pi,
            [Turn::text("I think so."), Turn::text("Yes."), success()],
        );
        let (told, _) = answer(&stage, runner);
        assert!(told.starts_with("**Status:** SUCCESS\n"), "{told}");
        assert!(told.ends_with("---\n\nIt is in app.rs."), "{told}");
        assert_eq!(stage.server.requests().len(), 3);
    }
}

fn a_report_that_never_comes_is_an_error_that_keeps_the_text(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let turns = ["It is in app.rs.", "Sorry?", "What?", "Which?"].map(Turn::text);
        let stage = reporting(pi, turns);
        let (told, finalized) = answer(&stage, runner);
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"
            **Status:** ERROR
            **Session ID:** `<session-1>`

            ---

            The sub-agent never called subagent_finalize, although it was told 3 times.

            Partial result:

            It is in app.rs.
            ");
        }
        assert_eq!(finalized, Value::Null);
        assert_eq!(stage.server.requests().len(), 4);
    }
}

fn the_report_tool_is_added_to_whatever_tools_there_are(pi: RealPi) {
    let stage = SubagentStage::beside(pi, Script::new().otherwise([success()]));
    let cases: [(&str, &str, &str, &[&str]); 6] = [
        ("agents", "allow", "approved_tools: [read]", &["read"]),
        ("agents", "also", "allowed_tools:\n- ls", &["ls"]),
        (
            "agents",
            "deny",
            "denied_tools: [bash, subagent_finalize]",
            &["read", "edit", "write"],
        ),
        ("agents", "none", "noTools: true\nfinalize: true", &[]),
        (
            "subagents",
            "asked",
            "model: fake/fake-model\ntools: [grep]\nfinalize: true",
            &["grep"],
        ),
        ("agents", "usual", "", &["read", "bash", "edit", "write"]),
    ];
    for (folder, name, fields, tools) in cases {
        stage.define(folder, name, fields, "");
        // The restriction of pi is shown in finalization.rs; starting a pi takes its time.
        let runners: &[&str] = match name {
            "asked" | "usual" => &["embedded", "pi"],
            _ => &["embedded"],
        };
        for runner in runners {
            let command = ["run", name, "x", "--json", "--runner", runner];
            let command = stage.with_pi(stage.stage.command(&command));
            _ = command.run().expect_success();
            let expected = [tools, &["subagent_finalize"]].concat();
            assert_eq!(stage.last_tools(), expected, "{name} by {runner}");
        }
    }
}

#[test]
fn a_prompt_that_says_so_ends_with_its_last_text() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("It is in app.rs.")]));
    stage.define("agents", "reporter", "finalize: false", "");
    let (told, finalized) = answer(&stage, "embedded");
    assert!(told.ends_with("---\n\nIt is in app.rs."), "{told}");
    assert_eq!(finalized, Value::Null);
    assert!(!stage.last_tools().contains(&"subagent_finalize".to_owned()));
}

#[test]
fn an_allow_list_and_a_deny_list_together_fail_the_call() {
    let stage = SubagentStage::new(Script::new());
    let both = "approved_tools: [read]\ndenied_tools: [bash]";
    stage.define("agents", "reporter", both, "");
    let output = stage
        .stage
        .command(&["run", "reporter", "x", "--json"])
        .run();
    assert_eq!(output.code, Some(2));
    assert_eq!(
        output.json()["error"]["message"],
        "Prompt \"reporter\" has both \"approved_tools\" and \"denied_tools\" set. These are mutually exclusive."
    );
    assert_eq!(stage.server.requests().len(), 0);
}
