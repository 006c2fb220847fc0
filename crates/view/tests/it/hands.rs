//! Hands on the runs of a live view: what keys do, and what there is to see, at three widths.

use pi_subagents_view::paint::plain;
use pi_subagents_view::{Hands, LiveKey, LiveWish, ScreenSize, Wall};
use pi_subagents_vocabulary::{
    AnswerForm, AnswerOutcome, AnsweredQuestion, Answerer, Happening, Question, QuestionId,
    QuestionKind, Reply, Respondent, Rung, RungStep,
};

use crate::script::{Script, at, run, task};

fn question(number: u32, text: &str, options: &[&str]) -> Question {
    Question {
        id: QuestionId::new(number),
        kind: QuestionKind::Ask,
        form: AnswerForm::Words,
        text: text.to_owned(),
        context: None,
        options: options.iter().map(|&option| option.to_owned()).collect(),
        answerer: Answerer::Parent,
        secret: false,
        asked_at: at(2),
        lapses_at: None,
    }
}

fn script() -> Script {
    let mut script = Script::new();
    for name in ["api", "sessions", "ui"] {
        script = script.accepted(0, task(name)).started(1, name);
    }
    let asked = question(
        0x7f_3a91,
        "Shall I revoke refresh tokens too?",
        &["both", "access only"],
    );
    script.happened(2, "sessions", Happening::Asked(asked))
}

fn screen(hands: &Hands, wall: &Wall, columns: usize) -> String {
    let held = hands.draw(wall, columns);
    let mut lines = wall.view_in_rows(at(54), columns, 14 - held.len());
    lines.extend(held);
    lines.iter().map(plain).collect::<Vec<_>>().join("\n")
}

/// The same runs, one of which waits for its budget.
fn at_limit() -> (Script, Question) {
    let asked = Question {
        kind: QuestionKind::Budget,
        answerer: Answerer::Person,
        ..question(
            0x00_0b5e,
            "The budget of this call is used up ($2.00 of $2.00). May it have more?",
            &["$1.00 more", "no more: end with what there is"],
        )
    };
    let paused = Happening::Rung(Rung {
        step: RungStep::Paused,
        words: "the budget of this call is used up ($2.00 of $2.00)".to_owned(),
    });
    let script =
        script()
            .happened(3, "api", paused)
            .happened(3, "api", Happening::Asked(asked.clone()));
    (script, asked)
}

#[test]
fn one_key_decides_about_a_budget_at_every_width() {
    let (script, asked) = at_limit();
    let wall = script.wall();
    let answer = |option| LiveWish::Answer {
        run: run("api"),
        question: Box::new(asked.clone()),
        reply: Reply::Option(option),
    };
    let mut hands = Hands::default();
    assert_eq!(hands.press(LiveKey::Letter('+'), &wall), Some(answer(1)));
    assert_eq!(hands.press(LiveKey::Letter('.'), &wall), Some(answer(2)));
    let screens = [60, 80, 120].map(|columns| screen(&hands, &wall, columns));
    insta::assert_snapshot!(screens.join("\n\n"));
    // Where no budget is asked about, the keys do nothing.
    let wall = self::script().wall();
    assert_eq!(hands.press(LiveKey::Letter('+'), &wall), None);
}

#[test]
fn a_call_goes_to_the_background_while_a_running_run_is_selected() {
    let wall = script().wall();
    let mut hands = Hands::default();
    let behind = LiveKey::Letter('&');
    assert_eq!(hands.press(behind, &wall), None);
    hands.press(LiveKey::Down, &wall);
    assert!(screen(&hands, &wall, 120).ends_with("& background"));
    assert_eq!(hands.press(behind, &wall), Some(LiveWish::Background));
    // In a message it is a letter.
    hands.press(LiveKey::Letter('s'), &wall);
    assert_eq!(hands.press(behind, &wall), None);
    assert!(screen(&hands, &wall, 80).contains("you: &"));
}

#[test]
fn the_story_of_a_run_takes_the_screen_and_can_be_scrolled() {
    let mut script = script();
    for number in 0..20 {
        script = script.happened(
            3 + number,
            "api",
            Happening::Warned(format!("line {number}")),
        );
    }
    let wall = script.wall();
    let mut hands = Hands::default();
    let shown = |hands: &Hands| {
        let held = hands.draw(&wall, 60);
        let size = ScreenSize {
            columns: 60,
            rows: 10 - held.len(),
        };
        let (window, below) = hands.story(&wall).unwrap();
        let mut lines = wall.story_in_rows(window, below, at(54), size);
        lines.extend(held);
        lines.iter().map(plain).collect::<Vec<_>>().join("\n")
    };
    hands.press(LiveKey::Down, &wall);
    hands.press(LiveKey::Enter, &wall);
    let end = shown(&hands);
    for _ in 0..3 {
        hands.press(LiveKey::Up, &wall);
    }
    insta::assert_snapshot!(format!("{end}\n\n{}", shown(&hands)));
    hands.press(LiveKey::Escape, &wall);
    assert_eq!(hands.story(&wall).map(|(_, below)| below), None);
}

#[test]
fn the_age_of_the_last_sign_is_shown_and_a_long_silence_is_odd() {
    let wall = script().wall();
    let ages = [30, 90, 400].map(|now| {
        let lines = wall.view_in_rows(at(now), 60, 14);
        let lines: Vec<String> = lines.iter().map(plain).collect();
        lines.into_iter().find(|line| line.contains("ui")).unwrap()
    });
    insta::assert_snapshot!(ages.join("\n"));
}

fn typed(hands: &mut Hands, wall: &Wall, words: &str) {
    for letter in words.chars() {
        assert_eq!(hands.press(LiveKey::Letter(letter), wall), None);
    }
}

#[test]
fn the_keys_and_the_question_fit_every_width() {
    let wall = script().wall();
    let screens = [60, 80, 120].map(|columns| {
        let mut hands = Hands::default();
        let untouched = screen(&hands, &wall, columns);
        hands.press(LiveKey::Up, &wall);
        hands.press(LiveKey::Letter('s'), &wall);
        typed(
            &mut hands,
            &wall,
            "Keep the old parameter as an alias, the mobile app sends it",
        );
        let steering = screen(&hands, &wall, columns);
        hands.press(LiveKey::Tab, &wall);
        typed(&mut hands, &wall, "both, and say so");
        let answering = screen(&hands, &wall, columns);
        format!("~~~ {columns}\n{untouched}\n~~~\n{steering}\n~~~\n{answering}")
    });
    insta::assert_snapshot!(screens.join("\n"));
}

#[test]
fn a_message_goes_to_the_selected_run_and_waits_for_it_after_escape() {
    let wall = script().wall();
    let mut hands = Hands::default();
    typed(&mut hands, &wall, "sx");
    hands.press(LiveKey::Down, &wall);
    hands.press(LiveKey::Letter('s'), &wall);
    typed(&mut hands, &wall, "lefx");
    hands.press(LiveKey::Erase, &wall);
    hands.press(LiveKey::Escape, &wall);
    hands.press(LiveKey::Letter('s'), &wall);
    typed(&mut hands, &wall, "t");
    let steered = LiveWish::Steer {
        run: run("api"),
        message: "left".to_owned(),
    };
    assert_eq!(hands.press(LiveKey::Enter, &wall), Some(steered));
}

#[test]
fn a_run_is_stopped_only_after_a_yes() {
    let wall = script().wall();
    let mut hands = Hands::default();
    hands.press(LiveKey::Down, &wall);
    typed(&mut hands, &wall, "xn");
    hands.press(LiveKey::Letter('x'), &wall);
    let stopped = LiveWish::Stop { run: run("api") };
    assert_eq!(hands.press(LiveKey::Letter('y'), &wall), Some(stopped));
}

#[test]
fn a_question_is_answered_by_the_number_of_its_option_and_given_up_when_somebody_was_faster() {
    let wall = script().wall();
    let asked = question(
        0x7f_3a91,
        "Shall I revoke refresh tokens too?",
        &["both", "access only"],
    );
    let mut hands = Hands::default();
    hands.press(LiveKey::Tab, &wall);
    typed(&mut hands, &wall, "2");
    let answered = LiveWish::Answer {
        run: run("sessions"),
        question: Box::new(asked.clone()),
        reply: Reply::Words("2".to_owned()),
    };
    let mut late = hands.clone();
    assert_eq!(hands.press(LiveKey::Enter, &wall), Some(answered));
    let closed = AnsweredQuestion {
        id: asked.id,
        outcome: AnswerOutcome::Answered {
            answer: Some("both".to_owned()),
            by: Respondent::Page,
        },
    };
    let wall = script()
        .happened(3, "sessions", Happening::Answered(closed))
        .wall();
    assert_eq!(late.press(LiveKey::Enter, &wall), None);
}
