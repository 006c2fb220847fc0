//! Answers what pi asks, until pi is gone.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::callers::caller;
use super::calls::{Call, Calls};
use super::connection::{self, Connection};
use super::session::HostLink;
use super::wire::{
    self, CancelParams, ExecuteParams, ExpandParams, FAILED, INTERNAL_ERROR, IdleParams, Incoming,
    METHOD_NOT_FOUND, RpcError, StartParams,
};
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
    let toolbox = Arc::new(Toolbox::open(places, settings.max_concurrency)?);
    let (connection, mut lines) = connection::open()?;
    let mut host = Host {
        places: places.clone(),
        toolbox: Arc::clone(&toolbox),
        link: HostLink::new(connection.clone()),
        connection: connection.clone(),
        calls: Arc::default(),
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
    drop((host.link, host.connection, host.toolbox, connection));
    if let Some(toolbox) = Arc::into_inner(toolbox) {
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
                self.connection.answer(&id, Ok(json!({})));
            }
            "session/shutdown" => {
                self.calls.cancel_all();
                self.connection.answer(&id, Ok(json!({})));
            }
            "tool/execute" => {
                let told: ExecuteParams = wire::params(params)?;
                let call = self.calls.begin(&told.call_id)?;
                let (toolbox, link) = (Arc::clone(&self.toolbox), self.link.clone());
                let places = self.places.clone();
                self.answer_later(id, async move {
                    execute(told, call, &places, &toolbox, link).await
                });
            }
            other => {
                let message = format!("there is no method {other}");
                return Err(RpcError::new(METHOD_NOT_FOUND, message));
            }
        }
        Ok(())
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

async fn execute(
    told: ExecuteParams,
    call: Call,
    places: &Places,
    toolbox: &Toolbox,
    link: HostLink,
) -> Result<Value, RpcError> {
    let caller = caller(&told.caller, places, link.session_id());
    let call_id = call.id.clone();
    let watch = Watch {
        sinks: Vec::new(),
        on_update: Some(Box::new(move |answer| link.update(&call_id, &answer))),
        expanded: Arc::clone(&call.expanded),
        cancelled: Box::pin(call.cancelled()),
    };
    let answer = toolbox
        .call(&told.tool, &told.arguments, &caller, watch)
        .await
        .map_err(failed)?;
    let mut result = answer.json();
    if let (Value::Object(fields), Some(usage)) = (&mut result, answer.usage) {
        fields.insert("usage".to_owned(), wire::usage_json(usage));
    }
    Ok(result)
}

fn failed(error: CommandError) -> RpcError {
    RpcError::new(FAILED, error.sentence())
}
