//! What a model says before it has said it to its end.

use std::sync::mpsc::channel;

use pi_subagents_delegation::{Act, Ending, EventSink as _, Saying};
use pi_subagents_windows::paint::{ansi, plain};
use pi_subagents_windows::{Fleet, LiveView, Paint, Terminal, View, said_now};

use crate::live::Frames;
use crate::script::{Script, at, run, task};

fn saying(message: usize, text: &str, act: Act) -> Saying {
    Saying {
        message,
        text: text.to_owned(),
        act,
    }
}

fn started() -> Script {
    Script::new().accepted(0, task("docs")).started(0, "docs")
}

fn shown(fleet: &Fleet, max_lines: usize) -> String {
    let view = View {
        columns: 40,
        max_lines,
        expanded: false,
    };
    let lines = fleet.view(at(1), &view);
    lines
        .iter()
        .skip(2)
        .map(plain)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn words_are_seen_as_they_are_written_and_give_way_to_the_message() {
    let mut fleet = started().fleet();
    let docs = run("docs");
    assert!(fleet.hear(&docs, &saying(0, "", Act::Thinking)));
    assert!(!fleet.hear(&docs, &saying(0, "", Act::Thinking)));
    let mut screens = vec![shown(&fleet, 15)];
    fleet.hear(
        &docs,
        &saying(0, "The manual\n\nhas \u{1b}[2Jthr", Act::Speaking),
    );
    screens.push(shown(&fleet, 15));
    let tool = "write".to_owned();
    fleet.hear(
        &docs,
        &saying(0, "The manual\n\nhas three pages.\n", Act::Calling { tool }),
    );
    screens.push(shown(&fleet, 15));
    let said = Script::new().said(1, "docs", "The manual\n\nhas three pages.");
    said.play_after(&started(), |events, summary| fleet.apply(events, summary));
    screens.push(shown(&fleet, 15));
    // It was on its way when the message came.
    assert!(!fleet.hear(&docs, &saying(0, "The manual", Act::Speaking)));
    fleet.hear(&docs, &saying(1, "Now", Act::Speaking));
    screens.push(shown(&fleet, 2));
    fleet.hear(&docs, &saying(1, "Now\none\ntwo\nthr", Act::Speaking));
    screens.push(shown(&fleet, 2));
    let ended = Script::new().ended(2, "docs", Ending::Stopped);
    ended.play_after(&started(), |events, summary| fleet.apply(events, summary));
    screens.push(shown(&fleet, 1));
    insta::assert_snapshot!(screens.join("\n~~~\n"));
}

#[test]
fn of_a_long_line_its_end_is_seen() {
    let long = "The quick brown fox jumps over the lazy dog 日本語";
    let seen: Vec<String> = [60, 24, 12, 4, 1, 0]
        .map(|columns| {
            let lines = said_now(&saying(0, long, Act::Speaking), 15, columns);
            let text = plain(&lines[0]);
            assert!(lines[0].width() <= columns.max(1), "{text}");
            text
        })
        .into();
    insta::assert_snapshot!(seen.join("\n"), @"
    The quick brown fox jumps over the lazy dog 日本語▌
    ... the lazy dog 日本語▌
    ...g 日本語▌
    ...▌
    ▌
    ");
    let endless = "x".repeat(1 << 20);
    let lines = said_now(&saying(0, &endless, Act::Speaking), 15, 10);
    assert_eq!(plain(&lines[0]), "...xxxxxx▌");
}

#[test]
fn it_is_dim_and_does_not_look_complete_without_colours_either() {
    let lines = said_now(&saying(0, "One.\nTw", Act::Speaking), 15, 40);
    let painted: Vec<String> = lines.iter().map(ansi).collect();
    assert_eq!(
        painted,
        ["\u{1b}[90mOne.\u{1b}[0m", "\u{1b}[90mTw▌\u{1b}[0m"]
    );
}

#[test]
fn what_was_not_said_to_its_end_does_not_stay_on_the_screen() {
    let (sender, frames) = channel();
    let mut terminal = Terminal::new(
        Box::new(Frames(sender)),
        Box::new(|| (60, 10)),
        Paint::Plain,
    );
    terminal.clock = Box::new(|| at(1));
    let mut view = LiveView::start(started().fleet(), terminal).unwrap();
    assert!(view.wants_sayings());
    view.on_saying(&run("docs"), &saying(0, "Half a sen", Act::Speaking));
    assert!(frames.iter().any(|frame| frame.contains("Half a sen▌")));
    view.finish();
    let last = frames.iter().last().unwrap();
    assert!(last.contains("(starting...)"), "{last}");
}
