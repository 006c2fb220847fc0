//! Results that are merged by a model: over MCP, and inside pi, where a person can do it too.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::WorktreeStage;
use crate::host_stage::Shim;
use crate::mcp_stage::McpClient;
use crate::terminal::Terminal;

const DELEGATE: &str = "delegate_to_subagents";
const MERGE: &str = "merge_subagents";

/// Two tasks that change the same line, and one that changes another file.
fn tasks(stage: &WorktreeStage) -> Value {
    let task = |name: &str, script: &str| json!({"name": name, "prompt": stage.prompt(script), "isolation": "worktree"});
    json!({"tasks": [
        task("api", "sed -i s/two/api/ kept.txt; echo api > api.txt"),
        task("ui", "sed -i s/two/ui/ kept.txt"),
        task("docs", "echo docs > docs.txt"),
    ]})
}

fn tool_names(client: &mut McpClient, id: &str) -> Vec<String> {
    let listed = client.list_as(id);
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn client(stage: &WorktreeStage, kind: &Value) -> McpClient {
    let options = stage.options();
    let options = options.iter().map(String::as_str);
    let options: Vec<&str> = options.chain(["--allow-merge"]).collect();
    McpClient::start_as(stage.stage(), kind, &options)
}

/// Returns the answer for a model, without what differs from run to run.
fn answered(
    stage: &WorktreeStage,
    client: &mut McpClient,
    id: &str,
    tool: &str,
    call: &Value,
) -> String {
    client.call(id, tool, call);
    let answer = client.answer(id);
    let text = answer["text"][0]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    format!("isError: {}\n{}", answer["isError"], stage.normalise(text))
}

#[test]
fn a_model_merges_over_mcp_and_is_told_of_the_tool_when_there_is_a_result() {
    for kind in [
        json!({"mode": "legacy"}),
        json!({"mode": "auto", "listens": true}),
    ] {
        let stage = WorktreeStage::new();
        stage.write("kept.txt", "one of the user\ntwo\nthree\n");
        let mut client = client(&stage, &kind);
        assert!(!tool_names(&mut client, "before").contains(&MERGE.to_owned()));
        let begun = answered(&stage, &mut client, "begin", DELEGATE, &tasks(&stage));
        client.wait_for(|line| line["notified"].is_string());
        assert!(tool_names(&mut client, "after").contains(&MERGE.to_owned()));
        let check = json!({"check": true});
        let texts = [
            begun,
            answered(&stage, &mut client, "check", MERGE, &check),
            answered(
                &stage,
                &mut client,
                "merge",
                MERGE,
                &json!({"runs": ["api", "ui", "docs"]}),
            ),
            answered(
                &stage,
                &mut client,
                "again",
                MERGE,
                &json!({"runs": ["api"]}),
            ),
            answered(
                &stage,
                &mut client,
                "none",
                MERGE,
                &json!({"runs": ["nobody"]}),
            ),
            answered(
                &stage,
                &mut client,
                "both",
                MERGE,
                &json!({"check": true, "commit": true}),
            ),
        ];
        insta::assert_snapshot!("merged_over_mcp", texts.join("\n\n----\n\n"));
        assert_eq!(stage.read("kept.txt"), "one of the user\napi\nthree\n");
        assert_eq!(stage.status(), " M kept.txt\n?? api.txt\n?? docs.txt");
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn a_server_that_was_not_started_for_it_only_checks_what_would_fit() {
    let stage = WorktreeStage::new();
    let options = stage.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut client = McpClient::start_as(stage.stage(), &json!({"mode": "legacy"}), &options);
    let tasks = json!({"tasks": tasks(&stage)["tasks"].as_array().unwrap()[1..].to_vec()});
    answered(&stage, &mut client, "begin", DELEGATE, &tasks);
    let listed = client.list_as("after");
    let mut tools = listed["tools"].as_array().unwrap().iter();
    let merge = tools.find(|tool| tool["name"] == MERGE).unwrap();
    assert_eq!(merge["annotations"]["readOnlyHint"], true);
    let said = merge["description"].as_str().unwrap();
    assert!(said.contains("Here it only checks"), "{said}");
    let texts = [
        json!({"check": true}),
        json!({}),
        json!({"commit": true, "runs": ["docs"]}),
    ]
    .map(|call| answered(&stage, &mut client, &call.to_string(), MERGE, &call));
    insta::assert_snapshot!(texts.join("\n----\n"), @r"
    isError: false
          checkout  ui  docs
    ui    ✓         –   ✓
    docs  ✓         ✓   –

    All of it fits. The user takes it with: pi-subagents review
    ----
    isError: true
    only the user can merge: the server was not started with --allow-merge
    They can type: pi-subagents review
    ----
    isError: true
    only the user can merge: the server was not started with --allow-merge
    They can type: pi-subagents review
    ");
    assert_eq!(stage.status(), "");
    client.leave();
}

#[test]
fn a_server_that_was_restarted_offers_the_tool_at_once_and_says_what_it_does() {
    let stage = WorktreeStage::new();
    let options = stage.options();
    let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
    // A call that may outlast its client is done by a process of its own, and so is this one.
    options.extend(["--answer-within", "600"]);
    let mut first = McpClient::start_as(stage.stage(), &json!({"mode": "legacy"}), &options);
    let begun = answered(&stage, &mut first, "begin", DELEGATE, &tasks(&stage));
    first.leave();
    let mut second = client(&stage, &json!({"mode": "legacy"}));
    let listed = second.list();
    let tools = listed["tools"].as_array().unwrap().iter();
    let merge = tools.clone().find(|tool| tool["name"] == MERGE);
    let merge = merge.unwrap_or_else(|| panic!("{begun}\n{listed}"));
    assert_eq!(
        merge["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false})
    );
    second.leave();
}

/// Runs `/subagents` with these arguments, and returns what it showed and said.
fn subagents(stage: &WorktreeStage, shim: &mut Shim, arguments: &str) -> String {
    let (shown, said) = (
        shim.notifications("ui/show").len(),
        shim.notifications("ui/notify").len(),
    );
    let id = shim.command("subagents", arguments);
    shim.result(id);
    let pages = shim.notifications("ui/show").split_off(shown);
    let pages = pages.iter().map(|page| {
        let lines = page["lines"].as_array().unwrap().iter().map(|line| {
            let spans = line.as_array().unwrap().iter();
            spans
                .map(|span| span["text"].as_str().unwrap())
                .collect::<String>()
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let notices = shim.notifications("ui/notify").split_off(said);
    let notices = notices
        .iter()
        .map(|notice| format!("{}: {}", notice["level"], notice["message"]));
    let all: Vec<String> = pages.chain(notices).collect();
    stage.normalise(&format!("/subagents {arguments}\n{}", all.join("\n")))
}

#[test]
fn a_person_in_pi_reads_checks_merges_and_discards() {
    let stage = WorktreeStage::new();
    stage.settings(&json!({"runner": "embedded"}));
    let profile = format!("---\nname: worker\nmodel: {}\n---\n", stage.options()[3]);
    let place = "home/.pi/agent/agent-profiles/worker.md";
    stage.stage().sandbox.write(place, &profile);
    let mut shim = Shim::start(stage.stage());
    let mut call = tasks(&stage);
    call["profile"] = "worker".into();
    let id = shim.execute("c1", DELEGATE, &call);
    shim.result(id);
    let entries = shim.notifications("entry/append").into_iter();
    let results = entries.filter(|entry| entry["customType"] == "pi-subagents:result");
    assert_eq!(results.count(), 3);
    let said: Vec<String> = [
        "diff docs",
        "receipt \"docs\"",
        "merge --check",
        "merge api",
        "merge ui",
        "merge --force ui",
        "discard --force ui",
        "diff 'docs",
        "discard ui --yes",
        "discard ui --yes",
        "merge last",
        "diff nobody",
        "diff",
    ]
    .iter()
    .map(|arguments| subagents(&stage, &mut shim, arguments))
    .collect();
    insta::assert_snapshot!(said.join("\n\n"));
    assert_eq!(stage.read("kept.txt"), "one\napi\nthree\n");
    assert_eq!(stage.status(), " M kept.txt\n?? api.txt\n?? docs.txt");
}

#[test]
fn a_merge_is_finished_after_somebody_left_attach() {
    let stage = WorktreeStage::new();
    stage.run(&[("ui", "echo ui > ui.txt")]);
    // A clean-up of files as git writes them, which takes its time.
    stage.git(&["config", "filter.slow.smudge", "sleep 1; cat"]);
    let attributes = stage.stage().sandbox.project().join(".git/info/attributes");
    fs::write(attributes, "ui.txt filter=slow\n").unwrap();
    let mut terminal = Terminal::start_sized(stage.ours(&["attach"]), 100, 20);
    terminal.wait_for("ui");
    terminal.press("m");
    terminal.wait_for("Merge ui as uncommitted changes?");
    terminal.press("yq");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(stage.status(), "?? ui.txt");
    let worktrees = stage.ours(&["worktrees"]).run().expect_success();
    assert!(!worktrees.stdout.contains("ui"), "{}", worktrees.stdout);
}

#[test]
fn a_person_in_attach_reads_compares_merges_and_discards() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo api > api.txt")]);
    stage.run(&[("ui", "echo ui > ui.txt")]);
    let mut terminal = Terminal::start_sized(stage.ours(&["attach"]), 100, 20);
    terminal.wait_for("ui");
    terminal.press("d");
    terminal.wait_for_screen(|screen| screen.contains("changes of") && screen.contains("+ui"));
    terminal.press("d");
    terminal.press("m");
    terminal.wait_for("Merge ui as uncommitted changes?");
    // Any other key than yes merges nothing.
    terminal.press("n");
    terminal.wait_for("Nothing was merged.");
    assert_eq!(stage.status(), "");
    terminal.press("m");
    terminal.wait_for("Merge ui as uncommitted changes?");
    terminal.press("y");
    terminal.wait_for("✓ ui: merged, 1 file +1 −0");
    assert_eq!(stage.status(), "?? ui.txt");
    terminal.press("jD");
    terminal.wait_for("Discard what api changed?");
    terminal.press("y");
    terminal.wait_for("api: discarded; git branch NAME refs/pi-subagents/discarded/");
    terminal.press("D");
    terminal.wait_for("Discard what api changed?");
    terminal.press("y");
    terminal.wait_for("api has nothing to discard: it was discarded");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}
