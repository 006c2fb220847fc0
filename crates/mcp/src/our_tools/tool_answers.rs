//! The answer to a call of a client: here, or by a detached process if the client waits for less time than
//! the work takes.

use std::convert::Infallible;
use std::time::Duration;

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::check_fields;
use pi_subagents_calls::detached_process::DetachedOrder;
use pi_subagents_calls::families::review_tool::REVIEW;
use pi_subagents_calls::families::start_tool::BACKGROUND_FIELD;
use pi_subagents_calls::families::{delegation, runs};
use pi_subagents_calls::progress::{CallProgress, OnCallProgress};
use pi_subagents_calls::questions::QuestionDesk;
use pi_subagents_calls::service::{ToolAnswer, ToolRequest};
use pi_subagents_calls::watch::{Cancelled, Follow, Watch};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::page_address::page_origin;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::time::sleep;

use super::{MOST_TASKS, ServedTools};
use crate::elicitation::{ClientPerson, Seen};
use crate::extras::Extras;
use crate::patience::patience;
use crate::tools::Call;
use crate::waited_answer::{Waiting, answer_within, count_of_tasks, may_take_long};

impl ServedTools {
    /// Answers a call, with what the client may have asked for beside its fields.
    pub(super) async fn answer(
        &self,
        mut call: Call,
        caller: &Caller,
    ) -> Result<ToolAnswer, CommandError> {
        let extras = Extras::take(&call.tool, &mut call.arguments)?;
        let answer = self.plain_answer(call, caller).await?;
        Ok(match extras {
            Some(extras) => extras.apply(answer),
            None => answer,
        })
    }

    async fn plain_answer(&self, call: Call, caller: &Caller) -> Result<ToolAnswer, CommandError> {
        let on_progress = call.on_progress.map(|mut tell| -> OnCallProgress {
            // A person who watches a client may rather watch the page, if it is served.
            let page = page_origin(&caller.places);
            let page = page.map_or(String::new(), |page| format!(" · live at {page}"));
            Box::new(move |progress| {
                tell(CallProgress {
                    message: progress.message + &page,
                    ..progress
                });
            })
        });
        let mut arguments = call.arguments;
        let patience = if call.tool == delegation::DELEGATE && takes_background(&mut arguments)? {
            Some(Duration::ZERO)
        } else {
            patience(self.options.answer_within, call.client.name.as_deref())
        };
        let arguments = Value::Object(arguments);
        if let Some((tool, patience)) = may_take_long(&call.tool).zip(patience) {
            // The process that takes a call over reads it, and does not ask which fields there are.
            check_fields(&call.tool, &arguments, caller.door)?;
            let concurrency = self.options.concurrency;
            let order =
                DetachedOrder::of_call(tool, &arguments, caller, concurrency).given_places();
            let wanted = count_of_tasks(&arguments).min(MOST_TASKS);
            let waiting = Waiting {
                patience,
                on_progress,
                cancelled: self.cancelled_or_leaving(call.cancelled),
                room: Arc::clone(&self.room),
                wanted,
                person: call.person,
                places: self.places_of(wanted),
            };
            return answer_within(&self.service, caller, &order, waiting).await;
        }
        let cancelled = match patience {
            // Its answer says which runs are still running, so that its model can ask again.
            Some(patience) if call.tool == runs::RUNS => until(patience, call.cancelled),
            Some(_) | None => call.cancelled,
        };
        let desk = if call.person.is_some() {
            QuestionDesk::with_person()
        } else {
            QuestionDesk::without_person()
        };
        let watch = Watch {
            desk: Some(desk.clone()),
            follow: on_progress.map_or(Follow::Nothing, Follow::Progress),
            cancelled,
            ..Watch::nobody()
        };
        let request = ToolRequest {
            tool: &call.tool,
            arguments: &arguments,
            caller,
            configuration: None,
        };
        let limit = async {
            match patience {
                // Its gates may run for longer than the client waits; the next list shows the end.
                Some(patience) if call.tool == REVIEW => sleep(patience).await,
                Some(_) | None => std::future::pending().await,
            }
        };
        tokio::select! {
            answer = self.service.call(request, watch) => answer,
            () = limit => Ok(still_reviewing()),
            never = self.ask_at(&desk, call.person.as_ref(), caller) => match never {},
        }
    }

    /// Asks the client's person the questions of a call, one after the other.
    async fn ask_at(
        &self,
        desk: &QuestionDesk,
        person: Option<&ClientPerson>,
        caller: &Caller,
    ) -> Infallible {
        loop {
            let asked = desk.next().await;
            let seen = match person {
                Some(person) => person.settle(&asked, &self.service, caller).await,
                None => Seen::Later,
            };
            if seen == Seen::Later {
                desk.put_aside(&asked.question.id);
            }
        }
    }
}

/// Returns a wish to end that comes from the client, or when its patience is over.
fn until(patience: Duration, cancelled: Cancelled) -> Cancelled {
    Box::pin(async move {
        _ = tokio::time::timeout(patience, cancelled).await;
    })
}

/// Takes out of the arguments whether the work is to go on in the background.
pub(super) fn takes_background(arguments: &mut Map<String, Value>) -> Result<bool, CommandError> {
    match arguments.remove(BACKGROUND_FIELD) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(wanted)) => Ok(wanted),
        Some(Value::String(word)) if word == "true" => Ok(true),
        Some(Value::String(word)) if ["", "false"].contains(&&*word) => Ok(false),
        Some(_) => Err(CommandError::usage(format!(
            "{BACKGROUND_FIELD} must be true or false"
        ))),
    }
}

/// Returns the answer to an act of a review that goes on.
fn still_reviewing() -> ToolAnswer {
    let text = format!(
        "The review still works: gates may take long. The checkout changes when they have passed; {REVIEW} with action list shows what waits then."
    );
    ToolAnswer::new(text, json!({"isGoing": true}))
}
