//! The words that a person may type for a run: `last`, names, beginnings of ids.

use pi_subagents_testkit::sandbox::CommandOutput;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE, run_id};
use crate::stage::{Stage, call};

/// A project with two runs: first `lamp`, then `horn`.
fn two_runs() -> Stage {
    let stage = Stage::new();
    for name in ["lamp", "horn"] {
        let script = json!([{"reply": format!("the {name} works")}]);
        stage
            .delegate(&call(&[(name, script)]))
            .run()
            .expect_success();
    }
    stage
}

/// Returns the output on stdout and on stderr.
fn printed(stage: &Stage, arguments: &[&str]) -> (String, String) {
    let output = stage.command(arguments).run().expect_success();
    let normal = |text: &str| stage.sandbox.normalise(text);
    (normal(&output.stdout), normal(&output.stderr))
}

#[test]
fn last_and_names_stand_for_the_newest_run_and_say_which_they_took() {
    let stage = two_runs();
    let taken = |text: &str| format!("{text}, started <past>)\n");
    for (typed, answer, note) in [
        (
            "last",
            "the horn works\n",
            "last is horn (run: <run-1>, session: <session-1>",
        ),
        (
            "last~1",
            "the lamp works\n",
            "last~1 is lamp (run: <run-2>, session: <session-2>",
        ),
        (
            "lamp",
            "the lamp works\n",
            "lamp (run: <run-2>, session: <session-2>",
        ),
    ] {
        let expected = (answer.to_owned(), taken(note));
        assert_eq!(printed(&stage, &["output", typed]), expected, "{typed}");
    }
    let quiet = printed(&stage, &["output", "last", "--quiet"]);
    assert_eq!(quiet, ("the horn works\n".to_owned(), String::new()));
    for command in ["session", "events", "wait", "status"] {
        let (text, note) = printed(&stage, &[command, "lamp"]);
        assert!(text.contains("lamp"), "{command}: {text}");
        let expected = taken("lamp (run: <run-2>, session: <session-2>");
        assert_eq!(note, expected, "{command}");
    }
}

#[test]
fn a_definition_stands_for_its_newest_run() {
    let stage = Stage::new();
    stage.profile("critic", "model: test/model\nrunner: pi", "You judge.");
    let script = json!([{"reply": "fine"}]).to_string();
    let task = json!({"tasks": [{"name": "style", "prompt": script, "profile": "critic"}]});
    stage.delegate(&task).run().expect_success();
    assert_eq!(
        printed(&stage, &["output", "critic"]),
        (
            "fine\n".to_owned(),
            "critic is style (run: <run-1>, session: <session-1>, started <past>)\n".to_owned()
        )
    );
}

#[test]
fn last_goes_on_with_the_session_of_the_newest_run() {
    let stage = two_runs();
    let more = json!([{"reply": "and loudly"}]).to_string();
    let resumed = stage.command(&["resume", "last", &more]).run();
    assert!(resumed.stderr.contains("last is horn (run: "), "{resumed}");
    let runs = stage.command(&["status", "last", "--json"]).run().json();
    let session = runs["runs"][0]["sessionId"].as_str().unwrap();
    let of_session = stage.command(&["status", session, "--json"]).run().json();
    assert_eq!(of_session["runs"].as_array().map(Vec::len), Some(2));
}

fn refused(stage: &Stage, arguments: &[&str]) -> CommandOutput {
    stage.command(arguments).run()
}

#[test]
fn what_leads_nowhere_says_so_and_what_may_have_been_meant() {
    let stage = two_runs();
    insta::assert_snapshot!(refused(&stage, &["output", "lmap"]), @r#"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: there is no run or session "lmap"
    hint: Did you mean "lamp"?
    hint: pi-subagents status --all lists the runs of this project.
    [EOF]
    "#);
    insta::assert_snapshot!(refused(&stage, &["resume", "last~7", "go on"]), @"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: \"last~7\" means no run: there are only 2 runs
    hint: pi-subagents status --all lists the runs of this project.
    [EOF]
    ");
    for (command, short) in [("stop", "2"), ("session", "20")] {
        let output = stage.command(&[command, short]).run();
        let told = format!(
            "error: \"{short}\" is too short: name an id by at least its first 4 characters\n\
             hint: pi-subagents status --all lists the runs of this project.\n"
        );
        assert_eq!((output.code, output.stderr), (Some(2), told), "{command}");
    }
    let unknown = stage.command(&["output", "zz"]).run();
    let told = "error: there is no run or session \"zz\"\n\
                hint: Name an id by at least its first 4 characters.\n\
                hint: pi-subagents status --all lists the runs of this project.\n";
    assert_eq!((unknown.code, unknown.stderr.as_str()), (Some(3), told));
    insta::assert_snapshot!(refused(&stage, &["output", "2026"]), @r#"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: "2026" is the beginning of 2 ids
    hint: horn, <past>: pi-subagents output <run-1>
    hint: lamp, <past>: pi-subagents output <run-2>
    [EOF]
    "#);
}

#[test]
fn before_the_first_run_there_is_no_last() {
    let stage = Stage::new();
    insta::assert_snapshot!(refused(&stage, &["output", "last"]), @"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: \"last\" means no run: there are no runs yet
    hint: pi-subagents status --all lists the runs of this project.
    [EOF]
    ");
}

/// Starts a run in the background that works until a file is there.
fn at_work(stage: &BackgroundStage, file: &str) -> String {
    let script = json!([{"waitForFile": stage.path(file)}, {"reply": "done"}]);
    let run = run_id(&stage.spawn(&script));
    let is_running = || {
        let row = stage.row(&run);
        (row["status"] == "running").then_some(())
    };
    assert_eq!(wait_until(PATIENCE, is_running), Some(()));
    run
}

#[test]
fn a_name_means_a_running_run_where_one_is_stopped_or_waited_for() {
    let stage = BackgroundStage::new();
    let running = at_work(&stage, "never");
    let ended = run_id(&stage.spawn(&json!([{"reply": "soon"}])));
    stage.ended(&ended);
    let answer = stage.command(&["output", "worker", "--quiet"]).run();
    assert_eq!(answer.expect_success().stdout, "soon\n");
    let stopped = stage.command(&["stop", "worker", "--json"]).run();
    let stopped = stopped.expect_success().json();
    assert_eq!(stopped["runs"][0]["runId"], running.as_str());
    let last = stage.command(&["stop", "last"]).run().expect_success();
    assert_eq!(last.stdout, "last was not running.\n");
}

#[test]
fn a_running_session_is_steered_and_not_resumed_and_no_run_is_left_behind() {
    let stage = BackgroundStage::new();
    let run = at_work(&stage, "never");
    insta::assert_snapshot!(stage.command(&["resume", &run, "go on"]).run(), @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: session <session-1> is still running
    hint: pi-subagents steer <session-1> MESSAGE sends it a message now.
    hint: pi-subagents wait <session-1> waits for its end; then resume can continue it.
    [EOF]
    ");
    let all = stage.command(&["status", "--all", "--json"]).run().json();
    let runs: Vec<&Value> = all["runs"].as_array().unwrap().iter().collect();
    assert_eq!(runs.len(), 1, "{runs:#?}");
}

#[test]
fn a_removed_run_is_told_from_one_that_never_was() {
    let stage = two_runs();
    let row = stage.command(&["status", "lamp", "--json"]).run().json();
    let row = &row["runs"][0];
    let session = row["sessionId"].as_str().unwrap();
    _ = stage.command(&["rm", "lamp"]).run().expect_success();
    let gone = stage.command(&["output", session]).run();
    assert_eq!(gone.code, Some(3), "{gone}");
    let run = row["runId"].as_str().unwrap();
    let sentence = format!("error: run {run} (\"lamp\") was removed on 2");
    assert!(gone.stderr.starts_with(&sentence), "{gone}");
    let why = "hint: pi-subagents clean removes runs, and so does the setting subagents.retention when they are old.\n";
    assert!(gone.stderr.ends_with(why), "{gone}");
    // A name means the newest existing run, not a removed one.
    assert_eq!(stage.command(&["output", "lamp"]).run().code, Some(3));
}

#[test]
fn commands_have_the_names_that_people_type() {
    let stage = two_runs();
    let same = |short: &[&str], long: &[&str]| {
        assert_eq!(printed(&stage, short), printed(&stage, long), "{short:?}");
    };
    same(&["ls", "--json"], &["status", "--all", "--json"]);
    same(&["ps"], &["status"]);
    same(&["show", "lamp", "--json"], &["status", "lamp", "--json"]);
    same(&["kill", "last"], &["stop", "last"]);
    same(
        &["rm", "last", "--dry-run"],
        &["clean", "last", "--dry-run"],
    );
}
