//! A run that must end with a report.

use pi_subagents_vocabulary::{Completion, Ending, SessionPolicy, TaskPlan};
use pretty_assertions::assert_eq;

use super::stand::{ABORT_LINE, SETTLED, Stand, limits, plan};

/// Makes a run whose child must report, and is corrected twice if it does not.
async fn reporting() -> Stand {
    Stand::prompted(reporting_plan()).await
}

fn reporting_plan() -> TaskPlan {
    let mut plan = plan(limits(None, 30));
    plan.work.completion = Completion::Finalized {
        corrections: 2,
        schema: None,
    };
    plan
}

fn report(details: &str) -> String {
    format!(
        r#"{{"type":"tool_execution_end","toolCallId":"1","toolName":"subagent_finalize","isError":false,"result":{{"details":{details}}}}}"#
    )
}

/// Makes a run that must report, with a session that another child could continue.
async fn reporting_with_session() -> Stand {
    let mut plan = reporting_plan();
    plan.here.session = SessionPolicy::File("/s.jsonl".into());
    Stand::prompted(plan).await
}

const ANSWER: &str = r#"{"type":"message_end","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"so"}]}}"#;

#[tokio::test(start_paused = true)]
async fn a_report_ends_the_run_even_if_the_model_goes_on() {
    let mut stand = reporting().await;
    stand.say(&report(r#"{"status":"ERROR","error":"no such table"}"#));
    assert_eq!(stand.next_order().await, "1000 ms, child: closed");
    stand.exit(0);
    let error = "no such table".to_owned();
    assert_eq!(stand.ending().await, Ending::ReportedError { error });
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_report_is_told_and_given_up_in_the_end() {
    let mut stand = reporting().await;
    stand.say(&report(r#"{"status":"SUCCESS","result":""}"#));
    for _ in 0..2 {
        stand.say(SETTLED);
        let told = stand.next_order().await;
        assert!(told.contains("You have not reported yet."), "{told}");
    }
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(
        stand.ending().await,
        Ending::NeverFinalized { corrections: 2 }
    );
}

#[tokio::test(start_paused = true)]
async fn a_report_after_a_correction_counts() {
    let mut stand = reporting().await;
    stand.say(SETTLED);
    assert!(
        stand
            .next_order()
            .await
            .contains("You have not reported yet.")
    );
    stand.say(&report(r#"{"status":"SUCCESS","result":"done"}"#));
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_report_beside_other_calls_ends_the_turn_at_once() {
    let mut stand = reporting().await;
    stand.say(r#"{"type":"message_end","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"subagent_finalize","arguments":{}},{"type":"toolCall","id":"2","name":"bash","arguments":{}}]}}"#);
    stand.say(&report(r#"{"status":"SUCCESS","result":"done"}"#));
    assert_eq!(stand.next_order().await, format!("0 ms, {ABORT_LINE}"));
    stand.say(r#"{"type":"message_end","message":{"role":"assistant","stopReason":"aborted","content":[],"errorMessage":"Request aborted"}}"#);
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_exits_without_a_report_is_corrected_once_for_its_exit() {
    // The child settles and exits at once, and it is chance which of the two is seen first.
    for hears_correction in [false, true] {
        let mut stand = reporting_with_session().await;
        stand.say(ANSWER);
        if hears_correction {
            stand.say(SETTLED);
            assert!(
                stand
                    .next_order()
                    .await
                    .contains("You have not reported yet.")
            );
        }
        stand.exit(0);
        let (corrections, again) = stand.restart().await;
        assert_eq!(corrections, 1, "{hears_correction}");
        assert!(again.starts_with("You have not reported yet."), "{again}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_exits_before_any_answer_is_not_started_again() {
    let mut stand = reporting_with_session().await;
    stand.exit(1);
    let stderr = String::new();
    assert_eq!(stand.ending().await, Ending::Exited { code: 1, stderr });
}

#[tokio::test(start_paused = true)]
async fn without_a_session_a_child_that_exits_ends_its_run() {
    let mut stand = reporting().await;
    stand.say(ANSWER);
    stand.exit(0);
    let stderr = String::new();
    assert_eq!(stand.ending().await, Ending::Exited { code: 0, stderr });
}
