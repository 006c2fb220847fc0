//! The window of a run: tool calls that open, words that are searched for.

use crossterm::event::KeyCode;
use pi_subagents_records::IndexedRun;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::message::{AnswerUse, Effect, Message};
use crate::testing::{Desk, accepted, answer_event, called_as, open, started, tool_answered};

/// Makes a run with a call that succeeded, a call that failed and a call that is under way.
pub(super) fn with_calls(desk: &mut Desk) -> IndexedRun {
    let run = open(1, "review");
    desk.sees(std::slice::from_ref(&run));
    let output: Vec<String> = (1..=40)
        .map(|number| format!("test {number} ... ok"))
        .collect();
    desk.grow_record(
        &run,
        vec![
            accepted(&run, "Review the last commit."),
            started(),
            answer_event("I run the **tests** first."),
            called_as(
                "1",
                "bash",
                &json!({"command": "cargo test --workspace\necho 日本"}),
            ),
            tool_answered("1", "bash", &output.join("\n"), false),
        ],
    );
    desk.wait(12);
    let edits = json!([{"oldText": "one\ntwo", "newText": "three"}]);
    desk.grow_record(
        &run,
        vec![
            called_as(
                "2",
                "edit",
                &json!({"path": "src/parser.rs", "edits": edits}),
            ),
            tool_answered("2", "edit", "Could not find the exact text.", true),
            answer_event("The text was not there."),
            called_as("3", "bash", &json!({"command": "sleep 60"})),
        ],
    );
    run
}

#[test]
fn a_call_opens_to_its_whole_arguments_and_output_and_closes_again() {
    let mut desk = Desk::new(60, 24);
    with_calls(&mut desk);
    desk.press_key(KeyCode::Enter);
    let closed = desk.screen();
    desk.press("[[");
    desk.press_key(KeyCode::Enter);
    let edit = desk.screen();
    desk.press_control('o');
    assert_eq!(desk.screen(), closed);
    desk.press("[");
    desk.press_key(KeyCode::Enter);
    let bash = desk.screen();
    desk.press_key(KeyCode::PageDown);
    desk.press_key(KeyCode::PageDown);
    let screens = [closed, edit, bash, desk.screen()];
    insta::assert_snapshot!(screens.join("\n~~~\n"));
}

#[test]
fn all_calls_open_and_close_at_once() {
    let mut desk = Desk::new(60, 90);
    with_calls(&mut desk);
    desk.press_key(KeyCode::Enter);
    let closed = desk.screen();
    desk.press("e");
    let open = desk.screen();
    assert!(open.contains("test 40 ... ok"), "{open}");
    assert!(open.contains("still running"), "{open}");
    desk.press("e");
    assert_eq!(desk.screen(), closed);
}

#[test]
fn words_are_found_in_closed_calls_too() {
    let mut desk = Desk::new(60, 12);
    with_calls(&mut desk);
    desk.press_key(KeyCode::Enter);
    desk.press("/TEST 3");
    let typing = desk.screen();
    desk.press_key(KeyCode::Enter);
    desk.press("nn");
    let third = desk.screen();
    desk.press("N");
    let found = desk.model.opened.as_ref().unwrap().sheet().search.clone();
    assert_eq!(found.unwrap().found, Some((2, 34)));
    insta::assert_snapshot!([typing, third].join("\n~~~\n"));
    desk.press("/nowhere");
    desk.press_key(KeyCode::Enter);
    assert_eq!(desk.footer(), "\"nowhere\" is not in the text.");
}

#[test]
fn a_search_that_is_given_up_leaves_everything_as_it_was() {
    let mut desk = Desk::new(60, 12);
    with_calls(&mut desk);
    desk.press_key(KeyCode::Enter);
    let before = desk.screen();
    desk.press("/test 3");
    assert_ne!(desk.screen(), before);
    desk.press_key(KeyCode::Esc);
    assert_eq!(desk.screen(), before);
}

#[test]
fn a_click_opens_a_call() {
    let mut desk = Desk::new(60, 24);
    with_calls(&mut desk);
    desk.press_key(KeyCode::Enter);
    let row = desk
        .screen()
        .lines()
        .position(|row| row.contains("edit → src/pars"))
        .unwrap();
    desk.click(10, u16::try_from(row).unwrap());
    assert!(desk.screen().contains("│ - one"), "{}", desk.screen());
}

#[test]
fn the_id_and_the_answer_are_copied() {
    let mut desk = Desk::new(80, 12);
    let run = with_calls(&mut desk);
    desk.press("y");
    let mut told = vec![desk.footer()];
    desk.press("Y");
    let answer = Some("# Findings".to_owned());
    desk.happens(Message::AnswerRead(
        run.run.clone(),
        AnswerUse::Copy,
        answer,
    ));
    told.push(desk.footer());
    let long = Some("x".repeat(100_000));
    desk.happens(Message::AnswerRead(run.run.clone(), AnswerUse::Copy, long));
    told.push(desk.footer());
    assert_eq!(
        desk.effects,
        [
            Effect::Copy(run.run.to_string()),
            Effect::ReadAnswer(run, AnswerUse::Copy),
            Effect::Copy("# Findings".to_owned()),
        ]
    );
    insta::assert_snapshot!(told.join("\n"), @"
    Copied 20261115-000000-001-aaaaaa to the clipboard.
    Copied the answer of review to the clipboard.
    It is too long to copy; use pi-subagents output 20261115-000000-001-aaaaaa.
    ");
}

#[test]
fn a_long_prompt_is_folded_and_opens() {
    let mut desk = Desk::new(60, 30);
    let run = open(1, "long");
    desk.sees(std::slice::from_ref(&run));
    let prompt: Vec<String> = (1..=20).map(|number| format!("step {number}")).collect();
    desk.grow_record(&run, vec![accepted(&run, &prompt.join("\n")), started()]);
    desk.press_key(KeyCode::Enter);
    assert!(
        desk.screen().contains("> … 8 more lines"),
        "{}",
        desk.screen()
    );
    desk.press_key(KeyCode::Enter);
    assert!(desk.screen().contains("> step 20"), "{}", desk.screen());
}
