//! Whole screens at the sizes that people have.

use crossterm::event::KeyCode;

use pi_subagents_view::{Line, Role};

use super::window::with_calls;
use crate::message::{AnswerUse, Message};
use crate::results::Fitting;
use crate::testing::{Desk, team};

const COLUMNS: [u16; 4] = [60, 80, 120, 200];
const ROWS: [u16; 3] = [20, 24, 50];

/// The steps that a person takes before they look at the screen.
type Scene = fn(&mut Desk);

const ANSWER: &str = "# Findings\n\nThe change is **good**, but:\n\n1. `parse` has no test.\n2. 日本語 is cut in the middle of a word, which a reader of the list will not like at all.\n\n```rust\nfn parse() {}\n```";

const SCENES: [(&str, Scene); 9] = [
    ("list", |desk| {
        team(desk);
    }),
    ("filter", |desk| {
        team(desk);
        desk.press("/review");
    }),
    ("window", |desk| {
        with_calls(desk);
        desk.press_key(KeyCode::Enter);
    }),
    ("opened_call", |desk| {
        with_calls(desk);
        desk.press_key(KeyCode::Enter);
        desk.press("[[[");
        desk.press_key(KeyCode::Enter);
    }),
    ("search", |desk| {
        with_calls(desk);
        desk.press_key(KeyCode::Enter);
        desk.press("/test 3");
    }),
    ("answer", |desk| {
        let run = with_calls(desk);
        desk.press_key(KeyCode::Enter);
        let answer = Some(ANSWER.to_owned());
        desk.happens(Message::AnswerRead(run.run, AnswerUse::Show, answer));
    }),
    ("changes", |desk| {
        let run = with_calls(desk);
        desk.press_key(KeyCode::Enter);
        desk.happens(Message::DiffRead(run.run, Ok(patch())));
    }),
    ("merge", |desk| {
        let run = with_calls(desk);
        desk.press_key(KeyCode::Enter);
        desk.happens(Message::MergeChecked(run.run, Ok(fitting())));
    }),
    ("help", |desk| {
        with_calls(desk);
        desk.press_key(KeyCode::Enter);
        desk.press("?");
    }),
];

/// Returns a patch with a line that is longer than most screens.
fn patch() -> Vec<Line> {
    [
        (Role::Strong, "diff --git a/src/app.rs b/src/app.rs"),
        (Role::Muted, "@@ -1,3 +1,3 @@ fn main() {"),
        (Role::Plain, "     let name = args().next();"),
        (Role::Removed, "-    println!(\"{name}\");"),
        (
            Role::Added,
            "+    println!(\"{}\", name.unwrap_or_else(|| panic!(\"a name is missing\")));",
        ),
    ]
    .map(|(role, text)| Line::new(role, text))
    .into()
}

fn fitting() -> Fitting {
    let page = [
        "into /home/me/app, as it is now",
        "",
        "     checkout  api  ui",
        "api  ✓         –    ✗ src/app.rs:40-61",
        "ui   ✓         ✗ src/app.rs:40-61  –",
    ];
    Fitting {
        page: page.map(|line| Line::new(Role::Plain, line)).into(),
        fits: true,
    }
}

#[test]
fn every_screen_at_every_size() {
    for (name, scene) in SCENES {
        for columns in COLUMNS {
            let screens = ROWS.map(|rows| {
                let mut desk = Desk::new(columns, rows);
                scene(&mut desk);
                format!("{columns} x {rows}\n{}", desk.screen())
            });
            let name = format!("{name}_in_{columns}_columns");
            insta::assert_snapshot!(name, screens.join("\n~~~\n"));
        }
    }
}

#[test]
fn small_screens_show_what_matters() {
    for (columns, rows) in [(36, 12), (40, 10)] {
        let screens = SCENES.map(|(name, scene)| {
            let mut desk = Desk::new(columns, rows);
            scene(&mut desk);
            format!("{name}\n{}", desk.screen())
        });
        let name = format!("small_screens_in_{columns}_columns");
        insta::assert_snapshot!(name, screens.join("\n~~~\n"));
    }
}

#[test]
fn the_key_that_says_yes_is_seen_on_every_screen() {
    let questions = [36, 60, 80, 120].map(|columns| {
        let mut desk = Desk::new(columns, 12);
        let run = with_calls(&mut desk);
        desk.press_key(KeyCode::Enter);
        desk.happens(Message::MergeChecked(run.run, Ok(fitting())));
        let screen = desk.screen();
        let last = screen.lines().rfind(|line| !line.trim().is_empty());
        last.unwrap_or_default().to_owned()
    });
    insta::assert_snapshot!(questions.join("\n"), @"
    y merges it, other keys cancel
    y merges review, any other key cancels
    Merge review as uncommitted changes?  y merges it, any other key cancels
    Merge review as uncommitted changes?  y merges it, any other key cancels
    ");
}
