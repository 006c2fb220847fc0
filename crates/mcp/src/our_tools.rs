//! Our tools as the protocol wants them.

use pi_subagents_vocabulary::{Answerers, Door};
use std::collections::HashSet;
use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_records::{CallerName, IndexedRun};
use rmcp::model::{CallToolResult, Resource, ResourceTemplate, Tool};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;
use tracing::debug;

use crate::elicitation::{ClientPerson, Seen, answer, reply_in};
use crate::extras::Extras;
use crate::notes::no_project;
use crate::patience::patience;
use crate::protocol_lists::{Offer, answered, listed, object, refused};
use crate::resources;
use crate::shared_places::SharedPlaces;
use crate::tools::{Call, Client, LongCall, Question, Tools};
use crate::waited_answer::{Waiting, answer_within, count_of_tasks, may_take_long};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::detached_process::{
    AnsweredCall, CallRecord, DetachedOrder, WaitedCall, WaitedReply,
};
use pi_subagents_calls::families::review_tool::{REVIEW, ReviewPermission};
use pi_subagents_calls::families::start_tool::BACKGROUND_FIELD;
use pi_subagents_calls::families::{background, delegation, merging, runs, subagent};
use pi_subagents_calls::progress::{CallProgress, OnCallProgress};
use pi_subagents_calls::questions::QuestionDesk;
use pi_subagents_calls::service::{CallService, ToolAnswer, ToolRequest};
use pi_subagents_calls::trust_question::{TrustQuestion, remember};
use pi_subagents_calls::watch::{Cancelled, Follow, Watch};
use pi_subagents_calls::{
    Effect, ToolSet, agents_of, check_fields, choices_of, mcp_tools, session_of_this_process,
    uses_definitions,
};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::page_address::page_origin;

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

    async fn answer(&self, mut call: Call, caller: &Caller) -> Result<ToolAnswer, CommandError> {
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
            // Its answer says which runs are still at work, so that its model can ask again.
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

    /// Has a detached process do a call that has a record, and follows it to its end.
    async fn follow(&self, call: &LongCall, caller: &Caller, record: &mut CallRecord) {
        let Some(tool) = may_take_long(&call.tool) else {
            return;
        };
        let arguments = Value::Object(call.arguments.clone());
        let wanted = count_of_tasks(&arguments).min(MOST_TASKS);
        let Ok(_in_background) = self.room.acquire_many(wanted).await else {
            return;
        };
        if record.is_cancelled() {
            let words = "Cancelled before it began.".to_owned();
            // Without its record nobody can ask for it.
            _ = record.end(AnsweredCall::refused(words));
            return;
        }
        let order = DetachedOrder::of_call(tool, &arguments, caller, self.options.concurrency)
            .given_places()
            .kept_in(record, self.notes(&call.tool, caller));
        let mut places = self.places_of(wanted);
        let known_children = &self.service.owner.known_children;
        match WaitedCall::start(&order, &caller.places, known_children).await {
            Ok(mut call) => {
                // Its record has what it asks.
                while let Ok(WaitedReply::Progress(_) | WaitedReply::Asked(_)) =
                    places.next_reply(&mut call).await
                {}
            }
            Err(error) => {
                // The process has ended the record itself, if it could begin at all.
                let found = CallRecord::read(&caller.places.agent_dir, record.id());
                if found.is_some_and(|found| found.answer.is_none()) {
                    _ = record.end(AnsweredCall::refused(error.to_answer(Door::Mcp)));
                }
            }
        }
    }

    /// Reads the record of a call.
    async fn record(&self, id: &str) -> Option<CallRecord> {
        let id = id.to_owned();
        let read = move |_: &CallService, caller: &Caller| {
            let record = CallRecord::read(&caller.places.agent_dir, &id);
            // A person who watches a client may rather watch the page, if it is served.
            Ok(record.map(|mut record| {
                let page = page_origin(&caller.places);
                if let Some((message, page)) = record.news.message.as_mut().zip(page) {
                    message.push_str(" · live at ");
                    message.push_str(&page);
                }
                record
            }))
        };
        self.service.beside(&self.caller, read).await.ok()?
    }

    /// Stops the runs of a call that have not ended.
    async fn stop_runs(&self, record: &CallRecord) {
        let ids: Vec<String> = record.runs.iter().map(|run| run.run.clone()).collect();
        let find = move |service: &CallService, _: &Caller| {
            let runs = service.owner.index.runs().map_err(find_failure)?;
            let is_meant =
                |run: &&IndexedRun| run.is_open() && ids.iter().any(|id| id == run.run.as_str());
            Ok(runs.iter().filter(is_meant).cloned().collect())
        };
        let runs: Vec<IndexedRun> = self
            .service
            .beside(&self.caller, find)
            .await
            .unwrap_or_default();
        let reach = self.service.owner.reach(&self.caller.places);
        // Their state, which the client asks for, shows what became of them.
        _ = acts::stop_all(&reach, runs).await;
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
        Box::pin(async move {
            let questions = self.record(id).await.map(|record| record.news.questions);
            for asked in questions.unwrap_or_default() {
                let told = answers.get(asked.question.id.as_str());
                let reply = told.and_then(|told| reply_in(&asked.question, told));
                if let Some(reply) = reply {
                    _ = answer(&asked, reply, &self.service, &self.caller).await;
                }
            }
        })
    }

    fn cancel_task<'a>(&'a self, id: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let Some(record) = self.record(id).await else {
                return;
            };
            if record.answer.is_some() || record.is_lost() {
                return;
            }
            // A call that has not begun yet sees the wish when it does.
            if let Err(error) = record.cancel() {
                debug!(%error, "a task could not be marked as cancelled");
            }
            // It may have begun since it was read.
            if let Some(record) = self.record(id).await {
                self.stop_runs(&record).await;
            }
        })
    }
}

/// Returns a wish to end that comes from the client, or when its patience is over.
fn until(patience: Duration, cancelled: Cancelled) -> Cancelled {
    Box::pin(async move {
        _ = tokio::time::timeout(patience, cancelled).await;
    })
}

/// Takes out of the arguments whether the work is to go on in the background.
fn takes_background(arguments: &mut Map<String, Value>) -> Result<bool, CommandError> {
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

/// Returns whether a tool starts runs.
fn starts_runs(tool: &str) -> bool {
    [
        delegation::DELEGATE,
        subagent::SUBAGENT,
        background::BACKGROUND,
    ]
    .contains(&tool)
}
