//! The life of a definition, for people and for programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{answered, global, printed};
use crate::stage::Stage;

#[test]
fn a_definition_is_created_shown_changed_explained_and_deleted() {
    let stage = Stage::new();
    insta::assert_snapshot!(printed(&stage, &["profile"]), @"No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.");
    insta::assert_snapshot!(printed(&stage, &[
        "profile", "create", "reviewer",
        "--description", "Reviews code",
        "--provider", "anthropic",
        "--model", "claude-sonnet-4-5",
        "--thinking", "max",
        "--tools", "read, grep",
        "--suggested-skills", "web",
        "--load-skills", "rules,style",
        "--no-context-files",
        "--append-system-prompt", "Be brief.\nAlways.",
        "--system-prompt", "You review.",
        "--api-key-from-env", "KEY",
        "--extra-args", "--verbose",
        "--runner", "embedded",
        "--timeout", "90.5",
        "--finalize",
    ]), @"Created profile reviewer: $HOME/.pi/agent/agent-profiles/reviewer.md");
    let file = global(&stage, "reviewer.md");
    insta::assert_snapshot!(fs::read_to_string(&file).unwrap(), @"
    ---
    name: reviewer
    description: Reviews code
    provider: anthropic
    model: claude-sonnet-4-5
    thinkingLevel: max
    tools: read,grep
    suggestedSkills: web
    loadSkills: rules,style
    noContextFiles: true
    appendSystemPrompt: |-
      Be brief.
      Always.
    apiKey: sk-test-1234567890
    extraArgs:
    - --verbose
    runner: embedded
    timeout: 90.5
    finalize: true
    ---

    You review.
    ");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let shown = printed(&stage, &["agents", "show", "reviewer"]);
    insta::assert_snapshot!(shown, @"
    name                reviewer
    format              profile
    scope               global
    file                ~/.pi/agent/agent-profiles/reviewer.md
    description         Reviews code
    provider            anthropic
    model               claude-sonnet-4-5
    thinkingLevel       max
    tools               read, grep
    suggestedSkills     web
    loadSkills          rules, style
    noContextFiles      true
    appendSystemPrompt  Be brief.
                        Always.
    apiKey              sk-t****7890
    extraArgs           --verbose
    runner              embedded
    timeout             <duration>
    finalize            true

    System prompt, in place of the child's own:
      You review.
    ");
    assert_eq!(printed(&stage, &["profile", "reviewer"]), shown);
    insta::assert_snapshot!(printed(&stage, &["agents", "list"]), @"
    NAME      FORMAT   MODEL                            TOOLS      DESCRIPTION
    reviewer  profile  anthropic/claude-sonnet-4-5:max  read,grep  Reviews code
    ");
    assert_eq!(
        printed(&stage, &["agents", "ls"]),
        printed(&stage, &["profile"])
    );
    insta::assert_snapshot!(printed(&stage, &[
        "profile", "edit", "reviewer",
        "--unset", "tools,api-key,suggested-skills,loadSkills,timeout",
        "--unset", "finalize",
        "--no-tools", "--no-skills", "--no-extensions",
        "--model", "claude-sonnet-5",
    ]), @"Changed profile reviewer: $HOME/.pi/agent/agent-profiles/reviewer.md");
    insta::assert_snapshot!(fs::read_to_string(&file).unwrap(), @"
    ---
    name: reviewer
    description: Reviews code
    provider: anthropic
    model: claude-sonnet-5
    thinkingLevel: max
    noContextFiles: true
    appendSystemPrompt: |-
      Be brief.
      Always.
    extraArgs:
    - --verbose
    runner: embedded
    noTools: true
    noExtensions: true
    noSkills: true
    ---

    You review.
    ");
    insta::assert_snapshot!(printed(&stage, &["agents", "explain", "reviewer"]), @"
    reviewer (profile, global) ~/.pi/agent/agent-profiles/reviewer.md
      name                reviewer             ~/.pi/agent/agent-profiles/reviewer.md:2
      description         Reviews code         ~/.pi/agent/agent-profiles/reviewer.md:3
      provider            anthropic            ~/.pi/agent/agent-profiles/reviewer.md:4
      model               claude-sonnet-5      ~/.pi/agent/agent-profiles/reviewer.md:5
      thinkingLevel       max                  ~/.pi/agent/agent-profiles/reviewer.md:6
      noTools             true                 ~/.pi/agent/agent-profiles/reviewer.md:14
      noExtensions        true                 ~/.pi/agent/agent-profiles/reviewer.md:15
      noSkills            true                 ~/.pi/agent/agent-profiles/reviewer.md:16
      noContextFiles      true                 ~/.pi/agent/agent-profiles/reviewer.md:7
      appendSystemPrompt  Be brief. (+1 line)  ~/.pi/agent/agent-profiles/reviewer.md:8
      extraArgs           --verbose            ~/.pi/agent/agent-profiles/reviewer.md:11
      runner              embedded             ~/.pi/agent/agent-profiles/reviewer.md:13
      body                You review.          ~/.pi/agent/agent-profiles/reviewer.md:19

    Sandbox of its runs:
      read-only, network none, because its tools only read

    Children are started with (RUN is the directory of the run):
      pi        --provider anthropic --model claude-sonnet-5 --thinking max --system-prompt RUN/system-prompt.md --append-system-prompt RUN/append-system-prompt.md --no-tools --no-extensions --no-skills --no-context-files --verbose
      embedded  --provider anthropic --model claude-sonnet-5 --thinking max --system-prompt RUN/system-prompt.md --append-system-prompt RUN/append-system-prompt.md --no-tools --no-extensions --no-skills --no-context-files --verbose
    ");
    insta::assert_snapshot!(printed(&stage, &["agents", "delete", "reviewer", "--yes"]), @r#"Deleted profile "reviewer": $HOME/.pi/agent/agent-profiles/reviewer.md"#);
    assert!(!file.exists());
}

#[test]
fn programs_read_the_same_as_json() {
    let stage = Stage::new();
    let made = answered(
        &stage,
        &[
            "profile",
            "new",
            "a",
            "--api-key-from-env",
            "KEY",
            "--timeout",
            "30",
        ],
    );
    let profile = json!({
        "name": "a",
        "format": "profile",
        "scope": "global",
        "file": "$HOME/.pi/agent/agent-profiles/a.md",
        "apiKey": "sk-t****7890",
        "timeout": 30,
    });
    let nothing = json!([]);
    assert_eq!(
        made,
        json!({"schemaVersion": 1, "type": "result", "done": "created", "agent": profile, "ignored": nothing, "notices": nothing, "warnings": nothing})
    );
    assert_eq!(
        answered(&stage, &["profile", "a"]),
        json!({"schemaVersion": 1, "type": "result", "agent": profile, "shadowed": nothing, "ignored": nothing, "notices": nothing, "warnings": nothing})
    );
    let listed = answered(&stage, &["profile"]);
    assert_eq!(listed["agents"][0]["summary"], "profile: a");
    let explained = answered(&stage, &["agents", "explain", "a"]);
    assert_eq!(
        explained["fields"][1],
        json!({"key": "apiKey", "value": "sk-t****7890", "file": "$HOME/.pi/agent/agent-profiles/a.md", "line": 3, "shadows": []})
    );
    assert_eq!(
        explained["children"],
        json!([{"runner": "pi", "arguments": []}, {"runner": "embedded", "arguments": []}])
    );
    let changed = answered(&stage, &["agents", "edit", "a", "--unset", "timeout"]);
    assert_eq!(
        (&changed["done"], &changed["agent"]["timeout"]),
        (&json!("changed"), &json!(null))
    );
    for alias in ["rm", "remove"] {
        let deleted = answered(&stage, &["profile", alias, "a", "--yes"]);
        assert_eq!(
            deleted["agent"]["file"],
            "$HOME/.pi/agent/agent-profiles/a.md"
        );
        assert_eq!(deleted["countsNow"], json!(null));
        answered(&stage, &["agents", "create", "a", "--model", "m"]);
    }
}
