//! The screen as a person sees it, without a terminal: messages in, frames out.

use crossterm::event::KeyCode;
use pi_subagents_records::RunState;
use pi_subagents_vocabulary::{Activity, Ending, Interruption, PartialMessage};
use pretty_assertions::assert_eq;
use ratatui::layout::Size;

use crate::message::{Effect, Message, Subject};
use crate::testing::{Desk, accepted, answer_event, at, ended, open, over, started, team};

#[test]
fn a_list_above_the_window_of_the_selected_run() {
    let mut desk = Desk::new(120, 20);
    team(&mut desk);
    insta::assert_snapshot!(desk.screen());
}

#[test]
fn forty_columns_are_enough() {
    let mut desk = Desk::new(40, 14);
    team(&mut desk);
    insta::assert_snapshot!(desk.screen());
}

#[test]
fn no_size_is_too_small() {
    let mut desk = Desk::new(80, 24);
    team(&mut desk);
    for keys in ["", "?", "q", "s", "hello"] {
        desk.press(keys);
        for columns in [0, 1, 2, 3, 7, 20, 39] {
            for rows in [0, 1, 2, 3, 4, 5, 6, 7, 9] {
                desk.happens(Message::Resized(Size::new(columns, rows)));
                if columns > 0 && rows > 0 {
                    desk.screen();
                }
            }
        }
    }
}

#[test]
fn nothing_is_shown_before_the_index_was_read_and_then_what_there_is() {
    let mut desk = Desk::new(60, 6);
    let before = desk.screen();
    desk.sees(&[]);
    let empty = desk.screen();
    let new = open(1, "first");
    desk.sees(std::slice::from_ref(&new));
    desk.grow_record(&new, vec![accepted(&new, "Go."), started()]);
    let screens = [before, empty, desk.screen()].join("\n~~~\n");
    insta::assert_snapshot!(screens, @"
    Sub-agents: none
    Looking for runs...



    ? help  q leave  n new
    ~~~
    Sub-agents: none
    No runs yet. New runs appear here, and n starts one.



    ? help  q leave  n new
    ~~~
    Sub-agents: 1 running
    > ⏳ first       0s  Go.



    ? help  q leave  Enter open  n new  s steer  x stop
    ");
}

#[test]
fn a_run_that_begins_appears_and_one_that_ends_stays_selected() {
    let mut desk = Desk::new(80, 16);
    let [review, ..] = team(&mut desk);
    let mut ends = review.clone();
    ends.state = RunState::Over {
        status: pi_subagents_vocabulary::Status::Stopped,
        exit_code: 130,
        at: at(76),
        used: None,
    };
    let interrupted = Ending::Interrupted(Interruption::OwnerGone);
    desk.sees(&[ends.clone(), open(9, "newcomer")]);
    assert_eq!(desk.effects, [Effect::RunsEnded(vec![ends])]);
    desk.grow_record(&review, vec![ended(interrupted)]);
    assert_eq!(desk.model.selected, Some(review.run));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 queued, 1 stopped
         NAME      START     TIME  CALLS    COST  TASK           LATEST
      ⏳ newcomer  21:20               0                         queued until ano...
    > ✗  review    21:20   1m 15s      1   $0.02  Review the...  Session was inte...
    ── 20261115-000000-003-aaaaaa ──────────────────────────────────────────────────
    ✗ review • anthropic/haiku • 1 tool call • 3.0k tokens • $0.02 • 1m 15s
    > Review the last commit.

    I look at the change first.
    It touches the parser.
    ✗ read → src/parser.rs  no result
    Error: Session was interrupted (main agent session ended unexpectedly)



    ? help  q leave  Enter open  n new  r resume  o answer  d changes  m merge
    ");
}

#[test]
fn what_begins_is_selected_unless_somebody_reads_something_else() {
    let mut desk = Desk::new(80, 16);
    let (old, new) = (over(1, "old"), open(2, "new"));
    desk.sees(std::slice::from_ref(&old));
    let mut reader = Desk::new(80, 16);
    reader.sees(std::slice::from_ref(&old));
    reader.press("j");
    for desk in [&mut desk, &mut reader] {
        desk.sees(&[old.clone(), new.clone()]);
    }
    assert_eq!(desk.model.selected, Some(new.run));
    assert_eq!(reader.model.selected, Some(old.run));
}

#[test]
fn what_is_being_said_is_seen_until_it_is_in_the_record() {
    let mut desk = Desk::new(60, 12);
    let talker = open(1, "talker");
    desk.sees(std::slice::from_ref(&talker));
    desk.grow_record(&talker, vec![accepted(&talker, "Talk."), started()]);
    let partial = |number, text: &str, activity: Activity| {
        let partial = PartialMessage {
            number,
            text: text.to_owned(),
            activity,
        };
        Message::Partial(talker.run.clone(), partial)
    };
    desk.happens(partial(0, "Hello \u{1b}[2Jwo", Activity::Writing));
    let first = desk.screen();
    desk.grow_record(&talker, vec![answer_event("Hello world.")]);
    let second = desk.screen();
    let tool = "bash".to_owned();
    desk.happens(partial(1, "And", Activity::Calling { tool }));
    let third = desk.screen();
    insta::assert_snapshot!([first, second, third].join("\n~~~\n"), @"
    Sub-agents: 1 running
    > ⏳ talker       0s  Talk.            Hello wo▌
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • 0s
    > Talk.
    Hello wo





    ? help  q leave  Enter open  n new  s steer  x stop
    ~~~
    Sub-agents: 1 running
    > ⏳ talker       0s  Talk.            Hello world.
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • anthropic/haiku • 1.5k tokens • $0.01 • 0s
    > Talk.

    Hello world.




    ? help  q leave  Enter open  n new  s steer  x stop
    ~~~
    Sub-agents: 1 running
    > ⏳ talker       0s  Talk.            (calling bash...)
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • anthropic/haiku • 1.5k tokens • $0.01 • 0s
    > Talk.

    Hello world.
    And
    (calling bash...)


    ? help  q leave  Enter open  n new  s steer  x stop
    ");
}

#[test]
fn what_an_earlier_window_of_the_same_run_still_hears_is_not_told_twice() {
    let mut desk = Desk::new(60, 12);
    let runs = [over(1, "two"), over(2, "one")];
    desk.sees(&runs);
    let first = Subject::Window(runs[1].run.clone(), 1);
    assert!(desk.model.followed().contains_key(&first));
    desk.press("jk");
    desk.happens(Message::RecordGrew(first, Vec::new()));
    let window = desk.model.opened.as_ref().unwrap();
    assert_eq!((&window.run.name, window.number), (&"one".to_owned(), 3));
}

#[test]
fn ten_thousand_characters_in_one_line_can_be_read_to_their_end() {
    let mut desk = Desk::new(40, 8);
    let long = open(1, "long");
    desk.sees(std::slice::from_ref(&long));
    let wide = "日本語".repeat(3_333);
    let text = format!("{wide}END");
    desk.grow_record(
        &long,
        vec![accepted(&long, "Go."), started(), answer_event(&text)],
    );
    let screen = desk.screen();
    assert!(screen.replace('\n', "").contains("語END"), "{screen}");
}

#[test]
fn a_deleted_record_is_said_to_be_gone() {
    let mut desk = Desk::new(90, 10);
    let lost = open(1, "lost");
    desk.sees(std::slice::from_ref(&lost));
    desk.grow_record(
        &lost,
        vec![accepted(&lost, "Go."), started(), answer_event("So far.")],
    );
    desk.happens(Message::RecordGone(lost.run.clone()));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 running
    > ⏳ lost  21:20       0s      0    1.5k   $0.01  Go.               its record was deleted
    ── 20261115-000000-001-aaaaaa ────────────────────────────────────────────────────────────
    ⏳ lost • anthropic/haiku • 1.5k tokens • $0.01 • 0s
    > Go.

    So far.
    The record of this run was deleted; this is what had been read of it.

    ? help  q leave  Enter open  n new  s steer  x stop  o answer  i receipt  / filter
    ");
    assert_eq!(desk.model.followed().len(), 1);
}

#[test]
fn all_runs_are_there_and_only_seen_ones_are_read() {
    let mut desk = Desk::new(80, 20);
    let mut runs: Vec<_> = (0..10_000).map(|number| over(number, "old")).collect();
    runs.push(open(10_000, "late"));
    let mut elsewhere = over(10_001, "elsewhere");
    elsewhere.project = "/somewhere/else".into();
    runs.push(elsewhere);
    desk.sees(&runs);
    let names: Vec<&str> = desk
        .model
        .list
        .listed()
        .map(|row| row.run.name.as_str())
        .collect();
    assert_eq!((&names[..2], names.len()), (&["late", "old"][..], 10_001));
    assert_eq!(desk.model.unread().len(), 5);
    desk.press("G");
    assert_eq!(desk.model.selected, Some(runs[0].run.clone()));
    assert_eq!(desk.model.unread().len(), 6);
    desk.press("/x");
    let newest = desk.model.unread();
    assert_eq!((newest.len(), &newest[0].run), (250, &runs[9_999].run));
    desk.press_key(KeyCode::Esc);
    desk.press("a");
    assert_eq!(desk.effects, [Effect::Look]);
    desk.sees(&runs);
    assert_eq!(desk.model.list.listed().len(), 10_002);
    assert_eq!(desk.model.selected, Some(runs[0].run.clone()));
}
