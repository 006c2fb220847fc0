//! A run whose time is over.

use std::time::Duration;

use pi_subagents_delegation::Ending;
use pretty_assertions::assert_eq;

use super::stand::{ABORT_LINE, SETTLED, Stand, limits, plan};

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
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    assert_eq!(stand.told().await, "10600 ms, child: closed");
    assert_eq!(
        stand.told().await,
        r#"10700 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_settles_after_the_abort_is_let_go_at_once() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 30))).await;
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    stand.say(SETTLED);
    assert_eq!(stand.told().await, "10000 ms, child: closed");
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
    assert_eq!(stand.told().await, format!("68000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}

#[tokio::test(start_paused = true)]
async fn an_extension_of_zero_ends_the_run_at_its_timeout() {
    let mut stand = Stand::prompted(plan(limits(Some(10), 0))).await;
    stand.sleep_until(9).await;
    stand.say(TOOL);
    assert_eq!(stand.told().await, format!("10000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(stand.ending().await, timed_out(10));
}
