//! Answers that are none: cut off by the model's limit, or without a text.

use pi_subagents_testkit::llm::{LlmServer, Script, StopReason, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;

fn stage_with(turns: Vec<Turn>) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

#[test]
fn an_answer_that_was_cut_off_fails_its_run_and_is_kept() {
    let limited = Turn::text("As far as it").stop(StopReason::Length);
    let (stage, _server) = stage_with(vec![limited, Turn::text("goes.")]);
    let run = ["run", "Tell me.", "--runner", "embedded"];
    let output = stage.command(&run).run();
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(output.stdout, "As far as it\n");
    let why = "Its answer was cut off at the number of tokens that its model may write.";
    assert!(output.stderr.contains(why), "{output}");
    assert!(
        output.stderr.contains("\"Go on where you stopped\""),
        "{output}"
    );
    let status = stage.command(&["status", "last", "--json"]).run().json();
    assert_eq!(status["runs"][0]["status"], "failed", "{status}");
    assert_eq!(status["runs"][0]["ending"], json!({"kind": "cutOff"}));
    let resumed = stage
        .command(&["resume", "last", "Go on where you stopped"])
        .run();
    assert_eq!(resumed.expect_success().stdout, "goes.\n");
}

#[test]
fn a_run_without_a_text_completes_and_says_so() {
    let (stage, _server) = stage_with(vec![Turn::text("")]);
    let run = ["run", "Tell me.", "--runner", "embedded"];
    let output = stage.command(&run).args(["--quiet"]).run();
    assert_eq!(output.code, Some(5), "{output}");
    assert_eq!(output.stdout, "");
    let silent = "! default: it completed without a text";
    assert!(output.stderr.contains(silent), "{output}");
    assert_eq!(stage.command(&["output", "last"]).run().code, Some(5));
    let answer = stage.command(&run).args(["--json"]).run();
    assert_eq!(answer.code, Some(5), "{answer}");
    let row = &answer.json()["runs"][0];
    assert_eq!(row["status"], "completed", "{row}");
    assert_eq!(row["noText"], true, "{row}");
    let status = stage.command(&["status", "last", "--json"]).run().json();
    assert_eq!(status["runs"][0]["noText"], true, "{status}");
}
