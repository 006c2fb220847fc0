//! The MCP door, driven by the official client.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::process::{descendants, exists, kill, wait_until_gone};
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::{McpClient, McpServer, PATIENCE, at_work, endless, outputs};
use crate::stage::{Stage, call};

const DELEGATE: &str = "delegate_to_subagents";
const RUNS: &str = "subagent_runs";
const PI: [&str; 2] = ["--runner", "pi"];
const ALL: [&str; 4] = ["--runner", "pi", "--tools", "all"];

fn session_of(answer: &Value) -> &str {
    answer["details"]["sessionIds"][0].as_str().unwrap()
}

#[test]
fn answers_are_in_the_answer_as_far_as_there_is_room() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    let long = "ä".repeat(30_000);
    let tasks = call(&[
        ("a", json!([{"reply": "found it"}])),
        ("b", json!([{"reply": long}])),
        ("c", json!([{"reply": long}])),
    ]);
    client.call("a", DELEGATE, &tasks);
    let answer = client.answer("a");
    let text = answer["text"][0].as_str().unwrap();
    assert!(
        text.contains("\n\n## a\n\nfound it\n\n## b\n\nää"),
        "{text}"
    );
    let share = (20_000 - "found it".len()) / 2;
    let sessions = answer["details"]["sessionIds"].as_array().unwrap();
    let last = sessions[2].as_str().unwrap();
    let rest = format!(
        "! These are {share} of 30000 characters; subagent_runs with action output and ids [\"{last}\"] and offset {share} reads on."
    );
    assert!(text.ends_with(&rest), "{}", &text[text.len() - 300..]);
    let all = answer.to_string().chars().count();
    assert!(all < 50_000, "{all} characters");
    let rest = json!({"action": "output", "ids": [last], "offset": 20_000});
    client.call("rest", RUNS, &rest);
    let text = client.answer("rest")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.starts_with('ä') && text.ends_with("(characters 20000 to 30000 of 30000)"));
    client.call("whole", RUNS, &json!({"action": "output", "ids": [last]}));
    let text = client.answer("whole")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let end = "(characters 0 to 20000 of 30000; offset 20000 reads on)";
    assert!(text.ends_with(end), "{}", text.chars().count());
}

#[test]
fn the_tools_of_the_seeds_bound_their_answers_too() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &ALL);
    let script = json!([{"reply": "x".repeat(30_000)}]).to_string();
    client.call("waited", "subagent", &json!({"task": script}));
    let answer = client.answer("waited");
    let length = answer["text"][0].as_str().unwrap().len();
    assert!((20_000..21_000).contains(&length), "{length}");
    let session = json!({"sessionId": answer["details"]["sessionId"]});
    client.call("read", "get_subagent_output", &session);
    let text = client.answer("read")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.ends_with("(characters 0 to 20000 of 30000; offset 20000 reads on)"));
}

#[test]
fn a_model_of_a_new_user_can_use_the_plain_sub_agent_at_once() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &ALL);
    let script = json!([{"reply": "found it"}]).to_string();
    let arguments = json!({"task": script});
    client.call("waited", "subagent", &arguments);
    let text = client.answer("waited")["text"][0].clone();
    assert!(
        text.as_str().unwrap().ends_with("---\n\nfound it"),
        "{text}"
    );
    let silent = json!({"preset": "default", "task": json!([{"exit": 7}]).to_string()});
    client.call("silent", "subagent", &silent);
    let session = client.answer("silent")["details"]["sessionId"].clone();
    let session = json!({"sessionId": session});
    client.call("read", "get_subagent_output", &session);
    assert_eq!(
        client.answer("read")["text"],
        json!(["(no text output from sub-agent)"])
    );
    client.call("background", "background_agent", &arguments);
    let started = client.answer("background");
    assert_eq!(started["details"]["preset"], "default", "{started}");
    let run = started["details"]["runId"].as_str().unwrap();
    _ = stage.command(&["wait", run]).run().expect_success();
}

#[test]
fn a_client_is_offered_one_tool_for_each_purpose() {
    let stage = Stage::new();
    let mut instructions = Vec::new();
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let mut client = McpClient::start(&stage, mode, &[]);
        let listed = client.list();
        assert_eq!(listed["protocol"], protocol);
        assert_eq!(
            listed["server"],
            json!({"name": "pi-subagents", "title": "Sub-agents", "version": env!("CARGO_PKG_VERSION")})
        );
        assert_eq!(names(&listed), [DELEGATE, RUNS, "list_subagent_profiles"]);
        // A model reads it in every conversation.
        let bytes = listed["tools"].to_string().len();
        assert!(bytes < 5_500, "{bytes} bytes");
        instructions.push(listed["instructions"].as_str().unwrap().to_owned());
        assert_eq!(client.leave().stderr, "");
    }
    assert_eq!(instructions[0], instructions[1]);
    insta::assert_snapshot!(instructions[0], @"A team of sub-agents. delegate_to_subagents gives them tasks, one or many, and answers when the work is done, or at once with background; if your client would give up on a long call, the answer comes before and names the runs. subagent_runs waits for runs, reads their answers and transcripts, stops and steers them. Delegate independent work of which only the result matters to you (reading much code, a review, a long test), or what another agent or model does better; do short things and your next step yourself. Sub-agents edit files and run commands without asking. Results come with a session id: resume continues where that sub-agent ended. When you cancel a call before it is answered, its sub-agents are stopped.");
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn only_gates_that_the_user_allows_are_offered() {
    let stage = Stage::new();
    let gate = |stage: &Stage| {
        let listed = McpClient::start(stage, "auto", &[]).list();
        let task = &listed["tools"][0]["inputSchema"]["properties"]["tasks"]["items"];
        assert_eq!(task["required"], json!(["prompt"]));
        assert_eq!(task["properties"]["outputSchema"]["type"], "object");
        task["properties"]["gate"].clone()
    };
    assert_eq!(gate(&stage), Value::Null);
    stage.settings(&json!({"gates": ["cargo test", "make check"]}));
    assert_eq!(gate(&stage)["enum"], json!(["cargo test", "make check"]));
}

#[test]
fn all_tools_are_those_of_the_command_line() {
    let stage = Stage::new();
    let ours = stage.command(&["tools", "--json", "--choices"]).run();
    let ours = ours.expect_success().json();
    let ours: Vec<Value> = ours["tools"].as_array().unwrap().clone();
    let mut client = McpClient::start(&stage, "auto", &ALL);
    let listed = client.list();
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let known = ours.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(tool["title"], known["label"], "{name}");
        let starts_runs = [
            "delegate_to_subagents",
            "subagent",
            "background_agent",
            RUNS,
        ];
        let reads = !starts_runs.contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
    }
    // This client has no result that could be merged, and answers questions with subagent_runs.
    let is_there = |tool: &&Value| tool["results"] != true && tool["questions"] != true;
    let expected = ours.iter().filter(is_there).count();
    assert_eq!(names(&listed).len(), expected);
}

#[test]
fn one_tool_starts_agents_with_models_in_the_background_too() {
    let stage = Stage::new();
    stage.profile("scout", "description: Looks around.", "Look.");
    let server = LlmServer::start(Script::new().on("look", [Turn::text("seen").gate("seen")]));
    stage.sandbox.models_json(&server.base_url());
    let mut client = McpClient::start(&stage, "auto", &["--runner", "embedded"]);
    let task = |model: &str| {
        let task = json!({"prompt": "look, please", "agent": "scout", "model": model});
        json!({"tasks": [task], "background": true})
    };
    client.call("wrong", DELEGATE, &task("gpt-99"));
    let text = client.answer("wrong")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains("There is no model \"gpt-99\""), "{text}");
    assert!(
        text.contains("Models that can be used here: fake/fake-model"),
        "{text}"
    );
    client.call("begun", DELEGATE, &task("fake/fake-model"));
    let begun = client.answer("begun");
    let text = begun["text"][0].as_str().unwrap();
    assert!(text.starts_with("Started in the background"), "{text}");
    server.release("seen");
    let run = begun["details"]["runs"][0]["runId"].clone();
    let wait = json!({"action": "wait", "ids": [run], "seconds": 60});
    client.call("wait", RUNS, &wait);
    let text = client.answer("wait")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.ends_with("seen"), "{text}");
}

#[test]
fn a_delegation_tells_its_progress_and_answers_with_text_and_details() {
    let stage = Stage::new();
    let server = LlmServer::start(
        Script::new()
            .on("quick", [Turn::text("first")])
            .on("slow", [Turn::text("second").gate("slow")]),
    );
    stage.sandbox.models_json(&server.base_url());
    let mut client = McpClient::start(&stage, "auto", &["--runner", "embedded"]);
    let tasks = json!({"tasks": [
        {"name": "a", "prompt": "quick, please"},
        {"name": "b", "prompt": "slow, please"},
    ]});
    client.follow("both", DELEGATE, &tasks);
    let half = client.wait_for(|line| line["of"] == "both" && line["progress"] == 100.0);
    assert_eq!(
        half,
        json!({"of": "both", "progress": 100.0, "total": 200.0, "message": "Sub-agents: 1 running, 1 done"})
    );
    server.release("slow");
    let answer = client.answer("both");
    assert_eq!(outputs(&answer), [("a", "first"), ("b", "second")]);
    assert_eq!(answer["details"]["globalStatus"], "done");
    assert_eq!(answer["isError"], false);
    let text = answer["text"][0].as_str().unwrap();
    insta::assert_snapshot!(stage.sandbox.normalise(text), @"
    ✓ a: completed (session: <session-1>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ b: completed (session: <session-2>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01

    ## a

    first

    ## b

    second
    ");
    let told: Vec<f64> = client
        .progress("both")
        .iter()
        .map(|told| told["progress"].as_f64().unwrap())
        .collect();
    assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
    let output = json!({"action": "output", "ids": [session_of(&answer)]});
    client.call("output", RUNS, &output);
    assert_eq!(client.answer("output")["text"], json!(["first"]));
    assert_eq!(client.leave().code, Some(0));
}

#[test]
fn progress_says_which_sub_agent_does_what() {
    let stage = Stage::new();
    let file = stage.sandbox.write("project/notes.txt", "notes\n");
    let server = LlmServer::start(Script::new().on(
        "look",
        [
            Turn::tool_call("read", json!({"path": file})),
            Turn::text("seen").gate("seen"),
        ],
    ));
    stage.sandbox.models_json(&server.base_url());
    let mut client = McpClient::start(&stage, "auto", &["--runner", "embedded"]);
    let tasks = json!({"tasks": [{"name": "scout", "prompt": "look, please"}]});
    client.follow("a", DELEGATE, &tasks);
    let told = client.wait_for(|line| {
        let message = line["message"].as_str().unwrap_or_default();
        message.starts_with("Sub-agents: 1 running · scout: read")
    });
    assert_eq!(told["total"], 100.0);
    server.release("seen");
    assert_eq!(outputs(&client.answer("a")), [("scout", "seen")]);
}

#[test]
fn a_server_that_works_nowhere_says_so_once() {
    let stage = Stage::new();
    let home = stage.sandbox.home();
    let mut server = McpServer::started_in(&stage, &PI, &home);
    let texts = ["first", "second"].map(|name| {
        let arguments = call(&[(name, json!([{"reply": "done"}]))]);
        let call = json!({"name": DELEGATE, "arguments": arguments});
        let id = server.request("tools/call", &call);
        let text = server.answer(id)["result"]["content"][0]["text"].clone();
        text.as_str().unwrap().to_owned()
    });
    assert!(texts[0].contains("which is not a project"), "{}", texts[0]);
    assert!(!texts[1].contains("which is not a project"), "{}", texts[1]);
    server.running.close_stdin();
    let stderr = server.running.wait().stderr;
    insta::assert_snapshot!(stage.sandbox.normalise(&stderr), @"! This server was started in $HOME, which is not a project: sub-agents work there, and no agents of a project are found. Set the working directory of the server in the client's configuration, start it with --cwd DIR, or give each task a cwd.");
}

#[test]
fn options_that_mean_nothing_here_are_refused() {
    let stage = Stage::new();
    for flag in ["--json", "--json-stream", "--quiet", "-q"] {
        let output = stage.command(&["mcp", flag]).run();
        assert_eq!(output.code, Some(2), "{flag}: {}", output.stderr);
    }
    let help = stage.command(&["mcp", "--help"]).run().stdout;
    assert!(
        !help.contains("--json") && !help.contains("--quiet"),
        "{help}"
    );
}

#[test]
fn who_does_not_ask_for_progress_hears_none() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "legacy", &PI);
    client.call("a", DELEGATE, &call(&[("a", json!([{"reply": "done"}]))]));
    assert_eq!(outputs(&client.answer("a")), [("a", "done")]);
    assert_eq!(client.progress("a"), Vec::<Value>::new());
}

#[test]
fn cancelling_a_call_ends_its_children_and_no_others() {
    for mode in ["legacy", "auto"] {
        let stage = Stage::new();
        let mut client = McpClient::start(&stage, mode, &PI);
        client.follow("cancelled", DELEGATE, &endless(&stage, "one"));
        let go = stage.path("go");
        let other = json!([{"waitForFile": go}, {"reply": "still here"}]);
        client.call("other", DELEGATE, &call(&[("other", other)]));
        let started = at_work(&stage, "one");
        client.cancel("cancelled");
        assert_eq!(
            client.answer("cancelled"),
            json!({"id": "cancelled", "cancelled": true})
        );
        assert_eq!(wait_until_gone(&[started], PATIENCE), Ok(()));
        fs::write(&go, "").unwrap();
        assert_eq!(outputs(&client.answer("other")), [("other", "still here")]);
        // The client got the end before the record did.
        let over = wait_until(PATIENCE, || {
            let status = stage.command(&["status", "--all", "--json"]).run().json();
            let counts = status["counts"].clone();
            (counts["running"] == 0 && counts["queued"] == 0).then_some(counts)
        });
        assert_eq!(
            over,
            Some(json!({
                "running": 0, "queued": 0, "completed": 1, "failed": 0, "stopped": 1, "total": 2,
            }))
        );
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn what_is_wrong_with_a_call_is_said_to_the_model() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    for (id, tool, arguments) in [
        ("no tasks", DELEGATE, json!({})),
        ("bad field", DELEGATE, json!({"tasks": 3})),
        (
            "unknown session",
            RUNS,
            json!({"action": "output", "ids": ["nope"]}),
        ),
        ("unknown tool", "delegate", json!({})),
    ] {
        client.call(id, tool, &arguments);
        _ = client.answer(id);
    }
    let answers = ["no tasks", "bad field", "unknown session", "unknown tool"]
        .map(|id| client.answer(id).to_string());
    insta::assert_snapshot!(answers.join("\n"), @r#"
    {"id":"no tasks","text":["tasks is missing"],"details":null,"isError":true}
    {"id":"bad field","text":["tasks must be a list, not integer `3`"],"details":null,"isError":true}
    {"id":"unknown session","text":["there is no run or session \"nope\" among those you have started\nsubagent_runs with includeCompleted lists them."],"details":null,"isError":true}
    {"id":"unknown tool","code":-32602,"message":"There is no tool delegate."}
    "#);
}

#[test]
fn arguments_are_read_as_leniently_as_everywhere() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "legacy", &PI);
    let task = json!({"name": 7, "prompt": "[{\"reply\": \"read\"}]", "timeout": "30"});
    client.call("text", DELEGATE, &json!({"tasks": task, "profile": ""}));
    assert_eq!(outputs(&client.answer("text")), [("7", "read")]);
    client.call("field", DELEGATE, &json!({"tasks": [], "profiles": "x"}));
    assert_eq!(
        client.answer("field")["text"],
        json!(["profiles is unknown; known are tasks, background"])
    );
}

#[test]
fn calls_at_once_share_the_places_of_their_owner() {
    let stage = Stage::new();
    let flags = [&PI[..], &["--concurrency", "1", "--answer-within", "0"]].concat();
    let mut client = McpClient::start(&stage, "legacy", &flags);
    let go = stage.path("go");
    let first = json!([{"touch": stage.path("ready")}, {"waitForFile": go}, {"reply": "first"}]);
    client.call("first", DELEGATE, &call(&[("a", first)]));
    wait_for_file(stage.path("ready"), PATIENCE);
    client.follow(
        "second",
        DELEGATE,
        &call(&[("b", json!([{"reply": "second"}]))]),
    );
    let waiting = client.wait_for(|line| line["of"] == "second");
    assert_eq!(waiting["message"], "Sub-agents: 1 queued");
    fs::write(go, "").unwrap();
    assert_eq!(outputs(&client.answer("first")), [("a", "first")]);
    assert_eq!(outputs(&client.answer("second")), [("b", "second")]);
}

#[test]
fn the_command_line_sees_steers_and_stops_what_a_client_has_started() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    client.call("a", DELEGATE, &endless(&stage, "one"));
    let started = at_work(&stage, "one");
    let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
    assert_eq!(
        (&row["name"], &row["status"]),
        (&json!("one"), &json!("running"))
    );
    let session = row["sessionId"].as_str().unwrap();
    _ = stage
        .command(&["steer", session, "hurry"])
        .run()
        .expect_success();
    let waiting = stage.command(&["wait", session]).spawn();
    _ = stage.command(&["stop", session]).run().expect_success();
    assert!(!exists(started));
    assert_eq!(waiting.wait().code, Some(143));
    let answer = client.answer("a");
    assert_eq!(session_of(&answer), session);
    assert_eq!(
        answer["details"]["runs"][0]["errorMessage"],
        "Stopped on request."
    );
}

#[test]
fn when_the_client_leaves_nothing_is_left() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    client.call("a", DELEGATE, &endless(&stage, "one"));
    let started = at_work(&stage, "one");
    let mut tree = descendants(client.server());
    tree.push(client.server());
    assert!(tree.contains(&started));
    assert_eq!(client.leave().code, Some(0));
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn killing_the_server_leaves_nothing() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "legacy", &PI);
    client.call("a", DELEGATE, &endless(&stage, "one"));
    _ = at_work(&stage, "one");
    let tree = descendants(client.server());
    kill(client.server(), Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn definitions_of_a_project_count_only_when_it_is_trusted() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/helper.md",
        "---\nname: helper\ndescription: Helps.\n---\n",
    );
    let mut task = call(&[("a", json!([{"reply": "helped"}]))]);
    task["profile"] = json!("helper");
    let status = |flags: &[&str]| {
        let (server, id) = calling(&stage, flags, &task);
        let answer = server.answer(id);
        let runs = &answer["result"]["_meta"]["pi-subagents/details"]["runs"];
        runs[0]["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(&[]), "failed");
    assert_eq!(status(&["--trust"]), "completed");
}

/// The server with these flags and one call.
fn calling(stage: &Stage, flags: &[&str], arguments: &Value) -> (McpServer, u32) {
    let flags = [&PI[..], flags].concat();
    let mut server = McpServer::initialized(stage, &flags, &json!({}));
    let call = json!({"name": DELEGATE, "arguments": arguments});
    let id = server.request("tools/call", &call);
    (server, id)
}

#[test]
fn a_signal_ends_the_runs_and_their_answers_are_still_sent() {
    for (signal, code, message) in [
        (Signal::TERM, 143, "Interrupted by SIGTERM."),
        (Signal::INT, 130, "Interrupted by SIGINT."),
        (Signal::HUP, 129, "Interrupted by SIGHUP."),
    ] {
        let stage = Stage::new();
        let patient = ["--answer-within", "0"];
        let (server, id) = calling(&stage, &patient, &endless(&stage, "one"));
        let started = at_work(&stage, "one");
        server.running.kill(signal);
        let output = server.running.wait();
        assert!(!exists(started));
        assert_eq!(output.code, Some(code));
        let answer = output.json_lines().pop().unwrap();
        assert_eq!(answer["id"], id);
        let runs = &answer["result"]["_meta"]["pi-subagents/details"]["runs"];
        assert_eq!(runs[0]["errorMessage"], message);
    }
}

#[test]
fn the_end_of_stdin_stops_all_runs_and_is_no_error() {
    let stage = Stage::new();
    let (mut server, _) = calling(&stage, &[], &endless(&stage, "one"));
    let started = at_work(&stage, "one");
    server.running.close_stdin();
    let output = server.running.wait();
    assert!(!exists(started));
    assert_eq!(output.code, Some(0));
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["runs"][0]["status"], "stopped");
}

#[test]
fn a_client_that_says_nothing_is_no_error() {
    let stage = Stage::new();
    let output = stage.command(&["mcp"]).run();
    assert_eq!(
        (output.code, output.stdout, output.stderr),
        (Some(0), String::new(), String::new())
    );
}

#[test]
fn whoever_does_not_speak_the_protocol_is_told_so_on_stderr() {
    let stage = Stage::new();
    let greeting = json!({"jsonrpc": "2.0", "method": "notifications/hello"});
    let output = stage.command(&["mcp"]).stdin(format!("{greeting}\n")).run();
    insta::assert_snapshot!(output, @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: could not serve the MCP client
      caused by: its first message is not one that begins a connection
    hint: This command is meant to be started by an MCP client, which talks to it over stdin and stdout.
    [EOF]
    ");
}
