//! The entries that pi's session keeps of runs, and the runs that a session knows.

use std::fs;

use pi_subagents_testkit::{Signal, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::{PATIENCE, Shim};
use crate::stage::Stage;

/// The entries the host has sent, as pi gives them back.
fn entries(shim: &Shim) -> Vec<Value> {
    shim.notifications("entry/append")
}

/// Returns the entries of runs that are over.
fn ends(shim: &Shim) -> Vec<Value> {
    let mut ends = entries(shim);
    ends.retain(|entry| entry["customType"] == "pi-subagents");
    ends
}

fn not_found(id: &str) -> Result<String, String> {
    Err(format!(
        "Session \"{id}\" not found. The session may have expired or the ID is incorrect."
    ))
}

/// An entry of a run that has no record any more.
fn old_entry(session: &str, status: &str, started_at: u64, answer: &str) -> Value {
    json!({"customType": "pi-subagents", "data": {
        "runId": format!("run-{started_at}"), "sessionId": session, "taskName": "old task", "prompt": "do it", "status": status,
        "exitCode": 0, "startedAt": started_at, "model": "m", "stopReason": "stop",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "do it"}], "timestamp": 1},
            {"role": "assistant", "content": [{"type": "text", "text": answer}], "timestamp": 1},
        ],
    }})
}

#[test]
fn a_run_leaves_one_entry_when_it_ends() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let long = "x".repeat(5_000);
    let script = json!([
        {"toolCall": {"name": "read", "arguments": {"path": "a"}, "result": long}},
        {"reply": "done"},
    ]);
    let bad = json!({"tasks": [
        {"name": "good", "prompt": script.to_string()},
        {"name": "bad", "prompt": "p", "profile": "nobody"},
    ]});
    let id = shim.execute("c1", "delegate_to_subagents", &bad);
    _ = shim.result(id);
    let mut entries = ends(&shim);
    entries.sort_by_key(|entry| entry["data"]["taskName"].to_string());
    for entry in &mut entries {
        for time in ["startedAt", "endedAt"] {
            assert!(entry["data"][time].as_i64() > Some(1_700_000_000_000));
            entry["data"][time] = 1.into();
        }
    }
    let text = serde_json::to_string_pretty(&entries).unwrap();
    let text = text
        .replace(&long, "<long>")
        .replace(&long[..2_000], "<cut>");
    insta::assert_snapshot!(stage.sandbox.normalise(&text));
    // Pi has the entries before the answer.
    let heard = shim.messages();
    let place = |is_it: &dyn Fn(&Value) -> bool| heard.iter().rposition(is_it);
    let last_entry = place(&|message| message["method"] == "entry/append");
    assert!(last_entry < place(&|message| message["id"] == id));
}

#[test]
fn a_session_is_rebuilt_from_its_entries_and_a_new_one_knows_nothing() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let session = shim.delegated("one", json!([{"reply": "from before"}]));
    let kept = entries(&shim);
    shim.session_shutdown();
    assert_eq!(shim.output(&session), not_found(&session));
    shim.session_start("new", "s2", &kept);
    assert_eq!(shim.output(&session), not_found(&session));
    let resumed = json!({"tasks": [{"name": "again", "prompt": "p", "resume": session}]});
    let id = shim.execute("c2", "delegate_to_subagents", &resumed);
    assert_eq!(
        shim.response(id)["error"]["message"],
        format!(
            "Cannot resume: session \"{session}\" not found. The session may have expired or the ID is incorrect."
        )
    );
    shim.session_shutdown();
    // Pi reports it twice if it replaces a session.
    shim.session_start("resume", "s1", &kept);
    shim.session_start("resume", "s1", &kept);
    assert_eq!(shim.output(&session), Ok("from before".to_owned()));
    assert_eq!(shim.output(&session[..8]), Ok("from before".to_owned()));
    let run = kept[0]["data"]["runId"].as_str().unwrap();
    assert_eq!(shim.output(run), Ok("from before".to_owned()));
    assert_eq!(shim.completions("subagents", "show ").len(), 1);
    shim.hang_up();

    // Another host, as after a restart of pi; and another after that on another machine.
    let mut shim = Shim::start_unasked(&stage);
    shim.session_start("startup", "s1", &kept);
    assert_eq!(shim.output(&session), Ok("from before".to_owned()));
    fs::remove_dir_all(stage.sandbox.project().join(".pi/subagents/runs")).unwrap();
    assert_eq!(shim.output(&session), Ok("from before".to_owned()));
    shim.hang_up();
    fs::remove_file(stage.sandbox.agent_dir().join("subagents-index.jsonl")).unwrap();
    let mut shim = Shim::start_unasked(&stage);
    shim.session_start("fork", "s3", &kept);
    assert_eq!(
        shim.read("get_subagent_session", &session),
        Ok("from before".to_owned())
    );
    let id = shim.execute(
        "c1",
        "delegate_to_subagents",
        &json!({"tasks": [{
            "name": "again", "resume": session,
            "prompt": json!([{"reply": "went on"}]).to_string(),
        }]}),
    );
    _ = shim.result(id);
    assert_eq!(shim.output(&session), Ok("went on".to_owned()));
    let whole = shim.read("get_subagent_session", &session).unwrap();
    assert!(
        whole.starts_with("=== Run 1/2 (completed) ===\n"),
        "{whole}"
    );
}

#[test]
fn entries_of_runs_without_a_record_stale_ones_and_broken_ones() {
    let stage = Stage::new();
    let mut shim = Shim::start_unasked(&stage);
    let broken = [
        json!({"customType": "pi-subagents"}),
        json!({"customType": "pi-subagents", "data": null}),
        json!({"customType": "pi-subagents", "data": {"sessionId": 5}}),
        json!({"customType": "pi-subagents", "data": {"sessionId": "../x", "taskName": "t", "status": "completed"}}),
        json!({"customType": "pi-subagents", "data": {"sessionId": "n", "taskName": "t", "status": "completed"}}),
        json!({"customType": "pi-subagents", "data": {"sessionId": "m", "taskName": "t", "status": "completed", "messages": 5}}),
        json!({"customType": "other", "data": {"sessionId": "o", "taskName": "t", "status": "completed"}}),
        json!({"data": {}}),
        json!(7),
    ];
    let mut all = broken.to_vec();
    all.push(old_entry(
        "aaaa",
        "completed",
        1_700_000_000_000,
        "old answer",
    ));
    all.push(old_entry(
        "aaaa",
        "error",
        1_700_000_001_000,
        "second answer",
    ));
    all.push(old_entry("bbbb", "running", 1_700_000_002_000, "half"));
    // The first implementation has written no ids of runs.
    for (status, started_at) in [("completed", 1), ("error", 2)] {
        let mut first = old_entry("cccc000011112222", status, started_at, "from long ago");
        first["data"].as_object_mut().unwrap().remove("runId");
        all.push(first);
    }
    shim.session_start("startup", "s1", &all);
    assert_eq!(shim.output("aaaa"), Ok("second answer".to_owned()));
    assert_eq!(
        shim.read("get_subagent_session", "aaaa"),
        Ok("=== Run 1/2 (completed) ===\nold answer\n---\n\
            === Run 2/2 (error) ===\nsecond answer\n[Error: The sub-agent failed.]"
            .to_owned())
    );
    assert_eq!(
        shim.read("get_subagent_session", "cccc000011112222"),
        Ok("=== Run 1/2 (completed) ===\nfrom long ago\n---\n\
            === Run 2/2 (error) ===\nfrom long ago\n[Error: The sub-agent failed.]"
            .to_owned())
    );
    let id = shim.execute("c1", "get_subagent_session", &json!({"sessionId": "bbbb"}));
    let result = shim.result(id);
    assert_eq!(
        result["details"],
        json!({
            "sessionId": "bbbb", "status": "error", "taskName": "old task", "runCount": 1,
            "maxLines": 15, "messageCount": 2, "exitCode": 0, "model": null,
        })
    );
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("[Error: Session was interrupted (main agent session ended unexpectedly)]"),
        "{text}"
    );
    for id in ["m", "n", "o", "x"] {
        assert_eq!(shim.output(id), not_found(id));
    }
}

#[test]
fn memory_is_bounded_and_what_it_drops_is_on_disk() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let recorded = shim.delegated("recorded", json!([{"reply": "on disk"}]));
    let mut all = entries(&shim);
    all.push(old_entry("first", "completed", 1_700_000_000_000, "first"));
    for number in 0..11 {
        let answer = format!("run {number}");
        all.push(old_entry(
            "many",
            "completed",
            1_700_000_000_001 + number,
            &answer,
        ));
    }
    for number in 0..31 {
        let session = format!("session{number:02}");
        all.push(old_entry(
            &session,
            "completed",
            1_700_000_001_000 + number,
            "kept",
        ));
    }
    shim.session_start("resume", "s1", &all);
    assert_eq!(shim.output(&recorded), Ok("on disk".to_owned()));
    assert_eq!(shim.output("first"), not_found("first"));
    assert_eq!(shim.output("session00"), Ok("kept".to_owned()));
    let many = shim.read("get_subagent_session", "many").unwrap();
    assert!(
        many.starts_with("=== Run 1/10 (completed) ===\nrun 1\n"),
        "{many}"
    );
    // A session that runs is not dropped, however many come after it.
    let script = json!([{"touch": stage.path("ready")}, {"waitForFile": stage.path("go")}, {"reply": "end"}]);
    let id = shim.delegate("c9", &[("running", script)]);
    wait_for_file(stage.path("ready"), PATIENCE);
    shim.session_start("resume", "s1", &all);
    fs::write(stage.path("go"), "").unwrap();
    let running = shim.result(id)["details"]["sessionIds"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(shim.output(&running), Ok("end".to_owned()));
}

#[test]
fn a_running_session_can_be_read_and_not_resumed() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let script = json!([{"say": "so far"}, {"touch": stage.path("ready")}, {"waitForFile": stage.path("go")}, {"reply": "end"}]);
    let id = shim.delegate("c1", &[("running", script)]);
    wait_for_file(stage.path("ready"), PATIENCE);
    let session = shim.notifications("tool/update").last().unwrap()["details"]["sessionIds"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let again = json!({"tasks": [{"name": "a", "prompt": "p", "resume": session}]});
    let refused = shim.execute("c2", "delegate_to_subagents", &again);
    assert_eq!(
        shim.response(refused)["error"]["message"],
        format!(
            "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
        )
    );
    fs::write(stage.path("go"), "").unwrap();
    _ = shim.result(id);
}

#[test]
fn a_session_that_ends_takes_its_calls_along() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let id = shim.delegate(
        "c1",
        &[("a", json!([{"touch": stage.path("ready")}, {"hang": true}]))],
    );
    wait_for_file(stage.path("ready"), PATIENCE);
    shim.session_shutdown();
    let entry = &ends(&shim)[0]["data"];
    assert_eq!(
        (&entry["status"], &entry["aborted"], &entry["exitCode"]),
        (&json!("error"), &json!(true), &json!(143))
    );
    assert_eq!(entry["errorMessage"], "Stopped on request.");
    _ = shim.result(id);
    shim.session_start("new", "s2", &[]);
    assert_eq!(shim.completions("subagents", "show "), Vec::<String>::new());
}

#[test]
fn the_runs_of_a_host_that_was_killed_are_known_to_the_next_one() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let done = shim.delegated("done", json!([{"reply": "the answer"}]));
    let script = json!([{"say": "half of it"}, {"touch": stage.path("ready")}, {"hang": true}]);
    shim.delegate("c2", &[("going", script)]);
    wait_for_file(stage.path("ready"), PATIENCE);
    let kept = entries(&shim);
    // Another pi may open the session while this one is at it.
    let mut beside = Shim::start_unasked(&stage);
    beside.session_start("resume", "s1", &kept);
    assert_eq!(
        statuses(&mut beside),
        ["✓ done: completed", "⏳ going: running"]
    );
    beside.hang_up();
    shim.host.kill(Signal::KILL);
    _ = shim.host.wait();

    let mut shim = Shim::start_unasked(&stage);
    shim.session_start("resume", "s1", &kept);
    assert_eq!(
        statuses(&mut shim),
        ["✓ done: completed", "✗ going: stopped"]
    );
    assert_eq!(shim.completions("subagents", "show ").len(), 2);
    let going = kept[2]["data"]["sessionId"].as_str().unwrap();
    assert_ne!(going, done);
    assert_eq!(shim.output(going), Ok("half of it".to_owned()));
    let again = json!({"tasks": [{"name": "again", "prompt": json!([{"reply": "all"}]).to_string(), "resume": going}]});
    let id = shim.execute("c3", "delegate_to_subagents", &again);
    _ = shim.result(id);
    assert_eq!(
        statuses(&mut shim),
        [
            "✓ done: completed",
            "✗ going: stopped",
            "✓ again: completed"
        ]
    );
    let whole = shim.read("get_subagent_session", going).unwrap();
    assert!(whole.starts_with("=== Run 1/2 (error) ===\n"), "{whole}");
}

/// Returns the state of each run in `/subagents list`, without times and ids.
fn statuses(shim: &mut Shim) -> Vec<String> {
    let id = shim.command("subagents", "list");
    _ = shim.result(id);
    let shown = shim.shown();
    let runs = shown.lines().skip(1).map(|line| {
        let parts: Vec<&str> = line.split(" • ").collect();
        format!("{}: {}", parts[0], parts[2])
    });
    let mut oldest_first: Vec<String> = runs.collect();
    oldest_first.reverse();
    oldest_first
}

#[test]
fn an_entry_stays_small_however_much_was_said() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let many = json!([{"messages": {"count": 600, "bytes": 10}}, {"reply": "the end"}]);
    let large = json!([{"messages": {"count": 40, "bytes": 60_000}}, {"reply": "the end"}]);
    let sessions = [shim.delegated("many", many), shim.delegated("large", large)];
    let entries = ends(&shim);
    let count = |entry: &Value| entry["data"]["messages"].as_array().unwrap().len();
    assert_eq!(count(&entries[0]), 500);
    assert!(
        (10..20).contains(&count(&entries[1])),
        "{}",
        count(&entries[1])
    );
    assert!(entries[1].to_string().len() < (1 << 20) + 10_000);
    fs::remove_dir_all(stage.sandbox.project().join(".pi/subagents/runs")).unwrap();
    for session in sessions {
        assert_eq!(shim.output(&session), Ok("the end".to_owned()));
    }
}
