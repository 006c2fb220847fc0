//! Answers a question of a run, and waits for what the run does with the answer.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_ground::error::CommandError;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::inbox::{InboxQuestion, questions_of};
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Advice, QuestionId, Reply, Respondent, Usage};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::tools::AnswerCall;
use crate::arguments;
use crate::caller::Caller;
use crate::families::runs::{Answers, answer_of, of_caller};
use crate::questions::{Awaited, until_needed};
use crate::service::{CallService, ToolAnswer};
use crate::watch::Cancelled;

/// Answers a question of a run that the caller has started, and waits for that run as for a call of
/// its own: the run is stopped when nobody wants the answer any more. A background run is not
/// stopped, and a conversation in pi does not wait for it: it gets a message when the run ends.
pub(crate) async fn answer_subagent(
    service: &Arc<CallService>,
    arguments: &Value,
    caller: &Caller,
    cancelled: Cancelled,
) -> Result<ToolAnswer, CommandError> {
    let call: AnswerCall = arguments::read(arguments)?;
    let given = GivenAnswer {
        question: &call.question,
        answer: &call.answer,
    };
    let given = give(service, caller, given).await?;
    let is_background = given.run.is_background();
    if is_background && caller.session_runs.is_some() {
        return Ok(given.goes_on());
    }
    let is_cancelled = tokio::select! {
        waited = until_needed(service, caller, given.awaited()) => waited.map(|()| false)?,
        () = cancelled => true,
    };
    if is_cancelled && !is_background {
        // Its state, which the answer has, shows what became of it.
        _ = acts::stop_all(
            &service.owner.reach(&caller.places),
            vec![given.run.clone()],
        )
        .await;
    }
    outcome(service, caller, given).await
}

/// Does the same for a caller that waits no longer than a limit: the run goes on then.
pub(crate) async fn answer_with(
    service: &Arc<CallService>,
    caller: &Caller,
    given: GivenAnswer<'_>,
    limit: Duration,
    cancelled: Cancelled,
) -> Result<ToolAnswer, CommandError> {
    let given = give(service, caller, given).await?;
    let end = Instant::now() + limit;
    tokio::select! {
        waited = until_needed(service, caller, given.awaited()) => waited?,
        () = sleep_until(end) => {}
        () = cancelled => {}
    }
    outcome(service, caller, given).await
}

/// An answer as a model gives it.
#[derive(Clone, Copy)]
pub(crate) struct GivenAnswer<'a> {
    pub(crate) question: &'a str,
    pub(crate) answer: &'a str,
}

/// A run that was given the answer to its question.
struct AnsweredRun {
    run: IndexedRun,
    question: QuestionId,
}

impl AnsweredRun {
    fn awaited(&self) -> Awaited<'_> {
        Awaited {
            runs: std::slice::from_ref(&self.run),
            answered: Some(&self.question),
        }
    }

    fn goes_on(&self) -> ToolAnswer {
        let text = format!(
            "{} has the answer and continues. This conversation gets a message when it ends.",
            name(&self.run)
        );
        let details = json!({"runId": self.run.run.as_str(), "answered": true});
        ToolAnswer::new(text, details)
    }
}

/// Gives an answer to the run that asked.
async fn give(
    service: &Arc<CallService>,
    caller: &Caller,
    given: GivenAnswer<'_>,
) -> Result<AnsweredRun, CommandError> {
    let word = given.question.trim().to_owned();
    let find = move |service: &CallService, caller: &Caller| find(service, caller, &word);
    let found = service.beside(caller, find).await?;
    let question = &found.asked.question;
    let id = &question.id;
    if let Some(outcome) = &found.asked.outcome {
        let how = outcome.sentence();
        return Err(CommandError::failed(format!(
            "question {id} is answered already: {how}"
        )));
    }
    if found.parked {
        let session = found.session_id.to_string();
        let how = Advice::Resume(session).words(caller.door);
        return Err(CommandError::failed(format!(
            "{} waited so long for an answer to {id} that it was ended",
            one_line(&found.name)
        ))
        .hint(format!("{how} and the answer as its prompt continues it.")));
    }
    let reach = service.owner.reach(&caller.places);
    let to = Addressee::from(found.run.clone());
    let reply = Reply::Words(given.answer.to_owned());
    acts::answer(&reach, &to, question, reply, Respondent::Model).await?;
    Ok(AnsweredRun {
        question: id.clone(),
        run: found.run,
    })
}

fn find(service: &CallService, caller: &Caller, word: &str) -> Result<InboxQuestion, CommandError> {
    tend_records(&service.owner.index, &caller.places);
    let runs = of_caller(service, caller)?;
    let asked: Vec<InboxQuestion> = runs.iter().rev().flat_map(questions_of).collect();
    let open = asked.iter().filter(|question| question.asked.is_open());
    let open: Vec<&str> = open
        .map(|question| question.asked.question.id.as_str())
        .collect();
    let hint = if open.is_empty() {
        "None of them waits for an answer.".to_owned()
    } else {
        format!("Open are: {}.", open.join(", "))
    };
    let id = QuestionId::parse(word);
    let found = asked
        .iter()
        .find(|question| Some(&question.asked.question.id) == id.as_ref());
    found.cloned().ok_or_else(|| {
        CommandError::not_found(format!(
            "no sub-agent that you have started has asked a question \"{}\"",
            one_line(word)
        ))
        .hint(hint)
    })
}

fn again(service: &CallService, run: &IndexedRun) -> Result<IndexedRun, CommandError> {
    let index = &service.owner.index;
    let now = index
        .again(std::slice::from_ref(run))
        .map_err(find_failure)?;
    Ok(now.into_iter().next().unwrap_or_else(|| run.clone()))
}

/// Returns the answer about a run as it is now.
async fn outcome(
    service: &Arc<CallService>,
    caller: &Caller,
    given: AnsweredRun,
) -> Result<ToolAnswer, CommandError> {
    let look = move |service: &CallService, caller: &Caller| {
        let now = again(service, &given.run)?;
        let heading = match (now.is_open(), asks_again(&now, &given.question)) {
            (false, _) => format!(
                "{} continued with the answer, and has finished.",
                name(&now)
            ),
            (true, false) => format!("{} has the answer and continues.", name(&now)),
            (true, true) => format!("{} has the answer, and asks again.", name(&now)),
        };
        let mut answer = answer_of(
            heading,
            std::slice::from_ref(&now),
            Answers::Shared,
            caller.door,
        );
        answer.usage = usage_of(&now);
        Ok(answer)
    };
    service.beside(caller, look).await
}

/// Returns whether a run waits with another question than the one that was answered.
fn asks_again(run: &IndexedRun, answered: &QuestionId) -> bool {
    let mut asked = questions_of(run).into_iter();
    asked.any(|question| question.asked.is_open() && question.asked.question.id != *answered)
}

fn name(run: &IndexedRun) -> String {
    one_line(&run.name)
}

/// Returns the tokens and the cost of a run that is over. The answer of its call did not count it.
fn usage_of(run: &IndexedRun) -> Option<Usage> {
    let row = (!run.is_open()).then(|| RunRow::read(run))?;
    row.report.usage
}
