//! One call in which nearly everything goes wrong: each fault is its own task's, and is reported.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::{bin, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, answer_text, outcomes};

/// The definitions, the model and the settings of the call.
fn stage_for_faults(server: &LlmServer) -> Stage {
    let stage = Stage::new();
    stage.sandbox.models_json(&server.base_url());
    stage.settings(&json!({"extend_timeout_debounce": 0}));
    for (name, fields) in [
        ("skilled", "loadSkills: no-such-skill"),
        ("sneaky", "extraArgs: [--mode=json]"),
        (
            "small",
            "runner: embedded\nmodel: fake/fake-model\ntools: read",
        ),
    ] {
        stage.profile(name, fields, "");
    }
    stage
}

/// Returns a child that makes a file, waits for another file, and answers.
fn waiting(stage: &Stage, name: &str) -> Value {
    let script = json!([
        {"touch": stage.path(name)},
        {"waitForFile": stage.path("go")},
        {"reply": "fine"}
    ]);
    json!({"name": name, "prompt": script.to_string()})
}

#[test]
fn sixteen_tasks_of_which_eleven_fail_each_in_its_own_way() {
    let server = LlmServer::start(
        Script::new()
            .on_every("provoke", [Turn::status(400, "no such deployment")])
            .otherwise([Turn::text("ok")]),
    );
    let stage = stage_for_faults(&server);
    // The real child under a name that can be taken away while the call runs.
    let pi = stage.sandbox.root().join("pi");
    symlink(bin("misbehave"), &pi).unwrap();
    // Other results each time: with equal ones it would be told before it is stopped.
    let again = |result: &str| {
        let call = json!({"name": "bash", "arguments": {"command": "ls"}, "result": result});
        json!({"toolCall": call})
    };
    let mut loops: Vec<Value> = ["a", "b", "c", "d", "e"].map(again).to_vec();
    loops.push(json!({"hang": true}));
    let scripted = |name: &str, script: Value| json!({"name": name, "prompt": script.to_string()});
    let with = |name: &str, field: &str, value: &str| json!({"name": name, "prompt": "hello", field: value});
    let silent = json!([{"hang": true}]).to_string();
    let late = ["twelve", "thirteen", "fourteen", "fifteen"];
    let mut tasks = vec![
        with("unknown profile", "profile", "nobody"),
        with("unknown skill", "profile", "skilled"),
        with("relative cwd", "cwd", "src"),
        with("missing directory", "cwd", "/no/such/place"),
        with("refused extraArgs", "profile", "sneaky"),
        scripted("loops", json!(loops)),
        json!({"name": "silent", "prompt": silent, "timeout": 5}),
        scripted("exits", json!([{"stderr": "out of luck\n"}, {"exit": 3}])),
        scripted("killed", json!([{"signal": "SEGV"}])),
        json!({"name": "provider", "prompt": "provoke it", "profile": "small"}),
        json!({"name": "eleven", "prompt": "hello", "profile": "small"}),
    ];
    tasks.extend(late.map(|name| waiting(&stage, name)));
    // In a call with needs, no process starts ahead of its turn.
    tasks.push(json!({"name": "missing program", "prompt": "never", "needs": ["eleven"]}));
    let running = stage
        .command(&["delegate", "-", "--json", "--concurrency", "4"])
        .env("PI_SUBAGENTS_PI", &pi)
        .stdin(json!({"tasks": tasks}).to_string())
        .spawn();
    // These four have all places, so everything before them is over and the last one waits.
    for name in late {
        wait_for_file(stage.path(name), Duration::from_mins(1));
    }
    fs::remove_file(&pi).unwrap();
    stage.sandbox.write("go", "");
    let output = running.wait();
    assert_eq!(output.code, Some(4), "{output}");
    let answer = output.json();
    insta::assert_snapshot!(answer_text(&stage, &answer), @r#"
    ✗ unknown profile: error — Unknown profile: "nobody". Available profiles: skilled, small, sneaky (session: <1>)
    ✗ unknown skill: error — Unknown skills: "no-such-skill". Available skills: (none) (session: <2>) (profile: skilled, loadSkills=[no-such-skill])
    ✗ relative cwd: error — cwd must be an absolute path (session: <3>)
    ✗ missing directory: error — cwd does not exist: /no/such/place (session: <4>)
    ✗ refused extraArgs: error — Refusing extraArg "--mode=json": it is set by the engine. (session: <5>) (profile: sneaky)
    ✗ loops: error — Loop detected: sub-agent is repeating the same tool calls bash ls ×5 (session: <6>)
      saw: 5 commands, 5 turns, 5 tool calls, 550 tokens, <$0.01
    ✗ silent: error — Timed out after 5s. Consider resuming with a longer timeout. (session: <7>)
    ✗ exits: error — The sub-agent exited with code 3: out of luck (session: <8>)
    ✗ killed: error — The sub-agent was killed by SIGSEGV. (session: <9>)
    ✗ provider: error — 400: no such deployment (session: <10>) (profile: small, model=fake/fake-model, tools=[read], sandbox=read-only)
      saw: no tool call, 0 turns, 1 failed request
    ✓ eleven: completed (session: <11>) (profile: small, model=fake/fake-model, tools=[read], sandbox=read-only)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ twelve: completed (session: <12>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ thirteen: completed (session: <13>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ fourteen: completed (session: <14>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ fifteen: completed (session: <15>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✗ missing program: error — Failed to spawn sub-agent process: $SANDBOX/pi: No such file or directory (os error 2) (session: <16>)
    "#);
    let statuses: Vec<String> = outcomes(&output)
        .into_iter()
        .map(|run| run.status)
        .collect();
    let expected = [vec!["failed"; 10], vec!["completed"; 5], vec!["failed"]].concat();
    assert_eq!(statuses, expected);
}
