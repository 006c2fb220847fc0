//! The run directory is the record, and a run completes without one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, outcomes};

fn directory_of(answer: &Value) -> PathBuf {
    PathBuf::from(answer["runs"][0]["directory"].as_str().unwrap())
}

fn names_and_modes(directory: &Path) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            format!("{mode:o} {}", entry.file_name().to_string_lossy())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_run_leaves_its_whole_record_readable_by_its_user_only() {
    let stage = Stage::new();
    let output = stage
        .delegate(&call(&[(
            "a",
            json!([{"print": "not a record\n"}, {"stderr": "careful\n"}, {"reply": "hello"}]),
        )]))
        .run();
    let directory = directory_of(&output.json());
    assert_eq!(
        directory.parent().unwrap(),
        stage.sandbox.project().join(".pi/subagents/runs")
    );
    assert_eq!(
        names_and_modes(&directory),
        [
            "600 events.jsonl",
            "600 meta.json",
            "600 result.json",
            "600 stderr.log",
            "600 stdout.log",
            "600 transcript.log",
        ]
    );
    let mode = fs::metadata(&directory).unwrap().permissions().mode() & 0o777;
    assert_eq!(format!("{mode:o}"), "700");
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    assert_eq!(read("stdout.log"), "not a record\n");
    assert_eq!(read("stderr.log"), "careful\n");
    assert!(read("transcript.log").ends_with("hello\n"));
    let ignore = directory.parent().unwrap().join(".gitignore");
    assert_eq!(fs::read_to_string(ignore).unwrap(), "*\n");
}

/// Returns the events of a record, each with the time before it or in it.
fn events_with_times(record: &str) -> Vec<(String, Value)> {
    let mut time = String::new();
    let mut events = Vec::new();
    for line in record.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if let Some(at) = event["at"].as_str() {
            time = milliseconds(at);
        }
        if event["type"] != "run_at" {
            events.push((time.clone(), event));
        }
    }
    events
}

/// The same time, written with three digits behind the second.
fn milliseconds(at: &str) -> String {
    let at: pi_subagents_vocabulary::Timestamp = at.parse().unwrap();
    format!("{at:.3}")
}

#[test]
fn events_have_the_same_times_live_and_in_the_record() {
    let stage = Stage::new();
    let script = json!([{"say": "one"}, {"sleepMs": 3}, {"say": "two"}, {"reply": "three"}]);
    let output = stage
        .command(&["delegate", "-", "--runner", "pi", "--json-stream"])
        .stdin(call(&[("a", script)]).to_string())
        .run()
        .expect_success();
    let mut lines = output.json_lines();
    let answer = lines.pop().unwrap();
    let live: Vec<(String, Value)> = lines
        .into_iter()
        .map(|line| {
            (
                line["at"].as_str().unwrap().to_owned(),
                line["event"].clone(),
            )
        })
        .collect();
    let run = answer["runs"][0]["runId"].as_str().unwrap();
    let record = stage.command(&["events", run]).run().expect_success();
    assert_eq!(events_with_times(&record.stdout), live);
}

#[test]
fn a_project_that_cannot_be_written_to_keeps_its_runs_under_the_agent_directory() {
    let stage = Stage::new();
    // A file in the way stops root too, where permissions would not.
    stage.sandbox.write("project/.pi", "in the way");
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run();
    assert_eq!(outcomes(&output), [completed("a", "hello")]);
    let directory = directory_of(&output.json());
    assert!(directory.starts_with(stage.sandbox.agent_dir().join("subagents/runs")));
}

#[test]
fn without_any_place_for_a_record_the_run_completes_and_says_so() {
    let stage = Stage::new();
    stage.sandbox.write("project/.pi", "in the way");
    let agent_dir = stage.sandbox.write("home/agent-file", "in the way");
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .env("PI_CODING_AGENT_DIR", &agent_dir)
        .env_remove("XDG_RUNTIME_DIR")
        .run();
    assert_eq!(outcomes(&output), [completed("a", "hello")]);
    let answer = output.json();
    let warnings = answer["warnings"].as_array().unwrap();
    let warning = warnings
        .iter()
        .filter_map(|warning| warning.as_str())
        .find(|warning| warning.starts_with("a: this run has no record: could not write"))
        .unwrap_or_else(|| panic!("{warnings:?}"));
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains(&format!("! {warning}")), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_stops_the_record_and_not_the_run() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let go = stage.path("go");
    let running = stage
        .delegate(&call(&[(
            "a",
            json!([{"touch": ready}, {"waitForFile": go}, {"messages": {"count": 100, "bytes": 2000}}, {"reply": "hello"}]),
        )]))
        .spawn();
    pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let directory = fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    fs::create_dir(directory.join("transcript.log")).unwrap();
    fs::write(go, "").unwrap();
    let output = running.wait();
    assert_eq!(outcomes(&output), [completed("a", "hello")]);
    let answer = output.json();
    let text = answer["text"].as_str().unwrap();
    assert_eq!(
        stage.sandbox.normalise(text),
        "\
✓ a: completed (session: <session-1>)
  saw: no tool call, 101 turns, 11k tokens, $0.05
! a: could not write $PROJECT/.pi/subagents/runs/<run-1>/transcript.log: Is a directory (os error 21)"
    );
}

#[test]
fn the_index_can_be_lost_and_a_torn_line_is_tolerated() {
    let stage = Stage::new();
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run();
    let answer = output.json();
    let session = answer["runs"][0]["sessionId"].as_str().unwrap();
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    fs::remove_file(&index).unwrap();
    let events = directory_of(&answer).join("events.jsonl");
    let mut torn = fs::read(&events).unwrap();
    torn.extend_from_slice(b"{\"type\":\"message_end\",\"message\":{\"role\":\"assis");
    fs::write(&events, torn).unwrap();
    let read = stage.command(&["output", session]).run();
    assert_eq!((read.code, read.stdout.as_str()), (Some(0), "hello\n"));
    let broken = fs::read_to_string(&index).unwrap() + "not json\n{\"run\":";
    fs::write(&index, broken).unwrap();
    assert_eq!(stage.command(&["output", session]).run().code, Some(0));
}

#[test]
fn the_user_can_say_where_runs_are_kept() {
    let stage = Stage::new();
    stage.settings(&json!({"runsDir": "~/my-runs"}));
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run()
        .expect_success();
    let answer = output.json();
    let directory = directory_of(&answer);
    assert_eq!(
        directory.parent().unwrap(),
        stage.sandbox.home().join("my-runs")
    );
    assert!(!stage.sandbox.project().join(".pi").exists());
    fs::remove_file(stage.sandbox.agent_dir().join("subagents-index.jsonl")).unwrap();
    let session = answer["runs"][0]["sessionId"].as_str().unwrap();
    let read = stage.command(&["output", session]).run().expect_success();
    assert_eq!(read.stdout, "hello\n");
}

#[test]
fn a_torn_index_line_hides_no_run() {
    let stage = Stage::new();
    let run = |name: &str| {
        _ = stage
            .delegate(&call(&[(name, json!([{"reply": "x"}]))]))
            .run()
            .expect_success();
    };
    run("first");
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let torn = fs::read_to_string(&index).unwrap() + "{\"run\":\"2026";
    fs::write(&index, torn).unwrap();
    run("second");
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["completed"], 2);
}

#[test]
fn a_run_whose_directory_was_removed_does_not_run_for_ever() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let owner = stage
        .delegate(&call(&[("a", json!([{"touch": ready}, {"hang": true}]))]))
        .spawn();
    pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
    owner.kill(pi_subagents_testkit::Signal::KILL);
    _ = owner.wait_for_exit();
    fs::remove_dir_all(stage.sandbox.project().join(".pi")).unwrap();
    let status = stage.command(&["status", "--json"]).run().json();
    assert_eq!(status["counts"]["running"], 0);
    assert_eq!(status["counts"]["stopped"], 1);
}

#[test]
fn a_run_whose_owner_was_killed_lasted_until_its_last_sign_of_life() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let owner = stage
        .delegate(&call(&[("a", json!([{"touch": ready}, {"hang": true}]))]))
        .spawn();
    pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let mut entries = fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let directory = entries.find(|path| path.is_dir()).unwrap();
    let events = directory.join("events.jsonl");
    let look = || {
        let said = fs::read(&events).ok()?;
        Some((said, fs::metadata(&events).ok()?.modified().ok()?))
    };
    // No more words come, and time goes by.
    let mut before = look();
    let sign = wait_until(Duration::from_mins(1), || {
        let now = look();
        match (&before, &now) {
            (Some(earlier), Some(later)) if earlier.0 == later.0 && earlier.1 < later.1 => {
                Some(later.1)
            }
            _ => {
                before = now;
                None
            }
        }
    });
    let sign = sign.unwrap();
    owner.kill(pi_subagents_testkit::Signal::KILL);
    _ = owner.wait_for_exit();
    _ = stage.command(&["status"]).run().expect_success();
    let result = fs::read_to_string(directory.join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    let ended_at = result["endedAt"].as_str().unwrap();
    let ended_at: pi_subagents_vocabulary::Timestamp = ended_at.parse().unwrap();
    let sign: pi_subagents_vocabulary::Timestamp = sign.try_into().unwrap();
    // Times are written in milliseconds.
    assert!(
        ended_at.as_millisecond() >= sign.as_millisecond(),
        "{ended_at} {sign:?}"
    );
}

#[test]
fn the_socket_of_an_owner_that_was_killed_is_removed_and_no_other() {
    let stage = Stage::new();
    let begin = |name: &str| {
        let ready = stage.path(name);
        let script = json!([{"touch": ready}, {"hang": true}]);
        let owner = stage.delegate(&call(&[(name, script)])).spawn();
        pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
        owner
    };
    let (killed, living) = (begin("killed"), begin("living"));
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let sockets: Vec<PathBuf> = fs::read_to_string(&index)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| PathBuf::from(line["owner"]["socket"].as_str().unwrap()))
        .collect();
    assert!(sockets.iter().all(|socket| socket.exists()), "{sockets:?}");
    killed.kill(pi_subagents_testkit::Signal::KILL);
    _ = killed.wait_for_exit();
    _ = stage.command(&["status"]).run().expect_success();
    let left: Vec<bool> = sockets.iter().map(|socket| socket.exists()).collect();
    assert_eq!(left, [false, true]);
    _ = stage.command(&["stop", "--all"]).run().expect_success();
    assert_eq!(living.wait().code, Some(143));
}

#[test]
fn a_project_that_was_moved_keeps_its_runs() {
    let stage = Stage::new();
    stage.sandbox.write("project/sub/notes.txt", "");
    let script = json!([{"reply": "hello"}]).to_string();
    let task = json!({"name": "a", "prompt": script, "cwd": stage.path("project/sub")});
    let answer = stage.delegate(&json!({"tasks": [task]})).run();
    let answer = answer.expect_success().json();
    let session = answer["runs"][0]["sessionId"].as_str().unwrap();
    let moved = stage.sandbox.root().join("elsewhere");
    fs::rename(stage.sandbox.project(), &moved).unwrap();
    fs::create_dir(stage.sandbox.project()).unwrap();
    let there = |arguments: &[&str]| stage.command(arguments).cwd(&moved).run();
    assert_eq!(
        there(&["output", session]).expect_success().stdout,
        "hello\n"
    );
    let arguments = ["resume", session, &script, "--runner", "pi", "--json"];
    let resumed = there(&arguments).expect_success().json();
    let directory = directory_of(&resumed);
    assert!(directory.starts_with(&moved), "{directory:?}");
    let meta = fs::read_to_string(directory.join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta["cwd"], json!(moved.join("sub")));
    let listed = there(&["status", "--all", "--json"]).json();
    assert_eq!(listed["counts"]["completed"], 2, "{listed}");
    // A second look finds nothing more to enter.
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let before = fs::read_to_string(&index).unwrap();
    _ = there(&["status", "--all"]).expect_success();
    assert_eq!(fs::read_to_string(&index).unwrap(), before);
}

/// A session of three runs, and the directory of each.
fn three_runs(stage: &Stage) -> (String, Vec<PathBuf>) {
    let script = |said: &str| json!([{"reply": said}]).to_string();
    let first = stage
        .delegate(&call(&[("a", json!([{"reply": "one"}]))]))
        .run();
    let first = first.expect_success().json();
    let session = first["runs"][0]["sessionId"].as_str().unwrap();
    let mut directories = vec![directory_of(&first)];
    for said in ["two", "three"] {
        let resumed = stage
            .command(&["resume", session, &script(said), "--runner", "pi", "--json"])
            .run();
        directories.push(directory_of(&resumed.expect_success().json()));
    }
    (session.to_owned(), directories)
}

#[test]
fn a_record_that_is_gone_is_named_and_hides_nothing_else() {
    let stage = Stage::new();
    let (session, directories) = three_runs(&stage);
    let lost = directories[0].file_name().unwrap().to_str().unwrap();
    fs::remove_dir_all(&directories[0]).unwrap();
    let read = |command: &str, id: &str| stage.command(&[command, id]).run();
    insta::assert_snapshot!(read("output", &session), @"
    --- exit code
    0
    [EOF]
    --- stdout
    three
    [EOF]
    --- stderr
    ! the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist
    [EOF]
    ");
    insta::assert_snapshot!(read("session", &session), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    === Run 1/2: a (completed) ===
    [<time>] prompt
    [{"reply":"two"}]

    [<time>] assistant
    two

    [<time>] completed
    110 tokens • <$0.01 • <duration>

    === Run 2/2: a (completed) ===
    [<time>] prompt
    [{"reply":"three"}]

    [<time>] assistant
    three

    [<time>] completed
    110 tokens • <$0.01 • <duration>
    [EOF]
    --- stderr
    ! the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist
    [EOF]
    "#);
    insta::assert_snapshot!(read("output", lost), @"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist
    [EOF]
    ");
    insta::assert_snapshot!(read("events", lost), @"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist
    [EOF]
    ");
    let events = read("events", &session).expect_success();
    assert!(events.stdout.contains(r#""text":"two""#), "{events}");
    assert!(events.stderr.contains("is gone"), "{events}");
    let following = stage.command(&["events", lost, "--follow"]).run();
    assert_eq!(following.code, Some(3), "{following}");
    let script = json!([{"reply": "four"}]).to_string();
    let resume = |id: &str| {
        let arguments = ["resume", id, &script, "--runner", "pi"];
        stage.command(&arguments).run()
    };
    insta::assert_snapshot!(resume(&session), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    four
    [EOF]
    --- stderr
    ! a: the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist; the sub-agent is not told what was said in it
    a  started, session <session-1>
    a  four
    a  ✓ completed after <duration>
    ✓ a: completed (session: <session-1>) • 110 tokens • <$0.01 • <duration>
      saw: no tool call, 1 turn

    Continue it:  pi-subagents resume <session-1> "PROMPT"
    [EOF]
    "#);
    insta::assert_snapshot!(resume(lost), @"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the record of run <run-1> is gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist
    [EOF]
    ");
    for directory in &directories[1..] {
        fs::remove_dir_all(directory).unwrap();
    }
    insta::assert_snapshot!(read("session", &session), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    [<time>] prompt
    [{"reply":"four"}]

    [<time>] assistant
    four

    [<time>] completed
    110 tokens • <$0.01 • <duration>
    [EOF]
    --- stderr
    ! the records of 3 runs are gone or cannot be read: <run-1>, <run-2>, <run-3>
    [EOF]
    "#);
    let status = stage.sandbox.normalise(&read("status", lost).stdout);
    insta::assert_snapshot!(status.lines().nth(1).unwrap(), @"   record      gone: $PROJECT/.pi/subagents/runs/<run-1> does not exist");
}

#[test]
fn a_record_that_is_spoilt_is_named_with_its_file_and_the_reason() {
    let stage = Stage::new();
    let (_, directories) = three_runs(&stage);
    let read = |command: &str, directory: &Path| {
        let id = directory.file_name().unwrap().to_str().unwrap();
        stage.command(&[command, id]).run()
    };
    let record_line = |directory: &Path| {
        let status = read("status", directory).expect_success().stdout;
        let status = stage.sandbox.normalise(&status);
        let mut lines = status.lines();
        lines
            .find(|line| line.starts_with("   record"))
            .unwrap()
            .to_owned()
    };
    fs::write(directories[0].join("meta.json"), "{\"format\":1,").unwrap();
    insta::assert_snapshot!(read("output", &directories[0]), @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the record of run <run-1> cannot be read: $PROJECT/.pi/subagents/runs/<run-1>/meta.json: EOF while parsing a value at line 1 column 12
    [EOF]
    ");
    insta::assert_snapshot!(record_line(&directories[0]), @"   record      cannot be read: $PROJECT/.pi/subagents/runs/<run-1>/meta.json: EOF while parsing a value at line 1 column 12");
    let meta = fs::read_to_string(directories[1].join("meta.json")).unwrap();
    let renamed = meta.replacen("\"runId\": \"", "\"runId\": \"../../", 1);
    assert_ne!(renamed, meta);
    fs::write(directories[1].join("meta.json"), renamed).unwrap();
    insta::assert_snapshot!(record_line(&directories[1]), @r#"   record      cannot be read: $PROJECT/.pi/subagents/runs/<run-2>/meta.json: "../../<run-2>" is not an id: it must have 1 to 64 letters, digits, "_" or "-""#);
    // The events still have the answer of a run whose result is spoilt.
    fs::write(directories[2].join("result.json"), "").unwrap();
    insta::assert_snapshot!(read("output", &directories[2]), @"
    --- exit code
    0
    [EOF]
    --- stdout
    three
    [EOF]
    --- stderr
    ! the record of run <run-3> is incomplete: could not read $PROJECT/.pi/subagents/runs/<run-3>/result.json: EOF while parsing a value at line 1 column 0
    [EOF]
    ");
    insta::assert_snapshot!(record_line(&directories[2]), @"   record      cannot be read: $PROJECT/.pi/subagents/runs/<run-3>/result.json: EOF while parsing a value at line 1 column 0");
}

#[test]
fn a_run_whose_last_line_in_the_index_is_torn_has_ended_and_can_be_removed() {
    let stage = Stage::new();
    let answer = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run()
        .json();
    let run = answer["runs"][0]["runId"].as_str().unwrap();
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let whole = fs::read(&index).unwrap();
    fs::write(&index, &whole[..whole.len() - 37]).unwrap();
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["running"], 0, "{status}");
    assert_eq!(status["counts"]["completed"], 1, "{status}");
    let cleaned = stage.command(&["clean", run]).run().expect_success();
    assert!(cleaned.stdout.starts_with("removed 1 run"), "{cleaned}");
}

#[test]
fn a_record_whose_events_are_torn_is_called_damaged_and_its_answer_is_printed() {
    let stage = Stage::new();
    let answer = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run()
        .json();
    let run = answer["runs"][0]["runId"].as_str().unwrap();
    let events = directory_of(&answer).join("events.jsonl");
    let whole = fs::read(&events).unwrap();
    fs::write(&events, &whole[..whole.len() / 3]).unwrap();
    let output = stage.command(&["output", run]).run();
    assert_eq!(output.stdout.trim(), "hello", "{output}");
    assert!(
        output.stderr.contains("events.jsonl is damaged"),
        "{output}"
    );
}
