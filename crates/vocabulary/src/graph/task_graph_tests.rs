use jiff::Timestamp;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{Ending, RunId, RunReport, SessionId};

fn node(name: &str, needs: &[usize]) -> GraphNode {
    GraphNode {
        name: name.to_owned(),
        needs: needs.to_vec(),
        after_failure: AfterFailure::Skip,
        is_map: false,
        runs: 1,
        map: None,
        done: Vec::new(),
        base: None,
        pick: None,
    }
}

fn result(ending: Ending, structured: Option<Value>) -> NeedResult {
    let (run, session) = (RunId::parse("r1").unwrap(), SessionId::parse("s1").unwrap());
    let mut report = RunReport::new(run, session, "r".to_owned(), Timestamp::UNIX_EPOCH);
    report.take_ending(ending);
    report.structured = structured;
    NeedResult::of(&report, None)
}

fn done() -> NeedResult {
    result(Ending::Completed, None)
}

fn unbegun() -> NeedResult {
    let reason = "It needs x.".to_owned();
    result(Ending::NotStarted { reason }, None)
}

fn begin(tasks: Vec<GraphNode>) -> (GraphProgress, Vec<GraphStep>) {
    GraphProgress::begin(TaskGraph {
        tasks,
        stop_after: None,
        most_items: 16,
    })
}

#[test]
fn a_diamond_goes_on_when_both_sides_are_done() {
    let (mut graph, steps) = begin(vec![
        node("d", &[1, 2]),
        node("b", &[3]),
        node("c", &[3]),
        node("a", &[]),
    ]);
    let waits = |task, names: &str| GraphStep::Await(task, names.to_owned());
    assert_eq!(
        steps,
        [
            GraphStep::Begin(3),
            waits(0, "b, c"),
            waits(1, "a"),
            waits(2, "a")
        ]
    );
    assert_eq!(
        graph.ended(3, 0, done()),
        [GraphStep::Begin(1), GraphStep::Begin(2)]
    );
    assert_eq!(graph.ended(2, 0, done()), [waits(0, "b")]);
    assert_eq!(graph.ended(1, 0, done()), [GraphStep::Begin(0)]);
    let names: Vec<&str> = graph.results_for(0).iter().map(|task| task.name).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn a_failure_in_the_middle_ends_what_needs_it_and_nothing_else() {
    let (mut graph, steps) = begin(vec![
        node("a", &[]),
        node("b", &[0]),
        node("c", &[1]),
        GraphNode {
            after_failure: AfterFailure::Run,
            ..node("report", &[1, 2])
        },
        node("alone", &[]),
    ]);
    let begun = [GraphStep::Begin(0), GraphStep::Begin(4)];
    assert_eq!(steps[..2], begun);
    assert_eq!(graph.ended(0, 0, done()), [GraphStep::Begin(1)]);
    let skipped = GraphStep::Skip(2, "It needs b, which did not complete.".to_owned());
    let waits = GraphStep::Await(3, "c".to_owned());
    assert_eq!(
        graph.ended(1, 0, result(Ending::CutOff, None)),
        [skipped, waits]
    );
    assert_eq!(graph.ended(2, 0, unbegun()), [GraphStep::Begin(3)]);
}

#[test]
fn a_map_over_a_result_is_opened_and_needed_as_a_whole() {
    let map = || GraphNode {
        is_map: true,
        runs: 0,
        map: Some(ResultValue {
            task: "plan".to_owned(),
            path: vec!["structured".to_owned()],
        }),
        ..node("edit", &[0])
    };
    let opened = |structured: Value, most_items| {
        let (mut graph, _) = GraphProgress::begin(TaskGraph {
            tasks: vec![node("plan", &[]), map(), node("end", &[1])],
            stop_after: None,
            most_items,
        });
        assert!(graph.is_opening());
        let steps = graph.ended(0, 0, result(Ending::Completed, Some(structured)));
        (graph, steps)
    };
    let (mut graph, steps) = opened(json!(["x", "y"]), 16);
    assert_eq!(
        steps,
        [GraphStep::Open(1, Ok(vec![json!("x"), json!("y")]))]
    );
    assert_eq!(graph.opened(1, 2), []);
    assert!(!graph.is_opening());
    assert_eq!(graph.ended(1, 1, done()), []);
    let reason = "It needs edit, of which 1 of 2 did not complete.".to_owned();
    assert_eq!(
        graph.ended(1, 0, result(Ending::CutOff, None)),
        [GraphStep::Skip(2, reason)]
    );
    let refusal = |structured| match opened(structured, 1).1.as_slice() {
        [GraphStep::Open(1, Err(reason))] => reason.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(
        [
            refusal(json!([])),
            refusal(json!([1, 2])),
            refusal(json!({}))
        ],
        [
            "The list plan.structured is empty.",
            "The list plan.structured has 2 items, and at most 1 are done without a budget.",
            "plan.structured is not a list.",
        ]
    );
}

#[test]
fn after_enough_failures_nothing_more_begins() {
    let (mut graph, _) = GraphProgress::begin(TaskGraph {
        tasks: vec![
            GraphNode {
                is_map: true,
                runs: 100,
                ..node("a", &[])
            },
            node("b", &[0]),
        ],
        stop_after: Some(2),
        most_items: 16,
    });
    assert_eq!(graph.ended(0, 5, result(Ending::CutOff, None)), []);
    let reason = "The call begins nothing more after 2 failures.".to_owned();
    assert_eq!(
        graph.ended(0, 3, result(Ending::Stopped, None)),
        [GraphStep::Close(reason.clone()), GraphStep::Skip(1, reason)]
    );
    // A run that never began is no failure.
    assert_eq!(graph.ended(0, 4, unbegun()), []);
}

#[test]
fn what_an_earlier_call_has_done_is_not_waited_for() {
    let (graph, steps) = begin(vec![
        GraphNode {
            runs: 0,
            done: vec![(0, done())],
            ..node("a", &[])
        },
        GraphNode {
            is_map: true,
            runs: 1,
            done: vec![(0, done()), (2, done())],
            ..node("m", &[0])
        },
    ]);
    assert_eq!(steps, [GraphStep::Begin(0), GraphStep::Begin(1)]);
    assert_eq!(graph.results_for(1)[0].results.len(), 1);
}

#[test]
fn the_maps_of_a_call_are_counted_together() {
    let map = |name: &str, list: &str| GraphNode {
        is_map: true,
        runs: 0,
        map: Some(ResultValue {
            task: "plan".to_owned(),
            path: vec!["structured".to_owned(), list.to_owned()],
        }),
        ..node(name, &[0])
    };
    let steps = |items: [usize; 2], most_items| {
        let known = GraphNode {
            is_map: true,
            runs: 4,
            ..node("known", &[])
        };
        let (mut graph, _) = GraphProgress::begin(TaskGraph {
            tasks: vec![node("plan", &[]), map("a", "a"), map("b", "b"), known],
            stop_after: None,
            most_items,
        });
        let [a, b] = items.map(|count| vec![json!("x"); count]);
        let plan = result(Ending::Completed, Some(json!({ "a": a, "b": b })));
        let counted = |steps: Vec<GraphStep>| -> Vec<Result<usize, String>> {
            let opened = steps.into_iter().map(|step| match step {
                GraphStep::Open(_, items) => items.map(|items| items.len()),
                other => Err(format!("{other:?}")),
            });
            opened.collect()
        };
        counted(graph.ended(0, 0, plan))
    };
    assert_eq!(steps([6, 6], 16), [Ok(6), Ok(6)]);
    let refused = "The list plan.structured.b has 7 items, and the other maps have 10: at most 16 of them are done without a budget.";
    assert_eq!(steps([6, 7], 16), [Ok(6), Err(refused.to_owned())]);
    let refused = "The list plan.structured.b has 500 items, the call has 505 other runs, and a call has at most 1000.";
    assert_eq!(steps([500, 500], 1000), [Ok(500), Err(refused.to_owned())]);
}

fn attempts(rule: PickRule) -> GraphNode {
    GraphNode {
        runs: 3,
        pick: Some(PickNode::Attempts(rule)),
        ..node("fix", &[])
    }
}

fn attempt(number: usize, ending: Ending) -> NeedResult {
    let session = SessionId::parse("s1").unwrap();
    let name = format!("fix[{}]", number + 1);
    let mut report = RunReport::new(run(number), session, name, Timestamp::UNIX_EPOCH);
    report.take_ending(ending);
    NeedResult::of(&report, None)
}

fn run(number: usize) -> RunId {
    RunId::parse(&format!("r{number}")).unwrap()
}

fn picked(outcome: Result<(usize, &str), &str>, judge: Option<RunId>) -> GraphStep {
    GraphStep::Picked(PickedAttempt {
        task: "fix".to_owned(),
        runs: vec![run(0), run(1), run(2)],
        outcome: outcome
            .map(|(number, why)| (run(number), why.to_owned()))
            .map_err(str::to_owned),
        remarks: Vec::new(),
        judge,
    })
}

#[test]
fn the_first_attempt_that_completes_stops_the_others() {
    let (mut graph, steps) = begin(vec![attempts(PickRule::First), node("next", &[0])]);
    assert_eq!(steps[0], GraphStep::Begin(0));
    assert_eq!(graph.ended(0, 2, attempt(2, Ending::CutOff)), []);
    assert_eq!(
        graph.ended(0, 1, attempt(1, Ending::Completed)),
        [GraphStep::StopRest(0), GraphStep::Begin(1)]
    );
    assert_eq!(
        graph.results_for(1)[0].results,
        [attempt(1, Ending::Completed)]
    );
    assert_eq!(
        graph.ended(0, 0, attempt(0, Ending::Stopped)),
        [picked(Ok((1, "the first that completed")), None)]
    );
}

#[test]
fn attempts_that_completed_are_weighed_and_one_alone_is_not() {
    let (mut graph, _) = begin(vec![attempts(PickRule::Gate), node("next", &[0])]);
    assert_eq!(graph.ended(0, 0, attempt(0, Ending::Completed)), []);
    assert_eq!(graph.ended(0, 1, attempt(1, Ending::CutOff)), []);
    let completed = |number| CompletedAttempt {
        attempt: number,
        result: attempt(number, Ending::Completed),
    };
    assert_eq!(
        graph.ended(0, 2, attempt(2, Ending::Completed)),
        [GraphStep::Weigh(0, vec![completed(0), completed(2)])]
    );
    let weighed = WeighedAttempts::Picked {
        attempt: 2,
        why: "small".to_owned(),
    };
    assert_eq!(
        graph.weighed(0, weighed),
        [picked(Ok((2, "small")), None), GraphStep::Begin(1)]
    );

    let (mut graph, _) = begin(vec![attempts(PickRule::Gate), node("next", &[0])]);
    graph.ended(0, 0, attempt(0, Ending::CutOff));
    graph.ended(0, 1, attempt(1, Ending::Completed));
    assert_eq!(
        graph.ended(0, 2, attempt(2, Ending::CutOff)),
        [
            picked(Ok((1, "the only one that completed")), None),
            GraphStep::Begin(1)
        ]
    );
}

#[test]
fn without_a_completed_attempt_its_task_fails_once() {
    let (mut graph, _) = GraphProgress::begin(TaskGraph {
        tasks: vec![attempts(PickRule::Gate), node("next", &[0])],
        stop_after: Some(2),
        most_items: 16,
    });
    graph.ended(0, 0, attempt(0, Ending::CutOff));
    graph.ended(0, 1, attempt(1, Ending::CutOff));
    let reason = "It needs fix, of which no attempt was picked.".to_owned();
    assert_eq!(
        graph.ended(0, 2, attempt(2, Ending::CutOff)),
        [
            picked(Err("none of the 3 attempts completed"), None),
            GraphStep::Skip(1, reason)
        ]
    );
}

#[test]
fn a_judge_is_opened_for_several_and_its_word_counts_if_it_names_one_of_them() {
    let rule = PickRule::Judge {
        judge: "reviewer".to_owned(),
        rubric: None,
    };
    let judge = || GraphNode {
        runs: 0,
        pick: Some(PickNode::JudgeOf(0)),
        ..node("fix judge", &[0])
    };
    let judged = |report: Option<Value>| {
        let (mut graph, _) = begin(vec![attempts(rule.clone()), judge()]);
        for number in 0..3 {
            graph.ended(0, number, attempt(number, Ending::Completed));
        }
        assert_eq!(graph.weighed(0, WeighedAttempts::Judged), []);
        assert!(!graph.is_opening() && graph.has_begun(1));
        let word = result(Ending::Completed, report);
        (graph.ended(1, 0, word.clone()), Some(word.run().clone()))
    };
    let (steps, by) = judged(Some(json!({"winner": "C", "reasons": []})));
    assert_eq!(steps, [picked(Ok((2, "the choice of the judge")), by)]);
    let (steps, by) = judged(Some(json!({"winner": "D"})));
    let kept = "the judge names \"D\", which is not a candidate, so all attempts are kept";
    assert_eq!(steps, [picked(Err(kept), by)]);
    let (steps, by) = judged(None);
    let kept = "the judge has not reported, so all attempts are kept";
    assert_eq!(steps, [picked(Err(kept), by)]);

    // With one candidate there is nothing to judge.
    let (mut graph, _) = begin(vec![attempts(rule.clone()), judge()]);
    graph.ended(0, 0, attempt(0, Ending::Completed));
    graph.ended(0, 1, attempt(1, Ending::CutOff));
    assert!(graph.is_opening());
    graph.ended(0, 2, attempt(2, Ending::CutOff));
    assert!(!graph.is_opening());
}

#[test]
fn a_worktree_waits_for_the_result_that_it_begins_with() {
    let (mut graph, steps) = begin(vec![
        node("one", &[]),
        GraphNode {
            runs: 0,
            base: Some(0),
            ..node("two", &[0])
        },
    ]);
    assert_eq!(steps, [GraphStep::Begin(0)]);
    assert!(graph.is_opening());
    let session = SessionId::parse("s1").unwrap();
    let mut report = RunReport::new(run(7), session, "one".to_owned(), Timestamp::UNIX_EPOCH);
    report.take_ending(Ending::Completed);
    let result = NeedResult::of(&report, Some("/runs/r7/result.json".as_ref()));
    let place = json!({"run": "r7", "directory": "/runs/r7"});
    assert_eq!(
        graph.ended(0, 0, result),
        [GraphStep::Open(1, Ok(vec![place]))]
    );
    assert_eq!(graph.opened(1, 1), []);
    assert!(graph.has_begun(1) && !graph.is_opening());
}
