//! The control that a client's model has over runs under way, and calls that outlast their client.

use std::fs;

use pi_subagents_testkit::process::{exists, wait_until_gone};
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::{McpServer, PATIENCE, at_work, endless};
use crate::stage::{Stage, call};

const DELEGATE: &str = "delegate_to_subagents";
const RUNS: &str = "subagent_runs";
const PI: [&str; 2] = ["--runner", "pi"];

/// Returns the answer to a call of a model, and whether it is an error.
fn answered(server: &mut McpServer, tool: &str, arguments: &Value) -> (String, bool) {
    let id = server.request("tools/call", &json!({"name": tool, "arguments": arguments}));
    text_and_error(&server.answer(id))
}

fn text_and_error(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    (
        result["content"][0]["text"].as_str().unwrap().to_owned(),
        result["isError"].as_bool().unwrap(),
    )
}

/// Begins a call whose answer nobody waits for here.
fn begin(server: &mut McpServer, arguments: &Value) -> u32 {
    server.request(
        "tools/call",
        &json!({"name": DELEGATE, "arguments": arguments}),
    )
}

fn server(stage: &Stage, flags: &[&str]) -> McpServer {
    McpServer::initialized(stage, &[&PI[..], flags].concat(), &json!({}))
}

fn rows(stage: &Stage) -> Vec<Value> {
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    status["runs"].as_array().unwrap().clone()
}

/// Returns a task that makes a file, waits for another file, and answers.
fn waiting(stage: &Stage, name: &str, answer: &str) -> Value {
    let steps = json!([
        {"touch": stage.path(&format!("{name}.ready"))},
        {"waitForFile": stage.path(&format!("{name}.go"))},
        {"reply": answer},
    ]);
    call(&[(name, steps)])
}

fn ready(stage: &Stage, name: &str) {
    wait_for_file(stage.path(&format!("{name}.ready")), PATIENCE);
}

fn go(stage: &Stage, name: &str) {
    fs::write(stage.path(&format!("{name}.go")), "").unwrap();
}

#[test]
fn a_run_without_a_place_is_queued_for_a_model_too() {
    let stage = Stage::new();
    let mut server = server(&stage, &["--concurrency", "1"]);
    let mut tasks = waiting(&stage, "first", "one");
    let second = waiting(&stage, "second", "two")["tasks"][0].clone();
    tasks["tasks"].as_array_mut().unwrap().push(second);
    let both = begin(&mut server, &tasks);
    ready(&stage, "first");
    // The child is there before its owner has written that it is.
    let listed = wait_until(PATIENCE, || {
        let (listed, _) = answered(&mut server, RUNS, &json!({"action": "list"}));
        let counts = "Your sub-agents: 1 running, 1 queued, 0 completed";
        listed.starts_with(counts).then_some(listed)
    })
    .unwrap();
    assert!(listed.contains("first: running") && listed.contains("second: queued"));
    go(&stage, "first");
    go(&stage, "second");
    assert!(!text_and_error(&server.answer(both)).1);
}

#[test]
fn a_model_lists_its_runs_and_waits_for_some() {
    let stage = Stage::new();
    let mut server = server(&stage, &[]);
    let (none, _) = answered(&mut server, RUNS, &json!({}));
    assert!(none.starts_with("None is running"), "{none}");
    let first = begin(&mut server, &waiting(&stage, "first", "found it"));
    let second = begin(&mut server, &waiting(&stage, "second", "found nothing"));
    ready(&stage, "first");
    ready(&stage, "second");
    // A run of somebody else.
    let foreign = stage.delegate(&endless(&stage, "foreign")).spawn();
    let foreign_child = at_work(&stage, "foreign");
    let (listed, is_error) = answered(&mut server, RUNS, &json!({"action": "list"}));
    assert!(!is_error);
    assert!(listed.starts_with("Your sub-agents: 2 running"), "{listed}");
    assert!(listed.contains("first: running") && listed.contains("second: running"));
    let run = rows(&stage)
        .into_iter()
        .find(|row| row["name"] == "first")
        .unwrap();
    let ids = json!({"action": "wait", "ids": [run["runId"]], "seconds": 1});
    let (waited, _) = answered(&mut server, RUNS, &ids);
    assert!(waited.starts_with("1 of 1 are still running"), "{waited}");
    let output = json!({"action": "output", "ids": [run["sessionId"]]});
    let (text, _) = answered(&mut server, RUNS, &output);
    assert_eq!(text, "(still running, no text yet)");
    go(&stage, "first");
    let ids = json!({"action": "wait", "ids": [run["sessionId"]], "seconds": 60});
    let (waited, _) = answered(&mut server, RUNS, &ids);
    assert!(
        waited.starts_with("All have finished: 0 running, 1 completed"),
        "{waited}"
    );
    assert!(waited.ends_with("found it"), "{waited}");
    go(&stage, "second");
    let (waited, _) = answered(
        &mut server,
        RUNS,
        &json!({"action": "wait", "seconds": "60"}),
    );
    assert!(!waited.contains("foreign"), "{waited}");
    for id in [first, second] {
        assert!(!text_and_error(&server.answer(id)).1);
    }
    let (all, _) = answered(&mut server, RUNS, &json!({"includeCompleted": true}));
    assert!(
        all.starts_with("Your sub-agents: 0 running, 2 completed"),
        "{all}"
    );
    foreign.kill(Signal::TERM);
    _ = foreign.wait();
    assert!(!exists(foreign_child));
}

#[test]
fn a_model_steers_and_stops_its_runs() {
    let stage = Stage::new();
    let mut server = server(&stage, &[]);
    let id = begin(&mut server, &endless(&stage, "one"));
    let child = at_work(&stage, "one");
    let run = rows(&stage)[0]["runId"].clone();
    let steer = json!({"action": "steer", "ids": [run], "message": "hurry"});
    assert_eq!(
        answered(&mut server, RUNS, &steer),
        ("one reads it before its next turn.".to_owned(), false)
    );
    let (stopped, is_error) = answered(&mut server, RUNS, &json!({"action": "stop", "ids": run}));
    assert!(!is_error);
    assert!(
        stopped.starts_with("Stopped; now they are: 0 running"),
        "{stopped}"
    );
    assert_eq!(wait_until_gone(&[child], PATIENCE), Ok(()));
    let (text, _) = text_and_error(&server.answer(id));
    assert!(text.contains("Stopped on request."), "{text}");
}

#[test]
fn what_is_wrong_with_a_wish_is_said() {
    let stage = Stage::new();
    let mut server = server(&stage, &[]);
    let errors = [
        json!({"action": "dance"}),
        json!({"action": "stop"}),
        json!({"action": "stop", "ids": ["nope"]}),
        json!({"action": "steer", "ids": ["nope"]}),
        json!({"action": "steer", "message": "hurry"}),
        json!({"action": "wait", "seconds": "soon"}),
    ]
    .map(|arguments| {
        let (text, is_error) = answered(&mut server, RUNS, &arguments);
        assert!(is_error, "{text}");
        text
    });
    insta::assert_snapshot!(errors.join("\n"), @r#"
    action is list, wait, output, session, stop, steer or answer, not "dance"
    ids is missing: name the runs for stop
    there is no run or session "nope" among those you have started
    subagent_runs with includeCompleted lists them.
    message is missing: say what the sub-agent should read
    ids is missing: name the runs for steer
    seconds must be a number, not "soon"
    "#);
}

#[test]
fn a_call_that_takes_long_is_answered_in_time_and_outlives_the_server() {
    let stage = Stage::new();
    let mut first = server(&stage, &["--answer-within", "1"]);
    let id = begin(&mut first, &waiting(&stage, "long", "found it"));
    let (text, is_error) = text_and_error(&first.answer(id));
    assert!(!is_error);
    assert!(text.starts_with("Not finished after 1 seconds"), "{text}");
    let row = rows(&stage).pop().unwrap();
    let run = row["runId"].as_str().unwrap();
    assert!(text.contains(&format!("ids [\"{run}\"]")), "{text}");
    assert_eq!(row["background"], true);
    ready(&stage, "long");
    first.running.close_stdin();
    assert_eq!(first.running.wait().code, Some(0));
    assert_eq!(rows(&stage)[0]["status"], "running");
    go(&stage, "long");
    let mut second = server(&stage, &[]);
    let ids = json!({"action": "wait", "ids": [run], "seconds": 60});
    let (waited, _) = answered(&mut second, RUNS, &ids);
    assert!(
        waited.starts_with("All have finished: 0 running, 1 completed"),
        "{waited}"
    );
    assert!(waited.ends_with("found it"), "{waited}");
}

/// A person gets a message about runs whose client was gone, and about no others.
#[test]
fn the_command_of_the_user_gets_runs_that_nobody_waited_for() {
    let stage = Stage::new();
    let file = stage.path("told");
    stage.settings(&json!({"onEnd": format!("cat >> {file}")}));
    let mut patient = server(&stage, &["--answer-within", "600"]);
    let (text, _) = answered(
        &mut patient,
        DELEGATE,
        &call(&[("waited", json!([{"reply": "x"}]))]),
    );
    assert!(text.contains("waited"), "{text}");
    let mut hurried = server(&stage, &["--answer-within", "1"]);
    let id = begin(&mut hurried, &waiting(&stage, "long", "found it"));
    assert!(
        text_and_error(&hurried.answer(id))
            .0
            .starts_with("Not finished")
    );
    go(&stage, "long");
    let whole = wait_until(PATIENCE, || {
        let told = fs::read_to_string(&file).ok()?;
        serde_json::from_str::<Value>(&told).ok()
    });
    let run = whole.unwrap();
    assert_eq!(
        (&run["name"], &run["output"]),
        (&json!("long"), &json!("found it"))
    );
}

#[test]
fn a_call_that_is_over_in_time_is_answered_as_ever() {
    let stage = Stage::new();
    let mut server = server(&stage, &["--answer-within", "600", "--concurrency", "2"]);
    let tasks = call(&[
        ("a", json!([{"reply": "first"}])),
        ("b", json!([{"exit": 3}])),
    ]);
    let params = json!({
        "name": DELEGATE, "arguments": tasks, "_meta": {"progressToken": "p"}
    });
    let id = server.request("tools/call", &params);
    let answer = server.answer(id);
    let details = &answer["result"]["_meta"]["pi-subagents/details"];
    assert_eq!(details["globalStatus"], "done");
    assert_eq!(details["runs"][0]["output"], "first");
    assert_eq!(answer["result"]["isError"], false);
    assert!(rows(&stage).iter().all(|row| row["background"] == true));
    let (text, is_error) = answered(&mut server, DELEGATE, &json!({"tasks": 3}));
    assert_eq!(
        (text.as_str(), is_error),
        ("tasks must be a list, not integer `3`", true)
    );
    let misspelt = json!({"tasks": [{"name": "a", "promt": "p"}]});
    let (text, is_error) = answered(&mut server, DELEGATE, &misspelt);
    assert!(is_error && text.contains("prompt"), "{text}");
}

#[test]
fn cancelling_such_a_call_before_its_answer_stops_it() {
    for is_told in [true, false] {
        let stage = Stage::new();
        let mut server = server(&stage, &["--answer-within", "600"]);
        let id = begin(&mut server, &endless(&stage, "one"));
        let child = at_work(&stage, "one");
        if is_told {
            server.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}
            }));
        } else {
            server.running.close_stdin();
        }
        assert_eq!(wait_until_gone(&[child], PATIENCE), Ok(()));
        let status = wait_until(PATIENCE, || {
            let status = rows(&stage)[0]["status"].clone();
            (status != "running").then_some(status)
        });
        assert_eq!(status, Some(json!("stopped")));
    }
}

#[test]
fn such_calls_count_among_the_background_runs() {
    let stage = Stage::new();
    stage.settings(&json!({"maxBackground": 1}));
    let mut server = server(&stage, &["--answer-within", "600"]);
    let two = call(&[
        ("a", json!([{"reply": "first"}])),
        ("b", json!([{"reply": "second"}])),
    ]);
    let (text, is_error) = answered(&mut server, DELEGATE, &two);
    assert!(is_error);
    insta::assert_snapshot!(text, @"
    2 more background runs would exceed the limit of 1 (subagents.maxBackground): 0 running, 0 completed, 0 failed, 0 aborted
    subagent_runs lists them; wait until one has finished (action wait), or stop one (action stop).
    ");
    assert_eq!(rows(&stage), Vec::<Value>::new());
}

#[test]
fn a_client_that_is_not_known_to_be_patient_is_answered_in_time() {
    let stage = Stage::new();
    for (client, is_detached) in [
        ("my-host", true),
        ("codex-mcp-client", true),
        ("claude-code", false),
        ("Visual Studio Code", false),
    ] {
        let mut server = McpServer::introduced(&stage, &PI, client);
        let id = begin(&mut server, &call(&[("a", json!([{"reply": "done"}]))]));
        assert!(!text_and_error(&server.answer(id)).1);
        let row = rows(&stage).remove(0);
        assert_eq!(row["background"], is_detached, "{client}");
    }
}

#[test]
fn a_client_that_asks_to_wait_for_long_is_answered_in_time_too() {
    let stage = Stage::new();
    let mut server = server(&stage, &["--answer-within", "1"]);
    let mut tasks = endless(&stage, "one");
    tasks["background"] = json!(true);
    assert!(!answered(&mut server, DELEGATE, &tasks).1);
    let wait = json!({"action": "wait", "seconds": 3600});
    let (text, is_error) = answered(&mut server, RUNS, &wait);
    assert!(!is_error, "{text}");
    assert!(text.starts_with("1 of 1 are still running"), "{text}");
    let run = rows(&stage).remove(0)["runId"].clone();
    answered(&mut server, RUNS, &json!({"action": "stop", "ids": [run]}));
}

#[test]
fn a_client_sees_its_own_runs_and_those_of_others_only_if_it_asks() {
    let stage = Stage::new();
    let begun = |server: &mut McpServer, name: &str| {
        let mut tasks = waiting(&stage, name, "found it");
        tasks["background"] = json!(true);
        let (text, is_error) = answered(server, DELEGATE, &tasks);
        assert!(!is_error, "{text}");
        ready(&stage, name);
    };
    let mut first = McpServer::introduced(&stage, &PI, "host-a");
    begun(&mut first, "theirs");
    let script = waiting(&stage, "mine", "by hand")["tasks"][0]["prompt"].clone();
    let spawned = stage
        .command(&["spawn", "--runner", "pi", script.as_str().unwrap()])
        .run();
    _ = spawned.expect_success();
    ready(&stage, "mine");
    let mut other = McpServer::introduced(&stage, &PI, "host-b");
    let (none, _) = answered(&mut other, RUNS, &json!({"includeCompleted": true}));
    assert_eq!(none, "You have started none.");
    let (waited, _) = answered(&mut other, RUNS, &json!({"action": "wait"}));
    assert_eq!(waited, "None is running.");
    let (all, _) = answered(&mut other, RUNS, &json!({"all": true}));
    assert!(
        all.starts_with("All sub-agents of this project: 2 running"),
        "{all}"
    );
    let run = rows(&stage)
        .into_iter()
        .find(|row| row["name"] == "theirs")
        .unwrap();
    for action in ["stop", "steer", "output"] {
        let wish = json!({"action": action, "ids": [run["runId"]], "message": "hurry"});
        let (text, is_error) = answered(&mut other, RUNS, &wish);
        assert!(
            is_error && text.contains("among those you have started"),
            "{text}"
        );
    }
    // The same client finds its run again after it has connected anew.
    first.running.close_stdin();
    _ = first.running.wait();
    let mut again = McpServer::introduced(&stage, &PI, "host-a");
    let (own, _) = answered(&mut again, RUNS, &json!({}));
    assert!(own.starts_with("Your sub-agents: 1 running"), "{own}");
    let stop = json!({"action": "stop", "ids": [run["runId"]], "all": true});
    let (stopped, is_error) = answered(&mut other, RUNS, &stop);
    assert!(!is_error && stopped.starts_with("Stopped"), "{stopped}");
    go(&stage, "mine");
}

#[test]
fn an_answer_is_an_error_where_nothing_was_begun_and_only_there() {
    let stage = Stage::new();
    stage.sandbox.write(
        "home/.pi/agent/subagents/worker.md",
        "---\nname: worker\ndescription: Works.\nmodel: test/model\nrunner: pi\n---\nYou work.\n",
    );
    let mut server = server(&stage, &["--tools", "all"]);
    let fails = json!([{"exit": 3}]).to_string();
    for (tool, arguments, expected) in [
        ("subagent", json!({"preset": "nobody", "task": "x"}), true),
        (
            "background_agent",
            json!({"preset": "nobody", "task": "x"}),
            true,
        ),
        (
            DELEGATE,
            json!({"tasks": [{"name": "a", "prompt": "x", "profile": "nobody"}]}),
            true,
        ),
        (
            "subagent",
            json!({"preset": "worker", "task": fails}),
            false,
        ),
        (DELEGATE, call(&[("a", json!([{"exit": 3}]))]), false),
    ] {
        let (text, is_error) = answered(&mut server, tool, &arguments);
        assert_eq!(is_error, expected, "{tool}: {text}");
    }
}

#[test]
fn the_compact_tool_is_an_error_if_every_task_has_failed() {
    let stage = Stage::new();
    let mut server = server(&stage, &[]);
    let (fails, works) = (json!([{"exit": 3}]), json!([{"reply": "done"}]));
    for (tasks, expected) in [
        (vec![("a", fails.clone())], true),
        (vec![("a", fails.clone()), ("b", fails.clone())], true),
        (vec![("a", fails), ("b", works.clone())], false),
        (vec![("a", works)], false),
    ] {
        let (text, is_error) = answered(&mut server, DELEGATE, &call(&tasks));
        assert_eq!(is_error, expected, "{text}");
    }
}

#[test]
fn calls_that_are_waited_for_share_the_places_of_the_server() {
    let stage = Stage::new();
    let flags = ["--concurrency", "2", "--answer-within", "600"];
    let mut server = server(&stage, &flags);
    let task = |name: &str| waiting(&stage, name, name)["tasks"][0].clone();
    let two = json!({"tasks": [task("a"), task("b")]});
    let one = json!({"tasks": [task("c")]});
    let first = begin(&mut server, &two);
    ready(&stage, "a");
    ready(&stage, "b");
    let second = begin(&mut server, &one);
    let states = || {
        let mut states: Vec<String> = rows(&stage)
            .iter()
            .map(|row| format!("{} {}", row["name"], row["status"]))
            .collect();
        states.sort();
        (states.len() == 3).then_some(states)
    };
    let states = wait_until(PATIENCE, states).unwrap();
    assert_eq!(
        states,
        [r#""a" "running""#, r#""b" "running""#, r#""c" "queued""#]
    );
    go(&stage, "a");
    // The place of the task that ended is given to the other call, while its own goes on.
    ready(&stage, "c");
    for name in ["b", "c"] {
        go(&stage, name);
    }
    for call in [first, second] {
        assert!(!text_and_error(&server.answer(call)).1);
    }
}
