//! A review by a model over MCP, and by a model and a person inside pi.

use pi_subagents_testkit::{bin, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::WorktreeStage;
use crate::host_stage::{PATIENCE, Shim};
use crate::mcp_stage::McpClient;

const DELEGATE: &str = "delegate_to_subagents";
const REVIEW: &str = "review_subagents";

/// Two tasks that change the same line, and one that changes another file.
fn tasks(stage: &WorktreeStage) -> Value {
    let task = |name: &str, script: &str| json!({"name": name, "prompt": stage.prompt(script), "isolation": "worktree"});
    json!({"tasks": [
        task("api", "sed -i s/two/api/ kept.txt; echo api > api.txt"),
        task("ui", "sed -i s/two/ui/ kept.txt"),
        task("docs", "echo docs > docs.txt"),
    ]})
}

fn client(stage: &WorktreeStage, more: &[&str]) -> McpClient {
    let options = stage.options();
    let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
    options.extend(more);
    McpClient::start_as(
        stage.stage(),
        &json!({"mode": "auto", "listens": true}),
        &options,
    )
}

/// Calls the tool, and returns the answer for a model, without what differs from run to run.
fn reviewed(stage: &WorktreeStage, client: &mut McpClient, arguments: &Value) -> String {
    let id = format!("review {arguments}");
    client.call(&id, REVIEW, arguments);
    let answer = client.answer(&id);
    let text = answer["text"][0]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    let text = without_commit(&stage.normalise(text));
    format!("{arguments}\nisError: {}\n{text}", answer["isError"])
}

/// Replaces the commit that a result began with.
fn without_commit(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| match line.split_once("began with ") {
            Some((before, _)) => format!("{before}began with COMMIT"),
            None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

fn tools(client: &mut McpClient, id: &str) -> (Vec<String>, usize) {
    let listed = client.list_as(id);
    let tools = listed["tools"].as_array().unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let bytes = listed["tools"].to_string().len();
    (tools.iter().map(name).collect(), bytes)
}

#[test]
fn a_model_reviews_over_mcp_and_takes_nothing_unless_the_server_allows_it() {
    let stage = WorktreeStage::new();
    let mut client = client(&stage, &[]);
    assert!(!tools(&mut client, "before").0.contains(&REVIEW.to_owned()));
    client.call("begin", DELEGATE, &tasks(&stage));
    client.answer("begin");
    client.wait_for(|line| line["notified"].is_string());
    let (names, bytes) = tools(&mut client, "after");
    assert_eq!(
        names,
        [
            DELEGATE,
            "subagent_runs",
            "list_subagent_profiles",
            "merge_subagents",
            REVIEW
        ]
    );
    // A model reads it in every conversation that has results.
    assert!(bytes < 8_000, "{bytes} bytes");
    let said = [
        json!({}),
        json!({"action": "show", "runs": ["api"]}),
        json!({"action": "accept"}),
        json!({"action": "undo"}),
        json!({"action": "discard", "runs": ["ui"]}),
        json!({"action": "show"}),
        json!({"action": "show", "runs": ["nobody"]}),
        json!({"action": "send_back", "runs": ["ui"]}),
        json!({"action": "take"}),
    ];
    let said = said.map(|arguments| reviewed(&stage, &mut client, &arguments));
    insta::assert_snapshot!("reviewed_over_mcp", said.join("\n\n----\n\n"));
    assert_eq!(stage.status(), "");

    stage.prompt_for("Use three instead.", "echo three > third.txt");
    let back = json!({"action": "send_back", "runs": ["ui"], "note": "Use three instead."});
    client.call("back", REVIEW, &back);
    let answer = client.answer("back");
    let text = answer["text"][0].as_str().unwrap();
    assert!(
        text.starts_with("ui continues in the background with your text"),
        "{answer}"
    );
    let run = text.split_once("(run ").unwrap().1;
    let run = run.split_once(')').unwrap().0;
    client.call(
        "wait",
        "subagent_runs",
        &json!({"action": "wait", "ids": [run], "seconds": 60}),
    );
    let waited = client.answer("wait");
    assert!(
        waited["text"][0]
            .as_str()
            .unwrap()
            .contains("All have finished"),
        "{waited}"
    );
    // The owner captures the changes of a run after its end.
    let show = json!({"action": "show", "runs": ["ui"]});
    let mut looks = 0;
    let shown = wait_until(PATIENCE, || {
        looks += 1;
        let id = format!("look {looks}");
        client.call(&id, REVIEW, &show);
        let answer = client.answer(&id);
        let text = answer["text"][0].as_str().unwrap();
        text.contains("third.txt +1 −0").then_some(())
    });
    assert!(shown.is_some(), "the new result is not shown");
    client.leave();
}

#[test]
fn a_server_that_was_started_for_it_lets_its_model_accept_and_undo() {
    let stage = WorktreeStage::new();
    stage.settings(&json!({"reviewGate": "test ! -f broken.txt"}));
    let mut client = client(&stage, &["--allow-merge"]);
    client.call("begin", DELEGATE, &tasks(&stage));
    client.answer("begin");
    let said = [
        json!({"action": "accept"}),
        json!({"action": "undo"}),
        json!({"action": "accept", "runs": ["docs"]}),
    ];
    let said = said.map(|arguments| reviewed(&stage, &mut client, &arguments));
    insta::assert_snapshot!("accepted_over_mcp", said.join("\n\n----\n\n"));
    assert_eq!(stage.status(), "?? docs.txt");
    client.leave();
}

/// Starts a host of pi whose results wait.
fn shim(stage: &WorktreeStage) -> Shim {
    stage.settings(&json!({"runner": "embedded", "reviewGate": "test ! -f broken.txt"}));
    let profile = format!("---\nname: worker\nmodel: {}\n---\n", stage.options()[3]);
    let place = "home/.pi/agent/agent-profiles/worker.md";
    stage.stage().sandbox.write(place, &profile);
    let mut shim = Shim::start(stage.stage());
    shim.caller(json!({"pi": {"execPath": bin("misbehave"), "version": "0.87.1"}}));
    let mut call = tasks(stage);
    call["profile"] = "worker".into();
    let id = shim.execute("begin", DELEGATE, &call);
    shim.result(id);
    shim
}

#[test]
fn inside_pi_a_model_takes_results_only_after_its_person_says_yes() {
    let stage = WorktreeStage::new();
    let mut shim = shim(&stage);
    let title = "The model wants to take 1 result: docs (careful) into your checkout. Gates that must pass: `test ! -f broken.txt`.";
    let arguments = json!({"action": "accept", "runs": ["docs"]});
    let said = ["No", "Yes"].map(|reply| {
        let id = shim.execute(reply, REVIEW, &arguments);
        let asked = shim.answer("ui/select", &json!({"value": reply}));
        assert_eq!(asked, json!({"title": title, "options": ["No", "Yes"]}));
        let response = shim.response(id);
        let error = response["error"]["message"].as_str();
        let text = response["result"]["content"][0]["text"].as_str();
        let text = error.or(text).unwrap().to_owned();
        (text, stage.status())
    });
    let [refused, taken] = said;
    assert_eq!(
        refused,
        (
            "the user said no, so nothing was changed".to_owned(),
            String::new()
        )
    );
    assert!(
        taken.0.starts_with("✓ docs  taken\n1 result in one step"),
        "{}",
        taken.0
    );
    assert_eq!(taken.1, "?? docs.txt");
    // Nobody can be asked here.
    shim.caller(json!({"hasUI": false}));
    let id = shim.execute("alone", REVIEW, &json!({"action": "undo"}));
    assert_eq!(
        shim.response(id)["error"]["message"],
        "only the user can do this, and nobody is here to say yes\nhint: They can type /subagents review, or pi-subagents review in a shell."
    );
    assert_eq!(stage.status(), "?? docs.txt");
}

#[test]
fn a_person_in_pi_reviews_with_dialogs() {
    let stage = WorktreeStage::new();
    stage.prompt_for("Use three instead.", "echo three > third.txt");
    let mut shim = shim(&stage);
    let id = shim.command("subagents", "review");
    let mut said = vec![
        choose(&mut shim, "careful • docs"),
        choose(&mut shim, "Show its changes"),
    ];
    let viewed = shim.answer("ui/view", &json!({}));
    let lines = viewed["lines"].as_array().unwrap().iter().map(|line| {
        let spans = line.as_array().unwrap().iter();
        spans
            .map(|span| span["text"].as_str().unwrap())
            .collect::<String>()
    });
    said.push(lines.collect::<Vec<_>>().join("\n"));
    said.push(choose(&mut shim, "Accept it"));
    said.push(choose(&mut shim, "Yes"));
    said.push(choose(&mut shim, "careful • api"));
    said.push(choose(&mut shim, "Discard it"));
    said.push(choose(&mut shim, "Yes"));
    said.push(choose(&mut shim, "careful • ui"));
    said.push(choose(&mut shim, "Send it back"));
    let asked = shim.answer("ui/editor", &json!({"value": "Use three instead."}));
    assert_eq!(asked["title"], "What should ui do differently?");
    // The person leaves.
    shim.answer("ui/select", &json!({}));
    shim.result(id);
    let notices = shim.notifications("ui/notify").into_iter();
    let notices: Vec<String> = notices
        .map(|notice| notice["message"].as_str().unwrap().to_owned())
        .filter(|notice| !notice.starts_with("Background agent"))
        .collect();
    said.push(notices.join("\n"));
    insta::assert_snapshot!(without_seconds(&stage.normalise(&said.join("\n\n"))));
    assert_eq!(stage.status(), "?? docs.txt");
    // The session follows the run that went back.
    let is_over = |entry: &Value| entry["customType"] == "pi-subagents:bg-update";
    let over = || {
        let entries = shim.notifications("entry/append");
        entries.into_iter().find(is_over)
    };
    let over = wait_until(PATIENCE, over).unwrap();
    assert_eq!(over["data"]["status"], "completed");
}

/// Chooses the first option of the next dialog that begins with some words.
fn choose(shim: &mut Shim, begin: &str) -> String {
    let dialog = shim.next("ui/select");
    let options = dialog["params"]["options"].as_array().unwrap();
    let chosen = options
        .iter()
        .find(|option| option.as_str().unwrap().starts_with(begin));
    let chosen = chosen.unwrap_or_else(|| panic!("no {begin} in {dialog}"));
    let answer = json!({"jsonrpc": "2.0", "id": dialog["id"], "result": {"value": chosen}});
    shim.line(&answer.to_string());
    let options: Vec<&str> = options
        .iter()
        .map(|option| option.as_str().unwrap())
        .collect();
    format!(
        "{}\n  {}\n→ {begin}",
        dialog["params"]["title"].as_str().unwrap(),
        options.join("\n  ")
    )
}

#[test]
fn a_person_in_pi_takes_some_files_and_lets_work_be_done_again_on_top_of_the_rest() {
    let stage = WorktreeStage::new();
    stage.prompt_for("Use three instead.", "echo three > third.txt");
    let mut shim = shim(&stage);
    let id = shim.command("subagents", "review");
    choose(&mut shim, "careful • api");
    let said = [
        choose(&mut shim, "Accept some of its files"),
        choose(&mut shim, "[x] kept.txt"),
        choose(&mut shim, "Accept the chosen files"),
        choose(&mut shim, "Yes"),
        choose(&mut shim, "careful • ui"),
        choose(&mut shim, "Let it be done again"),
        choose(&mut shim, "api"),
    ];
    let asked = shim.answer("ui/editor", &json!({"value": "Use three instead."}));
    assert_eq!(
        asked["title"],
        "What should ui know? An empty note is enough."
    );
    shim.answer("ui/select", &json!({}));
    shim.result(id);
    let notices = shim.notifications("ui/notify").into_iter();
    let notices: Vec<String> = notices
        .map(|notice| notice["message"].as_str().unwrap().to_owned())
        .filter(|notice| !notice.starts_with("Background agent"))
        .collect();
    let said = [said.join("\n\n"), notices.join("\n")].join("\n\n");
    insta::assert_snapshot!(without_seconds(&stage.normalise(&said)));
    assert_eq!(stage.status(), "?? api.txt");
}

/// Replaces the times that gates took.
fn without_seconds(text: &str) -> String {
    let lines = text.lines().map(|line| match line.rsplit_once(" (") {
        Some((before, after)) if after.ends_with(" s)") => format!("{before} (TIME)"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
