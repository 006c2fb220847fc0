//! The content of a file after a command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;

use super::{KEY, global, printed, refused, write_global};
use crate::stage::Stage;

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
        .command(&["agents", "edit", "a", "--api-key-stdin"])
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
            &["agents", "edit", "a", "--system-prompt", "@missing.md"],
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
        refused(&stage, &["agents", "edit", "a", "--api-key-stdin"]),
        refused(
            &stage,
            &["agents", "edit", "a", "--api-key-from-env", "NO_SUCH_KEY"],
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
    [2] error: could not read missing.md
      caused by: No such file or directory (os error 2)
    [2] error: only one field can be read from stdin
    [2] error: stdin contains no key
    [2] error: the environment variable NO_SUCH_KEY is not set
    [2] error: an apiKey is never kept in a file of a project
    hint: Use --scope global, or keep the key in your own settings.
    ");
    assert!(!stage.sandbox.project().join(".pi").exists());
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
                "--format",
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
    NAME    FORMAT  TOOLS  DESCRIPTION
    prompt  prompt  read   d
    [EOF]
    --- stderr
    Ignored 2 agents of $PROJECT, which is not trusted yet: preset, profile. Run "pi-subagents trust" to look at it and allow that.
    [EOF]
    "#);
    printed(&stage, &["trust", "--yes"]);
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"
    --- exit code
    0
    [EOF]
    --- stdout
    NAME     FORMAT   TOOLS  SCOPE    DESCRIPTION
    preset   preset   read   project  d
    profile  profile  read   project  d
    prompt   prompt   read            d
    [EOF]
    --- stderr
    [EOF]
    ");
}

#[test]
fn a_starter_of_each_kind_is_a_definition_without_warnings() {
    let stage = Stage::new();
    let folders = [
        ("profile", "agent-profiles"),
        ("preset", "subagents"),
        ("prompt", "agents"),
    ];
    for (dialect, folder) in folders {
        let name = format!("my-{dialect}");
        let arguments = ["agents", "new", &name, "--example", "--format", dialect];
        let output = stage.command(&arguments).run();
        let output = output.expect_success();
        let file = stage.sandbox.agent_dir().join(folder);
        let file = file.join(format!("{name}.md"));
        let created = format!("Created {dialect} {name}: {}\n", file.display());
        assert_eq!(output.stdout, created);
        let next = format!(
            "\nChange it in your editor, then try it:  pi-subagents run {name} \"Review the last commit\"\n"
        );
        assert_eq!(output.stderr, next);
        insta::assert_snapshot!(
            format!("starter_{dialect}"),
            fs::read_to_string(file).unwrap()
        );
    }
    let taken = [
        "profile",
        "new",
        "my-preset",
        "--example",
        "--format",
        "preset",
    ];
    insta::assert_snapshot!(refused(&stage, &taken), @r#"
    [2] error: Preset "my-preset" already exists: $HOME/.pi/agent/subagents/my-preset.md
    hint: pi-subagents agents edit my-preset changes it.
    "#);
    let with_fields = ["agents", "new", "other", "--example", "--model", "x"];
    insta::assert_snapshot!(refused(&stage, &with_fields), @"
    [2] error: --example takes no fields
    hint: Write the starter first, then change it: pi-subagents agents edit other --model MODEL
    ");
}

#[test]
fn a_definition_that_is_not_read_where_it_was_made_is_told() {
    let stage = Stage::new();
    let create = [
        "profile", "create", "x", "--scope", "project", "--model", "m",
    ];
    let made = stage.command(&create).cwd(stage.sandbox.home()).run();
    insta::assert_snapshot!(stage.printed(&made), @"
    Created profile x: $HOME/.pi/agent-profiles/x.md
    warning: $HOME/.pi/agent-profiles/x.md is not read in $HOME, which is not a project
    ");
}
