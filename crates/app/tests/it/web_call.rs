//! A call as one thing on the page, what its runs may use, and the palette that finds every run by the
//! words of its transcript; by programs, and by a person in a real Chromium.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::web_page::play;
use crate::web_stage::WebStage;

/// A command whose second task needs the first, within a budget.
fn call_of_two(web: &WebStage) -> Value {
    let rules = json!([
        {"when": "second", "turns": [{"text": "Second."}]},
        {"turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "echo the lamp is Lit"}}]},
            {"text": "First."},
        ]},
    ]);
    let model = web.script(&rules);
    let call = json!({"tasks": [
        {"name": "one", "prompt": "first"},
        {"name": "two", "prompt": "second", "needs": ["one"]},
    ]});
    let output = web
        .command(&["delegate", "-", "--model", &model, "--runner", "embedded"])
        .args(["--budget-tokens", "100000", "--budget", "wages", "--json"])
        .stdin(call.to_string())
        .run();
    output.expect_success().json()
}

#[test]
fn a_call_is_one_thing_with_its_time_and_its_budget() {
    let web = WebStage::new();
    let runs = call_of_two(&web);
    let second = runs["runs"][1]["runId"].as_str().unwrap();
    let budgets = web.json(&format!("/v1/runs/{second}/budgets"));
    let budget = &budgets["budgets"][0];
    assert_eq!(
        [
            &budget["kind"],
            &budget["name"],
            &budget["limits"],
            &budget["started"]
        ],
        [
            &json!("named"),
            &json!("wages"),
            &json!({"tokens": 100_000}),
            &json!(2)
        ]
    );
    let scene = json!({"url": web.url, "run": second});
    let seen = play(&web.stage, "call", &scene);
    let facts = strings(&seen["call"]).into_iter();
    let facts: Vec<String> = facts.map(without_figures).collect();
    assert_eq!(
        facts,
        [
            "2 runs: 2 completed",
            "N tokens",
            "TIME of work in TIME",
            "longest chain one → two, TIME",
        ]
    );
    let budgets = strings(&seen["budgets"]);
    let [budget] = budgets.as_slice() else {
        panic!("{seen}");
    };
    assert!(
        budget.starts_with("budget wages ") && budget.ends_with(" of 100k tokens"),
        "{budget}"
    );
    assert_eq!(seen["violations"], json!([]));
}

fn strings(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one.as_str().unwrap()).collect()
}

/// Replaces times and the number of tokens.
fn without_figures(fact: &str) -> String {
    if fact.ends_with(" tokens") {
        return "N tokens".to_owned();
    }
    let words: Vec<&str> = fact.split(' ').collect();
    let is_unit = |word: &&str| ["ms", "s"].contains(word);
    let mut said: Vec<&str> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        match words.get(place + 1) {
            Some(next) if is_unit(next) => said.push("TIME"),
            Some(_) | None if is_unit(word) => {}
            Some(_) | None => said.push(word),
        }
    }
    said.join(" ")
}

#[test]
fn the_palette_finds_pages_and_runs_by_words_of_their_transcripts() {
    let web = WebStage::new();
    call_of_two(&web);
    let found = web.json("/v1/runs?q=LAMP%20is%20lit&in=transcripts");
    let rows = found["runs"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["one"]);
    assert!(
        rows[0]["hit"].as_str().unwrap().contains("the lamp is Lit"),
        "{found}"
    );
    // Without it only names, tasks, models and answers count.
    assert_eq!(web.json("/v1/runs?q=lamp%20is%20lit")["found"], json!(0));
    let scene = json!({"url": web.url, "words": "lamp is lit"});
    let seen = play(&web.stage, "palette", &scene);
    assert_eq!(seen["places"], json!(["one"]));
    assert!(seen["hit"].as_str().unwrap().contains("the lamp is Lit"));
    assert_eq!(
        (&seen["chosen"], &seen["found"]),
        (&json!("true"), &json!([]))
    );
}
