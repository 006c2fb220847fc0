//! The words of the command line about itself: help, completions and manual pages.

use std::fs;

use pretty_assertions::assert_eq;

use crate::stage::Stage;
use crate::terminal::Terminal;

#[test]
fn an_unknown_shell_is_refused_with_those_there_are() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["completions", "tcsh"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, zsh, fish]

    For more information, try '--help'.
    [EOF]
    ");
}

#[test]
fn the_manual_is_printed_or_written_with_a_page_for_each_command() {
    let stage = Stage::new();
    let page = stage.command(&["man"]).run().expect_success().stdout;
    assert!(page.contains(".TH pi-subagents 1"), "{page}");
    assert!(page.contains("Exit codes:"), "{page}");
    let directory = stage.sandbox.project().join("new/man1");
    let written = stage.command(&["man", "--dir", "new/man1"]).run();
    let written = written.expect_success().stdout;
    let mut names: Vec<String> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(written.lines().count(), names.len());
    insta::assert_snapshot!(names.join("\n"), @"
    pi-subagents-agents-add.1
    pi-subagents-agents-create.1
    pi-subagents-agents-delete.1
    pi-subagents-agents-edit.1
    pi-subagents-agents-explain.1
    pi-subagents-agents-import.1
    pi-subagents-agents-list.1
    pi-subagents-agents-show.1
    pi-subagents-agents.1
    pi-subagents-answer.1
    pi-subagents-attach.1
    pi-subagents-budget-raise.1
    pi-subagents-budget.1
    pi-subagents-clean.1
    pi-subagents-completions.1
    pi-subagents-delegate.1
    pi-subagents-diff.1
    pi-subagents-discard.1
    pi-subagents-doctor.1
    pi-subagents-embedded.1
    pi-subagents-events.1
    pi-subagents-export.1
    pi-subagents-fleet-init.1
    pi-subagents-fleet-key.1
    pi-subagents-fleet-work.1
    pi-subagents-fleet-workers.1
    pi-subagents-fleet.1
    pi-subagents-host.1
    pi-subagents-inbox.1
    pi-subagents-init.1
    pi-subagents-keep.1
    pi-subagents-logs.1
    pi-subagents-man.1
    pi-subagents-mcp.1
    pi-subagents-merge.1
    pi-subagents-models.1
    pi-subagents-output.1
    pi-subagents-resume.1
    pi-subagents-review.1
    pi-subagents-run.1
    pi-subagents-schema.1
    pi-subagents-session.1
    pi-subagents-spawn.1
    pi-subagents-status.1
    pi-subagents-steer.1
    pi-subagents-stop.1
    pi-subagents-tools.1
    pi-subagents-tour.1
    pi-subagents-trace.1
    pi-subagents-trust.1
    pi-subagents-undo.1
    pi-subagents-uninstall.1
    pi-subagents-version.1
    pi-subagents-wait.1
    pi-subagents-web.1
    pi-subagents-worktrees.1
    pi-subagents.1
    ");
}

#[test]
fn a_manual_that_cannot_be_written_is_an_error() {
    let stage = Stage::new();
    stage.sandbox.write("project/file", "");
    insta::assert_snapshot!(stage.command(&["man", "--dir", "file/man1"]).run(), @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: could not write the manual pages to file/man1
      caused by: Not a directory (os error 20)
    [EOF]
    ");
}

#[test]
fn without_a_command_a_few_lines_say_what_to_type() {
    let stage = Stage::new();
    let output = stage.command(&[]).run().expect_success();
    assert_eq!(output.stdout.lines().count(), 11);
    insta::assert_snapshot!(output.stdout, @r#"
    pi-subagents runs coding sub-agents in parallel, each in a separate process.
    They work in your directory or in git worktrees, and every run is recorded.

      pi-subagents tour                        see it work, offline, without a key
      pi-subagents init                        set it up, one question at a time
      pi-subagents doctor                      check that everything is set up
      pi-subagents run "PROMPT"                give a task to a sub-agent
      pi-subagents delegate "PROMPT" "PROMPT"  run tasks in parallel
      pi-subagents attach                      watch, read, steer and stop runs
      pi-subagents resume ID PROMPT            continue a run that has ended
      pi-subagents help                        list all commands
    "#);
}

#[test]
fn the_help_of_the_agent_fits_a_terminal() {
    let stage = Stage::new();
    let help = stage
        .command(&["embedded", "--help"])
        .run()
        .expect_success();
    let wide = help.stdout.lines().filter(|line| line.len() > 80);
    assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn what_is_misspelt_is_answered_with_what_may_have_been_meant() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["delgate"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: unrecognized subcommand 'delgate'

      tip: a similar subcommand exists: 'delegate'

    Usage: pi-subagents [OPTIONS] [COMMAND]

    For more information, try '--help'.
    [EOF]
    ");
    insta::assert_snapshot!(stage.command(&["run", "scout", "look", "--modle", "x"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: unexpected argument '--modle' found

      tip: a similar argument exists: '--model'

    Usage: pi-subagents run [OPTIONS] [NAME] <PROMPT>
           pi-subagents run [OPTIONS] --file <FILE>

    For more information, try '--help'.
    [EOF]
    ");
    insta::assert_snapshot!(stage.command(&["run", "--trust"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: no task was given
    hint: Give a prompt in quotes, or --file FILE with the JSON of the tool's call.
    [EOF]
    ");
    insta::assert_snapshot!(stage.command(&["delgate", "--json"]).run(), @r#"
    --- exit code
    2
    [EOF]
    --- stdout
    {
      "schemaVersion": 1,
      "type": "error",
      "error": {
        "kind": "usage",
        "message": "unrecognized subcommand 'delgate'",
        "hint": "tip: a similar subcommand exists: 'delegate'\n\nUsage: pi-subagents [OPTIONS] [COMMAND]\n\nFor more information, try '--help'."
      }
    }
    [EOF]
    --- stderr
    [EOF]
    "#);
}

#[test]
fn only_what_is_close_is_suggested() {
    let stage = Stage::new();
    for (arguments, tip) in [
        (&["kil"][..], Some("a similar subcommand exists: 'kill'")),
        (&["frobnicate"], None),
        (
            &["output", "--quite", "x"],
            Some("a similar argument exists: '--quiet'"),
        ),
        (&["output", "--frobnicate", "x"], None),
        (
            &["completions", "zhs"],
            Some("a similar value exists: 'zsh'"),
        ),
        (&["completions", "tcsh"], None),
        (
            &["agents", "list", "--jsno"],
            Some("a similar argument exists: '--json'"),
        ),
    ] {
        let output = stage.command(arguments).run();
        assert_eq!(output.code, Some(2), "{output}");
        let mut tips = output.stderr.lines();
        let said = tips.find_map(|line| line.trim_start().strip_prefix("tip: "));
        assert_eq!(said, tip, "{output}");
    }
}

#[test]
fn stop_without_an_id_names_both_ways_to_use_it() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["stop"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the following required arguments were not provided:
      <ID>...

      tip: pi-subagents stop last

    Usage: pi-subagents stop [OPTIONS] <ID>...
           pi-subagents stop [OPTIONS] --all

    For more information, try '--help'.
    [EOF]
    ");
}

#[test]
fn a_server_that_a_person_starts_says_what_it_waits_for() {
    let stage = Stage::new();
    for (command, sentence) in [
        ("mcp", "Waiting for an MCP client on stdin, as JSON lines."),
        (
            "host",
            "Waiting for the extension of pi on stdin, as JSON lines.",
        ),
    ] {
        let mut terminal = Terminal::start(stage.command(&[command]));
        terminal.answer(sentence, "\x04");
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(0), "{screen}");
    }
}
