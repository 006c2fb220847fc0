//! Our tools as the protocol wants them.

use pi_subagents_vocabulary::Door;
use std::collections::HashSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_records::CallerName;
use rmcp::model::{CallToolResult, Resource, ResourceTemplate, Tool};
use serde_json::Value;
use tokio::sync::watch;
use tracing::debug;

use crate::extras::Extras;
use crate::listing::{answered, listed, object, refused};
use crate::notes::no_project;
use crate::patience::patience;
use crate::resources;
use crate::tools::{Call, Question, Tools};
use crate::waited_answer::{Waiting, answer_within, may_take_long};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached::Order;
use pi_subagents_calls::families::{background, delegation, merging, runs, subagent};
use pi_subagents_calls::progress::{CallProgress, OnCallProgress};
use pi_subagents_calls::service::{CallService, ToolAnswer, ToolCall};
use pi_subagents_calls::trust_question::{TrustQuestion, remember};
use pi_subagents_calls::watch::{Cancelled, Follow, Watch};
use pi_subagents_calls::{Effect, check_fields, choices_of, mcp_tools, uses_definitions};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::page_address::page_origin;

/// The tools of this process, for one client.
pub(super) struct ServedTools {
    service: Arc<CallService>,
    caller: Caller,
    /// The projects about which somebody was asked.
    asked: Mutex<HashSet<PathBuf>>,
    /// Problems with decisions that could not be saved and that no answer has mentioned yet.
    unkept: Mutex<Vec<String>>,
    options: Options,
    /// True once an answer has mentioned that this directory is no project.
    is_noted: AtomicBool,
    /// True once a run of the client has left something that can be merged.
    has_results: AtomicBool,
    /// Becomes true when this server is to end.
    leaving: watch::Sender<bool>,
}

/// The options for all calls.
pub(super) struct Options {
    /// The number of runs of a call that work at once.
    pub(super) concurrency: usize,
    /// The time after which a call is answered at the latest, if the person has set one.
    pub(super) answer_within: Option<Duration>,
}

impl ServedTools {
    pub(super) fn new(service: Arc<CallService>, caller: Caller, options: Options) -> Self {
        Self {
            service,
            caller,
            asked: Mutex::default(),
            unkept: Mutex::default(),
            options,
            is_noted: AtomicBool::new(false),
            has_results: AtomicBool::new(false),
            leaving: watch::Sender::new(false),
        }
    }

    /// Stops the calls that other processes do for us; ours are stopped by their owner.
    pub(super) fn leave(&self) {
        self.leaving.send_replace(true);
    }

    async fn answer(&self, mut call: Call, caller: &Caller) -> Result<ToolAnswer, CommandError> {
        let extras = Extras::take(&call.tool, &mut call.arguments)?;
        Ok(extras.apply(self.plain_answer(call, caller).await?))
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
        let arguments = Value::Object(call.arguments);
        let asked = self.options.answer_within;
        let patience = patience(asked, call.client.as_deref()).filter(|_| !call.is_task);
        if let Some((tool, patience)) = may_take_long(&call.tool).zip(patience) {
            // The process that takes a call over reads it, and does not ask which fields there are.
            check_fields(&call.tool, &arguments, caller.door)?;
            let concurrency = self.options.concurrency;
            let order = Order::of_call(tool, &arguments, caller, concurrency);
            let waiting = Waiting {
                patience,
                on_progress,
                cancelled: self.cancelled_or_leaving(call.cancelled),
            };
            return answer_within(&self.service, caller, &order, waiting).await;
        }
        let watch = Watch {
            follow: on_progress.map_or(Follow::Nothing, Follow::Progress),
            cancelled: call.cancelled,
            ..Watch::nobody()
        };
        let call = ToolCall {
            tool: &call.tool,
            arguments: &arguments,
            caller,
            configuration: None,
        };
        self.service.call(call, watch).await
    }

    fn cancelled_or_leaving(&self, cancelled: Cancelled) -> Cancelled {
        let mut leaving = self.leaving.subscribe();
        Box::pin(async move {
            tokio::select! {
                () = cancelled => {}
                _ = leaving.wait_for(|is_leaving| *is_leaving) => {}
            }
        })
    }

    /// Returns the note that there is no project here, the first time it is asked for.
    fn note_once(&self, caller: &Caller) -> Option<String> {
        let note = no_project(&caller.places)?;
        let was_noted = self.is_noted.swap(true, Ordering::Relaxed);
        (!was_noted).then_some(note)
    }

    /// Looks for results of the client's runs, until there is one.
    async fn look_for_results(&self, caller: &Caller) {
        if self.has_results.load(Ordering::Relaxed) {
            return;
        }
        let look =
            |service: &CallService, caller: &Caller| Ok(merging::has_results(service, caller));
        let found = self.service.beside(caller, look).await;
        // After a failure, the next call looks again.
        self.has_results
            .store(found.unwrap_or(false), Ordering::Relaxed);
    }

    /// Returns the caller, in the directory that their client works in. Many clients start us in a
    /// directory that means nothing. If we are inside a directory of the client, ours is the more
    /// exact one.
    fn caller_in(&self, roots: &[PathBuf]) -> Caller {
        let places = &self.caller.places;
        let is_inside = roots.iter().any(|root| places.cwd.starts_with(root));
        match roots.iter().find(|root| root.is_dir()) {
            Some(root) if !is_inside => Caller {
                places: places.seen_from(root.clone()),
                ..self.caller.clone()
            },
            Some(_) | None => self.caller.clone(),
        }
    }

    /// Returns the question about the project, if it has not been asked yet.
    async fn trust_question(&self, roots: &[PathBuf]) -> Option<Question> {
        let caller = self.caller_in(roots);
        let project = caller.places.project.clone();
        if self.asked().contains(&project) {
            return None;
        }
        let look = move |service: &CallService, caller: &Caller| {
            if TrustQuestion::is_decided(caller) {
                return Ok(None);
            }
            let configuration = service.configuration(caller);
            let question = TrustQuestion::about(&caller.places, &configuration);
            Ok(question.filter(|question| question.may_be_asked(&caller.places)))
        };
        let question = self.service.beside(&caller, look).await.ok()??;
        Some(Question {
            message: question.message(),
            options: TrustQuestion::options(),
            about: question.project,
        })
    }

    /// Adds to an answer that the decision of the person could not be kept, if that is so.
    fn with_unkept(&self, mut text: String) -> String {
        for problem in self.unkept().drain(..) {
            text = format!("{text}\n\n! {problem}");
        }
        text
    }

    fn unkept(&self) -> MutexGuard<'_, Vec<String>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<(Tool, Effect)> {
        let catalogue = self.service.configuration(&self.caller).catalogue;
        // A client may have been restarted since its runs have ended.
        let has_results = merging::has_results(&self.service, &self.caller);
        self.has_results.store(has_results, Ordering::Relaxed);
        let tools = mcp_tools().into_iter();
        tools
            .map(|tool| {
                let choices = choices_of(&tool, &catalogue);
                listed(tool, choices.as_deref())
            })
            .collect()
    }

    fn is_offered(&self, tool: &str) -> bool {
        tool != merging::MERGE || self.has_results.load(Ordering::Relaxed)
    }

    fn question<'a>(
        &'a self,
        tool: &'a str,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Option<Question>> + Send + 'a>> {
        Box::pin(async move {
            if !uses_definitions(tool) {
                return None;
            }
            self.trust_question(roots).await
        })
    }

    fn decided(&self, question: &Question, option: Option<&str>) {
        self.asked().insert(question.about.clone());
        // A decision that cannot be saved is lost, and the next server asks again.
        if let Err(error) = remember(&question.about, option, &self.caller.places) {
            let error =
                CommandError::failed("what the project contains stays ignored").because(&error);
            self.unkept().push(error.to_answer(Door::Mcp));
        }
    }

    fn resources<'a>(
        &'a self,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Vec<Resource>> + Send + 'a>> {
        Box::pin(async move {
            let caller = self.caller_in(roots);
            let listed = self.service.beside(&caller, resources::list);
            // Every call reports an index that cannot be read.
            listed.await.unwrap_or_default()
        })
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        Box::pin(async move {
            let caller = self.caller_in(roots);
            let read = resources::read(&self.service, &caller, uri).await;
            read.map_err(|error| error.to_answer(Door::Mcp))
        })
    }

    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = CallToolResult> + Send + '_>> {
        Box::pin(async move {
            debug!(tool = call.tool, is_task = call.is_task, "client calls");
            let caller = Caller {
                name: CallerName::Mcp {
                    client: call.client.clone(),
                },
                ..self.caller_in(&call.roots)
            };
            let starts_runs = [
                delegation::DELEGATE,
                subagent::SUBAGENT,
                background::BACKGROUND,
            ]
            .contains(&&*call.tool);
            let may_bring_results = starts_runs || call.tool == runs::RUNS;
            let answer = self.answer(call, &caller).await;
            if may_bring_results {
                self.look_for_results(&caller).await;
            }
            let (text, details, is_refused) = match answer {
                Ok(answer) => (answer.text, object(answer.details), answer.is_refused),
                Err(error) => (error.to_answer(Door::Mcp), None, true),
            };
            let mut text = self.with_unkept(text);
            if starts_runs && let Some(note) = self.note_once(&caller) {
                text = format!("{text}\n\n! {note}");
            }
            if is_refused {
                refused(text, details)
            } else {
                answered(text, details)
            }
        })
    }
}
