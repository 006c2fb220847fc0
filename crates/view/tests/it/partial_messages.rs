//! Messages that models are still writing.

use pi_subagents_view::ScreenSize;
use std::sync::mpsc::channel;

use pi_subagents_view::paint::{ansi, plain};
use pi_subagents_view::{AtEnd, LiveView, Paint, Terminal, View, Wall, partial_lines};
use pi_subagents_vocabulary::{Activity, Ending, EventSink as _, PartialMessage};

use crate::live::Frames;
use crate::script::{Script, at, run, task};

fn partial(number: usize, text: &str, activity: Activity) -> PartialMessage {
    PartialMessage {
        number,
        text: text.to_owned(),
        activity,
    }
}

fn started() -> Script {
    Script::new().accepted(0, task("docs")).started(0, "docs")
}

fn shown(wall: &Wall, max_lines: usize) -> String {
    let view = View {
        columns: 40,
        max_lines,
        expanded: false,
    };
    let lines = wall.view(at(1), &view);
    lines
        .iter()
        .skip(2)
        .map(plain)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn words_are_seen_as_they_are_written_and_give_way_to_the_message() {
    let mut wall = started().wall();
    let docs = run("docs");
    assert!(wall.show_partial(&docs, &partial(0, "", Activity::Thinking)));
    assert!(!wall.show_partial(&docs, &partial(0, "", Activity::Thinking)));
    let mut screens = vec![shown(&wall, 15)];
    wall.show_partial(
        &docs,
        &partial(0, "The manual\n\nhas \u{1b}[2Jthr", Activity::Writing),
    );
    screens.push(shown(&wall, 15));
    let tool = "write".to_owned();
    wall.show_partial(
        &docs,
        &partial(
            0,
            "The manual\n\nhas three pages.\n",
            Activity::Calling { tool },
        ),
    );
    screens.push(shown(&wall, 15));
    let said = Script::new().answered_text(1, "docs", "The manual\n\nhas three pages.");
    said.play_after(&started(), |events, summary| wall.apply(events, summary));
    screens.push(shown(&wall, 15));
    // It was on its way when the message came.
    assert!(!wall.show_partial(&docs, &partial(0, "The manual", Activity::Writing)));
    wall.show_partial(&docs, &partial(1, "Now", Activity::Writing));
    screens.push(shown(&wall, 2));
    wall.show_partial(&docs, &partial(1, "Now\none\ntwo\nthr", Activity::Writing));
    screens.push(shown(&wall, 2));
    let ended = Script::new().ended(2, "docs", Ending::Stopped);
    ended.play_after(&started(), |events, summary| wall.apply(events, summary));
    screens.push(shown(&wall, 1));
    insta::assert_snapshot!(screens.join("\n~~~\n"));
}

#[test]
fn of_a_long_line_its_end_is_seen() {
    let long = "The quick brown fox jumps over the lazy dog 日本語";
    let seen: Vec<String> = [60, 24, 12, 4]
        .map(|columns| {
            let lines = partial_lines(&partial(0, long, Activity::Writing), 1, columns);
            let text = plain(&lines[0]);
            assert!(lines[0].width() <= columns, "{text}");
            text
        })
        .into();
    insta::assert_snapshot!(seen.join("\n"), @"
    The quick brown fox jumps over the lazy dog 日本語▌
    ... the lazy dog 日本語▌
    ...g 日本語▌
    ...▌
    ");
    let endless = "x".repeat(1 << 20);
    let lines = partial_lines(&partial(0, &endless, Activity::Writing), 1, 10);
    assert_eq!(plain(&lines[0]), "...xxxxxx▌");
}

#[test]
fn where_there_is_room_words_are_wrapped_and_rendered() {
    let said = "# Plan\n\nThe quick **brown** fox jumps over the lazy dog 日本語, and\n- one\n- tw";
    let seen = |limit, columns| {
        let lines = partial_lines(&partial(0, said, Activity::Writing), limit, columns);
        let lines = lines.iter().map(|line| {
            assert!(line.width() <= columns, "{line:?}");
            plain(line)
        });
        lines.collect::<Vec<String>>()
    };
    let expected = [
        "# Plan",
        "The quick brown fox jumps over",
        "the lazy dog 日本語, and",
        "- one",
        "- tw▌",
    ];
    assert_eq!(seen(15, 31), expected);
    assert_eq!(seen(2, 31), expected[3..]);
    for columns in 0..60 {
        seen(15, columns);
    }
}

#[test]
fn it_does_not_look_complete_without_colours_either() {
    let lines = partial_lines(&partial(0, "One.\nTw", Activity::Writing), 15, 40);
    let painted: Vec<String> = lines.iter().map(ansi).collect();
    assert_eq!(painted, ["One.", "Tw\u{1b}[90m▌\u{1b}[0m"]);
}

#[test]
fn what_was_not_said_to_its_end_does_not_stay_on_the_screen() {
    let (sender, frames) = channel();
    let mut terminal = Terminal::new(
        Box::new(Frames(sender)),
        Box::new(|| ScreenSize {
            columns: 60,
            rows: 10,
        }),
        Paint::Plain,
    );
    terminal.clock = Box::new(|| at(1));
    terminal.at_end = AtEnd::Stay { max_lines: 15 };
    let mut view = LiveView::start(started().wall(), terminal).unwrap();
    assert!(view.wants_partial_messages());
    view.on_partial_message(&run("docs"), &partial(0, "Half a sen", Activity::Writing));
    assert!(frames.iter().any(|frame| frame.contains("Half a sen▌")));
    view.finish();
    let last = frames.iter().last().unwrap();
    assert!(last.contains("(starting...)"), "{last}");
}
