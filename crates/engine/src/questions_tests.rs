//! The questions of a run, with a child and answers played by the tests.

use pi_subagents_vocabulary::{BudgetLimits, BudgetScope, Reply, Respondent, ScopeKind, UsedLimit};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

const WORD: &str = "ask-x ";

fn run() -> RunId {
    RunId::parse("r").unwrap()
}

fn terms() -> QuestionTerms {
    QuestionTerms {
        asks: Some(Answerer::Parent),
        dialogs: Some(Answerer::Person),
        park_after: None,
    }
}

fn questions(terms: QuestionTerms) -> Questions {
    Questions::new(terms, Some(WORD.to_owned()))
}

fn ask(number: usize) -> Dialog {
    Dialog {
        id: format!("d{number}"),
        method: "input".to_owned(),
        title: Some(format!(
            "{WORD}{}",
            json!({"question": "Which?", "options": ["v2", "v3"]})
        )),
        ..Dialog::default()
    }
}

fn dialog(method: &str, options: &[&str]) -> Dialog {
    Dialog {
        id: method.to_owned(),
        method: method.to_owned(),
        title: Some("Allow bash?".to_owned()),
        message: Some("rm -rf target".to_owned()),
        options: options.iter().map(|&option| option.to_owned()).collect(),
        timeout_ms: None,
    }
}

fn moment(now: Instant) -> Moment {
    Moment {
        at: Timestamp::UNIX_EPOCH,
        now,
    }
}

fn asked(questions: &mut Questions, dialog: &Dialog, now: Instant) -> Question {
    match questions.weigh(dialog, 1, moment(now)) {
        DialogFate::Asked(question) => *question,
        other => panic!("not asked: {other:?}"),
    }
}

fn given(question: &Question, reply: Reply, by: Respondent) -> GivenReply {
    GivenReply {
        question: question.id.clone(),
        reply,
        by,
    }
}

fn taken(questions: &mut Questions, question: &Question, reply: Reply) -> String {
    match questions.take(&run(), &given(question, reply, Respondent::Terminal)) {
        Ok(answer) => answer.command.unwrap().to_line().trim().to_owned(),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn each_method_gets_the_answer_of_its_kind() {
    let now = Instant::now();
    let mut open = questions(terms());
    let methods = [
        (
            dialog("select", &["Allow\u{7} once", "Deny"]),
            Reply::Option(1),
        ),
        (dialog("confirm", &[]), Reply::No),
        (dialog("input", &[]), Reply::Words("main".to_owned())),
        (dialog("editor", &[]), Reply::Cancel),
        (ask(0), Reply::Words("2".to_owned())),
        (ask(1), Reply::Cancel),
    ];
    let asked: Vec<(Question, Reply)> = methods
        .into_iter()
        .map(|(dialog, reply)| (asked(&mut open, &dialog, now), reply))
        .collect();
    // They are answered in another order than they were asked in.
    let lines: Vec<String> = asked
        .into_iter()
        .rev()
        .map(|(question, reply)| taken(&mut open, &question, reply))
        .collect();
    assert!(!open.are_open());
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"type":"extension_ui_response","id":"d1","value":"Nobody answered. Decide yourself, and say in your report what you assumed."}
    {"type":"extension_ui_response","id":"d0","value":"v3"}
    {"type":"extension_ui_response","id":"editor","cancelled":true}
    {"type":"extension_ui_response","id":"input","value":"main"}
    {"type":"extension_ui_response","id":"confirm","confirmed":false}
    {"type":"extension_ui_response","id":"select","value":"Allow\u0007 once"}
    "#);
}

#[test]
fn the_first_answer_counts_and_the_other_is_told() {
    let mut open = questions(terms());
    let question = asked(&mut open, &ask(0), Instant::now());
    _ = taken(&mut open, &question, Reply::Option(2));
    let late = taken(&mut open, &question, Reply::Option(1));
    assert_eq!(
        late,
        "! question q000001 is answered already: a person at the terminal answered: v3"
    );
    let other = GivenReply {
        question: QuestionId::new(9),
        reply: Reply::Yes,
        by: Respondent::Terminal,
    };
    let unknown = open.take(&run(), &other).unwrap_err().to_string();
    assert_eq!(unknown, "run r has not asked a question q000009");
}

#[test]
fn a_dialog_is_never_answered_by_a_model_unless_its_definition_lets_it() {
    for (answerer, expected) in [(Answerer::Person, false), (Answerer::Parent, true)] {
        let mut open = questions(QuestionTerms {
            dialogs: Some(answerer),
            ..terms()
        });
        let question = asked(&mut open, &dialog("confirm", &[]), Instant::now());
        let by_model = given(&question, Reply::Yes, Respondent::Model);
        assert_eq!(open.take(&run(), &by_model).is_ok(), expected);
    }
}

#[test]
fn a_secret_is_not_recorded() {
    let mut open = questions(terms());
    let dialog = Dialog {
        title: Some("Password for db".to_owned()),
        ..dialog("input", &[])
    };
    let question = asked(&mut open, &dialog, Instant::now());
    let reply = given(
        &question,
        Reply::Words("hunter2".to_owned()),
        Respondent::Pi,
    );
    let answer = open.take(&run(), &reply).unwrap();
    let by = Respondent::Pi;
    assert_eq!(
        answer.answered.outcome,
        AnswerOutcome::Answered { answer: None, by }
    );
    assert!(answer.command.unwrap().to_line().contains("hunter2"));
    assert!(!format!("{open:?}").contains("hunter2"));
}

#[test]
fn a_run_may_ask_ten_times() {
    let now = Instant::now();
    let mut open = questions(terms());
    for number in 0..10 {
        _ = asked(&mut open, &ask(number), now);
    }
    let fate = open.weigh(&ask(10), 1, moment(now));
    assert_eq!(fate, DialogFate::Answered(answer(&ask(10), ASKED_ENOUGH)));
    // Dialogs are no questions of the model.
    _ = asked(&mut open, &dialog("confirm", &[]), now);
}

#[test]
fn nobody_is_asked_where_nobody_may_answer() {
    let now = Instant::now();
    let mut silent = questions(QuestionTerms::default());
    let fate = silent.weigh(&dialog("confirm", &[]), 1, moment(now));
    assert_eq!(fate, DialogFate::Nobody);
    let fate = silent.weigh(&ask(0), 1, moment(now));
    assert_eq!(fate, DialogFate::Answered(answer(&ask(0), NOBODY_ANSWERED)));
}

#[test]
fn the_clock_of_a_wait_runs_from_the_first_question_to_the_last_answer() {
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut open = questions(QuestionTerms {
        park_after: Some(Duration::from_mins(10)),
        ..terms()
    });
    let first = asked(&mut open, &ask(0), start);
    let limited = Dialog {
        timeout_ms: Some(30_000),
        ..dialog("confirm", &[])
    };
    _ = asked(&mut open, &limited, after(5));
    assert_eq!(open.alarm(), Some(after(35)));
    assert_eq!(open.lapsed(after(34)), Vec::new());
    let lapsed = open.lapsed(after(35));
    assert_eq!(lapsed.len(), 1);
    assert_eq!(
        (&lapsed[0].command, open.take_wait(after(35))),
        (&None, None)
    );
    assert_eq!(open.alarm(), Some(after(600)));
    assert_eq!(open.to_park(after(599)), None);
    assert_eq!(
        open.to_park(after(600)).map(|question| &question.id),
        Some(&first.id)
    );
    _ = taken(&mut open, &first, Reply::Option(1));
    assert_eq!(open.take_wait(after(700)), Some(Duration::from_secs(700)));
}

#[test]
fn a_question_about_a_budget_is_for_persons_and_sends_the_child_nothing() {
    let mut open = questions(terms());
    let budget = BudgetDenial {
        scope: BudgetScope::new(ScopeKind::Named, "nightly").unwrap(),
        used: UsedLimit::Runs { spent: 4, limit: 4 },
        is_held: false,
    };
    let question = open.ask_about(budget.clone(), 1, moment(Instant::now()));
    assert_eq!(question.kind, QuestionKind::Budget);
    let by_model = given(&question, Reply::Option(1), Respondent::Model);
    assert_eq!(
        open.take(&run(), &by_model),
        Err(NotSent::ForPersons(question.id.clone()))
    );
    let nonsense = given(
        &question,
        Reply::Words("perhaps".to_owned()),
        Respondent::Page,
    );
    assert_eq!(
        open.take(&run(), &nonsense),
        Err(ReplyProblem::NoSum.into())
    );
    assert!(open.are_open());
    let answer = open.take(
        &run(),
        &given(&question, Reply::Option(1), Respondent::Page),
    );
    let limits = BudgetLimits {
        runs: Some(6),
        ..BudgetLimits::default()
    };
    assert_eq!(
        answer,
        Ok(AnswerToChild {
            command: None,
            answered: AnsweredQuestion {
                id: question.id,
                outcome: AnswerOutcome::Answered {
                    answer: Some("2 runs more".to_owned()),
                    by: Respondent::Page,
                },
            },
            budget: Some(BudgetReply::Raise {
                scope: budget.scope.clone(),
                limits,
            }),
        })
    );
    // It is closed where the budget has more in another way.
    open.ask_about(budget, 2, moment(Instant::now()));
    let closed = open.close_budget(AnswerOutcome::Withdrawn).unwrap();
    assert_eq!(closed.answered.outcome, AnswerOutcome::Withdrawn);
    assert!(!open.are_open() && open.close_budget(AnswerOutcome::Lapsed).is_none());
}
