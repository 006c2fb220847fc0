//! The tools, whichever door they are called through.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_configuration::CatalogueCache;
use pi_subagents_engine::KnownChildren;
use pi_subagents_vocabulary::{RunSummary, Usage};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::{debug, info};

use crate::begin::{PreparedCaller, begin};
use crate::call_sinks::Followed;
use crate::caller::Caller;
use crate::elsewhere::Waiting;
use crate::families::{answers, background, delegation, merging, review_tool, runs, subagent};
use crate::owner::Owner;
use crate::questions::{LeftCalls, answer_or_leave};
use crate::tmux::Panes;
use crate::unknown_fields::without_unknown;
use crate::updates::due;
use crate::watch::Watch;
use crate::work::CallWork;
use crate::{Answer, Call, ReadyCall, check_fields};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Counts;

/// The time for which a call that is over waits for its last pane to be opened.
const LAST_PANES: Duration = Duration::from_secs(5);

/// The tools of this process, for all calls of its door.
pub struct CallService {
    pub owner: Owner,
    /// The keeper of the background runs of the pi we belong to, if there is one.
    pub background: Option<Box<dyn BackgroundRuns>>,
    catalogues: Mutex<CatalogueCache>,
    /// The calls that were answered while runs of them wait.
    pub(crate) left: LeftCalls,
    /// The calls that open runs do it one after another.
    pub(crate) opening: Arc<Mutex<()>>,
}

/// A door that has sessions, and follows the background runs of the session it is in.
pub trait BackgroundRuns: Send + Sync {
    /// Takes in a run that has just begun, and returns the counts of the session with it.
    fn launched(&self, row: &RunRow) -> Counts;
}

/// A call of a tool, as a door hands it over.
pub struct ToolRequest<'a> {
    pub tool: &'a str,
    pub arguments: &'a Value,
    pub caller: &'a Caller,
    /// The configuration of the caller, if the door has read it for this call already.
    pub configuration: Option<Arc<Configuration>>,
}

/// The answer of a tool.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    /// The text for the caller's model.
    pub text: String,
    /// The data for a view of the answer.
    pub details: Value,
    /// The tokens and the cost of its sub-agents.
    pub usage: Option<Usage>,
    /// True if nothing that was asked for was begun.
    pub is_refused: bool,
}

impl ToolAnswer {
    /// Makes an answer that cost nothing.
    pub fn new(text: impl Into<String>, details: Value) -> Self {
        Self {
            text: text.into(),
            details,
            usage: None,
            is_refused: false,
        }
    }

    /// Adds warnings, for the model and for a view of the answer.
    fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.text += "\n! ";
            self.text += warning;
        }
        if let (Value::Object(details), [_, ..]) = (&mut self.details, warnings) {
            let known = details.entry("warnings").or_insert_with(|| json!([]));
            if let Value::Array(known) = known {
                known.extend(warnings.iter().map(|warning| json!(warning)));
            }
        }
    }

    /// Returns the answer in the shape in which every door passes it on.
    pub fn json(&self) -> Value {
        json!({
            "content": [{"type": "text", "text": self.text}],
            "details": self.details,
        })
    }
}

impl CallService {
    /// Makes this process the owner of the runs that the tools start.
    pub fn open(places: &Places, concurrency: usize) -> Result<Self, CommandError> {
        Self::of(Owner::start(
            places,
            concurrency,
            KnownChildren::kill_unknown(),
        ))
    }

    /// Makes a program that may have other children too the owner of the runs that the tools start.
    pub fn open_in_a_program(places: &Places, concurrency: usize) -> Result<Self, CommandError> {
        Self::of(Owner::start(
            places,
            concurrency,
            KnownChildren::spare_unknown(),
        ))
    }

    fn of(owner: Result<Owner, CommandError>) -> Result<Self, CommandError> {
        Ok(Self::of_owner(owner?))
    }

    /// Serves the tools of an owner.
    pub(crate) fn of_owner(owner: Owner) -> Self {
        Self {
            owner,
            background: None,
            catalogues: Mutex::default(),
            left: LeftCalls::default(),
            opening: Arc::default(),
        }
    }

    /// Calls a tool by its name. Fields that the tool does not know are an error or a warning,
    /// which depends on the door.
    pub async fn call(
        self: &Arc<Self>,
        call: ToolRequest<'_>,
        watch: Watch,
    ) -> Result<ToolAnswer, CommandError> {
        let tool = call.tool.to_owned();
        debug!(tool, "tool is called");
        let unknown = check_fields(call.tool, call.arguments, call.caller.door)?;
        let known;
        let call = if unknown.is_empty() {
            call
        } else {
            known = without_unknown(call.tool, call.arguments);
            ToolRequest {
                arguments: &known,
                ..call
            }
        };
        let called = self.call_known(call, watch).await;
        debug!(tool, is_error = called.is_err(), "tool is done");
        let mut answer = called?;
        answer.warn(&unknown);
        Ok(answer)
    }

    async fn call_known(
        self: &Arc<Self>,
        call: ToolRequest<'_>,
        watch: Watch,
    ) -> Result<ToolAnswer, CommandError> {
        let ToolRequest {
            tool,
            arguments,
            caller,
            configuration,
        } = call;
        match tool {
            delegation::DELEGATE => {
                let call = delegation::DelegateCall::parse(arguments)?;
                self.answer(call, caller, configuration, watch).await
            }
            subagent::SUBAGENT => {
                let call = subagent::SubagentCall::parse(arguments)?;
                self.answer(call, caller, configuration, watch).await
            }
            background::BACKGROUND => background::background_agent(self, arguments, caller).await,
            answers::ANSWER => {
                answers::answer_subagent(self, arguments, caller, watch.cancelled).await
            }
            runs::RUNS => runs::subagent_runs(self, arguments, caller, watch.cancelled).await,
            background::STATUS => {
                let read = background::background_agent_status;
                self.read(read, arguments, caller).await
            }
            review_tool::REVIEW => {
                // Sending a result back is a large future.
                Box::pin(review_tool::review_subagents(self, arguments, caller)).await
            }
            merging::MERGE => self.read(merging::merge_subagents, arguments, caller).await,
            delegation::OUTPUT => self.read(delegation::output, arguments, caller).await,
            delegation::SESSION => self.read(delegation::session, arguments, caller).await,
            delegation::PROFILES => self.read(delegation::profiles, arguments, caller).await,
            other => Err(CommandError::not_found(format!("there is no tool {other}"))),
        }
    }

    /// Calls a tool that starts runs.
    async fn answer<C: Call>(
        self: &Arc<Self>,
        call: C,
        caller: &Caller,
        configuration: Option<Arc<Configuration>>,
        watch: Watch,
    ) -> Result<ToolAnswer, CommandError> {
        let configuration = if let Some(configuration) = configuration {
            configuration
        } else {
            let read = |service: &Self, caller: &Caller| Ok(service.configuration(caller));
            Arc::new(self.beside(caller, read).await?)
        };
        let asking = PreparedCaller {
            caller: caller.clone(),
            configuration,
            waiting: Waiting::Somebody,
            consent: None,
        };
        let ready = begin(self, call, asking).await?;
        Ok(self.wait(ready, watch).await?.to_tool_answer())
    }

    /// Waits for a call: to its end, or until nobody at its door can answer what is left of it.
    pub(crate) async fn wait<C: Call>(
        self: &Arc<Self>,
        ready: ReadyCall<C>,
        mut watch: Watch,
    ) -> Result<Answer, CommandError> {
        match watch.desk.take() {
            Some(desk) => answer_or_leave(self, ready, watch, desk).await,
            None => Ok(ready.run(self, watch).await),
        }
    }

    /// Stops the runs of calls that were answered while they wait, and returns when they are over.
    pub async fn stop_left(&self) {
        self.left.stop().await;
    }

    /// Calls a tool that starts no run.
    async fn read(
        self: &Arc<Self>,
        tool: fn(&Self, &Value, &Caller) -> Result<ToolAnswer, CommandError>,
        arguments: &Value,
        caller: &Caller,
    ) -> Result<ToolAnswer, CommandError> {
        let arguments = arguments.clone();
        let read = move |service: &Self, caller: &Caller| tool(service, &arguments, caller);
        self.beside(caller, read).await
    }

    /// Runs blocking work, which waits for the disk or for other processes, on a thread of its own:
    /// calls under way and signals are served meanwhile.
    pub async fn beside<T: Send + 'static>(
        self: &Arc<Self>,
        caller: &Caller,
        work: impl FnOnce(&Self, &Caller) -> Result<T, CommandError> + Send + 'static,
    ) -> Result<T, CommandError> {
        let (service, caller) = (Arc::clone(self), caller.clone());
        spawn_blocking(move || work(&service, &caller))
            .await
            .unwrap_or_else(|error| {
                Err(CommandError::defect(
                    "the tool call could not be answered",
                    &error,
                ))
            })
    }

    /// Reads the configuration of the caller and their project. A call reads it once and hands it
    /// on.
    pub fn configuration(&self, caller: &Caller) -> Configuration {
        let mut catalogues = self
            .catalogues
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Configuration::read(
            &caller.places,
            caller.trusts_project,
            |cwd, places, trust| catalogues.load(cwd, places, trust, Instant::now()),
        )
    }

    /// Does the work of a call to its end. If it is cancelled or dropped, its runs are stopped, and
    /// no others. A cancelled call returns when its runs are over, with what they had done; a dropped
    /// one returns nothing, and nobody waits for its runs.
    pub(crate) async fn run(
        &self,
        work: CallWork<'_>,
        panes: &Panes,
        followed: Followed,
    ) -> Vec<Arc<RunSummary>> {
        let Followed {
            mut sinks,
            mut updates,
            mut cancelled,
        } = followed;
        let (starts, opening) = panes.open(&self.owner.known_children);
        sinks.extend(starts);
        tokio::pin!(opening);
        let mut is_opening = true;
        let CallWork { begin, stop } = work;
        let mut work = begin(sinks);
        let mut under_way = UnderWay { stop: Some(stop) };
        let mut is_cancelled = false;
        loop {
            let wake = tokio::select! {
                outcomes = &mut work => Wake::Done(outcomes),
                () = &mut cancelled, if !is_cancelled => Wake::Cancelled,
                () = &mut opening, if is_opening => Wake::Opened,
                () = due(&mut updates) => Wake::Due,
            };
            match wake {
                Wake::Done(outcomes) => {
                    under_way.stop = None;
                    if is_opening {
                        // A tmux that hangs cannot hold us up.
                        _ = timeout(LAST_PANES, opening).await;
                    }
                    return outcomes;
                }
                Wake::Cancelled => {
                    info!("call was cancelled");
                    is_cancelled = true;
                    under_way.stop();
                }
                Wake::Opened => is_opening = false,
                Wake::Due => {
                    if let Some(updates) = &mut updates {
                        updates.update();
                    }
                }
            }
        }
    }
}

/// The events of a call under way.
enum Wake {
    Done(Vec<Arc<RunSummary>>),
    Cancelled,
    /// Every run that is to have a pane has one.
    Opened,
    /// Its door is to be updated.
    Due,
}

/// The work of a call, which ends when nobody waits for it any more.
struct UnderWay<'a> {
    /// None once it is over.
    stop: Option<Box<dyn Fn() + Send + Sync + 'a>>,
}

impl UnderWay<'_> {
    fn stop(&self) {
        if let Some(stop) = &self.stop {
            stop();
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}
