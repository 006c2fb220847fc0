//! A child that leaves, or does not.

use std::time::Duration;

use pi_subagents_vocabulary::Ending;
use pretty_assertions::assert_eq;

use super::stand::{SETTLED, Stand, limits, plan};
use crate::keeper::Report;

#[tokio::test(start_paused = true)]
async fn a_settled_child_has_two_seconds_to_leave_and_its_answer_counts() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    stand.sleep_until(100_000).await;
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "100000000 ms, child: closed");
    assert_eq!(
        stand.next_order().await,
        r#"100002000 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(1);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_last_words_count_when_the_exit_is_heard_of_first() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    stand.report(&Report::Exited {
        code: Some(0),
        signal: None,
    });
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.say(SETTLED);
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_closes_its_output_is_lost_after_two_seconds() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    stand.output = None;
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    assert_eq!(
        stand.next_order().await,
        r#"2000 ms, keeper: {"stop":{"grace":{"secs":5,"nanos":0}}}"#
    );
    stand.exit(0);
    assert_eq!(
        stand.ending().await,
        Ending::Lost {
            reason: "it closed its output and lived on".to_owned()
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_dead_tree_whose_pipes_stay_open_is_waited_for_one_second() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.report(&Report::Gone { killed: 0 });
    let start = stand.start;
    let held = (stand.output.take(), stand.errors.take());
    assert_eq!(stand.ending().await, Ending::Completed);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
    drop(held);
}
