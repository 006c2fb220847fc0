//! A run whose time is over.

use std::time::Duration;

use pi_subagents_vocabulary::Ending;
use pretty_assertions::assert_eq;
use tokio::sync::mpsc;

use super::stand::{ABORT_LINE, SETTLED, Stand, limits, plan};
use crate::keeper::Report;
use crate::request::UnitRequest;

fn timed_out(seconds: u64) -> Ending {
    Ending::TimedOut {
        limit: Duration::from_secs(seconds),
    }
}

const TOOL: &str =
    r#"{"type":"tool_execution_start","toolCallId":"1","toolName":"bash","args":{}}"#;

const TOOL_UPDATE: &str = r#"{"type":"tool_execution_update","toolCallId":"1"}"#;

#[tokio::test(start_paused = true)]
async fn a_timeout_aborts_then_closes_stdin_then_ends_the_tree() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    assert_eq!(stand.next_order().await, format!("10000 ms, {ABORT_LINE}"));
    assert_eq!(stand.next_order().await, "10600 ms, child: closed");
    assert_eq!(
        stand.next_order().await,
        r#"10700 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_settles_after_the_abort_is_let_go_at_once() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    assert_eq!(stand.next_order().await, format!("10000 ms, {ABORT_LINE}"));
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "10000 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn tools_at_work_extend_the_deadline_and_text_does_not() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    stand.sleep_until(9).await;
    stand.say(TOOL);
    stand.sleep_until(38).await;
    stand.say(TOOL_UPDATE);
    stand.sleep_until(60).await;
    stand.say(r#"{"type":"message_update","delta":"x"}"#);
    assert_eq!(stand.next_order().await, format!("68000 ms, {ABORT_LINE}"));
    // The keeper gets a deadline at the start, and when the last one has passed.
    let told = |at: &str, left: u64| {
        format!(r#"{at}keeper: {{"deadline":{{"left":{{"secs":{left},"nanos":0}}}}}}"#)
    };
    let expected = [
        told("0 ms, ", 10),
        told("10000 ms, ", 29),
        told("39000 ms, ", 29),
    ];
    assert_eq!(stand.deadlines, expected);
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_pause_stops_the_clock() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    stand.sleep_until(4).await;
    let (paused, mut all) = mpsc::channel(1);
    stand.ask.send(UnitRequest::Pause { paused }).unwrap();
    assert_eq!(stand.next_order().await, r#"4000 ms, keeper: "pause""#);
    stand.report(&Report::Paused);
    assert_eq!(all.recv().await, None);
    stand.sleep_until(104).await;
    let pause = Duration::from_secs(100);
    stand.ask.send(UnitRequest::Resume { pause }).unwrap();
    assert_eq!(stand.next_order().await, r#"104000 ms, keeper: "resume""#);
    assert_eq!(stand.next_order().await, format!("110000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_says_nothing_is_not_waited_for() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    for _ in 0..3 {
        stand.next_order().await;
    }
    // Its grace of 5 s, then 2 s to answer, 2 s after it was continued, 2 s after it was killed.
    let ending = stand.ending_at().await;
    assert_eq!(
        ending,
        (Duration::from_millis(21_700 + 1000), timed_out(10))
    );
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_ended_an_overdue_run_is_believed() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    stand.report(&Report::Overdue);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(143);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn an_extension_of_zero_ends_the_run_at_its_timeout() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 0))).await;
    stand.sleep_until(9).await;
    stand.say(TOOL);
    assert_eq!(stand.next_order().await, format!("10000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}
