//! Answers the requests of pi, until pi is gone.

use std::cell::RefCell;
use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;

use pi_subagents_vocabulary::RunId;
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
use super::link::HostLink;
use super::record::SessionRecord;
use super::trust::{TrustQuestions, trusts_for_session};
use super::wire::{
    self, CallerParams, CancelParams, CommandParams, CompleteParams, ExecuteParams, ExpandParams,
    INTERNAL_ERROR, INVALID_PARAMS, IdleParams, Incoming, METHOD_NOT_FOUND, RpcError, StartParams,
};
use crate::background_watch::BackgroundWatch;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::service::CallService;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::signals::{Signals, Told};
use pi_subagents_runs::session_runs::{SessionRuns, StartedSession};
use pi_subagents_vocabulary::Door;

/// Serves one pi. When its end of the wire is gone, all our runs are ended.
pub async fn serve(places: &Places) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen_to_pause()?;
    let settings = Configuration::read_once(places, false).settings;
    let mut service = CallService::open(places, settings.concurrency(Door::Pi))?;
    let (connection, mut lines) = connection::open()?;
    let session_runs = Arc::<SessionRuns>::default();
    let link = HostLink::new(connection.clone());
    let store = service.owner.store.clone();
    let background = BackgroundWatch::new(link.clone(), places, store, Arc::clone(&session_runs));
    service.background = Some(Box::new(background.clone()));
    let service = Arc::new(service);
    let mut host = Host {
        places: places.clone(),
        service: Arc::clone(&service),
        link,
        connection: connection.clone(),
        calls: Arc::default(),
        session_runs,
        background: background.clone(),
        questions: Arc::default(),
        told_as_left: HashSet::new(),
        work: JoinSet::new(),
    };
    let code = loop {
        tokio::select! {
            incoming = lines.next() => {
                let Some(incoming) = incoming else {
                    // A pi that leaves in order has ended its calls before.
                    service.owner.abandon();
                    break ExitCode::SUCCESS;
                };
                host.take(incoming);
            }
            told = signals.next_signal() => {
                if let (Told::HANG_UP, Told::End(number)) = (told, told) {
                    // Its terminal is gone, and pi with it: the same end as without a signal.
                    service.owner.abandon();
                    break exit::of_signal(number);
                }
                if let Some(number) = service.owner.obey(told).await {
                    break exit::of_signal(number);
                }
            }
            Some(_) = host.work.join_next() => {}
        }
    };
    connection.close();
    let mut work = host.work;
    loop {
        tokio::select! {
            joined = work.join_next() => if joined.is_none() { break },
            told = signals.next_signal() => {
                service.owner.obey(told).await;
            }
        }
    }
    service.stop_left().await;
    drop((host.link, host.connection, host.service, host.background));
    drop(connection);
    if let Some(service) = Arc::into_inner(service) {
        background.leave().await;
        service.owner.leave().await;
    }
    lines.finish();
    Ok(code)
}

struct Host {
    places: Places,
    service: Arc<CallService>,
    connection: Connection,
    link: HostLink,
    calls: Arc<Calls>,
    session_runs: Arc<SessionRuns>,
    background: BackgroundWatch,
    questions: Arc<TrustQuestions>,
    /// The runs of a killed pi that were reported to its session.
    told_as_left: HashSet<RunId>,
    /// The requests under way.
    work: JoinSet<()>,
}

impl Host {
    /// Takes one line. Work that later lines depend on is done before the next line is read.
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

    /// Takes a notification. A notification that does not fit is dropped: nobody waits for an
    /// answer.
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
                let kept = self.session_runs.open(&session);
                self.background.open(session.id, told.has_terminal, &kept);
                let left = LeftRuns::of(&session, &mut self.told_as_left);
                let (runs, link) = (Arc::clone(&self.session_runs), self.link.clone());
                self.work.spawn(left.report_ends(runs, link));
                self.connection.answer(&id, Ok(greeting()));
            }
            "session/shutdown" => {
                // Answered once the calls are over, while pi still takes their entries.
                let over = self.calls.end_all();
                self.session_runs.close();
                self.background.close();
                let service = Arc::clone(&self.service);
                self.answer_later(id, async move {
                    over.await;
                    // Nobody of this session can answer what they wait for.
                    service.stop_left().await;
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
                    record: SessionRecord::new(Arc::clone(&self.session_runs), self.link.clone()),
                    link: self.link.clone(),
                    service: Arc::clone(&self.service),
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
                        let seen =
                            VisibleAgents::from(caller.places, caller.trusts_project, caller.door);
                        commands::run_profile(&told.arguments, &seen, &person);
                    });
                    work.await.map(|()| json!({})).map_err(|error| bug(&error))
                });
            }
            commands::SUBAGENTS => {
                let command = Subagents {
                    service: Arc::clone(&self.service),
                    session_runs: Arc::clone(&self.session_runs),
                    link,
                    questions: Arc::clone(&self.questions),
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
        let session_runs = Arc::clone(&self.session_runs);
        self.answer_later(id, async move {
            // Definitions are read from the disk, for every letter that is typed.
            let work = spawn_blocking(move || match told.command.as_str() {
                commands::PROFILE => {
                    let seen =
                        VisibleAgents::from(caller.places, caller.trusts_project, caller.door);
                    commands::complete_profile(&told.prefix, &seen)
                }
                commands::SUBAGENTS => Subagents::complete(&session_runs, &told.prefix),
                _ => Vec::new(),
            });
            let items = work.await.map_err(|error| bug(&error))?;
            Ok(json!({"items": items}))
        });
    }

    fn caller(&self, told: &CallerParams) -> Caller {
        let session_runs = Arc::clone(&self.session_runs);
        let caller = caller(told, &self.places, self.link.session_id(), session_runs);
        Caller {
            trusts_project: trusts_for_session(told, &caller),
            ..caller
        }
    }

    /// Works on a request beside all others. It is answered in every case.
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

/// Tells the shim with whom it talks.
fn greeting() -> Value {
    json!({"protocol": wire::PROTOCOL, "version": env!("CARGO_PKG_VERSION")})
}

fn bug(error: &JoinError) -> RpcError {
    RpcError::new(INTERNAL_ERROR, format!("a bug of pi-subagents: {error}"))
}

fn no_command(name: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("there is no command {name}"))
}
