//! A session id that two agents use, and sessions in which nothing ever began.

use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::subagent_stage::SubagentStage;

/// Makes two agents with a session `talk` each, and returns the run of each.
fn two_agents() -> (SubagentStage, [String; 2]) {
    let stage = SubagentStage::new(
        Script::new()
            .on("look", [Turn::text("the scout looked")])
            .on("judge", [Turn::text("the critic judged")])
            .on("again", [Turn::text("and went on")]),
    );
    let runs = [("scout", "look"), ("critic", "judge")].map(|(agent, task)| {
        stage.preset(agent);
        let answer = stage
            .stage
            .command(&["run", agent, task, "--session", "talk"])
            .args(["--runner", "embedded", "--json"])
            .run()
            .expect_success()
            .json();
        let run = &answer["runs"][0]["runId"];
        run.as_str()
            .unwrap_or_else(|| panic!("{answer:#}"))
            .to_owned()
    });
    (stage, runs)
}

#[test]
fn a_session_id_of_two_agents_asks_which_is_meant() {
    let (stage, runs) = two_agents();
    let ask = |arguments: &[&str]| stage.stage.command(arguments).run();
    insta::assert_snapshot!(ask(&["output", "talk"]), @r#"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: "talk" is ambiguous: it is a session of scout and a session of critic
    hint: scout in $PROJECT: pi-subagents output <run-1>
    hint: critic in $PROJECT: pi-subagents output <run-2>
    [EOF]
    "#);
    insta::assert_snapshot!(ask(&["resume", "talk", "again"]), @r#"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: "talk" is ambiguous: it is a session of scout and a session of critic
    hint: scout in $PROJECT: pi-subagents resume <run-1> PROMPT
    hint: critic in $PROJECT: pi-subagents resume <run-2> PROMPT
    [EOF]
    "#);
    for command in ["events", "wait"] {
        let asked = ask(&[command, "talk"]);
        let which = format!("hint: scout in $PROJECT: pi-subagents {command} <run-1>");
        assert!(asked.to_string().contains(&which), "{asked}");
        assert_eq!((asked.code, asked.stdout.as_str()), (Some(2), ""));
    }
    insta::assert_snapshot!(ask(&["stop", "talk"]), @"
    --- exit code
    0
    [EOF]
    --- stdout
    talk was not running.
    [EOF]
    --- stderr
    [EOF]
    ");
    assert_eq!(ask(&["output", &runs[0]]).stdout, "the scout looked\n");
    insta::assert_snapshot!(ask(&["session", &runs[1]]), @"
    --- exit code
    0
    [EOF]
    --- stdout
    [<time>] prompt
    judge

    [<time>] assistant
    the critic judged

    [<time>] completed
    110 tokens • <$0.01 • <duration>
    [EOF]
    --- stderr
    [EOF]
    ");
    _ = ask(&["resume", &runs[0], "again", "--runner", "embedded"]).expect_success();
    let said: Vec<String> = stage
        .last_conversation()
        .into_iter()
        .map(|(_, said)| said)
        .collect();
    assert_eq!(said, ["look", "the scout looked", "again"]);
    let whole = ask(&["session", &runs[0]]).expect_success();
    insta::assert_snapshot!(whole, @"
    --- exit code
    0
    [EOF]
    --- stdout
    === Run 1/2: scout (completed) ===
    [<time>] prompt
    look

    [<time>] assistant
    the scout looked

    [<time>] completed
    110 tokens • <$0.01 • <duration>

    === Run 2/2: scout (completed) ===
    [<time>] prompt
    again

    [<time>] assistant
    and went on

    [<time>] completed
    110 tokens • <$0.01 • <duration>
    [EOF]
    --- stderr
    [EOF]
    ");
    let answered = ask(&["output", &runs[0]]).expect_success();
    assert_eq!(answered.stdout, "the scout looked\n");
}

#[test]
fn only_the_agent_that_is_meant_is_stopped() {
    let stage = SubagentStage::new(
        Script::new()
            .on("look", [Turn::text("the scout looked").gate("scout")])
            .on("judge", [Turn::text("the critic judged").gate("critic")]),
    );
    let running = [("scout", "look"), ("critic", "judge")].map(|(agent, task)| {
        stage.preset(agent);
        let command = stage
            .stage
            .command(&["run", agent, task, "--session", "talk"])
            .args(["--runner", "embedded", "--quiet"]);
        command.spawn()
    });
    stage.server.wait_for_requests(2, Duration::from_mins(1));
    let stop = |id: &str| stage.stage.command(&["stop", id]).run();
    let asked = stop("talk");
    assert_eq!(
        (asked.code, asked.stdout.as_str()),
        (Some(2), ""),
        "{asked}"
    );
    let status = stage.stage.command(&["status", "--json"]).run().json();
    let runs = status["runs"].as_array().unwrap();
    let scout = runs.iter().find(|run| run["name"] == "scout").unwrap();
    let stopped = stop(scout["runId"].as_str().unwrap()).expect_success();
    assert_eq!(stopped.stdout, "stopped scout (session: talk)\n");
    // Only one of the two conversations still runs, so it is the one that is meant now.
    let stopped = stop("talk").expect_success();
    assert_eq!(stopped.stdout, "stopped critic (session: talk)\n");
    for run in running {
        assert_eq!(run.wait().code, Some(143));
    }
}

#[test]
fn a_task_of_the_delegation_family_that_resumes_such_an_id_asks_too() {
    let (stage, runs) = two_agents();
    let resume = |id: &str| {
        let call = serde_json::json!({"tasks": [{"name": "a", "prompt": "again", "resume": id}]});
        stage.stage.delegate_to("embedded", &call).run()
    };
    insta::assert_snapshot!(resume("talk"), @r#"
    --- exit code
    2
    [EOF]
    --- stdout
    {
      "schemaVersion": 1,
      "type": "error",
      "error": {
        "kind": "usage",
        "message": "\"talk\" is ambiguous: it is a session of scout and a session of critic",
        "hint": "scout in $PROJECT: resume <run-1>\ncritic in $PROJECT: resume <run-2>"
      }
    }
    [EOF]
    --- stderr
    [EOF]
    "#);
    _ = resume(&runs[1]).expect_success();
    let conversation = stage.last_conversation();
    let (_, told) = conversation.last().unwrap();
    assert!(told.contains("the critic judged"), "{told}");
    assert!(!told.contains("the scout looked"), "{told}");
}

#[test]
fn a_run_whose_session_id_another_family_uses_too_goes_on() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    let call = serde_json::json!({"tasks": [{"name": "a", "prompt": "first"}]});
    let first = stage.stage.delegate_to("embedded", &call).run();
    let run = first.expect_success().json()["runs"][0].clone();
    let (run, session) = (run["runId"].as_str(), run["sessionId"].as_str());
    let (run, session) = (run.unwrap(), session.unwrap());
    let flags = ["--runner", "embedded", "--quiet"];
    let command = |arguments: &[&str]| stage.stage.command(arguments).args(flags).run();
    _ = command(&["run", "scout", "look", "--session", session]).expect_success();
    assert_eq!(command(&["resume", session, "again"]).code, Some(2));
    _ = command(&["resume", run, "again"]).expect_success();
    let conversation = stage.last_conversation();
    let (_, told) = conversation.last().unwrap();
    insta::assert_snapshot!(told, @"
    Previously:

    --- Run 1 (completed, 2 messages) ---
    User: first
    Assistant: ok

    Instructions:

    again
    ");
}

#[test]
fn a_session_in_which_nothing_began_goes_on_in_its_own_family() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    stage.preset("scout");
    // Beside a task that begins, a refused one is recorded.
    let call = serde_json::json!({"tasks": [
        {"preset": "scout", "task": "look", "sessionId": "talk", "cwd": "/missing"},
        {"preset": "scout", "task": "other"},
    ]});
    let refused = stage
        .stage
        .command(&["run", "--file", "-", "--runner", "embedded", "--json"])
        .stdin(call.to_string())
        .run();
    assert_eq!(refused.json()["runs"][0]["status"], "failed", "{refused}");
    let resumed = stage
        .stage
        .command(&["resume", "talk", "look", "--runner", "embedded", "--json"])
        .run()
        .expect_success();
    let answer: Value = resumed.json();
    assert_eq!(
        answer["text"],
        "**Status:** SUCCESS\n**Session ID:** `talk`\n\n---\n\nok\n\n\
         ! There was no session `talk` of this preset in this directory; it is new."
    );
    assert_eq!(
        stage.sticky_files().len(),
        2,
        "no lock stays beside the files"
    );
}
