//! Answers what pi asks, until pi is gone.

use std::cell::RefCell;
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;

use pi_subagents_delegation::RunId;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet, spawn_blocking};

use super::callers::caller;
use super::calls::Calls;
use super::commands::{self, Subagents};
use super::connection::{self, Connection};
use super::dialogs::InPi;
use super::execution::Execution;
use super::left_runs::LeftRuns;
use super::memory::Memory;
use super::record::SessionRecord;
use super::session::{HostLink, SessionListener, StartedSession};
use super::trust::{TrustQuestions, trusts_for_session};
use super::wire::{
    self, CallerParams, CancelParams, CommandParams, CompleteParams, ExecuteParams, ExpandParams,
    INTERNAL_ERROR, INVALID_PARAMS, IdleParams, Incoming, METHOD_NOT_FOUND, RpcError, StartParams,
};
use crate::background::Registry;
use crate::caller::Caller;
use crate::commands::profile::seen::Seen;
use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::signals::Signals;
use crate::toolbox::Toolbox;

/// Serves one pi. When its end of the wire is gone, so is everything we run.
pub(crate) async fn serve(places: &Places) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen_to_pause()?;
    let settings = Configuration::read_once(places, false).settings;
    let mut toolbox = Toolbox::open(places, settings.max_concurrency)?;
    let (connection, mut lines) = connection::open()?;
    let memory = Arc::<Memory>::default();
    let link = HostLink::new(connection.clone());
    let store = toolbox.owner.store.clone();
    let registry = Registry::new(link.clone(), store, Arc::clone(&memory));
    toolbox.background = Some(registry.clone());
    let toolbox = Arc::new(toolbox);
    let mut host = Host {
        places: places.clone(),
        toolbox: Arc::clone(&toolbox),
        link,
        connection: connection.clone(),
        calls: Arc::default(),
        memory: Arc::clone(&memory),
        questions: Arc::default(),
        told_as_left: HashSet::new(),
        // Background runs are remembered too, so they come second.
        listeners: vec![memory, Arc::new(registry)],
        work: JoinSet::new(),
    };
    let code = loop {
        tokio::select! {
            incoming = lines.next() => {
                let Some(incoming) = incoming else {
                    // A pi that leaves in order has ended its calls before.
                    toolbox.owner.abandon();
                    break ExitCode::SUCCESS;
                };
                host.take(incoming);
            }
            told = signals.told() => if let Some(number) = toolbox.owner.obey(told).await {
                break exit::of_signal(number);
            },
            Some(_) = host.work.join_next() => {}
        }
    };
    connection.close();
    let mut work = host.work;
    loop {
        tokio::select! {
            joined = work.join_next() => if joined.is_none() { break },
            told = signals.told() => {
                toolbox.owner.obey(told).await;
            }
        }
    }
    drop((host.link, host.connection, host.toolbox, host.listeners));
    drop(connection);
    if let Some(toolbox) = Arc::into_inner(toolbox) {
        if let Some(registry) = toolbox.background {
            registry.close().await;
        }
        toolbox.owner.leave().await;
    }
    lines.finish();
    Ok(code)
}

struct Host {
    places: Places,
    toolbox: Arc<Toolbox>,
    connection: Connection,
    link: HostLink,
    calls: Arc<Calls>,
    memory: Arc<Memory>,
    questions: Arc<TrustQuestions>,
    /// The runs of a killed pi that its session was told of.
    told_as_left: HashSet<RunId>,
    /// Who hears of pi's sessions, in this order.
    listeners: Vec<Arc<dyn SessionListener>>,
    /// The requests under way.
    work: JoinSet<()>,
}

impl Host {
    /// Takes one line. What others depend on is done before the next line is read.
    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Notification { method, params } => self.notice(&method, params),
            Incoming::Request { id, method, params } => {
                if let Err(error) = self.begin(id.clone(), &method, params) {
                    self.connection.answer(&id, Err(error));
                }
            }
            Incoming::Response { .. } => {}
        }
    }

    /// What nobody waits for; one that does not fit has nobody to be told.
    fn notice(&self, method: &str, params: Value) {
        match method {
            "tool/cancel" => {
                if let Ok(told) = wire::params::<CancelParams>(params) {
                    self.calls.cancel(&told.call_id);
                }
            }
            "tool/look" => {
                if let Ok(told) = wire::params::<ExpandParams>(params) {
                    self.calls.look(&told.call_id, told.expanded, told.columns);
                }
            }
            "idle" => {
                if let Ok(told) = wire::params::<IdleParams>(params) {
                    self.link.set_idle(told.idle);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, id: Value, method: &str, params: Value) -> Result<(), RpcError> {
        match method {
            "session/start" => {
                let told: StartParams = wire::params(params)?;
                self.link.set_session(&told.session_id);
                let session = StartedSession {
                    id: &told.session_id,
                    is_new: told.reason == "new",
                    entries: &told.entries,
                };
                for listener in &self.listeners {
                    listener.began(&session);
                }
                let left = LeftRuns::of(&session, &mut self.told_as_left);
                let (memory, link) = (Arc::clone(&self.memory), self.link.clone());
                self.work.spawn(left.tell(memory, link));
                self.connection.answer(&id, Ok(json!({})));
            }
            "session/shutdown" => {
                // Answered once the calls are over, while pi still takes their entries.
                let over = self.calls.end_all();
                for listener in &self.listeners {
                    listener.ended();
                }
                self.answer_later(id, async move {
                    over.await;
                    Ok(json!({}))
                });
            }
            "tool/execute" => {
                let told: ExecuteParams = wire::params(params)?;
                let call = self.calls.begin(&told.call_id)?;
                let execution = Execution {
                    caller: self.caller(&told.caller),
                    told: told.caller,
                    questions: Arc::clone(&self.questions),
                    record: SessionRecord::new(Arc::clone(&self.memory), self.link.clone()),
                    link: self.link.clone(),
                    toolbox: Arc::clone(&self.toolbox),
                    call,
                };
                self.answer_later(id, execution.run(told.tool, told.arguments));
            }
            "command/run" => {
                let told: CommandParams = wire::params(params)?;
                self.run_command(id, told)?;
            }
            "command/complete" => {
                let told: CompleteParams = wire::params(params)?;
                self.complete(id, told);
            }
            other => {
                let message = format!("there is no method {other}");
                return Err(RpcError::new(METHOD_NOT_FOUND, message));
            }
        }
        Ok(())
    }

    fn run_command(&mut self, id: Value, told: CommandParams) -> Result<(), RpcError> {
        let caller = self.caller(&told.caller);
        let (link, has_ui) = (self.link.clone(), told.caller.has_ui);
        match told.command.as_str() {
            commands::PROFILE => {
                let person = InPi {
                    link,
                    runtime: Handle::current(),
                    has_ui,
                    page: RefCell::default(),
                };
                self.answer_later(id, async move {
                    // It waits for answers, so it gets a thread of its own.
                    let work = spawn_blocking(move || {
                        let seen = Seen::from(caller.places, caller.trusts_project, caller.door);
                        commands::run_profile(&told.arguments, &seen, &person);
                    });
                    work.await.map(|()| json!({})).map_err(|error| bug(&error))
                });
            }
            commands::SUBAGENTS => {
                let command = Subagents {
                    toolbox: Arc::clone(&self.toolbox),
                    memory: Arc::clone(&self.memory),
                    link,
                    caller,
                    has_ui,
                };
                self.answer_later(id, async move {
                    command.run(told.arguments).await;
                    Ok(json!({}))
                });
            }
            other => return Err(no_command(other)),
        }
        Ok(())
    }

    fn complete(&mut self, id: Value, told: CompleteParams) {
        let caller = self.caller(&told.caller);
        let memory = Arc::clone(&self.memory);
        self.answer_later(id, async move {
            // Definitions are read from the disk, for every letter that is typed.
            let work = spawn_blocking(move || match told.command.as_str() {
                commands::PROFILE => {
                    let seen = Seen::from(caller.places, caller.trusts_project, caller.door);
                    commands::complete_profile(&told.prefix, &seen)
                }
                commands::SUBAGENTS => Subagents::complete(&memory, &told.prefix),
                _ => Vec::new(),
            });
            let items = work.await.map_err(|error| bug(&error))?;
            Ok(json!({"items": items}))
        });
    }

    fn caller(&self, told: &CallerParams) -> Caller {
        let memory = Arc::clone(&self.memory);
        let caller = caller(told, &self.places, self.link.session_id(), memory);
        Caller {
            trusts_project: trusts_for_session(told, &caller),
            ..caller
        }
    }

    /// Works on a request beside all others. Whatever becomes of it, it is answered.
    fn answer_later(
        &mut self,
        id: Value,
        work: impl Future<Output = Result<Value, RpcError>> + Send + 'static,
    ) {
        let connection = self.connection.clone();
        self.work.spawn(async move {
            let outcome = tokio::spawn(work)
                .await
                .unwrap_or_else(|error| Err(bug(&error)));
            connection.answer(&id, outcome);
        });
    }
}

fn bug(error: &JoinError) -> RpcError {
    RpcError::new(INTERNAL_ERROR, format!("a bug of pi-subagents: {error}"))
}

fn no_command(name: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("there is no command {name}"))
}
