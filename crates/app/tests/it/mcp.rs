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
const PI: [&str; 2] = ["--runner", "pi"];

fn session_of(answer: &Value) -> &str {
    answer["details"]["sessionIds"][0].as_str().unwrap()
}

/// Returns the parameters that tools have only at this door.
fn added(tool: &str) -> Vec<(&str, Value)> {
    let number =
        |least: u32, text: &str| json!({"type": "integer", "minimum": least, "description": text});
    match tool {
        "delegate_to_subagents" => vec![(
            "includeOutputs",
            json!({"type": "boolean", "description": "Also return what each sub-agent answered."}),
        )],
        "get_subagent_output" | "get_subagent_session" => vec![
            ("offset", number(0, "The first character to return.")),
            ("limit", number(1, "How many characters to return.")),
        ],
        _ => Vec::new(),
    }
}

#[test]
fn answers_come_with_outputs_or_in_parts_where_that_is_wanted() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    let mut arguments = call(&[("a", json!([{"reply": "found it"}]))]);
    arguments["includeOutputs"] = json!(true);
    client.call("a", DELEGATE, &arguments);
    let answer = client.answer("a");
    let text = answer["text"][0].as_str().unwrap();
    assert!(text.ends_with("\n\n## a\n\nfound it"), "{text}");
    let part = json!({"sessionId": session_of(&answer), "offset": 6, "limit": 1});
    client.call("part", "get_subagent_output", &part);
    assert_eq!(
        client.answer("part")["text"],
        json!(["i\n\n(characters 6 to 7 of 8; offset 7 reads on)"])
    );
}

#[test]
fn a_model_of_a_new_user_can_use_the_plain_sub_agent_at_once() {
    let stage = Stage::new();
    let mut client = McpClient::start(&stage, "auto", &PI);
    let script = json!([{"reply": "found it"}]).to_string();
    let arguments = json!({"preset": "default", "task": script});
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
fn a_client_lists_the_same_tools_as_the_command_line() {
    let stage = Stage::new();
    let ours = stage.command(&["tools", "--json", "--choices"]).run();
    let ours = ours.expect_success().json();
    let tools = ours["tools"].as_array().unwrap().iter();
    // This client has no result that could be merged.
    let tools = tools.filter(|tool| tool["results"] != true);
    let expected: Vec<Value> = tools
        .map(|tool| {
            let starts_runs = ["delegate_to_subagents", "subagent", "background_agent"]
                .contains(&tool["name"].as_str().unwrap());
            let description = tool["description"].as_str().unwrap();
            // A client gets no message about an end.
            let description = description.replace(
                "Do not poll for its end.",
                "subagent_runs waits for its end.",
            );
            let choices = tool["choices"].as_str();
            let choices = choices.map_or(String::new(), |choices| format!(" {choices}"));
            let description = description + &choices;
            let mut schema = tool["parameters"].clone();
            for (field, added) in added(tool["name"].as_str().unwrap()) {
                schema["properties"][field] = added;
            }
            json!({
                "name": tool["name"],
                "title": tool["label"],
                "description": description,
                "inputSchema": schema,
                "annotations": {
                    "readOnlyHint": !starts_runs,
                    "destructiveHint": starts_runs,
                    "idempotentHint": !starts_runs,
                    "openWorldHint": starts_runs,
                },
            })
        })
        .collect();
    let mut instructions = Vec::new();
    for (mode, protocol) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let mut client = McpClient::start(&stage, mode, &[]);
        let listed = client.list();
        assert_eq!(listed["protocol"], protocol);
        assert_eq!(
            listed["server"],
            json!({"name": "pi-subagents", "title": "Sub-agents", "version": env!("CARGO_PKG_VERSION")})
        );
        let mut tools = listed["tools"].as_array().unwrap().clone();
        let runs = tools.pop().unwrap();
        assert_eq!(runs["name"], "subagent_runs");
        assert_eq!(tools, expected);
        let bytes = listed["tools"].to_string().len();
        assert!(bytes < 10_500, "{bytes} bytes");
        instructions.push(listed["instructions"].as_str().unwrap().to_owned());
        assert_eq!(client.leave().stderr, "");
    }
    assert_eq!(instructions[0], instructions[1]);
    insta::assert_snapshot!(instructions[0], @"These tools give you a team of sub-agents. Each works in a process of its own with its own context, tools and working directory, and several work at once. Delegate what can be described without this conversation: pieces of work that need nothing from each other, work of which only the result matters to you (reading much code, long logs, a review), or what a definition or another model does better. Do short things yourself. A sub-agent sees the prompt and the files you name, nothing else. delegate_to_subagents and subagent answer when the work is done, which may take minutes; background_agent answers at once. subagent_runs lists what is at work, waits for it, stops and steers it. Results come with a session id; keep it, because with it you read the whole answer later or continue where that sub-agent ended. When you cancel a call before it is answered, its sub-agents are stopped and nothing of them is left running.");
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
    let half = client.wait_for(|line| line["of"] == "both" && line["progress"] == 1.0);
    assert_eq!(
        half,
        json!({"of": "both", "progress": 1.0, "total": 2.0, "message": "Sub-agents: 1 running, 1 done"})
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
    ");
    let told: Vec<f64> = client
        .progress("both")
        .iter()
        .map(|told| told["progress"].as_f64().unwrap())
        .collect();
    assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
    let session = json!({"sessionId": session_of(&answer)});
    client.call("output", "get_subagent_output", &session);
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
    assert_eq!(told["total"], 1.0);
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
    assert!(texts[0].contains("which is no project"), "{}", texts[0]);
    assert!(!texts[1].contains("which is no project"), "{}", texts[1]);
    server.running.close_stdin();
    let stderr = server.running.wait().stderr;
    insta::assert_snapshot!(stage.sandbox.normalise(&stderr), @"! This server was started in $HOME, which is no project: sub-agents work there, and no definitions of a project are found. Set the working directory of the server in the client's configuration, start it with --cwd DIR, or give each task a cwd.");
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
                "running": 0, "queued": 0, "completed": 1, "failed": 0, "aborted": 1, "total": 2,
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
            "get_subagent_output",
            json!({"sessionId": "nope"}),
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
    {"id":"unknown session","text":["Session \"nope\" not found. The session may have expired or the ID is incorrect.\nsubagent_runs with includeCompleted lists the runs you have started."],"details":null,"isError":true}
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
        json!(["profiles is unknown; did you mean profile?"])
    );
}

#[test]
fn calls_at_once_share_the_places_of_their_owner() {
    let stage = Stage::new();
    let flags = [&PI[..], &["--concurrency", "1"]].concat();
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
        let (server, id) = calling(&stage, &[], &endless(&stage, "one"));
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
    assert_eq!(status["runs"][0]["status"], "aborted");
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
