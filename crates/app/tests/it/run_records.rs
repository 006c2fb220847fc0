//! The messages of a run, for people: `logs`, `session` and `export`.

use std::fs;

use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE, run_id};
use crate::stage::Stage;

/// The output of the tool: more lines than a log shows, and more characters than a model gets.
const PRINTED: &str = "seq -f 'line %g' 1 30; printf '%0600d' 7; exit 3";

/// A session of one run of the scripted model, which thinks, calls a tool that fails, and answers
/// with Markdown that never closes its fence.
fn recorded() -> (Stage, String) {
    let stage = Stage::new();
    let script = json!({"rules": [{"turns": [
        {
            "thinking": "Perhaps the lamp is out.",
            "text": "Looking.",
            "toolCalls": [{"name": "bash", "arguments": {"command": PRINTED}}],
        },
        {"text": "# Done\n\n```sh\nlamp --on"},
    ]}]});
    let script = stage.sandbox.write("script.json", &script.to_string());
    let preset = format!(
        "---\nname: scout\ndescription: Looks.\nmodel: scripted/{}\nrunner: embedded\n---\nLook.\n",
        script.display()
    );
    stage
        .sandbox
        .write("home/.pi/agent/subagents/scout.md", &preset);
    let run = stage.command(&["run", "scout", "Where is the lamp?", "--json"]);
    _ = run.run().expect_success();
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    let session = status["runs"][0]["sessionId"].as_str().unwrap().to_owned();
    (stage, session)
}

fn read(stage: &Stage, arguments: &[&str]) -> String {
    let output = stage.command(arguments).run().expect_success();
    assert_eq!(output.stderr, "");
    stage.sandbox.normalise(&output.stdout)
}

#[test]
fn a_log_tells_what_was_done() {
    let (stage, session) = recorded();
    insta::assert_snapshot!(read(&stage, &["logs", &session]));
    let all = read(&stage, &["logs", &session]);
    let last: Vec<&str> = all.lines().rev().take(3).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    let tail = read(&stage, &["logs", &session, "--tail", "3"]);
    assert_eq!(tail.lines().collect::<Vec<_>>(), last);
}

#[test]
fn a_session_is_whole_unless_it_shall_be_short() {
    let (stage, session) = recorded();
    let whole = read(&stage, &["session", &session]);
    let result = format!("{}7", "0".repeat(599));
    assert!(whole.contains(PRINTED), "{whole}");
    assert!(
        whole.contains("line 30\n") && whole.contains(&result),
        "{whole}"
    );
    insta::assert_snapshot!(whole.replace(&result, "<600 characters>"));
    let short = read(&stage, &["session", &session, "--short"]);
    assert!(
        !short.contains("Perhaps") && !short.contains(&result),
        "{short}"
    );
    assert!(short.contains("line 30\n0000"), "{short}");
}

#[test]
fn a_session_as_json_has_its_messages() {
    let (stage, session) = recorded();
    let json = stage.command(&["session", &session, "--json"]).run().json();
    assert_eq!(json["sessionId"], json!(session));
    let run = &json["runs"][0];
    assert_eq!(
        (&run["name"], &run["status"]),
        (&json!("scout"), &json!("completed"))
    );
    let mut messages = run["messages"].as_array().unwrap().clone();
    for message in &mut messages {
        for varying in ["usage", "model"] {
            let fields = message.as_object_mut().unwrap();
            fields.remove(varying);
        }
        shorten(message);
    }
    let messages = stage.sandbox.normalise(&format!("{:#}", json!(messages)));
    insta::assert_snapshot!(messages);
}

/// Replaces the parts that only this call of a tool has.
fn shorten(message: &mut Value) {
    if message.get("callId").is_some() {
        message["callId"] = json!("<call>");
    }
    let is_result = message["role"] == "toolResult";
    for part in message["parts"].as_array_mut().unwrap() {
        if part.get("id").is_some() {
            part["id"] = json!("<call>");
        }
        if is_result {
            part["text"] = json!("…");
        }
    }
}

#[test]
fn an_exported_session_is_one_markdown_file_that_is_not_overwritten() {
    let (stage, session) = recorded();
    let file = format!("subagent-{session}.md");
    let export = |arguments: &[&str]| {
        let command = stage.command(&["export", &session]).args(arguments);
        command.run()
    };
    let written = export(&["--markdown"]).expect_success();
    let path = stage.sandbox.project().join(&file);
    assert_eq!(written.stdout, format!("{}\n", path.display()));
    let page = fs::read_to_string(&path).unwrap();
    let normal = stage.sandbox.normalise(&page);
    let times = without_times(&normal);
    insta::assert_snapshot!(times);
    let again = export(&["--markdown"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{again}");
    assert!(again.stderr.contains("--force"), "{again}");
    _ = export(&["--markdown", "--force"]).expect_success();
    let printed = export(&["--markdown", "--output", "-"]).expect_success();
    assert_eq!(printed.stdout, page);
    assert_eq!(export(&[]).code, Some(2));
}

/// Replaces times of day at the end of headings and summaries.
fn without_times(page: &str) -> String {
    let lines = page.lines().map(|line| {
        let is_time = |part: &str| part.len() == 8 && part.matches(':').count() == 2;
        let end = line.strip_suffix("</summary>").unwrap_or(line);
        match end.rsplit_once(", ") {
            Some((begin, time)) if is_time(time) => line.replace(end, &format!("{begin}, <time>")),
            _ if line.starts_with("- **Started:**") => "- **Started:** <time>".to_owned(),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_log_is_followed_to_the_end_of_its_run() {
    let stage = BackgroundStage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let run = run_id(&stage.spawn(&json!([
        {"touch": ready}, {"waitForFile": go}, {"reply": "found it"},
    ])));
    wait_for_file(&ready, PATIENCE);
    let following = stage.command(&["logs", &run, "-f"]).spawn();
    following.wait_for_stdout("  started    a pi process\n");
    fs::write(&go, "").unwrap();
    let output = following.wait().expect_success();
    let log = stage.normalise(&output.stdout);
    assert!(log.contains("<time>  assistant  found it\n"), "{log}");
    let last = log.lines().last().unwrap();
    assert!(last.starts_with("<time>  completed  "), "{log}");
    // Without -f the output is the same, and nobody waits.
    let told = stage.command(&["logs", &run]).run().expect_success().stdout;
    assert_eq!(told, output.stdout);
}

#[test]
fn a_reader_that_leaves_and_an_unknown_run_are_told_apart() {
    let (stage, session) = recorded();
    let unknown = stage.command(&["logs", "nobody"]).run();
    assert_eq!(unknown.code, Some(3), "{unknown}");
    for command in ["logs", "session"] {
        let program = env!("CARGO_BIN_EXE_pi-subagents");
        let script = format!("{program} {command} {session} | head -n 1; exit ${{PIPESTATUS[0]}}");
        let shell = stage.sandbox.command(std::path::Path::new("/bin/bash"));
        let left = shell.args(["-c", &script]).run();
        assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""), "{left}");
    }
}
