//! Going on where a run ended.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, for_each_pi};
use crate::stage::{Stage, asked};

for_each_pi! {
    the_real_pi_is_told_the_same,
}

fn first_session(answer: &Value) -> String {
    answer["runs"][0]["sessionId"].as_str().unwrap().to_owned()
}

/// Makes the only run of the index one that began when the clock was far ahead.
fn date_ahead(stage: &Stage) {
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let text = fs::read_to_string(&index).unwrap();
    let begin: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let ahead = text
        .replace(begin["run"].as_str().unwrap(), "20990101-000000-000-aaaaaa")
        .replace(
            begin["acceptedAt"].as_str().unwrap(),
            "2099-01-01T00:00:00Z",
        )
        .replace(&begin["sequence"].to_string(), "4070908800000");
    // The directory has the name of the run.
    let directory = begin["directory"].as_str().unwrap();
    let renamed = directory.replace(begin["run"].as_str().unwrap(), "20990101-000000-000-aaaaaa");
    fs::rename(directory, renamed).unwrap();
    fs::write(index, ahead).unwrap();
}

#[test]
fn turns_keep_their_order_when_the_clock_is_set_back() {
    let stage = Stage::new();
    let answers = ["one", "two", "three"].map(Turn::text);
    let server = LlmServer::start(Script::new().otherwise(answers));
    stage.sandbox.models_json(&server.base_url());
    let first = stage
        .command(&[
            "delegate", "--task", "a=first", "--runner", "embedded", "--json",
        ])
        .run()
        .expect_success();
    let session = first_session(&first.json());
    date_ahead(&stage);
    for prompt in ["second", "third"] {
        _ = stage
            .command(&["resume", &session, prompt, "--runner", "embedded"])
            .run()
            .expect_success();
    }
    let requests = server.requests();
    let asked = asked(&requests[requests.len() - 1].body);
    let places: Vec<_> = ["first", "one", "second", "two", "third"]
        .map(|words| asked.find(words).unwrap_or_else(|| panic!("{asked}")))
        .into();
    assert!(places.is_sorted(), "{asked}");
    let output = stage.command(&["output", &session]).run();
    assert_eq!(output.expect_success().stdout, "three\n");
}

#[test]
fn a_resumed_run_gets_the_transcript_and_transcripts_do_not_nest() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/notes.txt", "remember the milk");
    let server = LlmServer::start(
        Script::new()
            .on(
                "first",
                [
                    Turn::tool_call("read", json!({"path": "notes.txt"})).thinking("hm"),
                    Turn::text("It says milk."),
                ],
            )
            .otherwise([Turn::text("second answer"), Turn::text("third answer")]),
    );
    stage.sandbox.models_json(&server.base_url());
    let first = stage
        .command(&[
            "delegate",
            "--task",
            "reader=first: read the notes",
            "--runner",
            "embedded",
            "--json",
        ])
        .run()
        .expect_success();
    let session = first_session(&first.json());
    for prompt in ["and now?", "and then?"] {
        _ = stage
            .command(&["resume", &session, prompt, "--runner", "embedded"])
            .run()
            .expect_success();
    }
    let requests = server.requests();
    assert_eq!(
        asked(&requests[requests.len() - 1].body),
        "\
Previously:

--- Run 1 (completed, 4 messages) ---
User: first: read the notes
Tool Call: read({\"path\":\"notes.txt\"})
Tool Result: remember the milk
Assistant: It says milk.

--- Run 2 (completed, 2 messages) ---
User: and now?
Assistant: second answer

Instructions:

and then?"
    );
    let transcript = stage.command(&["session", &session]).run();
    insta::assert_snapshot!(transcript, @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    === Run 1/3: reader (completed) ===
    [<time>] prompt
    first: read the notes

    [<time>] thinking
    hm

    [<time>] tool call of read
    {"path":"notes.txt"}

    [<time>] result of read
    remember the milk

    [<time>] assistant
    It says milk.

    [<time>] completed
    1 tool call • 220 tokens • <$0.01 • <duration>

    === Run 2/3: reader (completed) ===
    [<time>] prompt
    and now?

    [<time>] assistant
    second answer

    [<time>] completed
    110 tokens • <$0.01 • <duration>

    === Run 3/3: reader (completed) ===
    [<time>] prompt
    and then?

    [<time>] assistant
    third answer

    [<time>] completed
    110 tokens • <$0.01 • <duration>
    [EOF]
    --- stderr
    [EOF]
    "#);
    assert_eq!(
        stage.command(&["output", &session]).run().stdout,
        "third answer\n"
    );
}

#[test]
fn a_resumed_run_has_the_directory_and_the_profile_of_the_earlier_one() {
    let stage = Stage::new();
    stage.profile("reviewer", "model: fake/large", "You review.");
    let sub = stage.sandbox.write("project/sub/a.txt", "");
    let sub = sub.parent().unwrap();
    let first = json!({"tasks": [
        {"name": "a", "prompt": json!([{"reply": "ok"}]).to_string(), "profile": "reviewer", "cwd": sub},
    ]});
    let first = stage.delegate(&first).run().expect_success();
    let session = first_session(&first.json());
    let resumed = stage
        .command(&["resume", &session, "go on", "--runner", "pi", "--json"])
        .arg("--details")
        .run();
    let window = &resumed.json()["windows"][0];
    assert_eq!(window["profileName"], "reviewer");
    let directory = resumed.json()["runs"][0]["directory"].clone();
    let meta = fs::read_to_string(format!("{}/meta.json", directory.as_str().unwrap())).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta["cwd"], json!(sub));
    assert_eq!(meta["model"], "fake/large");
}

#[test]
fn a_resumed_run_has_the_model_and_the_kind_of_child_that_the_earlier_call_named() {
    let stage = Stage::new();
    let script = stage.sandbox.write(
        "script.json",
        r#"{"rules": [{"turns": [{"text": "scripted"}]}]}"#,
    );
    let model = format!("scripted/{}", script.display());
    let first = [
        "delegate", "--task", "a=hi", "--json", "--runner", "embedded",
    ];
    let first = stage.command(&first).args(["--model", &model]).run();
    let session = first_session(&first.expect_success().json());
    // Nothing else here has a model, and `auto` would take another kind of child.
    let resumed = stage
        .command(&["resume", &session, "go on", "--json"])
        .run()
        .expect_success();
    let run = &resumed.json()["runs"][0];
    assert_eq!(run["output"], "scripted");
    let other = [
        "resume",
        &session,
        "go on",
        "--json",
        "--model",
        "scripted/none",
    ];
    let refused = stage.command(&other).run();
    assert_eq!(refused.code, Some(1), "{refused}");
}

#[test]
fn with_the_setting_the_child_continues_its_own_session() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("one"), Turn::text("two")]));
    stage.sandbox.models_json(&server.base_url());
    let settings = stage.sandbox.agent_dir().join("settings.json");
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    value["subagents"] = json!({"resume": "session", "runner": "embedded"});
    fs::write(&settings, value.to_string()).unwrap();
    let first = stage
        .command(&["delegate", "--task", "a=first prompt", "--json"])
        .run()
        .expect_success();
    let session = first_session(&first.json());
    _ = stage
        .command(&["resume", &session, "second", "prompt"])
        .run()
        .expect_success();
    let requests = server.requests();
    let roles: Vec<Value> = requests[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(asked(&requests[1].body), "second prompt");
    assert_eq!(&roles[1..], ["user", "assistant", "user"]);
}

/// Returns the prompt of a child that goes on with `earlier` answered prompts.
fn grown_prompt(earlier: usize, prompt: &str) -> String {
    let runs: Vec<String> = (1..=earlier)
        .map(|n| format!("--- Run {n} (completed, 2 messages) ---\nUser: step {n}\nAssistant: ok"))
        .collect();
    format!(
        "Previously:\n\n{}\n\nInstructions:\n\n{prompt}",
        runs.join("\n\n")
    )
}

#[test]
fn seven_resumes_grow_the_prompt_by_seven_prompts() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    stage.sandbox.write("project/notes.txt", "milk\n");
    let first = json!({"tasks": [{"name": "a", "prompt": "step 1", "files": ["notes.txt"]}]});
    let first = stage.delegate_to("embedded", &first).run().expect_success();
    let session = first_session(&first.json());
    for step in 2..=8 {
        let call = json!({"tasks": [{
            "name": "a", "prompt": format!("step {step}"), "resume": session, "files": ["notes.txt"],
        }]});
        let resumed = stage.delegate_to("embedded", &call).run().expect_success();
        assert_eq!(first_session(&resumed.json()), session);
    }
    let requests = server.requests();
    let told: Vec<String> = requests
        .iter()
        .map(|request| asked(&request.body))
        .collect();
    let with_files = |prompt: String| format!("=== notes.txt ===\nmilk\n\n{prompt}");
    let expected: Vec<String> = std::iter::once("step 1".to_owned())
        .chain((1..8).map(|earlier| grown_prompt(earlier, &format!("step {}", earlier + 1))))
        .map(with_files)
        .collect();
    assert_eq!(told, expected);
}

fn the_real_pi_is_told_the_same(pi: RealPi) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let delegate = |task: Value| {
        let output = stage
            .delegate(&json!({"tasks": [task]}))
            .env("PI_SUBAGENTS_PI", pi.program())
            .run()
            .expect_success();
        first_session(&output.json())
    };
    let session = delegate(json!({"name": "a", "prompt": "step 1"}));
    delegate(json!({"name": "a", "prompt": "/step 2", "resume": session}));
    let third = delegate(json!({"name": "b", "prompt": "/not a command"}));
    assert_ne!(third, session);
    let requests = server.requests();
    let told: Vec<String> = requests
        .iter()
        .map(|request| asked(&request.body))
        .collect();
    assert_eq!(
        told,
        [
            "step 1".to_owned(),
            grown_prompt(1, "/step 2"),
            "\n/not a command".to_owned(),
        ]
    );
}

#[test]
fn a_run_that_was_refused_is_told_with_its_error_and_transcripts_do_not_nest() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("done"); 4]));
    stage.sandbox.models_json(&server.base_url());
    let ask = |tasks: serde_json::Value| {
        let output = stage
            .delegate_to("embedded", &json!({ "tasks": tasks }))
            .run();
        first_session(&output.json())
    };
    // Beside a task that begins, a refused one is recorded.
    let session = ask(json!([
        {"name": "a", "prompt": "one", "profile": "nobody"},
        {"name": "b", "prompt": "other"},
    ]));
    for prompt in ["two", "three"] {
        stage.sandbox.write("project/notes.txt", "the notes");
        let resumed =
            json!({"name": "a", "prompt": prompt, "resume": session, "files": "notes.txt"});
        assert_eq!(ask(json!([resumed])), session);
    }
    let requests = server.requests();
    assert_eq!(
        asked(&requests[requests.len() - 1].body),
        "\
=== notes.txt ===
the notes

Previously:

--- Run 1 (error, 0 messages) ---
[Error: Unknown profile: \"nobody\". Available profiles: (none)]

--- Run 2 (completed, 2 messages) ---
User: two
Assistant: done

Instructions:

three"
    );
}

/// Returns the gate and the data of the run of an answer.
fn terms(answer: &Value) -> (Value, Value) {
    let run = &answer["runs"][0];
    (
        run["receipt"]["gate"]["command"].clone(),
        run["structured"].clone(),
    )
}

#[test]
fn a_session_goes_on_with_the_gate_and_the_schema_it_had_unless_the_call_changes_them() {
    let stage = Stage::new();
    let report = json!({"status": "SUCCESS", "result": {"n": 1}});
    let reports = (0..8).map(|_| Turn::tool_call("subagent_finalize", report.clone()));
    let server = LlmServer::start(Script::new().otherwise(reports));
    stage.sandbox.models_json(&server.base_url());
    let schema = stage
        .sandbox
        .write("project/schema.json", r#"{"type": "object"}"#);
    let schema = schema.display().to_string();
    let expected = (json!("true"), json!({"n": 1}));
    for begin in [vec!["run", "first"], vec!["delegate", "--task", "a=first"]] {
        let options = [
            "--gate",
            "true",
            "--output-schema",
            &schema,
            "--runner",
            "embedded",
            "--json",
        ];
        let first = stage.command(&[&begin[..], &options].concat()).run();
        assert_eq!(terms(&first.json()), expected, "{first}");
        let second = stage.command(&["resume", "last", "second", "--json"]).run();
        assert_eq!(terms(&second.json()), expected, "{second}");
        let third = stage
            .command(&["resume", "last", "third", "--no-gate", "--json"])
            .run();
        assert_eq!(
            terms(&third.json()),
            (Value::Null, json!({"n": 1})),
            "{third}"
        );
        // A run inherits the terms that the latest call has changed.
        let fourth = stage.command(&["resume", "last", "fourth", "--json"]).run();
        assert_eq!(
            terms(&fourth.json()),
            (Value::Null, json!({"n": 1})),
            "{fourth}"
        );
    }
}

#[test]
fn limits_are_inherited_and_the_printed_command_raises_them() {
    let stage = Stage::new();
    let call = |tool: &str, arguments: Value| Turn::tool_call(tool, arguments);
    let quick = || call("ls", json!({"path": "."}));
    // The owner hears of a turn while its call is under way.
    let long = || call("bash", json!({"command": "sleep 60"}));
    let turns = [quick(), long(), quick(), long(), quick(), quick()];
    let turns = turns.into_iter().chain([Turn::text("done")]);
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    let run = ["run", "look", "--runner", "embedded", "--max-tokens", "150"];
    let first = stage.command(&run).run();
    assert_eq!(first.code, Some(1), "{first}");
    let again = stage.command(&["resume", "last", "Go on"]).run();
    let used = "Used up 220 of at most 150 tokens.";
    assert!(again.stderr.contains(used), "{again}");
    let line = again.stderr.lines().find(|line| line.contains("resume"));
    let (_, pasted) = line.unwrap().split_once("pi-subagents ").unwrap();
    let (before, limit) = pasted.split_once(r#" "Go on""#).unwrap();
    assert_eq!(limit, " --max-tokens 440", "{again}");
    let words = before.split(' ').chain(["Go on"]);
    let words: Vec<&str> = words.chain(limit.split_whitespace()).collect();
    let last = stage.command(&words).run();
    assert_eq!(last.expect_success().stdout, "done\n");
}

#[test]
fn a_gate_that_is_inherited_is_told_as_often_as_before() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("done")]));
    stage.sandbox.models_json(&server.base_url());
    let run = ["run", "look", "--runner", "embedded", "--gate", "false"];
    let first = stage.command(&run).args(["--gate-retries", "0"]).run();
    let second = stage.command(&["resume", "last", "Go on"]).run();
    for ended in [first, second] {
        let why = "The gate `false` failed: exit 1.";
        assert!(ended.stderr.contains(why), "{ended}");
    }
    assert_eq!(server.requests().len(), 2);
}
