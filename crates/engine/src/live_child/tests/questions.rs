//! A run that asks: its clocks stand, and stopping it while it waits ends it as ever.

use std::time::Duration;

use pi_subagents_vocabulary::{
    Answerer, Decision, Ending, QuestionTerms, Reply, Respondent, TaskPlan,
};
use pretty_assertions::assert_eq;
use tokio::sync::oneshot;

use super::stand::{ABORT_LINE, SETTLED, Stand, limits, plan};
use crate::request::UnitRequest;
use crate::to_child::{GivenReply, NotSent, ToChild};

const DIALOG: &str =
    r#"{"type":"extension_ui_request","id":"d","method":"confirm","title":"Run it?"}"#;

fn asking(timeout: Option<u64>, park_after: Option<u64>) -> TaskPlan {
    let mut plan = plan(limits(timeout, 0));
    plan.work.questions = QuestionTerms {
        asks: None,
        dialogs: Some(Answerer::Person),
        park_after: park_after.map(Duration::from_secs),
    };
    plan
}

async fn answer(stand: &mut Stand, reply: Reply) -> Result<(), NotSent> {
    let what = ToChild::Answer(GivenReply {
        question: stand.asked().await,
        reply,
        by: Respondent::Terminal,
    });
    let (answer, answered) = oneshot::channel();
    stand.ask.send(UnitRequest::Send { what, answer }).unwrap();
    answered.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_deadline_stands_still_while_a_run_waits() {
    let mut stand = Stand::prompted(asking(Some(10), None)).await;
    stand.sleep_until(4).await;
    stand.say(DIALOG);
    stand.sleep_until(1000).await;
    assert_eq!(answer(&mut stand, Reply::Yes).await, Ok(()));
    let order = stand.next_order().await;
    assert!(
        order.ends_with(r#"{"type":"extension_ui_response","id":"d","confirmed":true}"#),
        "{order}"
    );
    // Six seconds were left.
    assert_eq!(
        stand.next_order().await,
        format!("1006000 ms, {ABORT_LINE}")
    );
    stand.say(SETTLED);
    stand.exit(0);
    let limit = Duration::from_secs(10);
    assert_eq!(stand.ending().await, Ending::TimedOut { limit });
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_while_it_waits_ends_as_stopped() {
    let mut stand = Stand::prompted(asking(None, None)).await;
    stand.say(DIALOG);
    stand.sleep_until(5).await;
    stand.ask.send(UnitRequest::End(Decision::Stop)).unwrap();
    assert_eq!(stand.next_order().await, format!("5000 ms, {ABORT_LINE}"));
    stand.say(SETTLED);
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_answers_is_parked_and_its_dialog_is_cancelled() {
    let mut stand = Stand::prompted(asking(Some(10), Some(600))).await;
    stand.say(DIALOG);
    assert_eq!(
        stand.next_order().await,
        r#"600000 ms, child: {"type":"extension_ui_response","id":"d","cancelled":true}"#
    );
    assert_eq!(stand.next_order().await, format!("600000 ms, {ABORT_LINE}"));
    stand.say(SETTLED);
    stand.exit(0);
    let ending = stand.ending().await;
    assert!(
        matches!(&ending, Ending::Parked { text, .. } if text == "Run it?"),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dialog_is_cancelled_where_nobody_can_answer() {
    let mut stand = Stand::prompted(plan(limits(None, 0))).await;
    stand.say(DIALOG);
    assert_eq!(
        stand.next_order().await,
        r#"0 ms, child: {"type":"extension_ui_response","id":"d","cancelled":true}"#
    );
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}
