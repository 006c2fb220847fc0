//! A pi that is asked which model it would use.

use pi_subagents_vocabulary::{Ending, ModelChoice, RunId};
use pretty_assertions::assert_eq;

use super::stand::{PROMPT_LINE, SETTLED, Stand, limits, plan};
use crate::request::UnitRequest;
use crate::{NotSent, ToChild};

/// Makes a run that asks for a provider.
fn choosing(provider: &str) -> Stand {
    let mut plan = plan(limits(None, 30));
    plan.work.model = ModelChoice::Named {
        provider: Some(provider.to_owned()),
        model: None,
        thinking: None,
    };
    Stand::new(plan)
}

const STATE: &str = r#"{"type":"response","id":"check","command":"get_state","success":true,"data":{"model":{"provider":"fake","id":"m"}}}"#;

#[tokio::test(start_paused = true)]
async fn a_pi_is_asked_for_its_model_before_it_gets_the_prompt() {
    let mut stand = choosing("fake");
    let question = r#"0 ms, child: {"type":"get_state","id":"check"}"#;
    assert_eq!(stand.next_order().await, question);
    let (answer, answered) = tokio::sync::oneshot::channel();
    let message = "left".to_owned();
    let steer = UnitRequest::Send {
        what: ToChild::Message(message),
        answer,
    };
    stand.ask.send(steer).unwrap();
    let run = RunId::parse("r").unwrap();
    assert_eq!(answered.await.unwrap(), Err(NotSent::NotStarted(run)));
    stand.say(STATE);
    assert_eq!(stand.next_order().await, PROMPT_LINE);
    stand.say(SETTLED);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    assert_eq!(stand.ending().await, Ending::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_pi_that_would_ask_another_provider_never_gets_the_prompt() {
    let mut stand = choosing("nope");
    assert!(stand.next_order().await.contains("get_state"));
    stand.say(STATE);
    assert_eq!(stand.next_order().await, "0 ms, child: closed");
    stand.exit(0);
    let ending = stand.ending().await;
    assert!(matches!(ending, Ending::ModelError { .. }), "{ending:?}");
    insta::assert_snapshot!(ending.message().unwrap(), @r#"pi does not know the provider "nope" or has no key for it, and would have asked fake/m instead. See what it knows: pi --list-models"#);
}
