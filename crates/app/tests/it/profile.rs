//! `profile`: definitions from the command line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

pub(crate) mod terminal;
mod wizard;

const KEY: &str = "sk-test-1234567890";

/// What a command prints, which must succeed.
fn printed(stage: &Stage, arguments: &[&str]) -> String {
    let output = stage.command(arguments).env("KEY", KEY).run();
    stage.sandbox.normalise(&output.expect_success().stdout)
}

/// What a command prints as JSON, which must succeed.
fn answered(stage: &Stage, arguments: &[&str]) -> Value {
    let output = stage.command(arguments).env("KEY", KEY).arg("--json").run();
    let output = output.expect_success();
    assert_eq!(output.stderr, "");
    serde_json::from_str(&stage.sandbox.normalise(&output.stdout)).unwrap()
}

/// The exit code and the error of a command that must fail, in text and in JSON.
fn refused(stage: &Stage, arguments: &[&str]) -> String {
    let output = stage.command(arguments).run();
    assert_eq!(output.stdout, "", "{output}");
    let json = stage.command(arguments).arg("--json").run();
    assert_eq!(json.code, output.code);
    assert!(json.json()["error"]["message"].is_string(), "{json}");
    let code = output.code.unwrap();
    format!("[{code}] {}", stage.sandbox.normalise(&output.stderr))
}

fn global(stage: &Stage, name: &str) -> PathBuf {
    stage.sandbox.agent_dir().join("agent-profiles").join(name)
}

fn write_global(stage: &Stage, name: &str, text: &str) -> PathBuf {
    let path = format!("home/.pi/agent/agent-profiles/{name}");
    stage.sandbox.write(&path, text)
}

#[test]
fn a_definition_is_created_shown_changed_explained_and_deleted() {
    let stage = Stage::new();
    insta::assert_snapshot!(printed(&stage, &["profile"]), @"No subagent profiles found. Add .md files to ~/.pi/agent/agent-profiles/ or .pi/agent-profiles/.");
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
    let shown = printed(&stage, &["profile", "show", "reviewer"]);
    insta::assert_snapshot!(shown, @"
    name                reviewer
    dialect             profile
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
    insta::assert_snapshot!(printed(&stage, &["profile", "list"]), @"profile: reviewer, model=claude-sonnet-4-5, thinking=max, custom-system-prompt, appended-system-prompt, tools=[read,grep], suggestedSkills=[web], loadSkills=[rules,style]");
    assert_eq!(
        printed(&stage, &["profile", "ls"]),
        printed(&stage, &["profile"])
    );
    insta::assert_snapshot!(printed(&stage, &[
        "profile", "edit", "reviewer",
        "--unset", "tools,api-key,suggested-skills,loadSkills,timeout",
        "--unset", "finalize",
        "--no-tools", "--no-skills", "--no-extensions",
        "--model", "gpt-5",
    ]), @"Changed profile reviewer: $HOME/.pi/agent/agent-profiles/reviewer.md");
    insta::assert_snapshot!(fs::read_to_string(&file).unwrap(), @"
    ---
    name: reviewer
    description: Reviews code
    provider: anthropic
    model: gpt-5
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
    insta::assert_snapshot!(printed(&stage, &["profile", "explain", "reviewer"]), @"
    reviewer (profile, global) ~/.pi/agent/agent-profiles/reviewer.md
      name                reviewer             ~/.pi/agent/agent-profiles/reviewer.md:2
      description         Reviews code         ~/.pi/agent/agent-profiles/reviewer.md:3
      provider            anthropic            ~/.pi/agent/agent-profiles/reviewer.md:4
      model               gpt-5                ~/.pi/agent/agent-profiles/reviewer.md:5
      thinkingLevel       max                  ~/.pi/agent/agent-profiles/reviewer.md:6
      noTools             true                 ~/.pi/agent/agent-profiles/reviewer.md:14
      noExtensions        true                 ~/.pi/agent/agent-profiles/reviewer.md:15
      noSkills            true                 ~/.pi/agent/agent-profiles/reviewer.md:16
      noContextFiles      true                 ~/.pi/agent/agent-profiles/reviewer.md:7
      appendSystemPrompt  Be brief. (+1 line)  ~/.pi/agent/agent-profiles/reviewer.md:8
      extraArgs           --verbose            ~/.pi/agent/agent-profiles/reviewer.md:11
      runner              embedded             ~/.pi/agent/agent-profiles/reviewer.md:13
      body                You review.          ~/.pi/agent/agent-profiles/reviewer.md:19

    Children are started with (RUN is the directory of the run):
      pi        --provider anthropic --model gpt-5 --thinking max --system-prompt RUN/system-prompt.md --append-system-prompt RUN/append-system-prompt.md --no-tools --no-extensions --no-skills --no-context-files --verbose
      embedded  --provider anthropic --model gpt-5 --thinking max --system-prompt RUN/system-prompt.md --append-system-prompt RUN/append-system-prompt.md --no-tools --no-extensions --no-skills --no-context-files --verbose
    ");
    insta::assert_snapshot!(printed(&stage, &["profile", "delete", "reviewer", "--yes"]), @r#"Deleted profile "reviewer": $HOME/.pi/agent/agent-profiles/reviewer.md"#);
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
        "dialect": "profile",
        "scope": "global",
        "file": "$HOME/.pi/agent/agent-profiles/a.md",
        "apiKey": "sk-t****7890",
        "timeout": 30,
    });
    let nothing = json!([]);
    assert_eq!(
        made,
        json!({"done": "created", "profile": profile, "ignored": nothing, "notices": nothing, "warnings": nothing})
    );
    assert_eq!(
        answered(&stage, &["profile", "a"]),
        json!({"profile": profile, "shadowed": nothing, "ignored": nothing, "notices": nothing, "warnings": nothing})
    );
    let listed = answered(&stage, &["profile"]);
    assert_eq!(listed["profiles"][0]["summary"], "profile: a");
    let explained = answered(&stage, &["profile", "explain", "a"]);
    assert_eq!(
        explained["fields"][1],
        json!({"key": "apiKey", "value": "sk-t****7890", "file": "$HOME/.pi/agent/agent-profiles/a.md", "line": 3, "shadows": []})
    );
    assert_eq!(
        explained["children"],
        json!([{"runner": "pi", "arguments": []}, {"runner": "embedded", "arguments": []}])
    );
    let changed = answered(&stage, &["profile", "edit", "a", "--unset", "timeout"]);
    assert_eq!(
        (&changed["done"], &changed["profile"]["timeout"]),
        (&json!("changed"), &json!(null))
    );
    for alias in ["rm", "remove"] {
        let deleted = answered(&stage, &["profile", alias, "a", "--yes"]);
        assert_eq!(
            deleted["profile"]["file"],
            "$HOME/.pi/agent/agent-profiles/a.md"
        );
        assert_eq!(deleted["countsNow"], json!(null));
        answered(&stage, &["profile", "create", "a", "--model", "m"]);
    }
}

#[test]
fn changing_a_file_keeps_what_its_author_wrote_beside_it() {
    let stage = Stage::new();
    let file = write_global(
        &stage,
        "mine.md",
        "---\n# Reviews with care.\nmodel: sonnet # cheap\ncolour: red\nname: mine\ntools:\n  - read # only\n---\n\nYou are.\n",
    );
    printed(
        &stage,
        &[
            "profile",
            "edit",
            "mine",
            "--model",
            "opus",
            "--thinking",
            "off",
        ],
    );
    insta::assert_snapshot!(fs::read_to_string(file).unwrap(), @"
    ---
    # Reviews with care.
    model: opus # cheap
    colour: red
    name: mine
    tools:
      - read # only
    thinkingLevel: 'off'
    ---

    You are.
    ");
}

#[test]
fn texts_come_from_files_and_from_stdin_and_keys_never_from_arguments() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/prompt.md", "\r\nFrom a file.\r\nTwo lines.\r\n");
    let output = stage
        .command(&[
            "profile",
            "create",
            "a",
            "--system-prompt",
            "@prompt.md",
            "--append-system-prompt",
            "-",
        ])
        .stdin("From stdin.\n")
        .run();
    output.expect_success();
    let output = stage
        .command(&["profile", "edit", "a", "--api-key-stdin"])
        .stdin(format!("{KEY}\n"))
        .run();
    assert!(!output.expect_success().stdout.contains(KEY));
    insta::assert_snapshot!(fs::read_to_string(global(&stage, "a.md")).unwrap(), @"
    ---
    name: a
    appendSystemPrompt: From stdin.
    apiKey: sk-test-1234567890
    ---

    From a file.
    Two lines.
    ");
    let mode = fs::metadata(global(&stage, "a.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let errors = [
        refused(
            &stage,
            &["profile", "edit", "a", "--system-prompt", "@missing.md"],
        ),
        refused(
            &stage,
            &[
                "profile",
                "edit",
                "a",
                "--system-prompt",
                "-",
                "--api-key-stdin",
            ],
        ),
        refused(&stage, &["profile", "edit", "a", "--api-key-stdin"]),
        refused(
            &stage,
            &["profile", "edit", "a", "--api-key-from-env", "NO_SUCH_KEY"],
        ),
        refused(
            &stage,
            &[
                "profile",
                "create",
                "b",
                "--scope",
                "project",
                "--api-key-from-env",
                "HOME",
            ],
        ),
    ];
    insta::assert_snapshot!(errors.concat(), @"
    [2] error: missing.md cannot be read
      caused by: No such file or directory (os error 2)
    [2] error: only one field can be read from stdin
    [2] error: stdin holds no key
    [2] error: the environment variable NO_SUCH_KEY is not set
    [2] error: an apiKey is never kept in a file of a project
    hint: Use --scope global, or let the user's own settings hold the key.
    ");
    assert!(!stage.sandbox.project().join(".pi").exists());
}

#[test]
fn what_makes_no_sense_is_refused_with_words() {
    let stage = Stage::new();
    write_global(&stage, "there.md", "---\nname: there\ntools: read\n---\n");
    write_global(&stage, "other.md", "---\nname: hidden\n---\n");
    write_global(&stage, "broken.md", "---\nname: broken\ntools: true\n---\n");
    let errors = [
        refused(&stage, &["profile", "create", "a b", "--model", "m"]),
        refused(&stage, &["profile", "create", "there", "--model", "m"]),
        refused(&stage, &["profile", "create", "hidden", "--model", "m"]),
        refused(&stage, &["profile", "create", "broken", "--model", "m"]),
        refused(&stage, &["profile", "create", "a"]),
        refused(
            &stage,
            &[
                "profile",
                "create",
                "a",
                "--dialect",
                "preset",
                "--model",
                "m",
            ],
        ),
        refused(&stage, &["profile", "create", "a", "--tools", ""]),
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
        refused(
            &stage,
            &["profile", "create", "a", "--extra-args", "--mode"],
        ),
        refused(&stage, &["profile", "create", "a", "--thinking", "hard"]),
        refused(&stage, &["profile", "create", "a", "--runner", "docker"]),
        refused(&stage, &["profile", "create", "a", "--timeout", "0"]),
        refused(&stage, &["profile", "edit", "there"]),
        refused(
            &stage,
            &["profile", "edit", "there", "--exclude-tools", "bash"],
        ),
        refused(&stage, &["profile", "edit", "there", "--unset", "name"]),
        refused(
            &stage,
            &[
                "profile", "edit", "there", "--model", "m", "--scope", "project",
            ],
        ),
        refused(&stage, &["profile", "edit", "broken", "--model", "m"]),
        refused(&stage, &["profile", "delete", "there"]),
    ];
    insta::assert_snapshot!(errors.concat(), @r#"
    [2] error: the name "a b" may have only letters, digits, "-" and "_"
    [2] error: Profile "there" already exists: $HOME/.pi/agent/agent-profiles/there.md
    hint: pi-subagents profile edit there changes it.
    [2] error: Profile "hidden" already exists: $HOME/.pi/agent/agent-profiles/other.md
    hint: pi-subagents profile edit hidden changes it.
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md is there already
    hint: Choose another name, or look at that file first.
    [2] error: there is nothing to save
    hint: Give at least one field, for example --model MODEL, or run it on a terminal.
    [2] error: a preset needs a "description"
    hint: Give it with --description TEXT.
    [2] error: Profile "a" allows no tool: "tools" is empty. Set "noTools: true" if it is to have none.
    [2] error: Profile "a" has both "loadSkills" and "noSkills" set. These are mutually exclusive — --no-skills disables skill discovery.
    [2] error: Refusing extraArg "--mode": it is set by the engine.
    [2] error: invalid value 'hard' for '--thinking <LEVEL>': a level is one of off, minimal, low, medium, high, xhigh, max

    For more information, try '--help'.
    [2] error: invalid value 'docker' for '--runner <RUNNER>': a runner is one of auto, pi, embedded

    For more information, try '--help'.
    [2] error: invalid value '0' for '--timeout <SECONDS>': a timeout is a number of seconds from 1

    For more information, try '--help'.
    [2] error: there is nothing to change
    hint: Give at least one field, for example --model MODEL or --unset model, or run it on a terminal.
    [2] error: Profile "there" has both "tools" and "excludeTools" set. These are mutually exclusive.
    [2] error: invalid value 'name' for '--unset <FIELD>': a field is one of description, provider, model, thinking, tools, no-tools, exclude-tools, extensions, no-extensions, suggested-skills, load-skills, no-skills, no-context-files, append-system-prompt, api-key, extra-args, runner, timeout, finalize, system-prompt

    For more information, try '--help'.
    [3] error: no "there" of that scope and dialect
    hint: There is $HOME/.pi/agent/agent-profiles/there.md (global profile).
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    hint: Mend the file by hand first.
    [2] error: profile "there" is not deleted unasked
    hint: Add --yes.
    "#);
    let unknown = [
        refused(&stage, &["profile", "nobody"]),
        refused(&stage, &["profile", "show", "nobody"]),
        refused(&stage, &["profile", "explain", "nobody"]),
        refused(&stage, &["profile", "edit", "nobody", "--model", "m"]),
        refused(&stage, &["profile", "delete", "nobody", "--yes"]),
    ];
    assert!(unknown.iter().all(|one| *one == unknown[0]), "{unknown:?}");
    insta::assert_snapshot!(unknown[0], @r#"[3] error: Unknown profile: "nobody". Available profiles: hidden, there"#);
    insta::assert_snapshot!(refused_show(&stage, "broken"), @r#"
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    [2] error: $HOME/.pi/agent/agent-profiles/broken.md:3:8: "tools" must be a list or a text with commas, not true; the file is not used
    "#);
    insta::assert_snapshot!(printed(&stage, &["profile", "delete", "broken", "--yes"]), @r#"Deleted the unusable "broken": $HOME/.pi/agent/agent-profiles/broken.md"#);
}

fn refused_show(stage: &Stage, name: &str) -> String {
    refused(stage, &["profile", "show", name]) + &refused(stage, &["profile", "explain", name])
}

#[test]
fn every_dialect_goes_to_its_folder_and_is_listed_with_its_name() {
    let stage = Stage::new();
    for (dialect, scope) in [
        ("profile", "project"),
        ("preset", "project"),
        ("prompt", "global"),
    ] {
        printed(
            &stage,
            &[
                "profile",
                "create",
                dialect,
                "--dialect",
                dialect,
                "--scope",
                scope,
                "--description",
                "d",
                "--tools",
                "read",
            ],
        );
    }
    let project = stage.sandbox.project();
    assert!(project.join(".pi/agent-profiles/profile.md").is_file());
    assert!(project.join(".pi/subagents/preset.md").is_file());
    let prompt = stage.sandbox.agent_dir().join("agents/prompt.md");
    insta::assert_snapshot!(fs::read_to_string(prompt).unwrap(), @"
    ---
    name: prompt
    description: d
    approved_tools: read
    ---
    ");
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    profile: prompt [prompt], tools=[read]
    [EOF]
    --- stderr
    Ignored 2 definitions of $PROJECT, which nobody has trusted yet: preset, profile. Say "pi-subagents trust --yes" to allow that.
    [EOF]
    "#);
    printed(&stage, &["trust", "--yes"]);
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"
    --- exit code
    0
    [EOF]
    --- stdout
    profile: preset [preset], tools=[read]
    profile: profile, tools=[read]
    profile: prompt [prompt], tools=[read]
    [EOF]
    --- stderr
    [EOF]
    ");
}

#[test]
fn an_explanation_names_files_lines_and_what_is_hidden() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/worker.md",
        "---\nname: worker\nmodel: sonnet\nextensions: missing.js\nextraArgs: [\"--mode\"]\napiKey: sk-never-used-123\n---\nYou work.\nHard.\n",
    );
    write_global(
        &stage,
        "worker.md",
        &format!("---\nname: worker\nmodel: haiku\napiKey: {KEY}\nthinkinglevel: off\n---\n"),
    );
    stage.sandbox.write(
        "home/.pi/agent/agents/worker.md",
        "---\nname: worker\napproved_tools: [read]\n---\nYou are a prompt.\n",
    );
    insta::assert_snapshot!(stage.command(&["profile", "explain", "worker"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    worker (profile, global) ~/.pi/agent/agent-profiles/worker.md
      name    worker        ~/.pi/agent/agent-profiles/worker.md:2
      model   haiku         ~/.pi/agent/agent-profiles/worker.md:3
      apiKey  sk-t****7890  ~/.pi/agent/agent-profiles/worker.md:4

    Shadowed:
      ~/.pi/agent/agents/worker.md

    Ignored:
      .pi/agent-profiles/worker.md (nobody has trusted its project yet)

    Warnings:
      $HOME/.pi/agent/agent-profiles/worker.md:5:1: unknown key "thinkinglevel" is ignored; did you mean "thinkingLevel"?

    Children are started with (RUN is the directory of the run):
      pi        --model haiku
      embedded  --model haiku
      both      the key, on a descriptor
    [EOF]
    --- stderr
    Ignored 1 definition of $PROJECT, which nobody has trusted yet: worker. Say "pi-subagents trust --yes" to allow that.
    [EOF]
    "#);
    printed(&stage, &["trust", "--yes"]);
    insta::assert_snapshot!(stage.command(&["profile", "explain", "worker"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    worker (profile, project) .pi/agent-profiles/worker.md
      name        worker               .pi/agent-profiles/worker.md:2
      model       sonnet               .pi/agent-profiles/worker.md:3
                  shadows haiku of ~/.pi/agent/agent-profiles/worker.md:3
      extensions  missing.js           .pi/agent-profiles/worker.md:4
      extraArgs   --mode               .pi/agent-profiles/worker.md:5
      body        You work. (+1 line)  .pi/agent-profiles/worker.md:8
                  shadows You are a prompt. of ~/.pi/agent/agents/worker.md:5

    Shadowed:
      ~/.pi/agent/agent-profiles/worker.md
      ~/.pi/agent/agents/worker.md

    Warnings:
      $PROJECT/.pi/agent-profiles/worker.md:6:9: "apiKey" is never taken from a file of a project; it is ignored
      $HOME/.pi/agent/agent-profiles/worker.md:5:1: unknown key "thinkinglevel" is ignored; did you mean "thinkingLevel"?

    Cannot be used:
      Refusing extraArg "--mode": it is set by the engine.
      Extension not found: $PROJECT/missing.js

    Children are started with (RUN is the directory of the run):
      pi        refused: Refusing extraArg "--mode": it is set by the engine.
      embedded  refused: Refusing extraArg "--mode": it is set by the engine.
    [EOF]
    --- stderr
    [EOF]
    "#);
    let explained = answered(&stage, &["profile", "explain", "worker"]);
    assert_eq!(explained["fields"][1]["line"], 3);
    assert_eq!(
        explained["fields"][1]["shadows"],
        json!([{"file": "$HOME/.pi/agent/agent-profiles/worker.md", "line": 3, "value": "haiku"}])
    );
    assert!(
        explained["problems"]
            .as_array()
            .is_some_and(|all| all.len() == 2),
        "{explained}"
    );
    assert!(!explained.to_string().contains(KEY));
    let deleted = stage.command(&["profile", "rm", "worker", "--yes"]).run();
    insta::assert_snapshot!(deleted, @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    Deleted profile "worker": $PROJECT/.pi/agent-profiles/worker.md
    [EOF]
    --- stderr
    Now $HOME/.pi/agent/agent-profiles/worker.md counts.
    [EOF]
    "#);
    let dialect = ["profile", "rm", "worker", "--yes", "--dialect", "prompt"];
    insta::assert_snapshot!(printed(&stage, &dialect), @r#"Deleted prompt "worker": $HOME/.pi/agent/agents/worker.md"#);
}
