//! Tests how keys change the screen and control runs.

use crossterm::event::KeyCode;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{
    AnswerForm, Answerer, Ending, Happening, Question, QuestionId, QuestionKind, Timestamp,
};
use pretty_assertions::assert_eq;
use ratatui::layout::Size;

use crate::keys::table::{KEYS, Where};
use crate::message::{AnswerUse, Effect, Message, Notice};
use crate::model::{Leaving, Mode};
use crate::results::Fitting;
use crate::scope::ScreenScope;
use crate::testing::{Desk, accepted, answer_event, ended, open, over, started, team};
use crate::tests::window::with_calls;

#[test]
fn a_long_window_is_read_from_its_beginning_and_followed_to_its_end() {
    let mut desk = Desk::new(40, 10);
    let long = open(1, "long");
    desk.sees(std::slice::from_ref(&long));
    let lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
    desk.grow_record(
        &long,
        vec![
            accepted(&long, "Count."),
            started(),
            answer_event(&lines.join("\n")),
        ],
    );
    let mut screens = vec![desk.screen()];
    desk.press_key(KeyCode::Tab);
    desk.press("g");
    screens.push(desk.screen());
    desk.press_key(KeyCode::PageDown);
    desk.press("j");
    screens.push(desk.screen());
    desk.grow_record(&long, vec![answer_event("one more")]);
    // The header counts the usage of the run.
    let window = |screen: &str| {
        let (_, window) = screen.split_once("⏳ long •").unwrap();
        window.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(window(&desk.screen()), window(&screens[2]));
    desk.press("f");
    screens.push(desk.screen());
    insta::assert_snapshot!(screens.join("\n~~~\n"));
}

#[test]
fn a_question_takes_a_line_and_gets_it_as_its_answer() {
    let mut desk = Desk::new(60, 10);
    let [review, ..] = team(&mut desk);
    desk.press("!");
    assert_eq!(desk.effects, []);
    let question = Question {
        id: QuestionId::new(0x7f_3a91),
        kind: QuestionKind::Ask,
        form: AnswerForm::Words,
        text: "Which schema is current?".to_owned(),
        context: None,
        options: vec!["v2".to_owned(), "v3".to_owned()],
        answerer: Answerer::Parent,
        secret: false,
        asked_at: Timestamp::UNIX_EPOCH,
        lapses_at: None,
    };
    desk.grow_record(&review, vec![Happening::Asked(question.clone())]);
    desk.press("!v3");
    let screen = desk.screen();
    desk.press_key(KeyCode::Enter);
    let answered = Effect::Answer(review, Box::new(question), "v3".to_owned());
    assert_eq!(desk.effects, [answered]);
    insta::assert_snapshot!(screen);
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
    desk.happens(Message::Finished(Notice::new(
        Role::Success,
        "review reads it before its next turn.",
    )));
    let last = |screen: String| screen.lines().last().unwrap().to_owned();
    insta::assert_snapshot!([last(typing), last(desk.screen())].join("\n"), @"
    Say to review: Look at 日本⏎the parser
    review reads it before its next turn.
    ");
}

#[test]
fn what_was_typed_survives_leaving_the_line_and_a_second_interrupt_leaves_all() {
    let mut desk = Desk::new(60, 10);
    let [review, ..] = team(&mut desk);
    desk.press("sLook at the ");
    desk.press_control('c');
    assert_eq!((&desk.model.mode, desk.effects.len()), (&Mode::Browsing, 0));
    let last = |desk: &Desk| desk.screen().lines().last().unwrap().to_owned();
    let mut rows = vec![last(&desk)];
    desk.press("js");
    rows.push(last(&desk));
    desk.press_key(KeyCode::Esc);
    desk.press("ks");
    rows.push(last(&desk));
    desk.press("parser");
    desk.press_key(KeyCode::Enter);
    let message = "Look at the parser".to_owned();
    assert_eq!(desk.effects, [Effect::Steer(review, message)]);
    desk.press("s");
    rows.push(last(&desk));
    desk.press_control('c');
    desk.press_control('c');
    assert_eq!(desk.effects.last(), Some(&Effect::Leave));
    insta::assert_snapshot!(rows.join("\n"), @"
    This was not sent; press s to get it back.
    Say to 日本語の調査:
    Say to review: Look at the
    Say to review:
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
    Stop review and everything it started?  y stops it, any other key cancels
    Stopping review...
    ");
}

#[test]
fn what_is_over_is_neither_steered_nor_stopped() {
    let mut desk = Desk::new(90, 10);
    desk.sees(&[over(1, "plan")]);
    let told: Vec<String> = ["s", "x"]
        .map(|key| {
            desk.press(key);
            assert_eq!(desk.model.mode, Mode::Browsing);
            desk.footer()
        })
        .into();
    insta::assert_snapshot!(told.join("\n"), @"
    plan has finished; press r to resume it.
    plan has finished.
    ");
}

#[test]
fn an_answer_is_a_page_of_its_own() {
    let mut desk = Desk::new(50, 10);
    let plan = over(1, "plan");
    desk.sees(std::slice::from_ref(&plan));
    desk.press("o");
    let read = Effect::ReadAnswer(plan.clone(), AnswerUse::Show);
    assert_eq!(desk.effects, [read]);
    let answer =
        "# Plan\n\n1. Parse what was written down.\n2. Check it against all that is known.\u{7}";
    desk.happens(Message::AnswerRead(
        plan.run.clone(),
        AnswerUse::Show,
        Some(answer.to_owned()),
    ));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 completed
    > ✓  plan   1m 01s
    ── answer of 20261115-000000-001-aaaaaa ──────────
    plan
    # Plan

    1. Parse what was written down.
    2. Check it against all that is known.

    ? help  q leave  Enter open  n new  r resume
    ");
    desk.happens(Message::Resized(Size::new(50, 7)));
    assert!(desk.screen().contains("── 0% ─"), "{}", desk.screen());
    desk.press_key(KeyCode::Tab);
    desk.press_key(KeyCode::Esc);
    assert!(!desk.model.opened.as_ref().unwrap().shows_answer());
    desk.happens(Message::AnswerRead(plan.run, AnswerUse::Show, None));
    assert_eq!(desk.footer(), "plan has not answered anything yet.");
}

#[test]
fn escape_goes_back_one_step_and_never_leaves() {
    let mut desk = Desk::new(80, 14);
    team(&mut desk);
    desk.press("/review");
    desk.press_key(KeyCode::Enter);
    desk.press_key(KeyCode::Enter);
    desk.press("/parser");
    desk.press_key(KeyCode::Enter);
    let opened = |desk: &Desk| {
        let opened = desk.model.opened.as_ref().unwrap();
        let has_search = opened.sheet().search.is_some();
        (
            desk.model.is_zoomed,
            has_search,
            desk.model.list.filter().to_owned(),
        )
    };
    assert_eq!(opened(&desk), (true, true, "review".to_owned()));
    let mut steps = Vec::new();
    for _ in 0..5 {
        desk.press_key(KeyCode::Esc);
        steps.push(opened(&desk));
    }
    let none = String::new();
    assert_eq!(
        steps,
        [
            (true, false, "review".to_owned()),
            (false, false, "review".to_owned()),
            (false, false, none.clone()),
            (false, false, none.clone()),
            (false, false, none),
        ]
    );
    assert_eq!(desk.effects, []);
    assert_eq!(desk.footer(), "Press q to leave; the runs continue.");
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Leave]);
}

#[test]
fn q_closes_a_window_and_leaves_the_list() {
    let mut desk = Desk::new(80, 14);
    team(&mut desk);
    desk.press_key(KeyCode::Enter);
    desk.press("q");
    assert_eq!((desk.model.is_zoomed, desk.effects.len()), (false, 0));
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Leave]);
    let lonely = open(7, "lonely");
    let mut desk = Desk::with_scope(ScreenScope::Run(lonely.run.clone()), Size::new(60, 8));
    desk.sees(std::slice::from_ref(&lonely));
    desk.press_key(KeyCode::Esc);
    assert_eq!(desk.footer(), "Press q to leave; the run continues.");
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Leave]);
}

#[test]
fn a_receipt_is_a_page_of_its_own() {
    let mut desk = Desk::new(60, 12);
    with_calls(&mut desk);
    desk.press("i");
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 running
    > ⏳ review      12s  Review the l...  bash → sleep 60 (r...
    ── receipt of 20261115-000000-001-aaaaaa ───────────────────
    ⏳ review • 3 tool calls • 7.5k tokens • $0.05 • 12s
    saw       5 turns, tool calls: bash 2, edit 1 (1 failed)
    commands  → 0  cargo test --workspace echo 日本
    tests     unclear, because its exit code proves nothing:
    cargo test --workspace echo 日本 → 0
    look at   how the last test ended was not seen


    ? help  q leave  Enter open  n new  s steer  x stop
    ");
    desk.press("i");
    assert!(!desk.model.opened.as_ref().unwrap().shows_answer());
}

#[test]
fn a_receipt_has_the_files_that_git_found() {
    let mut desk = Desk::new(60, 14);
    let run = with_calls(&mut desk);
    desk.effects.clear();
    desk.press("i");
    assert_eq!(desk.effects, [Effect::ReadChangedFiles(run.clone())]);
    let files = Some(vec!["src/a.rs".to_owned(), "b.txt".to_owned()]);
    desk.happens(Message::ChangedFilesRead(run.run.clone(), files));
    insta::assert_snapshot!(desk.screen(), @"
    Sub-agents: 1 running
         NAME       TIME  TASK             LATEST
    > ⏳ review      12s  Review the l...  bash → sleep 60 (r...
    ── receipt of 20261115-000000-001-aaaaaa ───────────────────
    ⏳ review • 3 tool calls • 7.5k tokens • $0.05 • 12s
    saw       5 turns, tool calls: bash 2, edit 1 (1 failed)
    changed   src/a.rs
              b.txt
    commands  → 0  cargo test --workspace echo 日本
    tests     unclear, because its exit code proves nothing:
    cargo test --workspace echo 日本 → 0
    look at   how the last test ended was not seen

    ? help  q leave  Enter open  n new  s steer  x stop
    ");
    // A receipt that nobody looks at any more is not shown again.
    desk.press("i");
    desk.happens(Message::ChangedFilesRead(run.run, Some(Vec::new())));
    assert!(!desk.model.opened.as_ref().unwrap().shows_answer());
}

#[test]
fn a_run_that_has_not_answered_has_no_receipt() {
    let mut desk = Desk::new(60, 12);
    desk.sees(&[over(1, "plan")]);
    desk.press("i");
    assert_eq!(desk.footer(), "Nothing has been seen of plan.");
}

#[test]
fn ctrl_z_pauses_everywhere() {
    let mut desk = Desk::new(80, 14);
    team(&mut desk);
    for keys in ["", "?", "?s", "hello"] {
        desk.press(keys);
        desk.press_control('z');
    }
    assert_eq!(desk.effects, vec![Effect::Pause; 4]);
}

#[test]
fn one_run_has_the_screen_for_itself_until_all_are_asked_for() {
    let lonely = open(7, "lonely");
    let mut desk = Desk::with_scope(ScreenScope::Run(lonely.run.clone()), Size::new(60, 8));
    desk.sees(std::slice::from_ref(&lonely));
    desk.grow_record(
        &lonely,
        vec![accepted(&lonely, "Go."), started(), answer_event("Here.")],
    );
    insta::assert_snapshot!(desk.screen(), @"
    ── 20261115-000000-007-aaaaaa ──────────────────────────────
    ⏳ lonely • anthropic/haiku • 1.5k tokens • $0.01 • 0s
    > Go.

    Here.


    ? help  q leave  ↑↓ scroll  [ ] tool calls  Enter open one
    ");
    desk.press("a");
    assert_eq!(desk.effects, [Effect::Look]);
    assert_eq!(desk.model.scope, Desk::new(1, 1).model.scope);
}

#[test]
fn a_view_that_leaves_by_itself_stays_a_moment_and_longer_if_somebody_is_there() {
    let brief = open(1, "brief");
    let mut desk = Desk::with_scope(ScreenScope::Run(brief.run.clone()), Size::new(60, 8));
    desk.model = desk.model.leaving(Leaving::WhenOver(None));
    desk.wait(1);
    desk.sees(std::slice::from_ref(&brief));
    desk.grow_record(
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
fn the_help_names_every_key() {
    let mut desk = Desk::new(80, 45);
    desk.press("?");
    insta::assert_snapshot!(desk.screen());
    desk.happens(Message::Resized(Size::new(36, 20)));
    insta::assert_snapshot!("the_help_in_36_columns", desk.screen());
    desk.press("jjj");
    desk.press_key(KeyCode::PageDown);
    insta::assert_snapshot!("the_help_further_down", desk.screen());
    desk.press("q");
    assert_eq!((&desk.model.mode, desk.effects.len()), (&Mode::Browsing, 0));
}

#[test]
fn the_help_does_not_scroll_past_its_end() {
    let mut desk = Desk::new(36, 20);
    desk.press("?");
    for _ in 0..30 {
        desk.press_key(KeyCode::PageDown);
    }
    let end = desk.screen();
    desk.press("j");
    assert_eq!(desk.screen(), end);
    desk.press("k");
    assert_ne!(desk.screen(), end, "one key up is one line up");
    desk.press("j");
    assert_eq!(desk.screen(), end);
    desk.happens(Message::Resized(Size::new(36, 30)));
    let grown = desk.screen();
    desk.press("k");
    assert_ne!(
        desk.screen(),
        grown,
        "and so it is on a screen that has grown"
    );
}

/// Compares with the design page, whose table the web page shares.
#[test]
fn the_design_page_has_the_same_keys() {
    let page = include_str!("../../../../docs/design/attach.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let [place, keys, does] = cells.as_slice() else {
            return None;
        };
        let place = match *place {
            "list" => Where::List,
            "window" => Where::Window,
            "both" => Where::Both,
            _ => return None,
        };
        let keys = keys.replace('`', "");
        Some((place, keys, does.trim_end_matches(" |").to_owned()))
    });
    let expected = KEYS.map(|key| (key.place, key.keys.to_owned(), key.does.to_owned()));
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[test]
fn a_merge_is_asked_for_only_if_it_fits_and_other_answers_change_nothing() {
    let mut desk = Desk::new(90, 12);
    let run = over(1, "plan");
    desk.sees(std::slice::from_ref(&run));
    let fitting = |fits| Fitting {
        page: vec![Line::new(Role::Plain, "api  ✓")],
        fits,
    };
    desk.press("m");
    assert_eq!(desk.effects, [Effect::CheckMerge(run.clone())]);
    desk.happens(Message::MergeChecked(run.run.clone(), Ok(fitting(false))));
    let mut footers = vec![desk.footer()];
    desk.press("y");
    assert_eq!(desk.effects.len(), 2, "y copies the id: nothing was asked");
    desk.effects.clear();
    desk.happens(Message::MergeChecked(run.run.clone(), Ok(fitting(true))));
    footers.push(desk.footer());
    desk.press_key(KeyCode::Esc);
    footers.push(desk.footer());
    desk.happens(Message::MergeChecked(run.run.clone(), Ok(fitting(true))));
    desk.press("m");
    footers.push(desk.footer());
    assert_eq!(desk.effects, [Effect::Merge(run.clone())]);
    desk.press("D");
    footers.push(desk.footer());
    // Shift that is held down is no answer.
    desk.press("D");
    footers.push(desk.footer());
    desk.press("Dy");
    assert_eq!(
        desk.effects,
        [Effect::Merge(run.clone()), Effect::Discard(run.clone())]
    );
    let problem = "it has no result".to_owned();
    desk.happens(Message::MergeChecked(run.run.clone(), Err(problem)));
    footers.push(desk.footer());
    desk.effects.clear();
    desk.press("w");
    assert_eq!(desk.effects, [Effect::OpenPage(run)]);
    insta::assert_snapshot!(footers.join("\n"), @"
    It does not fit its checkout, so nothing was merged.
    Merge plan as uncommitted changes?  y merges it, any other key cancels
    Nothing was merged.
    Merging plan...
    Discard what plan changed?  y discards it, any other key cancels
    Nothing was discarded.
    it has no result
    ");
}
