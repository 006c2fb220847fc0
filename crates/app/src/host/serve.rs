//! Answers what pi asks, until pi is gone.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::callers::caller;
use super::calls::{Call, Calls};
use super::connection::{self, Connection};
use super::memory::Memory;
use super::record::SessionRecord;
use super::session::{HostLink, SessionListener, StartedSession};
use super::wire::{
    self, CallerParams, CancelParams, ExecuteParams, ExpandParams, FAILED, INTERNAL_ERROR,
    IdleParams, Incoming, METHOD_NOT_FOUND, RpcError, StartParams,
};
use crate::background::Registry;
use crate::caller::Caller;
use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::places::Places;
use crate::signals::Signals;
use crate::toolbox::{Toolbox, Watch};

/// What runs hear when pi is gone: it hung up.
const HANG_UP: i32 = 1;

/// Serves one pi. When its end of the wire is gone, so is everything we run.
pub(crate) async fn serve(places: &Places) -> Result<ExitCode, CommandError> {
    let mut signals = Signals::listen()?;
    let settings = Configuration::read_once(places, false).settings;
    let mut toolbox = Toolbox::open(places, settings.max_concurrency)?;
    let (connection, mut lines) = connection::open()?;
    let link = HostLink::new(connection.clone());
    let registry = Registry::new(link.clone(), toolbox.owner.store.clone());
    toolbox.background = Some(registry.clone());
    let toolbox = Arc::new(toolbox);
    let memory = Arc::<Memory>::default();
    let mut host = Host {
        places: places.clone(),
        toolbox: Arc::clone(&toolbox),
        link,
        connection: connection.clone(),
        calls: Arc::default(),
        memory: Arc::clone(&memory),
        listeners: vec![memory, Arc::new(registry)],
        work: JoinSet::new(),
    };
    let code = loop {
        tokio::select! {
            incoming = lines.next() => match incoming {
                Some(incoming) => host.take(incoming),
                None => {
                    toolbox.owner.shut_down(HANG_UP);
                    break ExitCode::SUCCESS;
                }
            },
            number = signals.next() => {
                toolbox.owner.shut_down(number);
                break ExitCode::from(u8::try_from(128 + number).unwrap_or(1));
            }
            Some(_) = host.work.join_next() => {}
        }
    };
    connection.close();
    let mut work = host.work;
    loop {
        tokio::select! {
            joined = work.join_next() => if joined.is_none() { break },
            number = signals.next() => toolbox.owner.shut_down(number),
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
            "tool/expand" => {
                if let Ok(told) = wire::params::<ExpandParams>(params) {
                    self.calls.expand(&told.call_id, told.expanded);
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
                    record: SessionRecord::new(Arc::clone(&self.memory), self.link.clone()),
                    link: self.link.clone(),
                    toolbox: Arc::clone(&self.toolbox),
                    call,
                };
                self.answer_later(id, execution.run(told.tool, told.arguments));
            }
            other => {
                let message = format!("there is no method {other}");
                return Err(RpcError::new(METHOD_NOT_FOUND, message));
            }
        }
        Ok(())
    }

    fn caller(&self, told: &CallerParams) -> Caller {
        let memory = Arc::clone(&self.memory);
        caller(told, &self.places, self.link.session_id(), memory)
    }

    /// Works on a request beside all others. Whatever becomes of it, it is answered.
    fn answer_later(
        &mut self,
        id: Value,
        work: impl Future<Output = Result<Value, RpcError>> + Send + 'static,
    ) {
        let connection = self.connection.clone();
        self.work.spawn(async move {
            let outcome = tokio::spawn(work).await.unwrap_or_else(|error| {
                let message = format!("a bug of pi-subagents: {error}");
                Err(RpcError::new(INTERNAL_ERROR, message))
            });
            connection.answer(&id, outcome);
        });
    }
}

/// A tool call with all it needs.
struct Execution {
    caller: Caller,
    record: SessionRecord,
    link: HostLink,
    toolbox: Arc<Toolbox>,
    call: Call,
}

impl Execution {
    async fn run(self, tool: String, arguments: Value) -> Result<Value, RpcError> {
        let (link, call_id) = (self.link, self.call.id.clone());
        let watch = Watch {
            sinks: vec![Box::new(self.record)],
            on_update: Some(Box::new(move |answer| link.update(&call_id, &answer))),
            expanded: Arc::clone(&self.call.expanded),
            cancelled: Box::pin(self.call.cancelled()),
        };
        let answer = self
            .toolbox
            .call(&tool, &arguments, &self.caller, watch)
            .await
            .map_err(|error| failed(&error))?;
        let mut result = answer.json();
        if let (Value::Object(fields), Some(usage)) = (&mut result, answer.usage) {
            fields.insert("usage".to_owned(), wire::usage_json(usage));
        }
        Ok(result)
    }
}

fn failed(error: &CommandError) -> RpcError {
    RpcError::new(FAILED, error.sentence())
}
