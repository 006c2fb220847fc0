//! The lists of the page count the whole project: what waits for a person, what failed and what is
//! searched for is found behind any number of newer runs.

use std::fs;
use std::io::Write as _;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::web_page::play;
use crate::web_results::web_of_repository;
use crate::web_stage::WebStage;

/// More runs than a tab gets by itself, and than one question searches.
const NEWER: usize = 430;

/// Runs four tasks of one call in worktrees. Two of them change the same file, one changes another
/// file, and the gate of the last one fails.
fn call_with_results(web: &WebStage) -> Value {
    let change = |file: &str| json!({"toolCalls": [{"name": "bash", "arguments": {"command": format!("echo new > {file}")}}]});
    let model = web.script(&json!([
        {"when": "api", "turns": [change("a.txt"), {"text": "The api is lamp40."}]},
        {"when": "ui", "turns": [change("a.txt"), {"text": "Changed."}]},
        {"when": "docs", "turns": [change("docs.txt"), {"text": "Changed."}]},
        {"turns": [change("b.txt"), {"text": "Changed."}]},
    ]));
    let task = |name: &str| json!({"name": name, "prompt": format!("Change the {name}")});
    let call = json!({"tasks": [task("api"), task("ui"), task("docs")]});
    let output = web
        .command(&["delegate", "-", "--model", &model])
        .args(["--runner", "embedded", "--isolation", "worktree", "--json"])
        .stdin(call.to_string())
        .run();
    let gated = web
        .command(&["delegate", "--task", "gated=Change it", "--model", &model])
        .args(["--runner", "embedded", "--isolation", "worktree", "--json"])
        .args(["--gate", "false", "--gate-retries", "0"])
        .run();
    let runs = output.json()["runs"].as_array().unwrap().clone();
    let id = |run: &Value| run["runId"].as_str().unwrap().to_owned();
    json!({
        "api": id(&runs[0]), "ui": id(&runs[1]), "docs": id(&runs[2]),
        "gated": id(&gated.json()["runs"][0]),
    })
}

/// Adds many finished runs to the index. They share one record.
fn add_newer_runs(web: &WebStage) {
    let filler = web.run(
        "filler",
        "Say hello",
        &web.script(&json!([{"turns": [{"text": "Hello."}]}])),
    );
    let file = web.stage.sandbox.agent_dir().join("subagents-index.jsonl");
    let index = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = index
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["run"] == filler.as_str())
        .collect();
    let mut added = String::new();
    for number in 0..NEWER {
        for line in &lines {
            let mut line = line.clone();
            line["run"] = json!(format!("{}{number:05x}", &filler[..filler.len() - 5]));
            if let Some(sequence) = line["sequence"].as_u64() {
                line["sequence"] = json!(sequence + 1 + number as u64);
            }
            added += &line.to_string();
            added.push('\n');
        }
    }
    let mut file = fs::OpenOptions::new().append(true).open(&file).unwrap();
    file.write_all(added.as_bytes()).unwrap();
}

fn names(rows: &Value) -> Vec<&str> {
    let rows = rows.as_array().unwrap().iter();
    let mut names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn results_that_wait_failures_and_words_are_found_behind_newer_runs() {
    let web = web_of_repository(&[]);
    let ids = call_with_results(&web);
    add_newer_runs(&web);
    let status = web.command(&["status", "--all", "--json"]).run().json();
    // What a tab gets by itself has every row that waits for a person.
    let pieces = web.follow("", |piece| piece["isWhole"] == json!(true));
    let rows: Vec<Value> = pieces
        .iter()
        .filter_map(|piece| piece["rows"].as_array())
        .flatten()
        .cloned()
        .collect();
    assert_eq!(
        names(&json!(rows)),
        ["api", "docs", "filler", "gated", "ui"]
    );
    let sums = web.follow("", |piece| piece["waiting"].is_u64());
    let sums = sums.last().unwrap();
    assert_eq!(sums["waiting"], json!(4));
    assert_eq!(sums["counts"], status["counts"]);
    let waiting = web.json("/v1/runs?state=waiting");
    assert_eq!(waiting["found"], json!(4));
    let listed = web.command(&["worktrees", "--json"]).run().json();
    assert_eq!(
        listed["worktrees"].as_array().map_or(0, Vec::len),
        4,
        "{listed}"
    );
    let failed = web.json("/v1/runs?state=failed");
    assert_eq!(
        (&failed["found"], names(&failed["runs"])),
        (&json!(1), vec!["gated"])
    );
    assert_eq!(failed["counts"]["failed"], status["counts"]["failed"]);
    // A search goes on until every run was looked at.
    let mut path = "/v1/runs?q=lamp40".to_owned();
    let mut found = Vec::new();
    loop {
        let answer = web.json(&path);
        found.extend(answer["runs"].as_array().unwrap().clone());
        let Some(next) = answer["next"].as_u64() else {
            break;
        };
        path = format!("/v1/runs?q=lamp40&before={next}");
    }
    assert_eq!(names(&json!(found)), ["api"]);
    // A run brings the others of its call along, and those that changed the same file.
    let api = web.json(&format!("/v1/runs/{}", ids["api"].as_str().unwrap()));
    assert_eq!(names(&api["call"]), ["docs", "ui"]);
    assert_eq!(
        api["sameFiles"],
        json!([{"path": "a.txt", "runs": [{"runId": ids["ui"], "name": "ui"}]}])
    );
    // What is merged elsewhere is seen by a tab that is open.
    let mut merged = false;
    web.follow("", |piece| {
        if piece["isWhole"] == json!(true) && !merged {
            merged = true;
            web.command(&["merge", ids["docs"].as_str().unwrap()])
                .run()
                .expect_success();
        }
        piece["waiting"] == json!(3)
    });
}

#[test]
fn a_person_finds_old_results_and_is_warned_and_the_address_leads_back() {
    let web = web_of_repository(&[]);
    let ids = call_with_results(&web);
    add_newer_runs(&web);
    let asked = json!({"url": web.url, "ids": ids});
    let seen = play(&web.stage, "lists", &asked);
    let all = NEWER + 5;
    assert_eq!(
        seen,
        json!({
            "pills": [format!("All {all}"), "Running 0", "To merge 4", format!("Finished {all}"), "Failed 1"],
            "waiting": ["api", "docs", "gated", "ui"],
            "failures": ["gated"],
            "found": ["api"],
            "finding": "1 run of all that there are",
            "conflict": ["⚠ a.txt", "api, ui"],
            "lanes": [["api", "docs", "ui"], ["api", "docs", "ui"]],
            "range": "this call",
            "gated": ["Merge all the same", false, "its gate failed"],
            "proven": ["Merge", true],
            "history": [format!("{all} runs"), "1 run", "1 run"],
            "back": ["history", "runs", "changes", "transcript"],
            "reloaded": ["api", "Changes", "Failed 1"],
            "title": "4 need you · pi-subagents",
        })
    );
}
