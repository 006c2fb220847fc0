//! The screen as a person sees it, without a terminal: messages in, frames out.

use pi_subagents_delegation::{Activity, Ending, Interruption, PartialMessage, RunId};
use pi_subagents_sessions::RunState;
use pretty_assertions::assert_eq;

use crate::attach::model::{Message, Subject};
use crate::attach::testing::{Desk, accepted, at, ended, open, over, said, started, team};

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
                desk.happens(Message::Resized(columns, rows));
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
    desk.hears(&new, vec![accepted(&new, "Go."), started()]);
    let screens = [before, empty, desk.screen()].join("\n~~~\n");
    insta::assert_snapshot!(screens, @"
    Sub-agents: none
    Looking for runs...



    ? help  q leave
    ~~~
    Sub-agents: none
    No runs yet. New runs appear here.



    ? help  q leave
    ~~~
    Sub-agents: 1 running
    > ⏳ first      0s



    ? help  q leave  ↑↓ select  Enter open  s steer  x stop
    ");
}

#[test]
fn the_title_has_a_command_to_copy_or_none() {
    let mut desk = Desk::new(70, 6);
    let runs: Vec<_> = (0..300).map(|number| over(number, "old")).collect();
    desk.sees(&runs);
    let title = |desk: &Desk| desk.screen().lines().next().unwrap().to_owned();
    let wide = title(&desk);
    desk.happens(Message::Resized(50, 6));
    insta::assert_snapshot!([wide, title(&desk)].join("\n"), @"
    Sub-agents: 200 done  (and 100 older: pi-subagents status --all)
    Sub-agents: 200 done  (and 100 older)
    ");
}

#[test]
fn a_run_that_begins_appears_and_one_that_ends_stays_selected() {
    let mut desk = Desk::new(80, 16);
    let [review, ..] = team(&mut desk);
    let mut ends = review.clone();
    ends.state = RunState::Over {
        status: pi_subagents_delegation::Status::Aborted,
        exit_code: 130,
        at: at(76),
        used: None,
    };
    let interrupted = Ending::Interrupted(Interruption::OwnerGone);
    desk.sees(&[ends, open(9, "newcomer")]);
    desk.hears(&review, vec![ended(interrupted)]);
    assert_eq!(desk.model.selected, Some(review.run));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 waiting, 1 error
      ⏳ newcomer                                   waiting for a free place
    > ✗  review    1m 15s   2 turns   3.0k   $0.02  Session was interrupted (main...
    ── 20261115-000000-003-aaaaaa ──────────────────────────────────────────────────
    ✗ review • anthropic/haiku • 75s
    > Review the last commit.
    I look at the change first.
    It touches the parser.
    read → src/parser.rs
    Error: Session was interrupted (main agent session ended unexpectedly)





    ? help  q leave  ↑↓ select  Enter open  r resume  o answer  / filter  PgUp back
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
    desk.hears(&talker, vec![accepted(&talker, "Talk."), started()]);
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
    desk.hears(&talker, vec![said("Hello world.")]);
    let second = desk.screen();
    let tool = "bash".to_owned();
    desk.happens(partial(1, "And", Activity::Calling { tool }));
    let third = desk.screen();
    insta::assert_snapshot!([first, second, third].join("\n~~~\n"), @"
    Sub-agents: 1 running
    > ⏳ talker      0s  Hello wo▌
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • 0s
    > Talk.
    Hello wo





    ? help  q leave  ↑↓ select  Enter open  s steer  x stop
    ~~~
    Sub-agents: 1 running
    > ⏳ talker      0s  Hello world.
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • anthropic/haiku • 0s
    > Talk.
    Hello world.





    ? help  q leave  ↑↓ select  Enter open  s steer  x stop
    ~~~
    Sub-agents: 1 running
    > ⏳ talker      0s  (calling bash...)
    ── 20261115-000000-001-aaaaaa ──────────────────────────────
    ⏳ talker • anthropic/haiku • 0s
    > Talk.
    Hello world.
    And
    (calling bash...)



    ? help  q leave  ↑↓ select  Enter open  s steer  x stop
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
    desk.hears(&long, vec![accepted(&long, "Go."), started(), said(&text)]);
    let screen = desk.screen();
    assert!(screen.replace('\n', "").contains("語END"), "{screen}");
}

#[test]
fn a_deleted_record_is_said_to_be_gone() {
    let mut desk = Desk::new(90, 10);
    let lost = open(1, "lost");
    desk.sees(std::slice::from_ref(&lost));
    desk.hears(
        &lost,
        vec![accepted(&lost, "Go."), started(), said("So far.")],
    );
    desk.happens(Message::RecordGone(lost.run.clone()));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 running
    > ⏳ lost      0s    1 turn   1.5k   $0.01  its record was deleted
    ── 20261115-000000-001-aaaaaa ────────────────────────────────────────────────────────────
    ⏳ lost • anthropic/haiku • 0s
    > Go.
    So far.
    The record of this run was deleted; this is what had been read of it.


    ? help  q leave  ↑↓ select  Enter open  s steer  x stop  o answer  / filter  PgUp back
    ");
    assert_eq!(desk.model.followed().len(), 1);
}

#[test]
fn of_many_runs_what_runs_is_all_there_and_what_is_over_is_recent() {
    let mut runs: Vec<_> = (0..300).map(|number| over(number, "old")).collect();
    runs.push(open(300, "late"));
    runs.insert(0, open(0, "early"));
    let mut elsewhere = over(301, "elsewhere");
    elsewhere.project = "/somewhere/else".into();
    runs.push(elsewhere);
    let (chosen, older) = Desk::new(1, 1).model.scope.choose(runs);
    let names: Vec<&str> = chosen.iter().take(3).map(|run| run.name.as_str()).collect();
    assert_eq!(
        (names, chosen.len(), older),
        (vec!["early", "late", "old"], 202, 100)
    );
    let newest = RunId::parse("20261115-000000-299-aaaaaa").unwrap();
    assert_eq!(chosen[2].run, newest);
}
