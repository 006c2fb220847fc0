//! Whole views of a call.

use pi_subagents_view::paint::plain;
use pi_subagents_view::{Line, LineKind, View, Wall, header};
use pi_subagents_vocabulary::{
    DecisionKind, Ending, Happening, ModelChoice, ThinkingLevel, UsedDefinition,
};

use crate::script::{Script, at, busy_call, run, task, used};

fn view(columns: usize) -> View {
    View {
        columns,
        max_lines: 15,
        expanded: false,
    }
}

fn text(lines: &[Line], columns: usize) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            assert!(line.width() <= columns, "{line:?}");
            plain(line)
        })
        .collect();
    lines.join("\n")
}

fn shown(wall: &Wall, second: i64, columns: usize) -> String {
    text(&wall.view(at(second), &view(columns)), columns)
}

#[test]
fn a_busy_call_at_100_columns() {
    insta::assert_snapshot!(shown(&busy_call().wall(), 12, 100), @r#"
    Sub-agents: 2 running, 1 queued, 1 done, 1 error • 4 tool calls
    ⏳ review • reviewer (scripted/tour high) • 4 tools • 4 tool calls • 12s/600s
      I will look around.
      First the files:
      ls → .
        2 files, 1 dir
      read → src/lib.rs:10+40 (40 lines) (running)
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused

    ⏳ tests • 12s
      retry 1 of 3 in 2 s: 429 Too Many Requests
      corrected: You have not reported yet.
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout

    ✓ docs • scripted/tour • 8s/600s
      The manual has three pages.

    ✗ types
      Error: cwd must be an absolute path

    ⏳ later • queued
    "#);
}

#[test]
fn a_busy_call_at_40_columns() {
    insta::assert_snapshot!(shown(&busy_call().wall(), 12, 40), @r#"
    Sub-agents: 2 running, 1 queued, 1 do...
    ⏳ review • reviewer • 12s/600s
      I will look around.
      First the files:
      ls → .
        2 files, 1 dir
      read → src/lib.rs:10+40 (40 lines) ...
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused

    ⏳ tests • 12s
      retry 1 of 3 in 2 s: 429 Too Many
      Requests
      corrected: You have not reported yet.
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout

    ✓ docs • scripted/tour • 8s/600s
      The manual has three pages.

    ✗ types
      Error: cwd must be an absolute path

    ⏳ later • queued
    "#);
}

#[test]
fn running_windows_are_open_and_what_does_not_fit_is_counted() {
    let wall = busy_call().wall();
    let squeezed: Vec<String> = [30, 20, 16, 12, 8, 5, 3, 2, 1]
        .map(|rows| {
            let lines = wall.view_in_rows(at(12), 60, rows);
            assert!(lines.len() <= rows, "{rows}");
            format!("{rows} rows:\n{}", text(&lines, 60))
        })
        .into();
    insta::assert_snapshot!(squeezed.join("\n\n"), @r#"
    30 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      I will look around.
      First the files:
      ls → .
        2 files, 1 dir
      read → src/lib.rs:10+40 (40 lines) (running)
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused

    ⏳ tests • 12s
      retry 1 of 3 in 2 s: 429 Too Many Requests
      corrected: You have not reported yet.
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout

    ✓ docs • scripted/tour • 8s/600s
      The manual has three pages.

    ✗ types
      Error: cwd must be an absolute path

    ⏳ later • queued

    20 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      … 2 more lines
      ls → .
        2 files, 1 dir
      read → src/lib.rs:10+40 (40 lines) (running)
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused

    ⏳ tests • 12s
      retry 1 of 3 in 2 s: 429 Too Many Requests
      corrected: You have not reported yet.
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout

    ✓ docs • scripted/tour • 8s/600s
    ✗ types  cwd must be an absolute path
    ⏳ later • queued

    16 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      … 5 more lines
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused

    ⏳ tests • 12s
      … 2 more lines
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout

    ✓ docs • scripted/tour • 8s/600s
    ✗ types  cwd must be an absolute path
    ⏳ later • queued

    12 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused
    ⏳ tests • 12s
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout
    ✓ docs • scripted/tour • 8s/600s
    ✗ types  cwd must be an absolute path
    ⏳ later • queued

    8 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      bash → cargo test (running)
      [stderr]: warning: unused
    ⏳ tests • 12s
      warning: model "toor" is not known
      npm notice: plain text on stdout
    … and 1 queued, 1 done, 1 error

    5 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      [stderr]: warning: unused
    ⏳ tests • 12s
    … and 1 queued, 1 done, 1 error

    3 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
    … and 1 running, 1 queued, 1 done, 1 error

    2 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    … and 2 running, 1 queued, 1 done, 1 error

    1 rows:
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    "#);
}

#[test]
fn when_all_are_done_the_sessions_stand_at_the_end_and_clocks_have_stopped() {
    let wall = Script::new()
        .accepted(0, task("scan"))
        .accepted(0, task("documentation"))
        .accepted(0, task("never"))
        .started(0, "scan")
        .started(2, "documentation")
        .ended(
            62,
            "scan",
            Ending::TimedOut {
                limit: std::time::Duration::from_mins(1),
            },
        )
        .ended(70, "documentation", Ending::Completed)
        .ended(
            70,
            "never",
            Ending::CouldNotStart {
                reason: "pi: not found".to_owned(),
            },
        )
        .wall();
    assert_eq!(shown(&wall, 71, 80), shown(&wall, 900, 80));
    insta::assert_snapshot!(shown(&wall, 900, 80), @"
    Sub-agents: 1 done, 2 errors
    ✗ scan • 62s/600s
      Error: Timed out after 60s. Consider resuming with a longer timeout.

    ✓ documentation • 68s/600s
      (no output)

    ✗ never
      Error: Failed to spawn sub-agent process: pi: not found

    Sessions:
      scan           a3f70000000001a5
      documentation  a3f700000000057a
      never          a3f7000000000220
    ");
}

#[test]
fn a_window_shows_its_newest_lines_and_expanded_all_it_holds() {
    let wall = Script::new()
        .accepted(0, task("scan"))
        .started(0, "scan")
        .answered_text(1, "scan", "one\ntwo\nthree\nfour\nfive")
        .wall();
    let newest = View {
        max_lines: 2,
        ..view(40)
    };
    let all = View {
        expanded: true,
        ..newest
    };
    insta::assert_snapshot!(text(&wall.view(at(3), &newest), 40), @"
    Sub-agents: 1 running
    ⏳ scan • scripted/tour • 3s/600s
      four
      five
    ");
    insta::assert_snapshot!(text(&wall.view(at(3), &all), 40), @"
    Sub-agents: 1 running
    ⏳ scan • scripted/tour • 3s/600s
      one
      two
      three
      four
      five
    ");
}

#[test]
fn a_window_without_lines_says_why() {
    let starting = Script::new().accepted(0, task("scan")).started(0, "scan");
    let expanded = View {
        expanded: true,
        ..view(40)
    };
    insta::assert_snapshot!(shown(&Wall::new(crate::script::context()), 0, 40), @"Sub-agents: none");
    insta::assert_snapshot!(shown(&starting.wall(), 1, 40), @"
    Sub-agents: 1 running
    ⏳ scan • 1s/600s
      (starting...)
    ");
    insta::assert_snapshot!(text(&starting.wall().view(at(1), &expanded), 40), @"
    Sub-agents: 1 running
    ⏳ scan • 1s/600s
      (starting...)
    ");
    let silent = starting.ended(2, "scan", Ending::Completed);
    insta::assert_snapshot!(shown(&silent.wall(), 1, 40), @"
    Sub-agents: 1 done
    ✓ scan • 2s/600s
      (no output)

    Sessions:
      scan  a3f70000000001a5
    ");
}

#[test]
fn a_header_gives_up_what_matters_least_first() {
    let mut task = task("review");
    task.definition = Some(UsedDefinition {
        model: ModelChoice::Named {
            provider: Some("openai".to_owned()),
            model: Some("gpt-5".to_owned()),
            thinking: Some(ThinkingLevel::Low),
        },
        ..used("reviewer")
    });
    let wall = Script::new()
        .accepted(0, task)
        .started(0, "review")
        .printed(0, "review", r#"{"type":"message_end","message":{"role":"system","sections":{"cwd":"/"},"toolsAdded":[{"name":"read"}]}}"#)
        .printed(1, "review", r#"{"type":"tool_execution_start","toolCallId":"t","toolName":"write_todos","args":{"todos":[{"status":"completed"},{"status":"pending"},{"status":"pending"}]}}"#)
        .printed(1, "review", r#"{"type":"tool_execution_end","toolCallId":"t","toolName":"write_todos","isError":false,"result":{}}"#)
        .happened(9, "review", Happening::Stopping(DecisionKind::Stop))
        .wall();
    let window = wall.window(&run("review")).unwrap();
    let headers: Vec<String> = [90, 70, 50, 40, 20]
        .map(|columns| plain(&header(window, at(10), columns)))
        .into();
    insta::assert_snapshot!(headers.join("\n"), @"
    ⏳ review • reviewer (openai/gpt-5 low) • 1 tool • [1/3] • stopping • 10s/600s
    ⏳ review • reviewer (openai/gpt-5 low) • [1/3] • stopping • 10s/600s
    ⏳ review • reviewer • [1/3] • stopping • 10s/600s
    ⏳ review • [1/3] • stopping • 10s/600s
    ⏳ review • [1/3]...
    ");
}

#[test]
fn a_window_gives_its_facts_as_plain_data() {
    let wall = busy_call().wall();
    let window = wall.window(&run("review")).unwrap();
    let kinds: Vec<LineKind> = window.lines(3).map(|line| line.kind).collect();
    assert_eq!(kinds, [LineKind::Tool, LineKind::Tool, LineKind::Text]);
    assert_eq!(window.name(), "review");
    assert_eq!(window.definition(), Some("reviewer"));
    assert_eq!(window.model(), Some("tour"));
    assert_eq!(window.tools(), Some(4));
    assert_eq!(window.facts().tool_calls, 4);
    assert_eq!(window.all_lines().len(), 8);
    assert_eq!(window.error(), None);
}

#[test]
fn an_error_is_told_to_its_end() {
    let message = "Unknown profile: \"code-reviewer\". Available profiles: researcher, writer";
    let wall = Script::new()
        .accepted(0, task("scan"))
        .ended(
            0,
            "scan",
            Ending::Refused {
                message: message.to_owned(),
            },
        )
        .wall();
    insta::assert_snapshot!(shown(&wall, 0, 40), @r#"
    Sub-agents: 1 error
    ✗ scan
      Error: Unknown profile:
      "code-reviewer". Available profiles:
      researcher, writer

    Sessions:
      scan  a3f70000000001a5
    "#);
}
