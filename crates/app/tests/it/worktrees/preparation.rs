//! A worktree is prepared before its child works there, and the checkout beside it is watched.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

#[test]
fn the_setup_command_runs_in_the_worktree_with_its_ports() {
    let stage = WorktreeStage::new();
    stage.write(".gitignore", "prepared.txt\n");
    let setup = "echo \"$PI_SUBAGENTS_PROJECT $PI_SUBAGENTS_WORKTREE $PI_SUBAGENTS_PORT_BASE\" > prepared.txt; echo ready";
    stage.settings(&json!({"worktreeSetup": setup}));
    let output = stage.run(&[("api", "cp prepared.txt seen.txt")]);
    let workspace = &output["runs"][0]["workspace"];
    let path = workspace["path"].as_str().unwrap();
    let seen = std::fs::read_to_string(format!("{path}/seen.txt")).unwrap();
    let project = stage.project();
    let project = project.display();
    assert_eq!(seen, format!("{project} {path} 20000\n"));
    let directory = output["runs"][0]["artifacts"]["directory"]
        .as_str()
        .unwrap();
    let log = std::fs::read_to_string(format!("{directory}/setup.log")).unwrap();
    assert_eq!(log, format!("$ {setup}\nready\n\n[succeeded]\n"));
}

#[test]
fn a_confined_run_and_its_setup_stay_in_their_worktree() {
    let stage = WorktreeStage::new();
    let (by_setup, by_child) = (stage.home_path("by-setup"), stage.home_path("by-child"));
    let setup = format!("echo prepared > prepared.txt; echo x > {by_setup}; true");
    stage.settings(&json!({"worktreeSetup": setup}));
    let checkout = stage.project().join("kept.txt");
    let work = format!(
        "echo four >> kept.txt; git add . && git commit -qm work && echo kept > committed; \
         echo x > {by_child}; echo x > {}; echo x > .git",
        checkout.display()
    );
    // A script among temporary files would not be seen.
    let turns = json!([
        {"toolCalls": [{"name": "bash", "arguments": {"command": work}}]},
        {"text": "Done."}
    ]);
    let rules = json!({"rules": [{"turns": turns}]}).to_string();
    stage.stage().sandbox.write("script.json", &rules);
    let model = stage.model();
    let run = [
        "run", "Go.", "--json", "--runner", "embedded", "--model", &model,
    ];
    let output = stage
        .ours(&run)
        .args(["--isolation", "worktree", "--sandbox", "workspace-write"])
        .run()
        .expect_success()
        .json();
    let run = &output["runs"][0];
    assert_eq!(run["sandbox"], "workspace-write", "{run}");
    let path = std::path::Path::new(run["workspace"]["path"].as_str().unwrap());
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(read("kept.txt"), "one\ntwo\nthree\nfour\n");
    assert_eq!(
        [read("prepared.txt"), read("committed")],
        ["prepared\n", "kept\n"]
    );
    assert_eq!(stage.read("kept.txt"), "one\ntwo\nthree\n");
    for outside in [by_setup, by_child] {
        assert!(!std::path::Path::new(&outside).exists(), "{outside}");
    }
}

#[test]
fn a_setup_that_fails_ends_the_run_in_words_and_leaves_nothing() {
    let stage = WorktreeStage::new();
    stage.settings(&json!({"worktreeSetup": "echo no registry >&2; exit 3"}));
    let output = stage.command(&[("api", "echo x > a.txt")]).run().json();
    assert_eq!(
        output["runs"][0]["errorMessage"],
        "Failed to prepare the worktree: echo no registry >&2; exit 3 exited with 3: no registry"
    );
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_project_that_nobody_trusts_prepares_nothing() {
    let stage = WorktreeStage::new();
    std::fs::create_dir(stage.project().join(".pi")).unwrap();
    let marked = stage.home_path("ran");
    let settings = json!({"subagents": {"worktreeSetup": format!("touch {marked}")}});
    stage.write(".pi/settings.json", &settings.to_string());
    stage.run(&[("api", "echo x > a.txt")]);
    assert!(!std::path::Path::new(&marked).exists());
    let trusted = stage.command(&[("api", "echo x > a.txt")]).arg("--trust");
    trusted.run().expect_success();
    assert!(std::path::Path::new(&marked).exists());
}

#[test]
fn a_change_of_the_main_checkout_is_told() {
    let stage = WorktreeStage::new();
    let file = stage.project().join("kept.txt").display().to_string();
    let output = stage.run(&[("api", &format!("echo escaped > {file}; echo x > a.txt"))]);
    let workspace = &output["runs"][0]["workspace"];
    assert_eq!(workspace["checkoutChanged"], json!(["kept.txt"]));
    let text = output["text"].as_str().unwrap();
    let line = "! the main checkout changed meanwhile: kept.txt";
    assert!(text.contains(line), "{text}");
}

#[test]
fn a_copied_secret_is_not_merged_by_accident() {
    let stage = WorktreeStage::new();
    stage.write(".gitignore", ".env\n");
    stage.write(".worktreeinclude", ".env\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "ignore"]);
    stage.write(".env", "SECRET=1\n");
    stage.run(&[("api", "git add -f .env; git commit -qm all; echo x > a.txt")]);
    std::fs::remove_file(stage.project().join(".env")).unwrap();
    let checked = stage.ours(&["merge", "api", "--check", "--json"]).run();
    assert_eq!(checked.code, Some(1));
    let checked = checked.json();
    assert_eq!(
        (&checked["clean"], &checked["results"][0]["addedCopies"]),
        (&json!(false), &json!([".env"]))
    );
    let refused = stage.ours(&["merge", "api"]).run();
    assert_eq!(refused.code, Some(1));
    assert_eq!(
        refused.stdout,
        "✗ api: not merged; it added .env, which git ignores and .worktreeinclude had copied; --force merges it all the same\n"
    );
    assert!(!stage.project().join("a.txt").exists());
    stage
        .ours(&["merge", "api", "--force"])
        .run()
        .expect_success();
    assert_eq!(stage.read(".env"), "SECRET=1\n");
}
