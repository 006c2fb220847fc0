//! The answer of a delegation, in the documented shape.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, answer_text, call};

/// Replaces the parts that differ from run to run.
fn steady(stage: &Stage, mut window: Value) -> Value {
    for field in ["startedAt", "completedAt"] {
        assert!(window[field].is_i64(), "{field}: {window}");
        window[field] = json!("<time>");
    }
    let text = stage.sandbox.normalise(&window.to_string());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn details_hold_the_windows_as_data() {
    let stage = Stage::new();
    stage.sandbox.write("project/a.txt", "one\n");
    let script = json!([
        {"toolCall": {"name": "ls", "arguments": {"path": "src"}, "result": "a.rs\nlib/", "isError": false}},
        {"reply": "All \u{1b}[31mfine\u{1b}[0m."}
    ]);
    let output = stage
        .delegate_with_details(&json!({"tasks": [
            {"name": "look", "prompt": script.to_string(), "files": ["a.txt"], "timeout": 30},
            {"name": "bad", "prompt": "x", "cwd": "relative"},
        ]}))
        .run();
    let answer = output.json();
    let details = answer.clone();
    assert_eq!(details["maxLinesPerWindow"], 15);
    assert_eq!(details["globalStatus"], "done");
    let windows = details["windows"].as_array().unwrap();
    // Only a line that does not look as its kind usually does has spans.
    let call = json!({"text": "ls → src", "kind": "tool"});
    let counted = "  1 file, 1 dir";
    let spans = json!([{"text": counted, "role": "added"}]);
    let result = json!({"text": counted, "kind": "tool", "spans": spans});
    let listed = ["  a.rs", "  lib/"].map(|text| json!({"text": text, "kind": "tool"}));
    let said = json!({"text": "All fine.", "kind": "text"});
    let mut window = windows[0].clone();
    // Its clock depends on the speed of the machine.
    let header = window["header"].as_array_mut().unwrap();
    header.pop();
    let header = std::mem::take(header);
    assert_eq!(
        header,
        [
            json!({"text": "✓", "role": "success"}),
            json!({"text": " ", "role": "plain"}),
            json!({"text": "look", "role": "title"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "fake/fake-model", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "0 tools", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "1 file", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "1 tool call", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "220 tokens", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
            json!({"text": "<$0.01", "role": "muted"}),
            json!({"text": " • ", "role": "muted"}),
        ]
    );
    assert_eq!(
        steady(&stage, window),
        json!({
            "header": [],
            "name": "look",
            "sessionId": "<session-1>",
            "status": "completed",
            "provider": "fake",
            "model": "fake-model",
            "lines": [call, result, said],
            "allMessages": [call, result, listed[0], listed[1], said],
            "exitCode": 0,
            "stopReason": "stop",
            "startedAt": "<time>",
            "completedAt": "<time>",
            "timeout": 30,
            "toolCount": 0,
            "fileCount": 1,
        })
    );
    assert_eq!(windows[1]["status"], "error");
    assert_eq!(windows[1]["exitCode"], 1);
    assert!(windows[1]["startedAt"].is_i64(), "{}", windows[1]);
    assert_eq!(windows[1]["errorMessage"], "cwd must be an absolute path");
}

#[test]
fn a_window_tells_profile_thinking_tools_and_progress() {
    let stage = Stage::new();
    stage.profile(
        "reviewer",
        "model: fake/asked\nthinkingLevel: high\ntools: read,ls",
        "You review.",
    );
    let tools = json!([{"name": "read"}, {"name": "ls"}]);
    let todos = json!({"todos": [{"status": "completed"}, {"status": "pending"}]});
    let script = json!([
        {"record": {"type": "message_end", "message": {"role": "system", "content": "", "sections": {"cwd": "<cwd>/</cwd>"}, "toolsAdded": tools}}},
        {"toolCall": {"name": "write_todos", "arguments": todos, "result": "ok"}},
        {"stderr": "careful\n"},
        {"say": "Done."},
        {"settle": true}
    ]);
    let task = json!({"name": "look", "prompt": script.to_string(), "profile": "reviewer"});
    let output = stage
        .delegate_with_details(&json!({"tasks": [task]}))
        .run()
        .expect_success();
    let answer = output.json();
    let mut window = answer["windows"][0].clone();
    let header: String = window["header"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|span| span["text"].as_str())
        .collect();
    assert_eq!(
        header.rsplit_once(" • ").unwrap().0,
        "✓ look • reviewer (fake/fake-model high) • 2 tools • 1 tool call • 220 tokens • <$0.01 • [1/2]"
    );
    let texts = |field: &str| -> Vec<Value> {
        let lines = window[field].as_array().unwrap().iter();
        let mut texts: Vec<Value> = lines.map(|line| line["text"].clone()).collect();
        // Lines from two pipes come in any order.
        texts.sort_by_key(Value::to_string);
        texts
    };
    let said = [
        "Done.",
        "[stderr]: careful",
        "write_todos → 2 todos written",
    ];
    assert_eq!(texts("lines"), said);
    let all = [&["  ok"], said.as_slice()].concat();
    assert_eq!(texts("allMessages"), all);
    let fields = window.as_object_mut().unwrap();
    for drawn in ["header", "lines", "allMessages"] {
        fields.remove(drawn);
    }
    assert_eq!(
        steady(&stage, window),
        json!({
            "name": "look",
            "sessionId": "<session-1>",
            "status": "completed",
            "profileName": "reviewer",
            "profileInfo": "profile: reviewer, model=fake/asked, thinking=high, custom-system-prompt, tools=[read,ls]",
            "provider": "fake",
            "model": "fake-model",
            "thinkingLevel": "high",
            "exitCode": 0,
            "stopReason": "stop",
            "startedAt": "<time>",
            "completedAt": "<time>",
            "timeout": 600,
            "toolCount": 2,
            "fileCount": 0,
            "todoTotal": 2,
            "todoCompleted": 1,
        })
    );
}

#[test]
fn the_summary_has_one_line_per_task_with_its_profile_in_brackets() {
    let stage = Stage::new();
    for name in ["web", "style"] {
        stage.sandbox.write(
            &format!("home/.pi/agent/skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: about {name}\n---\nDo it.\n"),
        );
    }
    for (name, fields, body) in [
        ("bare", "", ""),
        (
            "full",
            "provider: fake\nmodel: large\nthinkingLevel: xhigh\nappendSystemPrompt: Be brief.\ntools: [read, ls]\nsuggestedSkills: web\nloadSkills: style",
            "You are.",
        ),
        ("provider", "provider: fake\nexcludeTools: bash, write", ""),
        ("nothing", "noTools: true\ntools: read", ""),
        ("quiet", "thinkingLevel: off\nappendSystemPrompt: Hush.", ""),
    ] {
        stage.profile(name, fields, body);
    }
    let reply = json!([{"reply": "ok"}]).to_string();
    let failing =
        json!([{"modelError": "first line\n\n  second\tline"}, {"settle": true}]).to_string();
    let task = |profile: &str| json!({"name": profile, "prompt": reply, "profile": profile});
    let output = stage
        .delegate_with_details(&json!({"tasks": [
            {"name": "none", "prompt": reply},
            task("bare"),
            task("full"),
            task("provider"),
            task("nothing"),
            task("quiet"),
            {"name": "fails", "prompt": failing, "profile": "bare"},
            {"name": "日本\n👩‍👩‍👧", "prompt": failing},
        ]}))
        .run();
    insta::assert_snapshot!(answer_text(&stage, &output.json()), @r#"
    ✓ none: completed (session: <1>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ bare: completed (session: <2>) (profile: bare)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ full: completed (session: <3>) (profile: full, model=large, thinking=xhigh, custom-system-prompt, appended-system-prompt, tools=[read,ls], suggestedSkills=[web], loadSkills=[style])
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✗ provider: error — Profile "provider" names the provider "fake" and no model, and the default model is not of that provider. Add "model: ID" to $SANDBOX/home/.pi/agent/agent-profiles/provider.md. (session: <4>) (profile: provider, provider=fake, excludeTools=[bash,write])
    ✓ nothing: completed (session: <5>) (profile: nothing, no-tools)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✓ quiet: completed (session: <6>) (profile: quiet, thinking=off, appended-system-prompt)
      saw: no tool call, 1 turn, 110 tokens, <$0.01
    ✗ fails: error — first line second line (session: <7>) (profile: bare)
      saw: no tool call, 0 turns, 1 failed request
    ✗ 日本 👩‍👩‍👧: error — first line second line (session: <8>)
      saw: no tool call, 0 turns, 1 failed request
    "#);
}

#[test]
fn an_expanded_window_shows_whole_calls_and_whole_texts() {
    let stage = Stage::new();
    let command = format!("echo {}\necho second", "x".repeat(300));
    let said = "word ".repeat(1_000);
    let script = json!([
        {"toolCall": {"name": "bash", "arguments": {"command": command}, "result": "ok"}},
        {"reply": said}
    ]);
    let output = stage.delegate_with_details(&call(&[("a", script)])).run();
    let window = output.json()["windows"][0].clone();
    let texts = |lines: &Value| -> Vec<String> {
        let lines = lines.as_array().unwrap().iter();
        lines
            .map(|line| line["text"].as_str().unwrap().to_owned())
            .collect()
    };
    let (newest, all) = (texts(&window["lines"]), texts(&window["allMessages"]));
    assert!(newest[0].chars().count() <= 160, "{newest:?}");
    assert!(newest[1].len() < said.len(), "{newest:?}");
    assert_eq!(
        all,
        [
            format!("bash → echo {}", "x".repeat(300)),
            "     │ echo second".to_owned(),
            "  ok".to_owned(),
            said.trim_end().to_owned()
        ]
    );
}

#[test]
fn what_is_wrong_with_the_file_of_a_definition_is_in_the_answer() {
    let stage = Stage::new();
    stage.profile("thinker", "thinkingLevel: very", "");
    let task =
        json!({"name": "a", "prompt": json!([{"reply": "ok"}]).to_string(), "profile": "thinker"});
    let output = stage.delegate_with_details(&json!({"tasks": [task]})).run();
    let answer = output.json();
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("\n! "), "{text}");
    assert!(text.contains("thinkingLevel"), "{text}");
}
