//! The list: its filter, its order, and the run that stays selected.

use crossterm::event::KeyCode;
use pi_subagents_records::{IndexedRun, RunState, Used};
use pi_subagents_vocabulary::{Counts, RunId, Status, Usage};
use pretty_assertions::assert_eq;

use crate::message::Message;
use crate::scope::{Reach, ScopedRuns};
use crate::testing::{Desk, open, over, team};

fn listed(desk: &Desk) -> Vec<String> {
    let rows = desk.model.list.listed();
    rows.map(|row| row.run.name.clone()).collect()
}

fn selected(desk: &Desk) -> Option<RunId> {
    desk.model.selected.clone()
}

#[test]
fn a_filter_looks_at_names_tasks_models_states_and_ids() {
    let mut desk = Desk::new(80, 14);
    team(&mut desk);
    let found = |desk: &mut Desk, words: &str| {
        desk.press("/");
        desk.press(words);
        let found = listed(desk);
        desk.press_key(KeyCode::Esc);
        found
    };
    assert_eq!(found(&mut desk, "REVIEW"), ["review"]);
    assert_eq!(found(&mut desk, "last commit"), ["review"]);
    assert_eq!(found(&mut desk, "what plan says"), ["plan"]);
    assert_eq!(found(&mut desk, "queued"), ["tests"]);
    assert_eq!(found(&mut desk, "000-001-aa"), ["plan"]);
    assert_eq!(found(&mut desk, "a3f7000000000001"), ["plan"]);
    assert_eq!(found(&mut desk, "haiku").len(), 4);
    assert_eq!(listed(&desk).len(), 5);
}

#[test]
fn a_filter_that_is_given_up_returns_to_what_was_selected() {
    let mut desk = Desk::new(80, 14);
    let [_, survey, tests, ..] = team(&mut desk);
    desk.press("j");
    assert_eq!(selected(&desk), Some(survey.run.clone()));
    desk.press("/tests");
    assert_eq!(selected(&desk), Some(tests.run));
    desk.press("zzz");
    assert_eq!(selected(&desk), None);
    assert!(desk.screen().contains("No run matches. Esc shows all."));
    desk.press_key(KeyCode::Esc);
    assert_eq!(selected(&desk), Some(survey.run));
}

#[test]
fn what_a_filter_has_found_stays_selected_when_it_ends() {
    let mut desk = Desk::new(80, 14);
    let [_, _, tests, ..] = team(&mut desk);
    desk.press("/tes");
    desk.press_key(KeyCode::Enter);
    desk.press_key(KeyCode::Enter);
    assert!(desk.model.is_zoomed);
    desk.press_key(KeyCode::Esc);
    assert_eq!(desk.model.list.filter(), "tes");
    desk.press_key(KeyCode::Esc);
    assert_eq!((selected(&desk), listed(&desk).len()), (Some(tests.run), 5));
    assert_eq!(desk.effects, []);
}

/// Lets a screen see 300 finished runs, behind which there are more.
fn sees_part(desk: &mut Desk, older: usize) {
    let older = Counts::of(vec![Status::Completed; older]);
    let runs = (0..300).map(|number| over(number + 100, "some")).collect();
    desk.happens(Message::IndexRead(ScopedRuns {
        runs,
        older,
        reach: desk.model.reach,
    }));
}

#[test]
fn older_runs_are_counted_and_read_when_somebody_comes_near_them() {
    let mut desk = Desk::new(80, 14);
    sees_part(&mut desk, 5000);
    assert_eq!(desk.model.list.counts().completed, 5300);
    let first = desk.model.reach;
    desk.press("jjj");
    assert_eq!(desk.model.reach, first);
    (0..100).for_each(|_| desk.press_key(KeyCode::PageDown));
    let further = desk.model.reach;
    assert_eq!(further, first.further());
    // One read at a time.
    desk.press_key(KeyCode::PageDown);
    assert_eq!(desk.model.reach, further);
}

#[test]
fn a_filter_and_another_order_look_at_all_runs() {
    for keys in ["/so", "C", "AA"] {
        let mut desk = Desk::new(80, 14);
        sees_part(&mut desk, 5000);
        desk.press(keys);
        assert_eq!(desk.model.reach, Reach::All, "{keys}");
    }
    let mut desk = Desk::new(80, 14);
    sees_part(&mut desk, 5000);
    desk.press("/nothing");
    assert!(
        desk.screen()
            .contains("No run matches yet; the records are being read.")
    );
}

#[test]
fn the_end_of_the_list_is_that_of_all_runs() {
    let mut desk = Desk::new(80, 14);
    sees_part(&mut desk, 50);
    desk.press("G");
    assert_eq!(desk.model.reach, Reach::All);
    let all: Vec<IndexedRun> = (50..400).map(|number| over(number, "some")).collect();
    desk.sees(&all);
    assert_eq!(selected(&desk), Some(all[0].run.clone()));
}

/// Makes a finished run with this cost.
fn cost(number: u32, name: &str, dollars: Option<f64>) -> IndexedRun {
    let mut run = over(number, name);
    if let RunState::Over { used, .. } = &mut run.state {
        *used = dollars.map(|dollars| Used {
            calls: 3,
            usage: Usage {
                input: 1000,
                cost: Some(dollars),
                ..Usage::default()
            },
        });
    }
    run
}

#[test]
fn rows_are_sorted_by_age_cost_and_status_and_the_selection_stays() {
    let mut desk = Desk::new(80, 16);
    let runs = [
        cost(1, "cheap", Some(0.10)),
        cost(2, "dear", Some(4.00)),
        cost(3, "unknown", None),
        open(4, "running"),
    ];
    desk.sees(&runs);
    desk.press("j");
    assert_eq!(listed(&desk), ["running", "unknown", "dear", "cheap"]);
    desk.press("C");
    assert_eq!(listed(&desk), ["dear", "cheap", "running", "unknown"]);
    insta::assert_snapshot!(desk.screen());
    desk.press("C");
    assert_eq!(listed(&desk), ["cheap", "dear", "running", "unknown"]);
    desk.press("S");
    assert_eq!(listed(&desk), ["running", "unknown", "dear", "cheap"]);
    desk.press("AA");
    assert_eq!(listed(&desk), ["cheap", "dear", "unknown", "running"]);
    assert_eq!(selected(&desk), Some(runs[2].run.clone()));
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut desk = Desk::new(80, 20);
    let [_, survey, ..] = team(&mut desk);
    let row = desk
        .screen()
        .lines()
        .position(|row| row.contains("日本"))
        .unwrap();
    let row = u16::try_from(row).unwrap();
    desk.click(5, row);
    assert_eq!(
        (selected(&desk), desk.model.is_zoomed),
        (Some(survey.run), false)
    );
    desk.click(5, row);
    assert!(desk.model.is_zoomed);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    use crate::message::MouseAct;
    let mut desk = Desk::new(80, 20);
    let [_, survey, ..] = team(&mut desk);
    desk.happens(Message::Mouse(MouseAct::WheelDown, 3, 3));
    assert_eq!(selected(&desk), Some(survey.run));
    desk.press("M");
    assert_eq!(desk.effects, [crate::message::Effect::UseMouse(false)]);
    insta::assert_snapshot!(desk.footer(), @"The terminal has the mouse, to mark and copy text; press M to use it here.");
}
