//! Our tools as the protocol wants them.

mod kept_calls;
mod tool_answers;

use std::collections::HashSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_records::CallerName;
use pi_subagents_vocabulary::{Answerers, Door};
use rmcp::model::{CallToolResult, Resource, ResourceTemplate, Tool};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, watch};
use tracing::debug;

use crate::notes::no_project;
use crate::protocol_lists::{Offer, answered, listed, object, refused};
use crate::resources;
use crate::shared_places::SharedPlaces;
use crate::tools::{Call, Client, LongCall, Question, Tools};
use crate::waited_answer::may_take_long;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached_process::CallRecord;
use pi_subagents_calls::families::review_tool::{REVIEW, ReviewPermission};
use pi_subagents_calls::families::{background, delegation, merging, runs, subagent};
use pi_subagents_calls::service::CallService;
use pi_subagents_calls::trust_question::{TrustQuestion, remember};
use pi_subagents_calls::watch::Cancelled;
use pi_subagents_calls::{
    Effect, ToolSet, agents_of, check_fields, choices_of, mcp_tools, session_of_this_process,
    uses_definitions,
};
use pi_subagents_ground::error::CommandError;

use self::tool_answers::takes_background;

/// The number of tasks that a call may have.
const MOST_TASKS: u32 = 16;

/// The tools of this process, for its clients.
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
    /// The clients of which a run has left something that can be merged.
    have_results: Mutex<HashSet<Client>>,
    /// The places among the background runs for calls that other processes do.
    room: Arc<Semaphore>,
    /// The places of the sub-agents of such calls, which work at once.
    places: Arc<Semaphore>,
    /// Becomes true when this server is to end.
    leaving: watch::Sender<bool>,
}

/// The options for all calls.
pub(super) struct Options {
    /// The number of runs that work at once.
    pub(super) concurrency: usize,
    /// The time after which a call is answered at the latest, if the person has set one.
    pub(super) answer_within: Option<Duration>,
    /// The number of background runs that the user allows.
    pub(super) max_background: usize,
    /// The tools that clients are offered.
    pub(super) tools: ToolSet,
    /// Whether models may accept, discard and undo in a review.
    pub(super) review: ReviewPermission,
}

impl ServedTools {
    pub(super) fn new(service: Arc<CallService>, caller: Caller, options: Options) -> Self {
        // A call has at most 16 tasks, and must find room for them when nothing else runs.
        let room = options.max_background.clamp(16, Semaphore::MAX_PERMITS);
        let places = options.concurrency.min(Semaphore::MAX_PERMITS);
        Self {
            service,
            caller,
            asked: Mutex::default(),
            unkept: Mutex::default(),
            options,
            is_noted: AtomicBool::new(false),
            have_results: Mutex::default(),
            room: Arc::new(Semaphore::new(room)),
            places: Arc::new(Semaphore::new(places)),
            leaving: watch::Sender::new(false),
        }
    }

    /// Stops the calls that other processes do for us; ours are stopped by their owner.
    pub(super) fn leave(&self) {
        self.leaving.send_replace(true);
    }

    /// Returns whether a call counts as an error, because all its tasks have failed: hosts show it to
    /// their people so. The tools of the seeds keep their promise that this is no error.
    fn is_failure(&self, details: &Value) -> bool {
        let runs = details["runs"].as_array().map_or(&[][..], Vec::as_slice);
        self.options.tools == ToolSet::Compact
            && !runs.is_empty()
            && runs.iter().all(|run| run["status"] == "failed")
    }

    /// Returns the places of a call with this many tasks.
    fn places_of(&self, tasks: u32) -> SharedPlaces {
        let tasks = usize::try_from(tasks).unwrap_or(usize::MAX);
        SharedPlaces::new(&self.places, tasks.min(self.options.concurrency))
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
    async fn look_for_results(&self, client: &Client, caller: &Caller) {
        if self.has_results(client) {
            return;
        }
        let look =
            |service: &CallService, caller: &Caller| Ok(merging::has_results(service, caller));
        // After a failure, the next call looks again.
        if self.service.beside(caller, look).await.unwrap_or(false) {
            self.have_results().insert(client.clone());
        }
    }

    fn has_results(&self, client: &Client) -> bool {
        self.have_results().contains(client)
    }

    fn have_results(&self) -> MutexGuard<'_, HashSet<Client>> {
        let clients = self.have_results.lock();
        clients.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a client as the caller of tools, in the directory that it works in.
    fn caller_of(&self, client: &Client, roots: &[PathBuf]) -> Caller {
        let mut caller = self.caller_in(roots);
        caller.name = CallerName::Mcp {
            client: client.name.clone(),
            session: client.session.clone(),
        };
        let session = client.session.clone();
        let session = session.unwrap_or_else(session_of_this_process);
        caller.overrides.budget.session = Some(session);
        caller.review = self.options.review.clone();
        caller
    }

    /// Returns the notes that the answer of a call ends with.
    fn notes(&self, tool: &str, caller: &Caller) -> Vec<String> {
        let unkept: Vec<String> = self.unkept().drain(..).collect();
        let note = starts_runs(tool).then(|| self.note_once(caller)).flatten();
        unkept.into_iter().chain(note).collect()
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

    fn unkept(&self) -> MutexGuard<'_, Vec<String>> {
        self.unkept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tools for ServedTools {
    fn list(&self) -> Vec<(Tool, Effect)> {
        let configuration = self.service.configuration(&self.caller);
        let catalogue = &configuration.catalogue;
        let gates = &configuration.settings.gates;
        let tools = mcp_tools(self.options.tools).into_iter();
        tools
            .map(|tool| {
                let choices = match self.options.tools {
                    ToolSet::Compact => agents_of(&tool, catalogue),
                    ToolSet::All => choices_of(&tool, catalogue),
                };
                let offer = Offer {
                    choices: choices.as_deref(),
                    gates,
                    at_once: self.options.concurrency,
                    may_merge: self.options.review == ReviewPermission::Always,
                };
                listed(tool, &offer)
            })
            .collect()
    }

    fn is_offered(&self, tool: &str, client: &Client) -> bool {
        ![merging::MERGE, REVIEW].contains(&tool) || self.has_results(client)
    }

    /// Looks for results: a client may have been restarted since its runs have ended.
    fn look<'a>(&'a self, client: &'a Client) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let caller = self.caller_of(client, &[]);
            self.look_for_results(client, &caller).await;
        })
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
        client: &'a Client,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Vec<Resource>> + Send + 'a>> {
        Box::pin(async move {
            let caller = self.caller_of(client, roots);
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
            debug!(tool = call.tool, "client calls");
            let (client, tool) = (call.client.clone(), call.tool.clone());
            let caller = self.caller_of(&client, &call.roots).answered_by(Answerers {
                person: call.person.is_some(),
                model: true,
            });
            let answer = Box::pin(self.answer(call, &caller)).await;
            if starts_runs(&tool) || tool == runs::RUNS {
                self.look_for_results(&client, &caller).await;
            }
            let (mut text, details, is_error) = match answer {
                Ok(answer) => {
                    let is_error = answer.is_refused
                        || (starts_runs(&tool) && self.is_failure(&answer.details));
                    (answer.text, object(answer.details), is_error)
                }
                Err(error) => (error.to_answer(Door::Mcp), None, true),
            };
            for note in self.notes(&tool, &caller) {
                text = format!("{text}\n\n! {note}");
            }
            if is_error {
                refused(text, details)
            } else {
                answered(text, details)
            }
        })
    }

    fn begin_task<'a>(
        &'a self,
        call: &'a LongCall,
    ) -> Pin<Box<dyn Future<Output = Option<CallRecord>> + Send + 'a>> {
        Box::pin(async move {
            let arguments = Value::Object(call.arguments.clone());
            // A call that does not fit, or that is not waited for anyhow, is answered at once.
            if takes_background(&mut call.arguments.clone()).unwrap_or(true) {
                return None;
            }
            check_fields(&call.tool, &arguments, Door::Mcp).ok()?;
            may_take_long(&call.tool)?;
            let caller = self.caller_of(&call.client, &call.roots);
            let begin = |_: &CallService, caller: &Caller| {
                // Without a record, the call is answered when it has ended.
                Ok(CallRecord::begin(&caller.places.agent_dir).ok())
            };
            self.service.beside(&caller, begin).await.ok()?
        })
    }

    fn do_task(
        &self,
        call: LongCall,
        mut record: CallRecord,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            debug!(tool = call.tool, task = record.id(), "client begins a task");
            let caller = self
                .caller_of(&call.client, &call.roots)
                .answered_by(Answerers {
                    person: call.has_person,
                    model: true,
                });
            let mut leaving = self.leaving.subscribe();
            tokio::select! {
                () = self.follow(&call, &caller, &mut record) => {}
                _ = leaving.wait_for(|is_leaving| *is_leaving) => return,
            }
            self.look_for_results(&call.client, &caller).await;
        })
    }

    fn task<'a>(
        &'a self,
        id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<CallRecord>> + Send + 'a>> {
        Box::pin(async move {
            let mut record = self.record(id).await?;
            if let Some(answer) = &mut record.answer {
                answer.is_refused |= self.is_failure(&answer.details);
            }
            Some(record)
        })
    }

    fn answer_task<'a>(
        &'a self,
        id: &'a str,
        answers: Map<String, Value>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.answer_kept(id, answers))
    }

    fn cancel_task<'a>(&'a self, id: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(self.cancel_kept(id))
    }
}

/// Returns whether a tool starts runs.
fn starts_runs(tool: &str) -> bool {
    [
        delegation::DELEGATE,
        subagent::SUBAGENT,
        background::BACKGROUND,
    ]
    .contains(&tool)
}
