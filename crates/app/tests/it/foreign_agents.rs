//! Agent files of other tools: how each form is explained, and the tools that its child really has.

use std::fs;

use pi_subagents_testkit::agent_files::{AgentFile, agent_files, write_agent_files};
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, outcomes};

for_each_pi! {
    a_restriction_holds_for_either_child,
}

const DEFAULT: &[&str] = &["bash", "edit", "read", "write"];

/// The tools of an agent that is read-only.
const READERS: &[&str] = &["find", "grep", "ls", "read"];

/// Agents with the tools that their children have.
const GIVEN: [(&str, &[&str]); 39] = [
    (
        "claude-every-tool",
        &["bash", "edit", "find", "grep", "ls", "read", "write"],
    ),
    ("claude-tools-absent", DEFAULT),
    ("claude-tools-list", &["grep", "read"]),
    ("claude-tools-lines", &["find", "read"]),
    ("claude-tools-lowercase", &["bash", "read"]),
    ("claude-tools-spaces", &["bash", "grep", "read"]),
    ("claude-tools-none", &[]),
    ("claude-tools-empty", &[]),
    ("claude-tools-empty-text", &[]),
    ("claude-tools-part", &["read"]),
    (
        "claude-denied",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    ("claude-denied-of-allowed", &["read"]),
    ("claude-denied-all", &[]),
    (
        "claude-denied-part",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    ("odd-colon", &["bash", "read"]),
    ("odd-lines", &["read"]),
    ("odd-list", &["grep", "read"]),
    ("copilot-tools-none", &[]),
    ("copilot-tools-read", &["find", "grep", "ls", "read"]),
    ("copilot-tools-of-claude", &["bash", "read"]),
    ("The Shown One", &["edit", "write"]),
    (
        "codex-no-shell",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    ("opencode-switches", &["find", "grep", "ls", "read"]),
    ("opencode-switch-all", &[]),
    (
        "opencode-deny-bash",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    (
        "opencode-ask-bash",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    (
        "opencode-part-bash",
        &["edit", "find", "grep", "ls", "read", "write"],
    ),
    ("opencode-deny-all", &[]),
    ("opencode-only-read", &["grep", "read"]),
    ("gemini-tools-read", &["find", "read"]),
    ("tintinweb-tools-none", &[]),
    ("tintinweb-denied", &["find", "grep", "ls", "read", "write"]),
    ("nicobailon-denied", &["edit", "find", "grep", "ls", "read"]),
    ("nicobailon-permissions", &["read"]),
    ("nicobailon-reader", READERS),
    ("claude-plan", READERS),
    ("claude-plan-of-tools", &["grep", "read"]),
    ("codex-read-only", READERS),
    ("cursor-read-only", READERS),
];

/// Agents whose restriction cannot be kept.
const REFUSED: [&str; 15] = [
    "claude-tools-unknown",
    "claude-tools-mapping",
    "claude-tools-part-only",
    "claude-plan-of-shell",
    "claude-mode-unknown",
    "claude-hook-before-tool",
    "claude-hook-permission",
    "claude-remote",
    "claude-misspelt",
    "claude-of-another-tool",
    "odd-hooks",
    "odd-twice",
    "opencode-inside",
    "gemini-remote",
    "nicobailon-external-other",
];

fn stage_with_files() -> Stage {
    let stage = Stage::new();
    write_agent_files(&stage.sandbox.home());
    stage
}

fn explained(stage: &Stage, file: &AgentFile) -> String {
    let output = stage.command(&["agents", "explain", &file.name]).run();
    format!("## {}\n{}", file.name, stage.printed(&output))
}

/// Explains all files of a folder.
fn explained_of(folder: &str) -> String {
    let stage = stage_with_files();
    let files = agent_files().into_iter();
    let files = files.filter(|file| file.path.starts_with(folder));
    let pages: Vec<String> = files.map(|file| explained(&stage, &file)).collect();
    pages.join("\n")
}

#[test]
fn every_form_of_claude_is_explained() {
    insta::assert_snapshot!(explained_of(".claude/"));
}

#[test]
fn every_form_of_copilot_is_explained() {
    insta::assert_snapshot!(explained_of(".copilot/"));
}

#[test]
fn every_form_of_codex_is_explained() {
    insta::assert_snapshot!(explained_of(".codex/"));
}

#[test]
fn every_form_of_opencode_is_explained() {
    insta::assert_snapshot!(explained_of(".config/opencode/"));
}

#[test]
fn every_form_of_gemini_is_explained() {
    insta::assert_snapshot!(explained_of(".gemini/"));
}

#[test]
fn every_form_of_cursor_is_explained() {
    insta::assert_snapshot!(explained_of(".cursor/"));
}

#[test]
fn every_form_of_the_rivals_in_pi_is_explained() {
    insta::assert_snapshot!(explained_of(".pi/agent/agents/"));
}

fn with_model(stage: &Stage) -> LlmServer {
    let turns = vec![Turn::text("ok"); 200];
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    server
}

/// The tools that the model was offered last.
fn last_tools(server: &LlmServer) -> Vec<String> {
    let requests = server.requests();
    let tools = requests[requests.len() - 1].body["tools"].clone();
    let tools = tools.as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = tools.iter().map(name).collect();
    names.sort();
    names
}

fn one(profile: &str) -> Value {
    json!({"tasks": [{"name": "a", "prompt": "hello", "profile": profile}]})
}

#[test]
fn every_child_has_the_tools_that_its_file_leaves_it() {
    let stage = stage_with_files();
    let server = with_model(&stage);
    for (name, tools) in GIVEN {
        let output = stage.delegate_to("embedded", &one(name)).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{name}");
        assert_eq!(last_tools(&server), tools, "{name}");
    }
}

#[test]
fn a_file_whose_restriction_cannot_be_kept_starts_nothing() {
    let stage = stage_with_files();
    let server = with_model(&stage);
    for name in REFUSED {
        let output = stage.delegate_to("embedded", &one(name)).run();
        let error = outcomes(&output)[0].error.clone().unwrap_or_default();
        assert!(error.contains("the file is not used"), "{name}: {error}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_read_only_agent_runs_in_a_sandbox_of_that_level() {
    let stage = stage_with_files();
    let _server = with_model(&stage);
    for name in [
        "claude-plan",
        "codex-read-only",
        "cursor-read-only",
        "nicobailon-reader",
    ] {
        let output = stage.delegate_to("embedded", &one(name)).run();
        let level = &output.json()["runs"][0]["sandbox"];
        assert_eq!(level, "read-only", "{name} {output}");
    }
}

fn a_restriction_holds_for_either_child(pi: RealPi) {
    let stage = stage_with_files();
    let server = with_model(&stage);
    for (name, tools) in [
        (
            "claude-denied",
            &["edit", "find", "grep", "ls", "read", "write"][..],
        ),
        ("claude-tools-none", &[]),
        ("claude-tools-part", &["read"]),
        ("claude-plan", READERS),
        (
            "opencode-deny-edit",
            &["bash", "find", "grep", "ls", "read"],
        ),
    ] {
        for runner in ["embedded", "pi"] {
            let output = delegate(pi, &stage, runner, &one(name)).run();
            assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner} {name}");
            assert_eq!(last_tools(&server), tools, "{runner} {name}");
        }
    }
}

#[test]
fn a_model_that_nobody_has_is_refused_with_the_cure_and_an_alias_cures_it() {
    let stage = stage_with_files();
    let server = with_model(&stage);
    let output = stage
        .delegate_to("embedded", &one("claude-model-alias"))
        .run();
    let error = outcomes(&output)[0].error.clone().unwrap();
    insta::assert_snapshot!("a_model_that_nobody_has", stage.sandbox.normalise(&error));
    assert_eq!(server.requests().len(), 0);
    stage.settings(&json!({"modelAliases": {"sonnet": "fake/fake-model"}}));
    let output = stage
        .delegate_to("embedded", &one("claude-model-alias"))
        .run();
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
    stage.settings(&json!({"modelAliases": {"*": "inherit"}}));
    let output = stage.delegate_to("embedded", &one("copilot-models")).run();
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
}

#[test]
fn the_list_and_doctor_count_files_of_other_tools() {
    let stage = Stage::new();
    let agent = |path: &str, fields: &str| {
        let text = format!("---\n{fields}\n---\nYou test.\n");
        stage.sandbox.write(path, &text);
    };
    agent(
        "home/.claude/agents/reviewer.md",
        "name: reviewer\ndescription: Reviews code\ntools: Read, Grep, WebFetch",
    );
    agent(
        "home/.claude/agents/guard.md",
        "name: guard\ndescription: Guards\nhooks:\n  PreToolUse: []",
    );
    agent(
        "home/.claude/agents/thinker.md",
        "name: thinker\ndescription: Thinks\nmodel: opus",
    );
    agent(
        "home/.config/opencode/agent/build.md",
        "description: Builds\nmode: primary",
    );
    agent(
        "home/.pi/agent/agent-profiles/ours.md",
        "name: ours\ndescription: Ours",
    );
    let list = stage.command(&["agents", "list"]).run();
    insta::assert_snapshot!(
        "agents_list_with_files_of_other_tools",
        stage.printed(&list)
    );
    let doctor = stage.command(&["doctor"]).run();
    let printed = stage.printed(&doctor);
    let lines = printed
        .lines()
        .skip_while(|line| !line.contains("other tools"));
    let lines: Vec<&str> = lines
        .take_while(|line| !line.contains("project  "))
        .collect();
    insta::assert_snapshot!("doctor_with_files_of_other_tools", lines.join("\n"));
}

#[test]
fn ours_come_first_and_a_project_of_strangers_counts_for_nothing() {
    let stage = Stage::new();
    let agent = |path: &str, name: &str, words: &str| {
        let text = format!("---\nname: {name}\ndescription: {words}\n---\nYou test.\n");
        stage.sandbox.write(path, &text);
    };
    agent("project/.claude/agents/a.md", "shared", "claude, project");
    agent(
        "project/.github/agents/shared.md",
        "shared",
        "copilot, project",
    );
    agent("home/.claude/agents/b.md", "shared", "claude, user");
    agent("home/.agents/agents/b.md", "other", "shared folder, user");
    agent("home/.claude/agents/c.md", "other", "claude, user");
    let of = |name: &str| {
        let output = stage.command(&["agents", "show", name, "--json"]).run();
        output.json()["agent"]["description"].clone()
    };
    assert_eq!(of("shared"), "claude, user");
    assert_eq!(of("other"), "shared folder, user");
    let trust = stage.command(&["trust", "--show"]).run();
    insta::assert_snapshot!("trust_of_files_of_other_tools", stage.printed(&trust));
    stage.command(&["trust", "--yes"]).run().expect_success();
    assert_eq!(of("shared"), "claude, project");
    agent(
        "home/.pi/agent/agent-profiles/shared.md",
        "shared",
        "ours, user",
    );
    assert_eq!(of("shared"), "ours, user");
    stage.settings(&json!({"agentFilesOf": []}));
    fs::remove_file(stage.sandbox.agent_dir().join("agent-profiles/shared.md")).unwrap();
    let output = stage.command(&["agents", "show", "shared"]).run();
    assert_eq!(output.code, Some(3), "{output}");
}

#[test]
fn an_import_is_a_profile_with_the_same_body() {
    let stage = Stage::new();
    let body = "\n\nYou review.  \n\n  Twice.\n\n\n";
    stage.sandbox.write(
        "home/.claude/agents/reviewer.md",
        &format!("---\nname: reviewer\ndescription: Reviews code\ntools: Read, WebFetch\nmodel: inherit\n---{body}"),
    );
    stage.sandbox.write(
        "home/.claude/agents/guard.md",
        "---\nname: guard\ndescription: Guards\ntools: Read\nhooks:\n  PreToolUse: []\n---\nGuard.\n",
    );
    let dry = stage
        .command(&["agents", "import", "claude:reviewer", "--dry-run"])
        .run();
    insta::assert_snapshot!("import_dry_run", stage.printed(&dry));
    let copy = stage.sandbox.agent_dir().join("agent-profiles/reviewer.md");
    assert!(!copy.exists());
    stage
        .command(&["agents", "import", "claude:reviewer"])
        .run()
        .expect_success();
    let text = fs::read_to_string(&copy).unwrap();
    assert!(text.ends_with(&format!("---{body}")), "{text:?}");
    let refused = stage.command(&["agents", "import", "claude:guard"]).run();
    assert_eq!(refused.code, Some(2), "{refused}");
    insta::assert_snapshot!("import_refused", stage.printed(&refused));
    let dropped = [
        "agents",
        "import",
        "claude:guard",
        "--drop",
        "hooks",
        "--as",
        "mild",
    ];
    stage.command(&dropped).run().expect_success();
    let mild = stage.sandbox.agent_dir().join("agent-profiles/mild.md");
    insta::assert_snapshot!("import_without_a_key", fs::read_to_string(mild).unwrap());
    let edit = stage
        .command(&["agents", "edit", "guard", "--model", "x"])
        .run();
    insta::assert_snapshot!("edit_of_a_foreign_file", stage.printed(&edit));
}
