//! What needs a person, on the page: the queue, comments that become a prompt, accepting behind a gate
//! that was shown, and questions; by programs, and by a person in a real Chromium.

use std::fs;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::web_page::play;
use crate::web_results::web_of_repository;
use crate::web_stage::{WebStage, until};

/// Runs a task that leaves a result in a worktree.
fn left(web: &WebStage, name: &str, command: &str, answer: &str) -> String {
    let rules = json!([
        {"when": "was looked at", "turns": [{"text": "I use the cached one."}]},
        {"turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": command}}]},
            {"text": answer},
        ]},
    ]);
    let model = web.script(&rules);
    let call = json!({"tasks": [{"name": name, "prompt": format!("Do {name}")}]});
    let output = web
        .command(&["delegate", "-", "--model", &model])
        .args(["--runner", "embedded", "--isolation", "worktree", "--json"])
        .stdin(call.to_string())
        .run();
    let runs = output.json();
    assert_eq!(runs["runs"][0]["workspace"]["state"], "captured", "{runs}");
    runs["runs"][0]["runId"].as_str().unwrap().to_owned()
}

/// Three results of which two conflict, and one is red because of a file of its own.
fn three_results() -> (WebStage, [String; 3]) {
    let web = web_of_repository(&[]);
    web.stage
        .settings(&json!({"reviewGate": "test ! -f ui.html"}));
    let docs = left(&web, "docs", "echo Sixty. > limits.md", "Wrote limits.md.");
    let ui = left(
        &web,
        "ui",
        "echo ui > a.txt; echo '<b>' > ui.html",
        "All 41 tests pass.",
    );
    let api = left(
        &web,
        "api",
        "echo api > a.txt; echo lock > Cargo.lock; echo x > x.rs",
        "Ran `cargo clippy -- -D warnings`, which is clean.",
    );
    (web, [docs, ui, api])
}

fn read(web: &WebStage, name: &str) -> Option<String> {
    fs::read_to_string(web.stage.sandbox.project().join(name)).ok()
}

#[test]
fn what_waits_is_the_first_view_and_comments_become_the_next_prompt() {
    let (web, [_, _, api]) = three_results();
    let seen = play(&web.stage, "reviewed", &json!({"url": web.url}));
    let expected = json!({
        "rows": ["docs careful", "ui careful", "api careful"],
        "title": "3 need you · pi-subagents",
        "icon": "icon-asks.svg",
        "page": "review",
        "result": true,
        "unseen": ["cargo clippy -- -D warnings"],
        "folded": ["Cargo.lock"],
        "send": "Send back with 1 comment Ctrl ⏎",
        "notice": "… continues in the background with your text",
    });
    assert_eq!(seen, expected);
    let session = web.json(&format!("/v1/runs/{api}"))["sessionId"].clone();
    let next = |runs: &Value| {
        let runs = runs["runs"].as_array().unwrap();
        let next = runs
            .iter()
            .find(|run| run["sessionId"] == session && run["runId"] != *api);
        next.cloned()
    };
    until("the session goes on", || {
        next(&web.json("/v1/runs?project=")).is_some_and(|run| run["status"] == "completed")
    });
    let run = next(&web.json("/v1/runs")).unwrap();
    let task = web.json(&format!("/v1/runs/{}", run["runId"].as_str().unwrap()));
    let task = task["task"].as_str().unwrap();
    assert!(
        task.contains(
            "1. a.txt:1\n   | api\n   Use the cached one.\n2. whole result\n   Split it, please."
        ),
        "{task}"
    );
    let waiting = web.json("/v1/review");
    let sent: Vec<&Value> = waiting["waiting"].as_array().unwrap().iter().collect();
    let api = sent.iter().find(|one| one["name"] == "api").unwrap();
    assert!(api["reasons"].to_string().contains("was sent back 1 time"));
}

/// Waits until the session of a run has gone on and ended, and returns the run that did it.
fn next_of(web: &WebStage, run: &str) -> Value {
    let session = web.json(&format!("/v1/runs/{run}"))["sessionId"].clone();
    let next = || {
        let runs = web.json("/v1/runs");
        let runs = runs["runs"].as_array().unwrap().clone();
        let mut later = runs.into_iter();
        later.find(|one| one["sessionId"] == session && one["runId"] != *run)
    };
    until("the session goes on", || {
        next().is_some_and(|run| run["status"] == "completed")
    });
    let run = next().unwrap();
    web.json(&format!("/v1/runs/{}", run["runId"].as_str().unwrap()))
}

#[test]
fn a_result_is_done_again_on_top_of_another_and_of_the_checkout_as_it_is() {
    let (web, [_, ui, api]) = three_results();
    fs::write(web.stage.sandbox.project().join("mine.txt"), "mine\n").unwrap();
    let gates = json!(["test ! -f ui.html"]);
    let tried = web.post("/v1/accept", &json!({"runs": [ui], "gates": gates}));
    assert!(tried.body.contains(r#""taken":0"#), "{}", tried.body);
    let back = web.post(&format!("/v1/runs/{ui}/send-back"), &json!({"on": api}));
    assert_eq!(back.status, 200, "{}", back.body);
    assert!(
        back.body.contains(
            "ui continues in the background with your text; came in: api, 1 file of the checkout"
        ),
        "{}",
        back.body
    );
    let next = next_of(&web, &ui);
    let task = next["task"].as_str().unwrap();
    let (told, rest) = task.split_once("the difference to ").unwrap();
    let task = format!("{told}the difference to <commit>{}", &rest[7..]);
    insta::assert_snapshot!(task, @r#"
    Your work "ui" was looked at and not taken as it is. Your directory holds it merged with the checkout as it is now (came in: api, 1 file of the checkout). Your commits are in its history. What counts is the difference to <commit>.

    Conflicts (1), markers are in the files:
    - a.txt (contents)
    The task of api was: "Do api"
    Keep the intentions of both sides, and remove all markers.

    `test ! -f ui.html` ended with 1 on your work. It printed nothing.

    Go on with your task from there, and check that the whole works.
    "#);
    let directory = next["workspace"]["path"].as_str().unwrap();
    let merged = fs::read_to_string(format!("{directory}/a.txt")).unwrap();
    assert!(merged.contains("ui\n=======\napi\n"), "{merged}");
    let mine = fs::read_to_string(format!("{directory}/mine.txt")).unwrap();
    assert_eq!(mine, "mine\n");
    // The result is there a moment after the run has ended.
    let waiting = || {
        let queue = web.json("/v1/review");
        queue["waiting"].as_array().unwrap().clone()
    };
    until(
        "the new result waits behind the one that it stands on",
        || {
            let names: Vec<Value> = waiting().iter().map(|one| one["name"].clone()).collect();
            names == ["docs", "api", "ui"]
        },
    );
    let waiting = waiting();
    let reasons = waiting[2]["reasons"].to_string();
    assert!(
        reasons.contains("conflict markers are left in a.txt"),
        "{reasons}"
    );
    assert!(reasons.contains("was sent back 1 time"), "{reasons}");
}

#[test]
fn what_stays_green_is_accepted_behind_the_gate_that_was_shown_and_is_taken_back() {
    let (web, _) = three_results();
    let project = web.stage.sandbox.project();
    fs::write(project.join("mine.txt"), "mine\n").unwrap();
    let seen = play(&web.stage, "accepted", &json!({"url": web.url}));
    assert_eq!(seen["gates"], json!(["test ! -f ui.html"]), "{seen}");
    let fates = json!(["✓ taken", "docs", "✗ left out", "ui", "✓ taken", "api"]);
    assert_eq!(seen["fates"], fates, "{seen}");
    assert_eq!(seen["heading"], "2 results taken in one step");
    assert!(
        seen["notice"].as_str().unwrap().contains("taken back"),
        "{seen}"
    );
    assert_eq!(read(&web, "a.txt").as_deref(), Some("one\n"));
    assert_eq!(read(&web, "limits.md"), None);
    assert_eq!(read(&web, "mine.txt").as_deref(), Some("mine\n"));
}

#[test]
fn a_gate_that_nobody_was_asked_about_is_not_run() {
    let (web, [docs, ..]) = three_results();
    web.stage
        .settings(&json!({"reviewGate": "touch ../gate-ran"}));
    let accept = |gates: Value| {
        let answer = web.post("/v1/accept", &json!({"runs": [docs], "gates": gates}));
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let refused = accept(json!(["test ! -f ui.html"]));
    assert!(
        refused.contains("the gate `touch ../gate-ran` was not confirmed; nothing was run"),
        "{refused}"
    );
    assert_eq!(read(&web, "limits.md"), None);
    assert!(!web.stage.sandbox.project().join("../gate-ran").exists());
    let taken = accept(json!(["touch ../gate-ran"]));
    assert!(taken.contains(r#""taken":1"#), "{taken}");
    assert_eq!(read(&web, "limits.md").as_deref(), Some("Sixty.\n"));
}

#[test]
fn some_files_and_hunks_are_accepted_and_the_rest_waits() {
    let web = web_of_repository(&[]);
    let project = web.stage.sandbox.project();
    let lines: Vec<String> = (1..30).map(|number| format!("line {number}")).collect();
    fs::write(project.join("long.txt"), lines.join("\n") + "\n").unwrap();
    for arguments in [&["add", "long.txt"][..], &["commit", "-qm", "a long file"]] {
        let git = Command::new("git")
            .args(arguments)
            .current_dir(&project)
            .status();
        assert!(git.unwrap().success(), "{arguments:?}");
    }
    left(
        &web,
        "wide",
        "sed -i -e '2s/.*/TWO/' -e '25s/.*/LAST/' long.txt; echo new > new.txt",
        "Done.",
    );
    let seen = play(&web.stage, "parts", &json!({"url": web.url}));
    let expected = json!({
        "boxes": ["Take long.txt", "Take hunk 1 of long.txt", "Take hunk 2 of long.txt", "Take new.txt"],
        "button": "Accept 1 of 3 parts",
        "question": "Accept 1 of 3 parts of wide",
        "notes": [],
        "left": ["Take long.txt true", "Take hunk 1 of long.txt true", "Take new.txt true"],
    });
    assert_eq!(seen, expected);
    let long = read(&web, "long.txt").unwrap();
    assert!(long.contains("LAST") && !long.contains("TWO"), "{long}");
    assert_eq!(read(&web, "new.txt"), None);
    let waiting = web.json("/v1/review")["waiting"][0].clone();
    assert_eq!(waiting["remainder"], json!({"left": 2, "of": 3}));
    // A part that is not there any more takes nothing.
    let run = waiting["runId"].as_str().unwrap();
    let wish = json!({"runs": [run], "gates": [], "parts": {run: ["gone"]}});
    let refused = web.post("/v1/accept", &wish).body;
    assert!(
        refused.contains("wide has changed; some chosen parts are not there any more"),
        "{refused}"
    );
}

#[test]
fn any_result_can_be_done_again_on_top_of_another() {
    let (web, [docs, ..]) = three_results();
    let seen = play(&web.stage, "redone", &json!({"url": web.url}));
    let notice = "… continues in the background with your text; came in: api";
    assert_eq!(seen, json!({ "notice": notice }));
    let next = next_of(&web, &docs);
    let directory = next["workspace"]["path"].as_str().unwrap();
    let merged = fs::read_to_string(format!("{directory}/a.txt")).unwrap();
    assert_eq!(merged, "api\n");
}

#[test]
fn conflicting_results_stand_beside_each_other_and_everybody_can_use_the_page() {
    let (web, _) = three_results();
    let seen = play(&web.stage, "beside", &json!({"url": web.url}));
    assert_eq!(
        seen,
        json!({"sides": ["ui", "api"], "lines": ["ui", "api"]})
    );
    let seen = play(&web.stage, "accessible", &json!({"url": web.url}));
    assert_eq!(seen, json!({"found": []}));
}

#[test]
fn questions_are_answered_on_the_page() {
    let web = web_of_repository(&[]);
    web.stage.settings(&json!({"parkAfter": 300}));
    let rules = json!([{"turns": [
        {"toolCalls": [{"name": "ask_parent", "arguments": {"question": "Which schema?", "options": ["v2", "v3"]}}]},
        {"toolCalls": [{"name": "ask_parent", "arguments": {"question": "Why?"}}]},
        {"text": "Thank you."},
    ]}]);
    let model = web.script(&rules);
    let asking = web
        .command(&["run", "Ask", "--model", &model, "--runner", "embedded"])
        .spawn();
    let asks = |words: &str| {
        until("it asks", || {
            web.json("/v1/review")["waiting"][0]["message"] == words
        });
    };
    asks("Which schema?");
    let seen = play(
        &web.stage,
        "answered",
        &json!({"url": web.url, "option": "v3"}),
    );
    assert_eq!(seen["question"], "Which schema?");
    assert_eq!(seen["options"], json!(["1 v2", "2 v3"]));
    asks("Why?");
    let words = json!({"url": web.url, "words": "It is the newest."});
    let seen = play(&web.stage, "answered", &words);
    assert!(
        seen["notice"].as_str().unwrap().contains("continues"),
        "{seen}"
    );
    let output = asking.wait();
    assert!(output.stdout.contains("Thank you."), "{output:?}");
}
