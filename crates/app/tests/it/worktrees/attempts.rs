//! Several attempts at one task, of which one is picked.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::WorktreeStage;

/// Writes the script of a model that runs a command and answers with these words.
fn model(stage: &WorktreeStage, name: &str, command: &str, words: &str) -> String {
    let call = json!({"name": "bash", "arguments": {"command": command}});
    turns(
        stage,
        name,
        &json!([{"toolCalls": [call]}, {"text": words}]),
    )
}

fn turns(stage: &WorktreeStage, name: &str, turns: &Value) -> String {
    let rules = json!({"rules": [{"turns": turns}]});
    let sandbox = &stage.stage().sandbox;
    let path = sandbox.write(&format!("{name}.json"), &rules.to_string());
    format!("scripted/{}", path.display())
}

/// Three attempts: the first changes the most, the second little, and the third fails its gate.
fn three(stage: &WorktreeStage) -> Vec<String> {
    vec![
        model(
            stage,
            "one",
            "printf 'a\\nb\\nc\\n' > new.txt",
            "I wrote three lines.",
        ),
        model(stage, "two", "echo a > new.txt", "I wrote one line."),
        model(stage, "three", "echo bad > new.txt", "I wrote it badly."),
    ]
}

fn call(stage: &WorktreeStage, more: &Value) -> Value {
    let mut task = json!({
        "name": "fix", "prompt": "Fix it.", "attempts": 3, "models": three(stage),
        "gate": {"command": "! grep -q bad new.txt", "retries": 0},
    });
    task.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let done = turns(stage, "default", &json!([{"text": "done"}]));
    stage
        .stage()
        .profile("plain", &format!("model: {done}"), "Go on.");
    let next = json!({
        "name": "next", "needs": ["fix"], "profile": "plain",
        "prompt": "Go on after {{fix.output}}",
    });
    json!({"tasks": [task, next]})
}

fn delegate(stage: &WorktreeStage, call: &Value) -> Value {
    let options = ["delegate", "-", "--runner", "embedded", "--json"];
    let command = stage.ours(&options);
    command
        .stdin(call.to_string())
        .run()
        .expect_success()
        .json()
}

fn names(answer: &Value) -> Vec<String> {
    let runs = answer["runs"].as_array().unwrap().iter();
    let words = runs.map(|run| {
        let (name, status) = (
            run["name"].as_str().unwrap(),
            run["status"].as_str().unwrap(),
        );
        format!("{name} {status}")
    });
    words.collect()
}

/// Returns the prompt of a run of an answer.
fn prompt(answer: &Value, name: &str) -> String {
    let runs = answer["runs"].as_array().unwrap();
    let run = runs.iter().find(|run| run["name"] == name).unwrap();
    run["task"].as_str().unwrap().to_owned()
}

/// Replaces the durations of commands, which differ from run to run.
fn without_seconds(text: &str) -> String {
    let mut pieces = text.split("\"seconds\":");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let rest =
            piece.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        format!("{text}\"seconds\":0{rest}")
    })
}

#[test]
fn of_the_attempts_that_pass_the_smallest_is_picked() {
    let stage = WorktreeStage::new();
    let answer = delegate(&stage, &call(&stage, &json!({})));
    assert_eq!(
        names(&answer),
        [
            "fix[2] completed",
            "fix[1] completed",
            "fix[3] failed",
            "next completed"
        ]
    );
    insta::assert_snapshot!(stage.normalise(answer["text"].as_str().unwrap()));
    // Its result is what the next task gets, and the others stay until somebody discards them.
    let states: Vec<&Value> = answer["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["workspace"]["state"])
        .collect();
    assert_eq!(states[..3], ["captured", "captured", "captured"]);
    // The picked one waits for a person, and the others with it.
    let waits = |more: &[&str]| {
        let listed = stage.ours(&[&["review", "--json"], more].concat()).run();
        listed.json()["waiting"].as_array().unwrap().clone()
    };
    let named = |waiting: &[Value]| {
        let names = waiting.iter().map(|one| one["name"].as_str().unwrap());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let waiting = waits(&[]);
    assert_eq!(named(&waiting), ["fix[2]"], "{waiting:#?}");
    let others = waiting[0]["otherAttempts"].as_array().unwrap();
    assert_eq!(named(others), ["fix[1]", "fix[3]"]);
    let listed = stage.ours(&["review"]).run();
    assert!(listed.stdout.contains("picked of 3 attempts; "), "{listed}");
    assert_eq!(named(&waits(&["fix[1]"])), ["fix[1]"]);
    let accepted = stage
        .ours(&["review", "--accept-all", "--no-gate", "--json"])
        .run()
        .expect_success();
    assert_eq!(accepted.json()["results"].as_array().unwrap().len(), 1);
    let left = stage.ours(&["review", "--json"]).run();
    assert_eq!(named(left.json()["waiting"].as_array().unwrap()), [""; 0]);
    // If the picked one is thrown away, another one may be wanted.
    stage.ours(&["undo"]).run().expect_success();
    stage
        .ours(&["discard", "fix[2]", "--yes"])
        .run()
        .expect_success();
    let mut left = named(&waits(&[]));
    left.sort();
    assert_eq!(left, ["fix[1]", "fix[3]"]);
}

#[test]
fn the_first_attempt_stops_the_others() {
    let stage = WorktreeStage::new();
    let models = [
        model(&stage, "slow", "sleep 600", "never"),
        model(&stage, "quick", "echo a > new.txt", "I was first."),
        model(&stage, "slower", "sleep 600", "never"),
    ];
    let answer = delegate(
        &stage,
        &call(&stage, &json!({"models": models, "pick": "first"})),
    );
    assert_eq!(
        names(&answer),
        [
            "fix[2] completed",
            "fix[1] stopped",
            "fix[3] stopped",
            "next completed"
        ]
    );
}

fn judged(stage: &WorktreeStage, judge: &Value) -> Value {
    let model = turns(stage, "judge", judge);
    stage
        .stage()
        .profile("reviewer", &format!("model: {model}"), "Review.");
    let pick = json!({"judge": "reviewer", "rubric": "the one with more lines"});
    delegate(stage, &call(stage, &json!({ "pick": pick })))
}

fn report(result: &Value) -> Value {
    let arguments = json!({"status": "SUCCESS", "result": result});
    json!([{"toolCalls": [{"name": "subagent_finalize", "arguments": arguments}]}])
}

/// The same report again and again, because it is sent back.
fn report_often(result: &Value) -> Value {
    json!(vec![report(result)[0].clone(); 9])
}

#[test]
fn a_judge_picks_among_candidates_without_names() {
    let stage = WorktreeStage::new();
    let reasons = json!([
        {"candidate": "A", "why": "It has all three lines."},
        {"candidate": "B", "why": "It lacks two lines."},
    ]);
    let answer = judged(&stage, &report(&json!({"winner": "A", "reasons": reasons})));
    assert_eq!(
        names(&answer),
        [
            "fix[1] completed",
            "fix[2] completed",
            "fix[3] failed",
            "next completed",
            "fix judge completed"
        ]
    );
    let text = stage.normalise(answer["text"].as_str().unwrap());
    // The number of tokens follows from the durations in the prompt of the judge.
    let lines = text.lines().filter(|line| !line.starts_with("  saw:"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    let prompt = prompt(&answer, "fix judge");
    insta::assert_snapshot!(without_seconds(&stage.normalise(&prompt)));
    assert!(
        !prompt.contains("fix[") && !prompt.contains("scripted"),
        "{prompt}"
    );
}

#[test]
fn a_judge_that_names_nobody_keeps_all_attempts() {
    for judge in [
        json!(vec![json!({"text": "I like them both."}); 9]),
        report_often(&json!({"winner": "Q", "reasons": []})),
    ] {
        let stage = WorktreeStage::new();
        let model = turns(&stage, "judge", &judge);
        stage
            .stage()
            .profile("reviewer", &format!("model: {model}"), "Review.");
        let pick = json!({"pick": {"judge": "reviewer"}});
        let options = ["delegate", "-", "--runner", "embedded", "--json"];
        let output = stage.ours(&options).stdin(call(&stage, &pick).to_string());
        let answer = output.run().json();
        assert_eq!(
            names(&answer),
            [
                "fix[1] completed",
                "fix[2] completed",
                "fix[3] failed",
                "next stopped",
                "fix judge failed"
            ]
        );
        let text = answer["text"].as_str().unwrap();
        let said = "fix: picked none of 3: the judge has not reported, so all attempts are kept";
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn attempts_can_be_typed_and_must_make_sense() {
    let stage = WorktreeStage::new();
    let models = three(&stage);
    let attempts = ["delegate", "--task", "fix=Fix it.", "--attempts", "2"];
    let command = stage.ours(&attempts).args(["--runner", "embedded"]);
    let command = command.args(["--attempt-model", &models[0], "--attempt-model", &models[1]]);
    let output = command.args(["--pick", "gate"]).run().expect_success();
    assert_eq!(output.stdout, "## fix[2]\n\nI wrote one line.\n");
    let refused = |task: Value| {
        let call = json!({ "tasks": [task] });
        let options = ["delegate", "-", "--runner", "embedded", "--json"];
        let output = stage.ours(&options).stdin(call.to_string()).run();
        assert_eq!(output.code, Some(2), "{output}");
        output.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let with = |more: Value| {
        let mut task = json!({"name": "fix", "prompt": "p"});
        task.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        refused(task)
    };
    assert_eq!(
        [
            with(json!({"attempts": 17})),
            with(json!({"pick": "first"})),
            with(json!({"attempts": 2, "pick": "best"})),
            with(json!({"attempts": 2, "forEach": ["a"]})),
            with(json!({"attempts": 2, "isolation": "none"})),
        ],
        [
            "tasks[0].attempts must be at most 16",
            "fix has pick or models, which are about attempts, and no attempts",
            "tasks[0].pick must be \"first\", \"gate\" or {\"judge\": \"AGENT\", \"rubric\": \"…\"}",
            "fix has attempts and forEach, which do not go together",
            "fix has attempts, each of which needs a separate worktree",
        ]
    );
}

#[test]
fn a_worktree_begins_with_the_result_of_another_task() {
    let stage = WorktreeStage::new();
    let first = stage.prompt("echo one > a.txt; echo two >> kept.txt");
    let second = stage.prompt("cat a.txt kept.txt > b.txt");
    let task =
        |base: &str| json!({"name": "second", "needs": ["first"], "base": base, "prompt": second});
    let first = json!({"name": "first", "prompt": first, "isolation": "worktree"});
    let answer = stage.call(&json!({"tasks": [first, task("first")]}));
    assert_eq!(names(&answer), ["first completed", "second completed"]);
    let files: Vec<&str> = answer["runs"][1]["workspace"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["b.txt"]);
    let id = answer["runs"][1]["runId"].as_str().unwrap();
    stage.ours(&["merge", id]).run().expect_success();
    assert_eq!(stage.read("b.txt"), "one\none\ntwo\nthree\ntwo\n");
    let call = json!({"tasks": [first, {"name": "second", "base": "first", "prompt": "p"}]});
    let options = ["delegate", "-", "--runner", "embedded", "--json"];
    let refused = stage.ours(&options).stdin(call.to_string()).run();
    assert_eq!(
        refused.json()["error"]["message"],
        "second has the base first, a task that it does not need"
    );
}
