//! A child whose model cannot be asked any more.

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::ModelName;
use pi_subagents_vocabulary::{Ending, FallbackModel, Fallbacks, TaskPlan, ThinkingLevel};
use pretty_assertions::assert_eq;

use super::stand::{SETTLED, Stand, limits, plan};

const QUOTA: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[],"provider":"one","model":"m","stopReason":"error","errorMessage":"429: usage limit"}}"#;

const RETRY: &str = r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"429: usage limit"}"#;

const DONE: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"provider":"two","model":"m","stopReason":"stop"}}"#;

fn with_fallbacks(directory: &tempfile::TempDir, others: &[&str]) -> TaskPlan {
    let name = |provider: &str| ModelName {
        provider: provider.to_owned(),
        id: "m".to_owned(),
    };
    let mut plan = plan(limits(None, 30));
    plan.here.fallbacks = Some(Fallbacks {
        first: Some(name("one")),
        others: others
            .iter()
            .map(|provider| FallbackModel {
                model: name(provider),
                thinking: Some(ThinkingLevel::Low),
            })
            .collect(),
        cooldowns: directory.path().join("cooldowns.json"),
    });
    plan
}

fn answer(command: &str, rest: &str) -> String {
    format!(r#"{{"type":"response","id":"switch","command":"{command}",{rest}}}"#)
}

fn without_time(order: &str) -> &str {
    order
        .split_once(", child: ")
        .map_or(order, |(_, order)| order)
}

async fn expect(stand: &mut Stand, order: &str) {
    let told = stand.next_order().await;
    assert_eq!(without_time(&told), order);
}

const SET_TWO: &str = r#"{"type":"set_model","id":"switch","provider":"two","modelId":"m"}"#;

const THINK: &str = r#"{"type":"set_thinking_level","id":"switch","level":"low"}"#;

const GO_ON: &str =
    r#"{"type":"prompt","id":"prompt","message":"Continue the task where it stopped."}"#;

#[tokio::test(start_paused = true)]
async fn the_wait_ends_and_the_next_model_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let mut stand = Stand::prompted(with_fallbacks(&directory, &["two"])).await;
    stand.say(r#"{"type":"response","id":"prompt","command":"prompt","success":true}"#);
    stand.say(QUOTA);
    stand.say(RETRY);
    expect(&mut stand, r#"{"type":"abort_retry"}"#).await;
    stand.say(SETTLED);
    expect(&mut stand, SET_TWO).await;
    stand.say(&answer(
        "set_model",
        r#""success":true,"data":{"contextWindow":1000}"#,
    ));
    expect(&mut stand, THINK).await;
    stand.say(&answer("set_thinking_level", r#""success":true"#));
    expect(&mut stand, GO_ON).await;
    stand.say(DONE);
    stand.say(SETTLED);
    expect(&mut stand, "closed").await;
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_the_child_does_not_take_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let mut stand = Stand::prompted(with_fallbacks(&directory, &["nope", "two"])).await;
    stand.say(r#"{"type":"response","id":"prompt","command":"prompt","success":true}"#);
    stand.say(QUOTA);
    stand.say(SETTLED);
    expect(&mut stand, &SET_TWO.replace("two", "nope")).await;
    stand.say(&answer(
        "set_model",
        r#""success":false,"error":"Model not found: nope/m""#,
    ));
    expect(&mut stand, SET_TWO).await;
    stand.say(&answer(
        "set_model",
        r#""success":false,"error":"Model not found: two/m""#,
    ));
    expect(&mut stand, "closed").await;
    stand.exit(0);
    let message = stand.ending().await.message().unwrap();
    assert_eq!(
        message,
        "one/m: 429: usage limit. Other models failed too: nope/m (Model not found: nope/m); two/m (Model not found: two/m)."
    );
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_answer_is_not_waited_for_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut stand = Stand::prompted(with_fallbacks(&directory, &["two"])).await;
    stand.say(QUOTA);
    stand.say(SETTLED);
    expect(&mut stand, SET_TWO).await;
    expect(&mut stand, "closed").await;
    stand.exit(0);
    let (took, ending) = stand.ending_at().await;
    assert!(took >= Duration::from_secs(30), "{took:?}");
    assert!(matches!(ending, Ending::ModelError { .. }), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_refused_is_given_to_the_next_model() {
    let directory = tempfile::tempdir().unwrap();
    let mut stand = Stand::prompted(with_fallbacks(&directory, &["two"])).await;
    stand.say(r#"{"type":"response","id":"prompt","command":"prompt","success":false,"error":"No API key found for one."}"#);
    expect(&mut stand, SET_TWO).await;
    stand.say(&answer("set_model", r#""success":true"#));
    expect(&mut stand, THINK).await;
    stand.say(&answer("set_thinking_level", r#""success":true"#));
    expect(
        &mut stand,
        r#"{"type":"prompt","id":"prompt","message":"\n/p"}"#,
    )
    .await;
    stand.exit(0);
    stand.ending().await;
}
