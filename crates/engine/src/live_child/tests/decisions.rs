//! A run that somebody ends, or that ends because it goes in circles.

use pi_subagents_vocabulary::{Decision, Ending, Interruption, RunId};
use pretty_assertions::assert_eq;

use super::stand::{ABORT_LINE, SETTLED, Stand, limits, plan};
use crate::request::UnitRequest;
use crate::{NotSent, ToChild};

const CALL: &str = r#"{"type":"message_end","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"bash","arguments":{"command":"ls"}}]}}"#;

#[tokio::test(start_paused = true)]
async fn a_shutdown_is_quicker_and_a_second_one_kills_at_once() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    let shutdown = || UnitRequest::End(Decision::Shutdown(Interruption::Signal(2)));
    stand.ask.send(shutdown()).unwrap();
    assert_eq!(stand.next_order().await, format!("0 ms, {ABORT_LINE}"));
    assert_eq!(stand.next_order().await, "300 ms, child: closed");
    assert_eq!(
        stand.next_order().await,
        r#"400 ms, keeper: {"stop":{"grace":{"secs":1,"nanos":0}}}"#
    );
    stand.ask.send(shutdown()).unwrap();
    assert_eq!(
        stand.next_order().await,
        r#"400 ms, keeper: {"stop":{"grace":{"secs":0,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(
        stand.ending().await,
        Decision::Shutdown(Interruption::Signal(2)).ending()
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_shutdown_does_not_wait_for_the_child_to_settle() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    for _ in 0..2 {
        let decision = Decision::Shutdown(Interruption::Signal(2));
        stand.ask.send(UnitRequest::End(decision)).unwrap();
    }
    // The child may or may not get the abort before its stdin is closed.
    let order = loop {
        let told = stand.next_order().await;
        if told.contains("keeper") {
            break told;
        }
    };
    assert_eq!(
        order,
        r#"0 ms, keeper: {"stop":{"grace":{"secs":0,"nanos":0}}}"#
    );
    stand.exit(143);
    assert_eq!(
        stand.ending().await,
        Decision::Shutdown(Interruption::Signal(2)).ending()
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_calls_over_several_messages_are_a_loop() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    for second in 1..=3 {
        stand.sleep_until(second).await;
        stand.say(CALL);
    }
    assert_eq!(stand.next_order().await, format!("3000 ms, {ABORT_LINE}"));
    stand.exit(0);
    assert_eq!(
        stand.ending().await,
        Ending::Looped {
            times: 3,
            evidence: Some("bash ls ×3".to_owned())
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_ending_takes_no_more_steering() {
    let mut stand = Stand::prompted(plan(limits(None, 30))).await;
    let steer = |stand: &Stand, message: &str| {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let message = message.to_owned();
        stand
            .ask
            .send(UnitRequest::Send {
                what: ToChild::Message(message),
                answer,
            })
            .unwrap();
        answered
    };
    assert_eq!(steer(&stand, "left").await.unwrap(), Ok(()));
    assert_eq!(
        stand.next_order().await,
        r#"0 ms, child: {"type":"steer","id":"steer","message":"left"}"#
    );
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    let run = RunId::parse("r").unwrap();
    assert_eq!(
        steer(&stand, "right").await.unwrap(),
        Err(NotSent::Ending(run))
    );
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}
