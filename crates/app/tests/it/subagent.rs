//! `subagent` and `run`: which definition and model a task gets, and what its caller is answered.
//!
//! The lists of presets-and-background-agents.md, as far as they are about this tool:
//!
//! | coverage | test |
//! |---|---|
//! | presets of global and project directories, override by name | `a_preset_of_a_trusted_project_takes_the_place_of_the_users_own` |
//! | a preset is required, in single and parallel mode | `what_does_not_fit_fails_the_call_and_starts_nothing` |
//! | model of the call, of the preset, of neither | `the_model_is_the_calls_then_the_presets_and_a_preset_without_any_is_an_error` |
//! | no chain in the schema | `subagent::schema::tests::the_schema_knows_both_forms_and_no_chain` |
//! | no chain at run time | `what_does_not_fit_fails_the_call_and_starts_nothing` |
//! | the resolved model is used where it differs from the requested one | `lowering::model::tests` |
//! | the github-copilot initiator | `pi_children` |
//! | a log that cannot be written prevents no `result.json` | `record::a_full_disk_stops_the_record_and_not_the_run` |

use std::fs;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::subagent_stage::{SubagentStage, scout, text};

fn helpful() -> SubagentStage {
    let stage = SubagentStage::new(
        Script::new()
            .on_every("fail", [Turn::status(400, "no such thing")])
            .otherwise([Turn::text("There it is.")]),
    );
    stage.preset("scout");
    stage
}

/// Returns the `meta.json` of the only run.
fn meta(answer: &Value) -> Value {
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    serde_json::from_str(&fs::read_to_string(format!("{directory}/meta.json")).unwrap()).unwrap()
}

#[test]
fn one_task_is_answered_with_status_session_and_result() {
    let stage = helpful();
    let output = stage.call(&scout("find it")).run().expect_success();
    insta::assert_snapshot!(stage.stage.sandbox.normalise(&text(&output)), @"
    **Status:** SUCCESS
    **Session ID:** `<session-1>`

    ---

    There it is.
    ");
    let details = output.json();
    assert_eq!(details["mode"], "single");
    assert_eq!(details["presets"], json!(["scout"]));
    assert_eq!(details["status"], "completed");
    assert_eq!(details["isNewSession"], false);
    assert_eq!(details["sessionId"], details["sessionIds"][0]);
    assert_eq!(details["runId"], details["runs"][0]["runId"]);
    assert_eq!(details["windows"][0]["name"], "scout");
    assert_eq!(details["windows"][0]["status"], "completed");
    assert_eq!(details["globalStatus"], "done");
    assert_eq!(details["finalized"], Value::Null);
    assert!(stage.last_messages()[0].1.contains("You look around."));
}

#[test]
fn the_command_line_prints_as_markdown_what_the_tool_answers() {
    let stage = helpful();
    let command = ["run", "--runner", "embedded", "--format", "markdown", "-q"];
    let command = stage.stage.command(&command).args(["scout", "find", "it"]);
    let output = command.run().expect_success();
    let session = output.stdout.split('`').nth(1).unwrap().to_owned();
    assert_eq!(
        output.stdout,
        format!("**Status:** SUCCESS\n**Session ID:** `{session}`\n\n---\n\nThere it is.\n")
    );
    assert_eq!(stage.last_messages()[1].1, "find it");
    let said = stage.stage.command(&["output", &session]).run();
    assert_eq!(said.expect_success().stdout, "There it is.\n");
    let status = stage.stage.command(&["status", &session, "--json"]).run();
    let status = status.expect_success().json();
    assert_eq!(status["counts"]["completed"], 1);
    assert_eq!(status["runs"][0]["sessionId"], session);
}

#[test]
fn several_tasks_run_side_by_side_and_one_that_fails_ends_no_other() {
    let stage = helpful();
    stage.preset("judge");
    let output = stage
        .call(&json!({"tasks": [
            {"preset": "scout", "task": "find it"},
            {"agent": "nobody", "task": "find it"},
            {"preset": "judge", "task": "fail"},
            {"preset": "scout", "task": "find more", "cwd": "relative"},
            {"preset": "scout", "task": "find more", "sessionId": "mine"},
        ]}))
        .run();
    assert_eq!(output.code, Some(4));
    insta::assert_snapshot!(stage.stage.sandbox.normalise(&text(&output)), @r#"
    ## 1. scout

    **Status:** SUCCESS
    **Session ID:** `<session-1>`

    ---

    There it is.

    ## 2. nobody

    **Status:** ERROR
    **Session ID:** `<session-2>`

    ---

    Unknown agent: "nobody". Available agents: default (a plain sub-agent that needs no file), judge [preset] (judge of the tests), scout [preset] (scout of the tests)

    ## 3. judge

    **Status:** ERROR
    **Session ID:** `<session-3>`

    ---

    400: no such thing

    ## 4. scout

    **Status:** ERROR
    **Session ID:** `<session-4>`

    ---

    cwd must be an absolute path

    ## 5. scout

    **Status:** SUCCESS
    **Session ID:** `mine`

    ---

    There it is.

    ! There was no session `mine` of this preset in this directory; it is new.
    "#);
    let details = output.json();
    assert_eq!(details["mode"], "parallel");
    assert_eq!(
        details["presets"],
        json!(["scout", "nobody", "judge", "scout", "scout"])
    );
    let names: Vec<_> = details["windows"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names.iter().map(|window| &window["name"]).collect();
    assert_eq!(names, ["scout 1", "nobody", "judge", "scout 4", "scout 5"]);
}

#[test]
fn what_does_not_fit_fails_the_call_and_starts_nothing() {
    let stage = helpful();
    let error = |call: Value| {
        let output = stage.call(&call).run();
        assert_eq!(output.code, Some(2), "{output}");
        output.json()["error"]["message"].clone()
    };
    assert_eq!(error(json!({"preset": "scout"})), "task is missing");
    assert_eq!(
        error(json!({"tasks": [scout("x"), {"preset": "scout"}]})),
        "tasks[1].task is missing"
    );
    assert_eq!(
        error(json!({"chain": [scout("x")]})),
        "chain is not supported: call delegate_to_subagents with \"needs\": [\"NAME\"] in each step that needs the result of another; steps that need nothing from each other go into tasks"
    );
    let same = json!({"preset": "scout", "task": "x", "sessionId": "s"});
    let same_again = json!({"agent": "scout", "task": "y", "sessionId": "s", "cwd": stage.stage.sandbox.project()});
    assert_eq!(
        error(json!({"tasks": [same, same_again]})),
        "tasks[1].sessionId is that of tasks[0], with the same preset and cwd: a session is continued by one task at a time"
    );
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn an_unknown_name_on_the_command_line_is_not_found() {
    let stage = helpful();
    let named = ["run", "-a", "nobody", "find it"];
    let output = stage.stage.command(&named).run();
    assert_eq!(output.code, Some(3));
    insta::assert_snapshot!(output.stderr, @r#"
    error: Unknown agent: "nobody". Available agents: default (a plain sub-agent that needs no file), scout [preset] (scout of the tests)
    hint: List them with pi-subagents agents, or copy a ready-made one with pi-subagents agents add NAME.
    "#);
    let delegate = ["delegate", "--agent", "nobody", "--task", "a=find it"];
    let output = stage.stage.command(&delegate).run();
    assert_eq!(output.code, Some(3));
    insta::assert_snapshot!(output.stderr, @r#"
    error: Unknown profile: "nobody". Available profiles: scout [preset] (scout of the tests)
    hint: List them with pi-subagents agents, or copy a ready-made one with pi-subagents agents add NAME.
    "#);
}

#[test]
fn a_preset_of_a_trusted_project_takes_the_place_of_the_users_own() {
    let stage = helpful();
    stage.stage.sandbox.write(
        "project/.pi/subagents/scout.md",
        "---\nname: scout\ndescription: of the project\nmodel: fake/fake-model\n---\nYou know this project.\n",
    );
    let nested = stage.stage.sandbox.project().join("src/deep");
    fs::create_dir_all(&nested).unwrap();
    let prompt_of = |flags: &[&str]| {
        let command = stage.call(&scout("find it")).args(flags);
        _ = command.cwd("src/deep").run().expect_success();
        stage.last_messages()[0].1.clone()
    };
    assert!(prompt_of(&[]).contains("You look around."));
    assert!(prompt_of(&["--trust"]).contains("You know this project."));
}

#[test]
fn the_model_is_the_calls_then_the_presets_and_a_preset_without_any_is_an_error() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    let models = json!({"providers": {"fake": {
        "baseUrl": stage.server.base_url(), "api": "openai-completions", "apiKey": "test-key",
        "models": [{"id": "fake-model"}, {"id": "other-model"}],
    }}});
    let models_json = "home/.pi/agent/models.json";
    stage.stage.sandbox.write(models_json, &models.to_string());
    stage.preset("scout");
    stage.define("subagents", "bare", "", "");
    stage.define("agents", "prompt", "finalize: false", "");
    stage.define("agent-profiles", "profile", "", "");
    let asked_model = |call: Value| {
        let output = stage.call(&call).run().expect_success();
        let meta = meta(&output.json());
        let asked = stage.server.requests().pop().unwrap().body["model"].clone();
        json!([
            meta["requestedModel"],
            meta["resolvedModel"],
            meta["model"],
            asked
        ])
    };
    let other = "fake/other-model";
    assert_eq!(
        asked_model(scout("x")),
        json!([
            "fake/fake-model",
            "fake/fake-model",
            "fake/fake-model",
            "fake-model"
        ])
    );
    for agent in ["scout", "bare"] {
        assert_eq!(
            asked_model(json!({"preset": agent, "task": "x", "model": other})),
            json!([other, other, other, "other-model"])
        );
    }
    for agent in ["prompt", "profile"] {
        assert_eq!(
            asked_model(json!({"agent": agent, "task": "x"})),
            json!([null, null, null, "fake-model"])
        );
    }
    let output = stage.call(&json!({"preset": "bare", "task": "x"})).run();
    assert_eq!(output.code, Some(2));
    insta::assert_snapshot!(stage.stage.sandbox.normalise(&text(&output)), @r#"
    **Status:** ERROR
    **Session ID:** `<session-1>`

    ---

    no model resolved: the call names none and preset "bare" has none. Name one in the call ("model", or --model), or write "model:" into the preset.
    "#);
    let flag = stage.call(&json!({"preset": "bare", "task": "x"}));
    _ = flag.args(["--model", other]).run().expect_success();
}

#[test]
fn tasks_have_no_timeout_unless_the_call_or_the_definition_gives_one() {
    let stage = helpful();
    let fields = "model: fake/fake-model\ntimeout: 77";
    stage.define("subagents", "hasty", fields, "");
    let timeout = |call: Value| {
        let output = stage.call(&call).run().expect_success();
        meta(&output.json())["timeoutSeconds"].clone()
    };
    assert_eq!(timeout(scout("x")), Value::Null);
    assert_eq!(timeout(json!({"preset": "hasty", "task": "x"})), 77.0);
    let call = json!({"preset": "hasty", "task": "x", "timeout": 55});
    assert_eq!(timeout(call), 55.0);
}

#[test]
fn a_text_that_is_not_held_whole_is_answered_whole() {
    let long = "x".repeat(300 << 10);
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text(long.clone())]));
    stage.preset("scout");
    let output = stage.call(&scout("find it")).run().expect_success();
    let words = text(&output);
    assert!(
        words.ends_with(&format!("---\n\n{long}")),
        "{}",
        words.len()
    );
}

#[test]
fn the_shipped_prompts_name_the_tool_and_no_chain() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../extension/prompts");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let template = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // Front matter would make pi read its YAML parser at every start; without it pi describes
        // the prompt by the first 60 characters of its first line.
        let described = template.lines().next().unwrap();
        assert!(described.starts_with("Let "), "{name}");
        assert!(described.len() <= 60, "{name}");
        assert!(template.contains("`subagent`"), "{name}");
        assert!(template.contains("preset \"$1\""), "{name}");
        assert!(!template.contains("chain"), "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(
        names,
        [
            "subagent-implement",
            "subagent-inspect",
            "subagent-plan",
            "subagent-survey"
        ]
    );
}

#[test]
fn the_reserved_name_is_a_plain_sub_agent_until_a_user_defines_it() {
    let stage = helpful();
    let call = json!({"preset": "default", "task": "find it", "sessionId": "plain"});
    let output = stage.call(&call).run().expect_success();
    assert!(text(&output).contains("There it is."), "{output}");
    let told = meta(&output.json());
    assert_eq!(
        (&told["preset"], &told["presetSource"]),
        (&json!("default"), &Value::Null)
    );
    // It has a conversation of its own, which goes on.
    let again = stage.call(&call).run().expect_success();
    assert_eq!(again.json()["isNewSession"], false);
    let session = stage
        .stage
        .command(&[
            "resume", "plain", "and now?", "--runner", "embedded", "--json",
        ])
        .run();
    assert!(session.stdout.contains("There it is."), "{session}");

    let unknown = stage.call(&json!({"preset": "nobody", "task": "t"})).run();
    let listed = unknown.json()["runs"][0]["errorMessage"].clone();
    assert_eq!(
        listed,
        "Unknown agent: \"nobody\". Available agents: default (a plain sub-agent that needs no file), scout [preset] (scout of the tests)"
    );
    let of_delegation = json!({"tasks": [{"name": "a", "prompt": "p", "profile": "default"}]});
    let delegated = stage.stage.delegate_to("embedded", &of_delegation).run();
    let run = delegated.expect_success().json()["runs"][0].clone();
    assert_eq!(
        (&run["agent"], &run["status"]),
        (&json!("default"), &json!("completed"))
    );

    stage.define(
        "subagents",
        "default",
        "model: fake/fake-model",
        "You are theirs.",
    );
    let own = stage.call(&call).run().expect_success();
    let source = meta(&own.json())["presetSource"].clone();
    assert!(
        source.as_str().unwrap().ends_with("subagents/default.md"),
        "{source}"
    );
}
