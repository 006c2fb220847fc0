//! Bad input is refused by name, with the right exit code and without a child.

use std::time::Duration;

use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, failed, outcomes};
use crate::terminal::Terminal;

/// Returns the error of a refused call; no run may have begun.
fn refused(call: &str) -> String {
    let stage = Stage::new();
    let output = stage
        .command(&["delegate", "-", "--runner", "pi"])
        .stdin(call)
        .run();
    assert!(!stage.sandbox.project().join(".pi").exists());
    assert_eq!(output.code, Some(2));
    assert_eq!(output.stdout, "");
    output.stderr
}

fn tasks(count: usize) -> String {
    json!({"tasks": vec![json!({"name": "a", "prompt": "p"}); count]}).to_string()
}

#[test]
fn calls_that_do_not_fit_are_refused_with_words() {
    let hint = "hint: stdin must contain {\"tasks\": [{\"name\": …, \"prompt\": …}]}.\n";
    assert_eq!(
        refused(&tasks(257)),
        "error: tasks must have at most 256 tasks, not 257\nhint: Raise subagents.maxTasks in settings.json, or make several calls of them.\n"
    );
    assert_eq!(
        refused(&tasks(0)),
        format!("error: tasks must have at least 1 task\n{hint}")
    );
    assert_eq!(
        refused("{\n  \"tasks\": [\n}"),
        "error: stdin:3:1 is not JSON: a value is missing here\nhint: pi-subagents tools prints the fields of each tool.\n"
    );
    assert_eq!(
        refused(r#"{"tasks":[{"name":"a","prompt":"p"},{"name":"b","prompt":7,"timeout":"x"}]}"#),
        format!("error: tasks[1].timeout must be a number, not \"x\"\n{hint}")
    );
    assert_eq!(
        refused(""),
        "error: stdin is empty\nhint: It must contain the JSON of a call; pi-subagents tools prints the fields of each tool.\n"
    );
}

#[test]
fn a_field_that_nobody_knows_is_refused_with_the_one_that_was_meant() {
    let hint = "hint: stdin must contain {\"tasks\": [{\"name\": …, \"prompt\": …}]}.\n";
    assert_eq!(
        refused(r#"{"tasks":[{"name":"a","promt":"p"}]}"#),
        format!("error: tasks[0].promt is unknown; did you mean prompt?\n{hint}")
    );
    let stage = Stage::new();
    for command in ["run", "spawn"] {
        let output = stage
            .command(&[command, "--file", "-"])
            .stdin(r#"{"preset":"a","task":"t","session":"x"}"#)
            .run();
        assert_eq!(output.code, Some(2), "{output}");
        let first = output.stderr.lines().next();
        assert_eq!(
            first,
            Some("error: session is unknown; did you mean sessionId?")
        );
    }
}

#[test]
fn a_task_without_a_name_is_called_by_its_place() {
    let stage = Stage::new();
    let reply = |words: &str| json!([{"reply": words}]).to_string();
    let tasks = json!({"profile": "", "tasks": [
        {"name": "a", "prompt": reply("one")},
        {"name": "", "prompt": reply("two"), "resume": ""},
    ]});
    let output = stage.delegate(&tasks).run().expect_success();
    assert_eq!(
        outcomes(&output),
        [completed("a", "one"), completed("task 2", "two")]
    );
}

#[test]
fn whoever_sits_before_stdin_is_told_that_it_is_read() {
    let stage = Stage::new();
    stage.profile("scout", "model: fake/fake-model", "You look.");
    for arguments in [&["delegate", "-"][..], &["run", "scout", "-"]] {
        let mut terminal = Terminal::start(stage.command(arguments));
        terminal.answer("Reading from this terminal. End with Ctrl-D", "\u{4}");
        assert_eq!(terminal.end().0, Some(2));
    }
}

#[test]
fn usage_errors_are_json_when_json_is_wanted() {
    let stage = Stage::new();
    for arguments in [
        vec!["delegate", "--json"],
        vec!["delegate", "--json", "--task", "nameless"],
        vec!["delegate", "--json", "--task", "a=b", "--timeout", "0"],
        vec!["no-such-command", "--json"],
    ] {
        let output = stage.command(&arguments).run();
        assert_eq!(output.code, Some(2), "{output}");
        assert_eq!(output.json()["error"]["kind"], "usage", "{output}");
        assert_eq!(output.stderr, "");
    }
}

#[test]
fn an_unknown_id_is_not_found() {
    let stage = Stage::new();
    let mut printed = std::collections::BTreeSet::new();
    for arguments in [
        ["events", "feed"],
        ["status", "feed"],
        ["wait", "feed"],
        ["stop", "feed"],
        ["output", "feed"],
        ["session", "feed"],
    ] {
        let output = stage.command(&arguments).run();
        assert_eq!(output.code, Some(3));
        printed.insert(output.to_string());
    }
    assert_eq!(printed.len(), 1, "{printed:?}");
    insta::assert_snapshot!(printed.first().unwrap(), @r#"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: there is no run or session "feed"
    hint: pi-subagents status --all lists the runs of this project.
    [EOF]
    "#);
}

#[test]
fn a_bad_cwd_ends_its_task_and_no_other() {
    let stage = Stage::new();
    let file = stage.sandbox.write("project/file", "");
    let dots = stage.sandbox.project().join("foo..bar");
    std::fs::create_dir(&dots).unwrap();
    let good = json!([{"reply": "fine"}]).to_string();
    let task = |name: &str, cwd: &str| json!({"name": name, "prompt": good, "cwd": cwd});
    let output = stage
        .delegate(&json!({"tasks": [
            task("relative", "src"),
            task("up", &format!("{}/../project", stage.sandbox.project().display())),
            task("missing", "/no/such/place"),
            task("file", &file.display().to_string()),
            task("dots", &dots.display().to_string()),
        ]}))
        .run();
    assert_eq!(output.code, Some(4));
    let mut found = outcomes(&output);
    for run in &mut found {
        run.error = run
            .error
            .as_deref()
            .map(|text| stage.sandbox.normalise(text));
    }
    assert_eq!(
        found,
        [
            failed("relative", 1, "cwd must be an absolute path", None),
            failed("up", 1, "cwd must not contain '..' path segments", None),
            failed("missing", 1, "cwd does not exist: /no/such/place", None),
            failed("file", 1, "cwd is not a directory: $PROJECT/file", None),
            completed("dots", "fine"),
        ]
    );
    let answer = output.json();
    let runs = answer["runs"].as_array().unwrap();
    assert!(
        runs.iter().all(|run| run["sessionId"].is_string()),
        "{answer}"
    );
}

#[test]
fn a_pi_that_is_too_old_or_missing_is_refused_by_name() {
    let stage = Stage::new();
    let call = json!({"tasks": [{"name": "a", "prompt": "hello"}]});
    let error = |output: &Value| {
        let text = output["runs"][0]["errorMessage"].as_str().unwrap();
        stage.sandbox.normalise(text)
    };
    let old = stage
        .delegate(&call)
        .env("MISBEHAVE_VERSION", "0.73.1")
        .run();
    let message = error(&old.json());
    assert!(
        message.ends_with("misbehave is pi 0.73.1, which is too old: 0.84 or newer is needed. Update it, or use --runner embedded."),
        "{message}"
    );
    let missing = stage
        .delegate(&call)
        .env_remove("PI_SUBAGENTS_PI")
        .env("PATH", "/nowhere")
        .run();
    assert_eq!(
        error(&missing.json()),
        "Failed to spawn sub-agent process: pi is not on PATH. Install it, set PI_SUBAGENTS_PI to it, or use --runner embedded."
    );
}

/// Returns the ids of all runs that have a record, and the id that `last` leads to.
fn recorded(stage: &Stage) -> (Vec<String>, String) {
    let listed = stage.command(&["status", "--all", "--json"]).run().json();
    let runs = listed["runs"].as_array().unwrap().iter();
    let ids = runs.map(|run| run["runId"].as_str().unwrap().to_owned());
    let last = stage.command(&["status", "last", "--json"]).run().json();
    let last = last["runId"].as_str().or(last["runs"][0]["runId"].as_str());
    (ids.collect(), last.unwrap().to_owned())
}

#[test]
fn a_call_that_is_refused_leaves_no_record_and_does_not_become_last() {
    let stage = Stage::new();
    let fine = json!({"tasks": [{"name": "a", "prompt": json!([{"reply": "one"}]).to_string()}]});
    _ = stage.delegate(&fine).run().expect_success();
    let before = recorded(&stage);
    let bad = json!({"tasks": [
        {"name": "b", "prompt": "p", "profile": "nobody"},
        {"name": "c", "prompt": "p", "cwd": "/no/such/place"},
    ]});
    let output = stage.delegate(&bad).run();
    assert_eq!(
        outcomes(&output),
        [
            failed(
                "b",
                1,
                "Unknown profile: \"nobody\". Available profiles: (none)",
                None
            ),
            failed("c", 1, "cwd does not exist: /no/such/place", None),
        ]
    );
    assert_eq!(recorded(&stage), before);
}

#[test]
fn a_call_for_a_fleet_is_refused_before_the_fleet_is_asked() {
    let stage = Stage::new();
    // Nobody answers there, so a call that got as far as the fleet would fail with that.
    stage.settings(&json!({"fleet": {"servers": ["nats://127.0.0.1:1"]}}));
    let go = stage.sandbox.project().join("go");
    let ready = stage.sandbox.project().join("ready");
    let script = json!([{"touch": ready}, {"waitForFile": go}, {"reply": "done"}]);
    let owner = stage.delegate(&call(&[("busy", script)])).spawn();
    wait_for_file(&ready, Duration::from_mins(1));
    let before = recorded(&stage);
    let status = stage.command(&["status", "--json"]).run().json();
    let session = status["runs"][0]["sessionId"].as_str().unwrap();
    let to_fleet = |task: &Value| {
        let call = json!({"tasks": [task]});
        stage.delegate(&call).args(["--on", "fleet"]).run()
    };
    let unknown = to_fleet(&json!({"name": "b", "prompt": "p", "profile": "nobody"}));
    assert_eq!(
        outcomes(&unknown)[0].error.as_deref(),
        Some("Unknown profile: \"nobody\". Available profiles: (none)")
    );
    let running = to_fleet(&json!({"name": "b", "prompt": "p", "resume": session}));
    assert_eq!(
        running.json()["error"]["message"],
        json!(format!(
            "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
        ))
    );
    assert_eq!(recorded(&stage), before);
    std::fs::write(go, "").unwrap();
    _ = owner.wait().expect_success();
}
