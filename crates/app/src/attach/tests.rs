//! The screen as a person sees it, without a terminal: messages in, frames out.

use crossterm::event::KeyCode;
use pi_subagents_delegation::{Ending, Interruption, RunId, Usage};
use pi_subagents_sessions::RunState;
use pi_subagents_windows::Role;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::model::{Effect, Leaving, Message, Mode, Notice, Scope, Subject};
use super::opened::Saying;
use super::run_row::{Facts, Record};
use super::testing::{
    Desk, accepted, at, called, ended, in_background, open, over, run, said, started,
};

/// Two runs at work, one that waits, and two that are over.
fn team(desk: &mut Desk) -> [pi_subagents_sessions::IndexedRun; 5] {
    let runs = [
        open(3, "review"),
        in_background(open(4, "日本語の調査")),
        open(5, "tests"),
        over(1, "plan"),
        run(
            2,
            "a name that is much longer than its column",
            RunState::Over {
                status: pi_subagents_delegation::Status::Failed,
                exit_code: 1,
                at: at(5),
            },
        ),
    ];
    desk.sees(&runs);
    desk.hears(
        &runs[0],
        vec![accepted(&runs[0], "Review the last commit."), started()],
    );
    desk.hears(&runs[1], vec![accepted(&runs[1], "Look."), started()]);
    desk.hears(&runs[2], vec![accepted(&runs[2], "Run the tests.")]);
    desk.wait(75);
    desk.hears(
        &runs[0],
        vec![
            said("I look at the change first.\nIt touches the parser."),
            called("read", &json!({"path": "/home/ada/engine/src/parser.rs"})),
        ],
    );
    desk.hears(
        &runs[1],
        vec![called("bash", &json!({"command": "rg -n 設定"}))],
    );
    let facts = |came_of_it: &str| {
        Record::Read(Facts {
            model: Some("haiku".to_owned()),
            lasted: None,
            usage: Usage {
                input: 120_000,
                cost: Some(0.25),
                ..Usage::default()
            },
            came_of_it: came_of_it.to_owned(),
        })
    };
    desk.happens(Message::Told(vec![
        (
            runs[3].run.clone(),
            facts("Three steps: parse, check, write."),
        ),
        (runs[4].run.clone(), facts("no key for anthropic")),
    ]));
    runs
}

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



    ? help  q leave  ↑↓ select  Enter open  r resume  o answer
    ~~~
    Sub-agents: none
    Nothing runs, and nothing ran here. What begins appears.



    ? help  q leave  ↑↓ select  Enter open  r resume  o answer
    ~~~
    Sub-agents: 1 running
    > ⏳ first      0s



    ? help  q leave  ↑↓ select  Enter open  s steer  x stop
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
    };
    let interrupted = Ending::Interrupted(Interruption::OwnerGone);
    desk.sees(&[ends, open(9, "newcomer")]);
    desk.hears(&review, vec![ended(interrupted)]);
    assert_eq!(desk.model.selected, Some(review.run));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 waiting, 1 error
      ⏳ newcomer                                 waiting for a free place
    > ✗  review    1m 15s   2 turns  3.0k  $0.02  Session was interrupted (main a...
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
fn what_is_being_said_is_seen_until_it_is_in_the_record() {
    let mut desk = Desk::new(60, 12);
    let talker = open(1, "talker");
    desk.sees(std::slice::from_ref(&talker));
    desk.hears(&talker, vec![accepted(&talker, "Talk."), started()]);
    let saying = |message, text: &str, act: Option<&str>| {
        let saying = Saying {
            message,
            text: text.to_owned(),
            act: act.map(str::to_owned),
        };
        Message::Said(talker.run.clone(), saying)
    };
    desk.happens(saying(0, "Hello \u{1b}[2Jwo", None));
    let first = desk.screen();
    desk.hears(&talker, vec![said("Hello world.")]);
    let second = desk.screen();
    desk.happens(saying(1, "And", Some("calling bash")));
    let third = desk.screen();
    insta::assert_snapshot!([first, second, third].join("\n~~~\n"), @"
    Sub-agents: 1 running
    > ⏳ talker      0s
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
    > ⏳ talker      0s  Hello world.
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
    desk.happens(Message::Heard(first, Vec::new()));
    let window = desk.model.opened.as_ref().unwrap();
    assert_eq!((&window.run.name, window.number), (&"one".to_owned(), 3));
}

#[test]
fn a_long_window_is_read_from_its_beginning_and_followed_to_its_end() {
    let mut desk = Desk::new(40, 10);
    let long = open(1, "long");
    desk.sees(std::slice::from_ref(&long));
    let lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
    desk.hears(
        &long,
        vec![
            accepted(&long, "Count."),
            started(),
            said(&lines.join("\n")),
        ],
    );
    let mut screens = vec![desk.screen()];
    desk.press("g");
    screens.push(desk.screen());
    desk.press_key(KeyCode::PageDown);
    desk.press_key(KeyCode::Tab);
    desk.press("j");
    screens.push(desk.screen());
    desk.hears(&long, vec![said("one more")]);
    let window = |screen: &str| screen.split_once("──").unwrap().1.to_owned();
    assert_eq!(window(&desk.screen()), window(&screens[2]));
    desk.press("f");
    screens.push(desk.screen());
    insta::assert_snapshot!(screens.join("\n~~~\n"));
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
fn steering_takes_a_line_and_sends_it_to_the_run_it_was_meant_for() {
    let mut desk = Desk::new(60, 10);
    let [review, ..] = team(&mut desk);
    desk.press("sLook at ");
    desk.happens(Message::Pasted("日本\nthe parser".to_owned()));
    let typing = desk.screen();
    desk.press_key(KeyCode::Enter);
    let expected = "Look at 日本\nthe parser".to_owned();
    assert_eq!(desk.effects, [Effect::Steer(review, expected)]);
    desk.happens(Message::Came(Notice::new(
        Role::Success,
        "review hears it before its next turn.",
    )));
    let last = |screen: String| screen.lines().last().unwrap().to_owned();
    insta::assert_snapshot!([last(typing), last(desk.screen())].join("\n"), @"
    Say to review: Look at 日本⏎the parser
    review hears it before its next turn.
    ");
}

#[test]
fn a_run_is_stopped_after_a_question_and_only_then() {
    let mut desk = Desk::new(90, 10);
    let [review, ..] = team(&mut desk);
    desk.press("x");
    let question = desk.screen().lines().last().unwrap().to_owned();
    desk.press("n");
    assert_eq!(desk.effects, []);
    desk.press("xy");
    assert_eq!(desk.effects, [Effect::Stop(review)]);
    let answer = desk.screen().lines().last().unwrap().to_owned();
    insta::assert_snapshot!([question, answer].join("\n"), @"
    Stop review and everything it started?  y stops it, any other key does not
    Stopping review...
    ");
}

#[test]
fn what_is_over_can_be_resumed_and_neither_steered_nor_stopped() {
    let mut desk = Desk::new(90, 10);
    desk.sees(&[over(1, "plan")]);
    let told: Vec<String> = ["s", "x", "r"]
        .map(|key| {
            desk.press(key);
            assert_eq!(desk.model.mode, Mode::Browsing);
            desk.screen().lines().last().unwrap().to_owned()
        })
        .into();
    insta::assert_snapshot!(told.join("\n"), @"
    plan is over.
    plan is over.
    pi-subagents resume a3f7000000000001 PROMPT goes on with it.
    ");
}

#[test]
fn an_answer_is_a_page_of_its_own() {
    let mut desk = Desk::new(50, 10);
    let plan = over(1, "plan");
    desk.sees(std::slice::from_ref(&plan));
    desk.press("o");
    assert_eq!(desk.effects, [Effect::ReadAnswer(plan.clone())]);
    let answer =
        "# Plan\n\n1. Parse what was written down.\n2. Check it against all that is known.\u{7}";
    desk.happens(Message::Answered(plan.run.clone(), Some(answer.to_owned())));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 done
    > ✓  plan  1m 01s
    ── answer of 20261115-000000-001-aaaaaa ── 0% ────
    plan
    # Plan

    1. Parse what was written down.
    2. Check it against all that is known.

    ? help  q leave  ↑↓ select  Enter open  r resume
    ");
    desk.press_key(KeyCode::Esc);
    assert_eq!(desk.model.opened.as_ref().unwrap().output, None);
    desk.happens(Message::Answered(plan.run, None));
    assert!(desk.screen().ends_with("It has not answered anything yet."));
}

#[test]
fn a_filter_shows_what_it_fits_and_selects_one_of_them() {
    let mut desk = Desk::new(80, 14);
    let [_, _, tests, ..] = team(&mut desk);
    desk.press("/TES");
    insta::assert_snapshot!(desk.screen(), @r#"
    Sub-agents: 2 running, 1 waiting, 1 done, 1 error  with "tes"
    > ⏳ tests                                 waiting for a free place
    ── 20261115-000000-005-aaaaaa ──────────────────────────────────────────────────
    tests









    Only with: TES
    "#);
    assert_eq!(desk.model.selected, Some(tests.run));
    desk.press_key(KeyCode::Enter);
    desk.press("/zzz");
    assert!(desk.screen().contains("No run fits. Esc shows all."));
    desk.press_key(KeyCode::Esc);
    assert_eq!(desk.model.listed().count(), 5);
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
    desk.happens(Message::Gone(lost.run.clone()));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 running
    > ⏳ lost      0s    1 turn  1.5k  $0.01  its record is gone
    ── 20261115-000000-001-aaaaaa ────────────────────────────────────────────────────────────
    ⏳ lost • anthropic/haiku • 0s
    > Go.
    So far.
    The record of this run was deleted; what stood in it is shown as far as it was read.


    ? help  q leave  ↑↓ select  Enter open  s steer  x stop  o answer  / filter  PgUp back
    ");
    assert_eq!(desk.model.followed().len(), 1);
}

#[test]
fn keys_lead_out_one_step_at_a_time() {
    let mut desk = Desk::new(80, 14);
    team(&mut desk);
    desk.press_key(KeyCode::Enter);
    assert!(desk.model.is_zoomed);
    desk.press_key(KeyCode::Esc);
    assert!(!desk.model.is_zoomed);
    assert_eq!(desk.effects, []);
    desk.press_key(KeyCode::Esc);
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Leave, Effect::Leave]);
}

#[test]
fn one_run_has_the_screen_for_itself_until_all_are_asked_for() {
    let lonely = open(7, "lonely");
    let mut desk = Desk::with_scope(Scope::Run(lonely.run.clone()), (60, 8));
    desk.sees(std::slice::from_ref(&lonely));
    desk.hears(
        &lonely,
        vec![accepted(&lonely, "Go."), started(), said("Here.")],
    );
    insta::assert_snapshot!(desk.screen(), @"
    ⏳ lonely • anthropic/haiku • 0s
    > Go.
    Here.




    ? help  q leave  ↑↓ scroll  Tab list  s steer  x stop
    ");
    desk.press("a");
    assert_eq!(desk.effects, [Effect::Look]);
    assert_eq!(desk.model.scope, Desk::new(1, 1).model.scope);
}

#[test]
fn a_view_that_leaves_by_itself_stays_a_moment_and_longer_if_somebody_is_there() {
    let brief = open(1, "brief");
    let mut desk = Desk::with_scope(Scope::Run(brief.run.clone()), (60, 8));
    desk.model = desk.model.leaving(Leaving::WhenOver(None));
    desk.wait(1);
    desk.sees(std::slice::from_ref(&brief));
    desk.hears(
        &brief,
        vec![accepted(&brief, "Go."), started(), ended(Ending::Completed)],
    );
    assert_eq!(desk.effects, []);
    let mut visited = Desk {
        model: desk.model.clone(),
        ..Desk::new(60, 8)
    };
    visited.press("g");
    visited.wait(60);
    assert_eq!(visited.effects, []);
    desk.wait(2);
    assert_eq!(desk.effects, []);
    desk.wait(1);
    assert_eq!(desk.effects, [Effect::Leave]);
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

#[test]
fn the_help_names_every_key() {
    let mut desk = Desk::new(70, 20);
    desk.press("?");
    insta::assert_snapshot!(desk.screen());
    desk.happens(Message::Resized(36, 40));
    insta::assert_snapshot!("the_help_names_every_key_in_36_columns", desk.screen());
}
