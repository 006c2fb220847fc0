//! One tool call of pi, from its trust question to its answer.

use pi_subagents_vocabulary::Door;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::{JoinSet, spawn_blocking};

use super::calls::Call;
use super::link::HostLink;
use super::questions::{QuestionDialogs, note_open_questions, note_question};
use super::record::SessionRecord;
use super::results::note_results;
use super::trust::TrustQuestions;
use super::wire::{self, CallerParams, FAILED, RpcError};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::review_tool::{REVIEW, ReviewPermission, review_question};
use pi_subagents_calls::questions::QuestionDesk;
use pi_subagents_calls::service::{CallService, ToolRequest};
use pi_subagents_calls::trust_question::TrustQuestion;
use pi_subagents_calls::uses_definitions;
use pi_subagents_calls::watch::{Details, Follow, Watch, WindowFollower};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::page_address::page_origin;

const NO: &str = "No";
const YES: &str = "Yes";

/// A tool call with all it needs.
pub(super) struct Execution {
    pub(super) caller: Caller,
    pub(super) told: CallerParams,
    pub(super) questions: Arc<TrustQuestions>,
    pub(super) record: SessionRecord,
    pub(super) link: HostLink,
    pub(super) service: Arc<CallService>,
    pub(super) call: Call,
}

impl Execution {
    pub(super) async fn run(mut self, tool: String, arguments: Value) -> Result<Value, RpcError> {
        let configuration = tokio::select! {
            // A call that was cancelled before we came to it starts nothing.
            biased;
            () = self.call.cancelled() => {
                return Err(RpcError::new(FAILED, "Stopped before anything was started."));
            }
            configuration = self.settle_trust(&tool, &arguments) => configuration,
        };
        if tool == REVIEW {
            self.caller.review = self.ask_for_review(&arguments).await?;
        }
        if self.call.look.columns().is_none() {
            self.call.look.set_columns(self.told.columns);
        }
        let (link, call_id) = (self.link.clone(), self.call.id.clone());
        let pi_session = self.link.session_id();
        let places = self.caller.places.clone();
        let page = spawn_blocking(move || page_origin(&places)).await;
        let desk = if self.told.has_ui {
            QuestionDesk::with_person()
        } else {
            QuestionDesk::without_person()
        };
        // Its dialogs end with the call, unless runs of it go on.
        let mut dialogs = JoinSet::new();
        let asking = QuestionDialogs {
            desk: desk.clone(),
            link: self.link.clone(),
            service: Arc::downgrade(&self.service),
            places: self.caller.places.clone(),
        };
        dialogs.spawn(asking.ask());
        let watch = Watch {
            sinks: vec![Box::new(self.record)],
            follow: Follow::Windows(WindowFollower {
                on_update: Box::new(move |windows, seen| link.update(&call_id, windows, seen)),
                is_drawn: self.told.has_ui,
                look: Arc::clone(&self.call.look),
                page: page.ok().flatten(),
            }),
            details: Details::ForPi,
            desk: Some(desk.clone()),
            cancelled: Box::pin(self.call.cancelled()),
        };
        let call = ToolRequest {
            tool: &tool,
            arguments: &arguments,
            caller: &self.caller,
            configuration,
        };
        let answered = self.service.call(call, watch).await;
        if desk.is_left() {
            dialogs.detach_all();
            note_question(&self.link, &pi_session);
        }
        let mut answer = answered.map_err(|error| failed(&error))?;
        self.questions.mention_once(&pi_session, &mut answer);
        note_results(&self.link, &pi_session, &answer.details);
        note_open_questions(&self.link, &pi_session, &answer.details);
        let mut result = answer.json();
        if let (Value::Object(fields), Some(usage)) = (&mut result, answer.usage) {
            fields.insert("usage".to_owned(), wire::usage_json(usage));
        }
        Ok(result)
    }

    /// Asks the person before an act of a review that changes their checkout or throws work away.
    async fn ask_for_review(&self, arguments: &Value) -> Result<ReviewPermission, RpcError> {
        if !self.told.has_ui {
            return Ok(ReviewPermission::Missing);
        }
        let arguments = arguments.clone();
        let look = move |service: &CallService, caller: &Caller| {
            review_question(service, &arguments, caller)
        };
        let question = self.service.beside(&self.caller, look).await;
        let Some(question) = question.map_err(|error| failed(&error))? else {
            return Ok(ReviewPermission::Missing);
        };
        let options = [NO, YES].map(str::to_owned);
        let chosen = tokio::select! {
            chosen = self.link.select(&question.words, &options) => chosen,
            () = self.call.cancelled() => None,
        };
        Ok(match chosen.as_deref() {
            Some(YES) => ReviewPermission::Once(question.gates),
            Some(_) | None => ReviewPermission::Denied,
        })
    }

    /// Asks about the files of the project, if nobody has decided yet; the answer of the call names
    /// the ignored ones. Returns the configuration that was read for that, unless the question may
    /// have changed it.
    async fn settle_trust(&self, tool: &str, arguments: &Value) -> Option<Arc<Configuration>> {
        if !uses_definitions(tool) {
            return None;
        }
        let read = |service: &CallService, caller: &Caller| {
            let configuration = Arc::new(service.configuration(caller));
            let question = TrustQuestion::about(&caller.places, &configuration);
            Ok((configuration, question))
        };
        // Files are read on a thread where they hold up nobody else.
        let read = async { self.service.beside(&self.caller, read).await.ok() };
        let questions = &self.questions;
        questions
            .settle(&self.told, arguments, &self.caller, read, &self.link)
            .await
    }
}

fn failed(error: &CommandError) -> RpcError {
    RpcError::new(FAILED, error.lines(Door::Pi))
}
