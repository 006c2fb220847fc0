//! The refusals and their words.

use super::{printed, refused, write_global};
use crate::stage::Stage;

#[test]
fn what_makes_no_sense_is_refused_with_words() {
    let stage = Stage::new();
    write_global(&stage, "there.md", "---\nname: there\ntools: read\n---\n");
    write_global(&stage, "other.md", "---\nname: hidden\n---\n");
    write_global(&stage, "broken.md", "---\nname: broken\ntools: true\n---\n");
    let errors = [
        refused(&stage, &["agents", "create", "a b", "--model", "m"]),
        refused(&stage, &["agents", "create", "there", "--model", "m"]),
        refused(&stage, &["agents", "create", "hidden", "--model", "m"]),
        refused(&stage, &["agents", "create", "broken", "--model", "m"]),
        refused(&stage, &["agents", "create", "a"]),
        refused(
            &stage,
            &[
                "profile", "create", "a", "--format", "preset", "--model", "m",
            ],
        ),
        refused(
            &stage,
            &[
                "profile",
                "create",
                "a",
                "--no-skills",
                "--load-skills",
                "x",
            ],
        ),
        refused(&stage, &["agents", "create", "a", "--extra-args", "--mode"]),
        refused(&stage, &["agents", "create", "a", "--thinking", "hard"]),
        refused(&stage, &["agents", "create", "a", "--runner", "docker"]),
        refused(&stage, &["agents", "create", "a", "--timeout", "0"]),
        refused(&stage, &["agents", "edit", "there"]),
        refused(
            &stage,
            &["agents", "edit", "there", "--exclude-tools", "bash"],
        ),
        refused(&stage, &["agents", "edit", "there", "--unset", "name"]),
        refused(
            &stage,
            &[
                "profile", "edit", "there", "--model", "m", "--scope", "project",
            ],
        ),
        refused(&stage, &["agents", "edit", "broken", "--model", "m"]),
        refused(&stage, &["agents", "delete", "there"]),
    ];
    insta::assert_snapshot!(errors.concat(), @r#"
    [2] error: the name "a b" may have only letters, digits, "-" and "_"
    [2] error: Profile "there" already exists: $HOME/.pi/agent/agent-profiles/there.md
    hint: pi-subagents agents edit there changes it.
    [2] error: Profile "hidden" already exists: $HOME/.pi/agent/agent-profiles/other.md
    hint: pi-subagents agents edit hidden changes it.
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md already exists
    hint: Choose another name, or look at that file first.
    [2] error: there is nothing to save
    hint: Give at least one field, for example --model MODEL, or --example for a starter, or run it on a terminal.
    [2] error: a preset needs a "description"
    hint: Give it with --description TEXT.
    [2] error: Profile "a" has both "loadSkills" and "noSkills" set. These are mutually exclusive — --no-skills disables skill discovery.
    [2] error: Refusing extraArg "--mode": it is set by the engine.
    [2] error: invalid value 'hard' for '--thinking <LEVEL>': a level is one of off, minimal, low, medium, high, xhigh, max

    For more information, try '--help'.
    [2] error: invalid value 'docker' for '--runner <RUNNER>': a runner is one of auto, pi, embedded, claude, codex, gemini, copilot, opencode, qwen, acp

    For more information, try '--help'.
    [2] error: invalid value '0' for '--timeout <SECONDS>': a timeout is a number of seconds, at least 1

    For more information, try '--help'.
    [2] error: there is nothing to change
    hint: Give at least one field, for example --model MODEL or --unset model, or run it on a terminal.
    [2] error: Profile "there" has both "tools" and "excludeTools" set. These are mutually exclusive.
    [2] error: invalid value 'name' for '--unset <FIELD>': a field is one of description, provider, model, thinking, fallback-models, tools, no-tools, exclude-tools, extensions, no-extensions, mcp-servers, suggested-skills, load-skills, no-skills, no-context-files, append-system-prompt, api-key, extra-args, runner, command, isolation, sandbox, network, sandbox-writable, sandbox-hidden, sandbox-readable, network-hosts, commands, timeout, max-turns, questions, permissions, pollers, gate, output-schema, output-schema-file, finalize, system-prompt

    For more information, try '--help'.
    [3] error: there is no "there" with that scope and format
    hint: There is $HOME/.pi/agent/agent-profiles/there.md (global profile).
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    hint: Fix the file by hand first.
    [2] error: refusing to delete profile "there" without confirmation
    hint: Add --yes.
    "#);
    insta::assert_snapshot!(refused(&stage, &["profile", "explian", "there"]), @r#"
    [2] error: there is no command "explian" for agents
    hint: Use one of list, show, create, add, import, edit, delete and explain.
    "#);
    let unknown = [
        refused(&stage, &["profile", "nobody"]),
        refused(&stage, &["agents", "show", "nobody"]),
        refused(&stage, &["agents", "explain", "nobody"]),
        refused(&stage, &["agents", "edit", "nobody", "--model", "m"]),
        refused(&stage, &["agents", "delete", "nobody", "--yes"]),
    ];
    assert!(unknown.iter().all(|one| *one == unknown[0]), "{unknown:?}");
    insta::assert_snapshot!(unknown[0], @r#"
    [3] error: Unknown profile: "nobody". Available profiles: hidden, there
    hint: List them with pi-subagents agents, or copy a ready-made one with pi-subagents agents add NAME.
    "#);
    insta::assert_snapshot!(refused_show(&stage, "broken"), @r#"
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    "#);
    insta::assert_snapshot!(printed(&stage, &["agents", "delete", "broken", "--yes"]), @r#"Deleted the broken agent file "broken": $HOME/.pi/agent/agent-profiles/broken.md"#);
}

fn refused_show(stage: &Stage, name: &str) -> String {
    refused(stage, &["agents", "show", name]) + &refused(stage, &["agents", "explain", name])
}
