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
        most_items: 16,
        done: Vec::new(),
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
    assert_eq!(steps, [GraphStep::Begin(3)]);
    assert_eq!(graph.awaited(0).as_deref(), Some("b, c"));
    assert_eq!(graph.awaited(3), None);
    assert_eq!(
        graph.ended(3, 0, done()),
        [GraphStep::Begin(1), GraphStep::Begin(2)]
    );
    assert_eq!(graph.ended(2, 0, done()), []);
    assert_eq!(graph.awaited(0).as_deref(), Some("b"));
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
    assert_eq!(steps, [GraphStep::Begin(0), GraphStep::Begin(4)]);
    assert_eq!(graph.ended(0, 0, done()), [GraphStep::Begin(1)]);
    let skipped = GraphStep::Skip(2, "It needs b, which did not complete.".to_owned());
    assert_eq!(graph.ended(1, 0, result(Ending::CutOff, None)), [skipped]);
    assert_eq!(graph.ended(2, 0, unbegun()), [GraphStep::Begin(3)]);
}

#[test]
fn a_map_over_a_result_is_opened_and_needed_as_a_whole() {
    let map = |most_items| GraphNode {
        is_map: true,
        runs: 0,
        map: Some(ResultValue {
            task: "plan".to_owned(),
            path: vec!["structured".to_owned()],
        }),
        most_items,
        ..node("edit", &[0])
    };
    let opened = |structured: Value, most_items| {
        let (mut graph, _) = begin(vec![node("plan", &[]), map(most_items), node("end", &[1])]);
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
            "plan.structured is no list.",
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
