//! Runs that are started and resumed from the screen.

use crossterm::event::KeyCode;
use pi_subagents_view::Role;
use pretty_assertions::assert_eq;

use crate::message::{Effect, Message, Notice};
use crate::testing::{Desk, open, over, team};
use pi_subagents_calls::start_from_screen::WantedRun;

#[test]
fn a_finished_run_is_resumed_with_a_prompt() {
    let mut desk = Desk::new(80, 12);
    let plan = over(1, "plan");
    desk.sees(std::slice::from_ref(&plan));
    desk.press("rNow write it");
    let mut rows = vec![desk.footer()];
    desk.press_key(KeyCode::Esc);
    rows.push(desk.footer());
    desk.press("r down");
    rows.push(desk.footer());
    desk.press_key(KeyCode::Enter);
    rows.push(desk.footer());
    let prompt = "Now write it down".to_owned();
    let wanted = WantedRun::Resumed {
        run: Box::new(plan),
        prompt,
    };
    assert_eq!(desk.effects, [Effect::Start(wanted)]);
    insta::assert_snapshot!(rows.join("\n"), @"
    Continue plan: Now write it
    This was not sent; press r to get it back.
    Continue plan: Now write it down
    Resuming plan...
    ");
}

#[test]
fn a_run_that_was_started_here_is_selected_when_it_is_there() {
    let mut desk = Desk::new(80, 12);
    let plan = over(1, "plan");
    desk.sees(std::slice::from_ref(&plan));
    desk.press("/plan");
    desk.press_key(KeyCode::Enter);
    let next = open(2, "next");
    let notice = Notice::new(Role::Success, "next runs in the background.");
    desk.happens(Message::Began(next.run.clone(), notice));
    assert_eq!(desk.effects, [Effect::Look]);
    desk.sees(std::slice::from_ref(&plan));
    assert_eq!(desk.model.selected, Some(plan.run.clone()));
    desk.sees(&[plan, next.clone()]);
    assert_eq!(desk.model.selected, Some(next.run));
    assert_eq!(desk.footer(), "next runs in the background.");
}

#[test]
fn a_new_run_has_the_definition_that_is_chosen_with_tab() {
    let mut desk = Desk::new(80, 12);
    team(&mut desk);
    desk.press("nLook ");
    let mut rows = vec![desk.footer()];
    let names = ["reviewer", "scout"].map(str::to_owned);
    desk.happens(Message::DefinitionsRead(names.into()));
    rows.push(desk.footer());
    desk.press_key(KeyCode::BackTab);
    rows.push(desk.footer());
    desk.press("around");
    desk.press_key(KeyCode::Enter);
    rows.push(desk.footer());
    let wanted = WantedRun::New {
        definition: "scout".to_owned(),
        prompt: "Look around".to_owned(),
    };
    assert_eq!(
        desk.effects,
        [Effect::ReadDefinitions, Effect::Start(wanted)]
    );
    insta::assert_snapshot!(rows.join("\n"), @"
    New run of default: Look
    New run of default (Tab: another): Look
    New run of scout (Tab: another): Look
    Starting scout...
    ");
}

#[test]
fn an_empty_prompt_starts_nothing() {
    let mut desk = Desk::new(80, 12);
    team(&mut desk);
    desk.press("n  ");
    desk.press_key(KeyCode::Enter);
    assert_eq!(desk.effects, [Effect::ReadDefinitions]);
}
