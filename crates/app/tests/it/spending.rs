//! Runs with a limited allowance.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, completed, failed, outcomes};

/// A model that says something and calls a tool twice before it answers; each of its turns is 110
/// tokens and 0.00045 dollars.
fn three_turns(stage: &Stage) -> LlmServer {
    three_turns_with(stage, "ls", json!({"path": "/"}))
}

/// The same model with another second call.
fn three_turns_with(stage: &Stage, tool: &str, arguments: Value) -> LlmServer {
    let call = |tool: &str, arguments| Turn::text("On it.").and_tool_call(tool, arguments);
    let server = LlmServer::start(Script::new().otherwise([
        call("ls", json!({"path": "."})),
        call(tool, arguments),
        Turn::text("done"),
    ]));
    stage.sandbox.models_json(&server.base_url());
    server
}

fn one_task() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "look"}]})
}

const OUT_OF_TOKENS: &str =
    "Used up 220 of at most 150 tokens. Consider resuming with a higher limit.";

#[test]
fn a_run_that_has_used_up_what_it_may_is_not_asked_again_and_keeps_what_it_said() {
    for (limit, message) in [
        (["--max-tokens", "150"], OUT_OF_TOKENS),
        (
            ["--max-cost", "$0.0005"],
            "Used up $0.000900 of at most $0.000500. Consider resuming with a higher limit.",
        ),
    ] {
        let stage = Stage::new();
        // The owner hears of a turn while its call is under way. A call that is over at once would
        // let the child ask a third time before it is stopped.
        let long = json!({"command": "sleep 60"});
        let server = three_turns_with(&stage, "bash", long);
        let output = stage.delegate_to("embedded", &one_task()).args(limit).run();
        assert_eq!(output.code, Some(1));
        assert_eq!(outcomes(&output), [failed("a", 1, message, Some("On it."))]);
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn an_answer_that_is_complete_is_kept_whatever_it_cost() {
    let stage = Stage::new();
    let _server = three_turns(&stage);
    for limit in ["330", "1k", "2M"] {
        let delegate = stage.delegate_to("embedded", &one_task());
        let output = delegate.args(["--max-tokens", limit]).run();
        assert_eq!(outcomes(&output), [completed("a", "done")], "{limit}");
    }
}

#[test]
fn the_settings_hold_for_every_run_and_a_flag_for_one_command() {
    let stage = Stage::new();
    let short = json!({"command": "sleep 1"});
    let _server = three_turns_with(&stage, "bash", short);
    stage.settings(&json!({"maxTokens": 150, "maxCost": 0}));
    let found = outcomes(&stage.delegate_to("embedded", &one_task()).run());
    assert_eq!(found, [failed("a", 1, OUT_OF_TOKENS, Some("On it."))]);
    let delegate = stage.delegate_to("embedded", &one_task());
    let found = outcomes(&delegate.args(["--max-tokens", "1m"]).run());
    assert_eq!(found, [completed("a", "done")]);
}

#[test]
fn a_background_run_has_the_limit_it_was_started_with() {
    let stage = Stage::new();
    let _server = three_turns(&stage);
    stage.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: looks\nmodel: fake/fake-model\nrunner: embedded\n---\nLook.\n",
    );
    let spawn = [
        "spawn",
        "scout",
        "look",
        "--max-tokens",
        "150",
        "--runner",
        "embedded",
        "--json",
    ];
    let spawned = stage.command(&spawn).run().expect_success().json();
    let run = spawned["runs"][0]["runId"].as_str().unwrap();
    let waited = stage.command(&["wait", run, "--json"]).run();
    assert_eq!(waited.code, Some(1));
    let told = waited.json();
    assert_eq!(told["runs"][0]["errorMessage"], OUT_OF_TOKENS, "{told}");
}

#[test]
fn a_limit_that_is_none_is_refused_with_an_example() {
    let stage = Stage::new();
    let refused = |arguments: [&str; 2]| {
        let delegate = stage.command(&["delegate", "--task", "a=hi"]);
        let output = delegate.args(arguments).run();
        assert_eq!(output.code, Some(2));
        output.stderr.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(refused(["--max-tokens", "0"]), @"error: invalid value '0' for '--max-tokens <N>': tokens are a whole number above 0, such as 200000, 200k or 2m");
    insta::assert_snapshot!(refused(["--max-tokens", "1.5m"]), @"error: invalid value '1.5m' for '--max-tokens <N>': tokens are a whole number above 0, such as 200000, 200k or 2m");
    insta::assert_snapshot!(refused(["--max-cost", "cheap"]), @"error: invalid value 'cheap' for '--max-cost <DOLLARS>': a cost is a number of dollars above 0, such as 1.50");
}
