//! Progress as a log.

use pi_subagents_view::ProgressLines;
use pi_subagents_vocabulary::{Ending, EventSink};

use crate::script::{Script, busy_call, context, task};

fn log(script: &Script) -> String {
    let mut progress = ProgressLines::new(Vec::new(), context());
    script.play(|events, summary| progress.on_events(events, summary));
    String::from_utf8(progress.into_inner()).unwrap()
}

#[test]
fn a_busy_call_reads_line_by_line() {
    insta::assert_snapshot!(log(&busy_call()), @r#"
    review  started, session a3f7000000000292
    tests   started, session a3f7000000000233
    docs    started, session a3f70000000001a9
    types   queued until another run ends
    later   queued until another run ends
    review  I will look around. … 1 more line
    review  ls → .
    review  read → src/lib.rs:10+40 (40 lines)
    review  edit → src/lib.rs (1 edit)
    review  bash → cargo test
    tests   retry 1 of 3 in 2 s: 429 Too Many Requests
    tests   corrected: You have not reported yet.
    tests   steered: Only the unit tests.
    tests   warning: model "toor" is not known
    docs    The manual has three pages.
    docs    ✓ completed after 8.0s
    types   ✗ failed: cwd must be an absolute path
    "#);
}

#[test]
fn a_task_that_starts_a_moment_later_is_not_said_to_wait() {
    let script = Script::new()
        .accepted(0, task("one"))
        .accepted(0, task("two"))
        .accepted(0, task("three"))
        .started(0, "one")
        .answered_text(0, "one", "I am the first.")
        .started(0, "two")
        .answered_text(1, "two", "I came a moment later.")
        .answered_text(2, "two", "And I go on.")
        .ended(3, "one", Ending::Completed)
        .started(3, "three");
    insta::assert_snapshot!(log(&script), @"
    one    started, session a3f7000000000142
    one    I am the first.
    two    started, session a3f700000000015a
    three  queued until another run ends
    two    I came a moment later.
    two    And I go on.
    one    ✓ completed after 3.0s
    three  started, session a3f7000000000218
    ");
}

#[test]
fn names_and_words_are_bounded_and_clean() {
    let mut long = task("long");
    long.name = "a\u{1b}[31m very\nlong name that goes on and on".to_owned();
    let script = Script::new()
        .accepted(0, long)
        .accepted(0, named("wide", "日本"))
        .answered_text(1, "long", &format!("\u{1b}]0;t\u{7}{}", "語".repeat(1000)))
        .answered_text(1, "unknown", "Nobody accepted me.");
    insta::assert_snapshot!(log(&script), @"
    a very long name that...  語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語語...
    unknown                   Nobody accepted me.
    ");
}

fn named(run: &str, name: &str) -> pi_subagents_vocabulary::Task {
    pi_subagents_vocabulary::Task {
        name: name.to_owned(),
        ..task(run)
    }
}

#[test]
fn the_log_has_the_first_sentence_of_an_error_and_the_summary_all_of_it() {
    let message = "Model a/b has no address. models.json:2:13: baseURL is unknown.\nMore.";
    let failed = Ending::ModelError {
        message: message.to_owned(),
    };
    let script = Script::new()
        .accepted(0, task("one"))
        .started(0, "one")
        .ended(1, "one", failed);
    insta::assert_snapshot!(log(&script), @"
    one  started, session a3f7000000000142
    one  ✗ failed after 1.0s: Model a/b has no address.
    ");
}
