//! Servers that are away while runs are followed: everybody who waits says so once, nobody waits for
//! ever, and what was not seen is caught up with.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::sandbox::CommandOutput;
use pi_subagents_testkit::{process, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::mcp_stage::McpClient;
use crate::stage::{Stage, call, completed, outcomes};
use crate::terminal::Terminal;
use crate::web_stage::WebStage;

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

/// The time for which an impatient user waits. It is longer than the time after which people are
/// told.
const SHORT: Duration = Duration::from_secs(7);

/// The beginning of what is told about servers that are away while they are waited for.
const AWAY: &str = "lost contact with the fleet at";

/// The beginning of what is told once nobody waits for them any more.
const GIVEN_UP: &str = "the servers of the fleet have been away since";

const BACK: &str = "the servers of the fleet are back";

/// Returns a fleet whose workers keep their runs while the server is away, however busy the machine
/// is.
fn yard() -> Yard {
    Yard::with_lease(PATIENCE / 2)
}

/// Returns a task that waits for a file, and answers.
fn task(stage: &Stage, name: &str) -> Value {
    json!([{"waitForFile": stage.path("go")}, {"reply": name}])
}

/// Waits until the copies of so many runs say that they run.
fn wait_until_running(stage: &Stage, many: usize) {
    let are_running = || {
        let listed = stage.command(&["status", "--json"]).run().json();
        (listed["counts"]["running"] == many).then_some(())
    };
    let running = wait_until(PATIENCE, are_running);
    assert!(running.is_some(), "{}", row(stage));
}

/// Starts a background run, and returns its id and the process that follows it.
fn spawned(stage: &Stage) -> (String, u32) {
    let spawn = stage.command(&["spawn", "--runner", "pi", "--json"]);
    let spawned = spawn
        .args(ON_FLEET)
        .arg(task(stage, "one").to_string())
        .run();
    let run = spawned.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_until_running(stage, 1);
    let follower = u32::try_from(meta(stage, &run)["owner"]["pid"].as_u64().unwrap()).unwrap();
    (run, follower)
}

fn directory(stage: &Stage, run: &str) -> PathBuf {
    stage.sandbox.project().join(".pi/subagents/runs").join(run)
}

fn meta(stage: &Stage, run: &str) -> Value {
    let text = fs::read_to_string(directory(stage, run).join("meta.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the row of the only run of a user.
fn row(stage: &Stage) -> Value {
    stage.command(&["status", "--all", "--json"]).run().json()["runs"][0].clone()
}

/// Replaces the times of the day, and the id of a run.
fn without_times(said: &CommandOutput, run: &str) -> String {
    let shown = |word: &str| {
        let mark = word.trim_end_matches([';', ',', '.']);
        let is_time = mark.len() == 8 && mark.matches(':').count() == 2;
        if is_time {
            word.replace(mark, "<time>")
        } else {
            word.to_owned()
        }
    };
    // It may have said before that it waits.
    let last = said.stderr.lines().last().unwrap_or_default();
    let text = last.replace(run, "<run>");
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn whoever_waits_for_runs_says_once_that_the_servers_are_away_and_once_that_they_are_back() {
    let mut yard = yard();
    let stage = yard.caller();
    let _worker = yard.worker("build-7", &[]);
    let tasks = [("one", task(&stage, "one")), ("two", task(&stage, "two"))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_until_running(&stage, 2);
    let waiting = stage.command(&["wait", "one", "two"]).spawn();
    let mut attached = Terminal::start(stage.command(&["attach"]));
    yard.server.kill();
    calling.wait_for_stderr(AWAY);
    waiting.wait_for_stderr(AWAY);
    attached.wait_for(AWAY);
    // By now nobody has renewed the lease of the caller for longer than it lasts.
    yard.server.restart();
    calling.wait_for_stderr(BACK);
    waiting.wait_for_stderr(BACK);
    attached.wait_for(BACK);
    fs::write(stage.path("go"), "").unwrap();
    let (answered, waited) = (calling.wait(), waiting.wait());
    let expected = [completed("one", "one"), completed("two", "two")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
    assert_eq!(waited.code, Some(0), "{waited}");
    let times = |said: &CommandOutput| [AWAY, BACK].map(|words| said.stderr.matches(words).count());
    assert_eq!(
        (times(&answered), times(&waited)),
        ([1, 1], [1, 1]),
        "{answered}\n{waited}"
    );
    let warnings = answered.json()["warnings"].to_string();
    for words in [AWAY, GIVEN_UP, BACK] {
        assert!(!warnings.contains(words), "{warnings}");
    }
    attached.press("q");
    assert_eq!(attached.leave(), (Some(0), true));
}

#[test]
fn a_call_does_not_wait_for_ever_for_servers_that_are_away_and_says_what_is_known() {
    let mut yard = yard();
    let stage = yard.caller_with_patience(SHORT);
    let _worker = yard.worker("build-7", &[]);
    let tasks = [("one", task(&stage, "one"))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_until_running(&stage, 1);
    yard.server.kill();
    let answered = calling.wait();
    let run = answered.json()["runs"][0].clone();
    let id = run["runId"].as_str().unwrap();
    assert_eq!(
        (answered.code, &run["status"]),
        (Some(1), &json!("running")),
        "{answered}"
    );
    let error = run["errorMessage"].as_str().unwrap();
    let how = format!("waiting for run {id} catches up with it.");
    assert!(
        error.starts_with("Its end was not seen: ") && error.ends_with(&how),
        "{error}"
    );
    // The answer says it once, and the progress lines before it do not.
    let given_up = "nobody has waited for them since";
    let answer = answered.json();
    let times = [&answered.stderr, answer["text"].as_str().unwrap()];
    let times = times.map(|said: &str| said.matches(given_up).count());
    assert_eq!(
        (times, &answer["warnings"]),
        ([0, 1], &json!([])),
        "{answered}"
    );
    // The record is open, and says it too.
    let listed = row(&stage);
    let kinds = ["since", "until"].map(|field| listed["away"][field].is_string());
    assert_eq!(
        (&listed["status"], kinds),
        (&json!("running"), [true, true]),
        "{listed}"
    );
    let table = stage.command(&["status"]).run();
    assert!(
        table.stdout.contains("nobody has waited for them since"),
        "{table}"
    );
    assert!(!directory(&stage, id).join("result.json").exists());
    let fleet = stage.command(&["status", "--fleet"]).run();
    assert!(fleet.stderr.contains(GIVEN_UP), "{fleet}");
    // Nobody waited for the run when the server was back, so its worker has stopped it.
    yard.server.restart();
    let waited = stage.command(&["wait", id]).run();
    let listed = row(&stage);
    let seen = (waited.code, &listed["status"], &listed["away"]);
    assert_eq!(seen, (Some(1), &json!("stopped"), &Value::Null), "{waited}");
}

#[test]
fn a_background_run_whose_follower_gave_up_is_caught_up_with_from_any_machine() {
    let mut yard = yard();
    let stage = yard.caller_with_patience(SHORT);
    let machine = yard.worker("build-7", &[]);
    let (run, follower) = spawned(&stage);
    yard.server.kill();
    let cut_off = [
        "the servers of the fleet are away; no new runs until they are back",
        "new runs can be taken again",
    ];
    machine.worker.wait_for_stderr(cut_off[0]);
    assert_eq!(process::wait_until_gone(&[follower], PATIENCE), Ok(()));
    assert_eq!(row(&stage)["status"], "running");
    // Somebody who asks while the server is away waits for a while too, and learns what is known.
    let waited = stage.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(1), "{waited}");
    insta::assert_snapshot!(without_times(&waited, &run), @"! default: the servers of the fleet have been away since <time>, and nobody has waited for them since <time>; the run may go on there, and waiting for run <run> catches up with it");
    yard.server.restart();
    fs::write(stage.path("go"), "").unwrap();
    // Another machine of the same user, and this one.
    for machine in [&yard.caller(), &stage] {
        let waited = machine.command(&["wait", &run]).run();
        assert_eq!(waited.code, Some(0), "{waited}");
        let said = machine.command(&["output", &run]).run();
        assert_eq!(said.stdout, "one\n", "{said}");
    }
    let seen = row(&stage);
    assert_eq!(
        (&seen["status"], &seen["away"], &seen["worker"]),
        (&json!("completed"), &Value::Null, &json!("build-7")),
        "{seen}"
    );
    // The worker has said once that it was cut off, and once that it was not any more.
    let said = machine.worker.wait_for_stderr(cut_off[1]);
    let times = cut_off.map(|words| said.matches(words).count());
    assert_eq!(times, [1, 1], "{said}");
}

#[test]
fn a_run_is_seen_to_its_end_by_whoever_waits_when_another_follower_gave_up() {
    let mut yard = yard();
    let stage = yard.caller_with_patience(SHORT);
    let _worker = yard.worker("build-7", &[]);
    let (run, follower) = spawned(&stage);
    // A more patient command of the same user waits behind the follower.
    let fleet = json!({"servers": [yard.server.url()], "patience": PATIENCE.as_secs()});
    stage.settings(&json!({"fleet": fleet}));
    let waiting = [(); 2].map(|()| stage.command(&["wait", &run]).spawn());
    yard.server.kill();
    assert_eq!(process::wait_until_gone(&[follower], PATIENCE), Ok(()));
    yard.server.restart();
    fs::write(stage.path("go"), "").unwrap();
    let codes = waiting.map(|waiting| waiting.wait().code);
    assert_eq!(codes, [Some(0), Some(0)]);
    let is_over = || (row(&stage)["status"] == "completed").then_some(());
    assert!(wait_until(PATIENCE, is_over).is_some(), "{}", row(&stage));
}

#[test]
fn a_client_that_wants_progress_hears_of_the_absence_and_of_the_return() {
    let mut yard = yard();
    let stage = yard.caller();
    let fleet = json!({"servers": [yard.server.url()], "on": "fleet", "workspace": "none",
        "callerLease": PATIENCE.as_secs(), "patience": PATIENCE.as_secs()});
    stage.settings(&json!({"fleet": fleet}));
    let _worker = yard.worker("build-7", &[]);
    let mut client = McpClient::start(&stage, "legacy", &["--runner", "pi"]);
    let tasks = call(&[("one", task(&stage, "one"))]);
    client.follow("a", "delegate_to_subagents", &tasks);
    wait_until_running(&stage, 1);
    let is_told = |words: &str| {
        let words = words.to_owned();
        move |line: &Value| line["of"] == "a" && line.to_string().contains(&words)
    };
    yard.server.kill();
    client.wait_for(is_told(AWAY));
    yard.server.restart();
    client.wait_for(is_told(BACK));
    fs::write(stage.path("go"), "").unwrap();
    let answer = client.answer("a");
    assert_eq!(answer["isError"], false, "{answer}");
    client.leave();
}

#[test]
fn the_page_says_that_the_servers_are_away_in_the_words_of_status() {
    let mut yard = yard();
    let web = WebStage::of(yard.caller(), &[]);
    let stage = &web.stage;
    let _worker = yard.worker("build-7", &[]);
    let (run, _) = spawned(stage);
    yard.server.kill();
    let mut notice = String::new();
    web.follow("", |piece| {
        let rows = piece["rows"].as_array().into_iter().flatten();
        let mut rows = rows.filter(|row| row["runId"] == run.as_str());
        rows.any(|row| {
            row["notice"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut notice);
            notice.starts_with(AWAY)
        })
    });
    let table = stage.command(&["status"]).run();
    assert!(table.stdout.contains(&notice), "{notice}\n{table}");
    yard.server.restart();
    web.follow("", |piece| {
        let rows = piece["rows"].as_array().into_iter().flatten();
        let mut rows = rows.filter(|row| row["runId"] == run.as_str());
        rows.any(|row| row["notice"].is_null())
    });
    fs::write(stage.path("go"), "").unwrap();
    let waited = stage.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(0), "{waited}");
}
