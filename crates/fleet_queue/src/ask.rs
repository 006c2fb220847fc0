//! One request and its answer.

use std::time::Duration;

use async_nats::{HeaderMap, Message, Request, RequestErrorKind};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::connect::{ANSWER, Fleet};
use crate::error::{FleetError, MissingPart};

/// The code of the error of a stream that is not there.
const STREAM_NOT_FOUND: u64 = 10059;
/// The code of the error of a consumer that is not there.
const CONSUMER_NOT_FOUND: u64 = 10014;

impl Fleet {
    /// Sends a request and returns its answer, within the usual time.
    pub(crate) async fn ask(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        payload: Bytes,
    ) -> Result<Message, FleetError> {
        self.ask_within(subject, headers, payload, ANSWER).await
    }

    /// Sends a request and returns its answer. A request that our key does not permit fails at
    /// once.
    pub(crate) async fn ask_within(
        &self,
        subject: &str,
        headers: Option<HeaderMap>,
        payload: Bytes,
        within: Duration,
    ) -> Result<Message, FleetError> {
        let Some(left) = self.when_connected(within).await else {
            let subject = subject.to_owned();
            return Err(FleetError::NoAnswer { subject, within });
        };
        let mut request = Request::new().payload(payload).timeout(Some(left));
        if let Some(headers) = headers {
            request = request.headers(headers);
        }
        let answer = self.inner.client.send_request(subject.to_owned(), request);
        let answer = self
            .unless_refused(&format!("\"{subject}\""), answer)
            .await?;
        answer.map_err(|error| failed_request(subject, within, &error))
    }

    /// Asks the server's own interface, and returns its answer as JSON.
    pub(crate) async fn ask_server(
        &self,
        subject: &str,
        payload: Bytes,
    ) -> Result<Value, FleetError> {
        let answer = self.ask(subject, None, payload).await?;
        let value: Value = parse(subject, &answer.payload)?;
        match value.get("error") {
            Some(error) => Err(server_error(subject, error)),
            None => Ok(value),
        }
    }
}

impl Fleet {
    /// Does work that asks the server for something. It fails at once if the server refuses a
    /// subject with these words in it, or does not let us hear any answers.
    pub(crate) fn unless_refused<T>(
        &self,
        named: &str,
        work: impl Future<Output = T>,
    ) -> impl Future<Output = Result<T, FleetError>> {
        let mut refusals = self.inner.refusals.clone();
        let (count, is_deaf) = {
            let refusals = refusals.borrow_and_update();
            (refusals.count, refusals.is_deaf)
        };
        let name = self.inner.name.clone();
        // Every request is such work, and whoever waits for it would be as large.
        let mut work = Box::pin(work);
        async move {
            if is_deaf {
                return Err(FleetError::Deaf { name });
            }
            loop {
                tokio::select! {
                    done = &mut work => return Ok(done),
                    // It never fails: the connection keeps the sender.
                    Ok(()) = refusals.changed() => {
                        let refusals = refusals.borrow_and_update();
                        if refusals.is_deaf {
                            return Err(FleetError::Deaf { name });
                        }
                        if let Some(said) = refusals.after(count, named) {
                            return Err(FleetError::NotAllowed { said: said.clone() });
                        }
                    }
                }
            }
        }
    }
}

/// Reads an answer.
pub(crate) fn parse<T: for<'a> Deserialize<'a>>(
    subject: &str,
    bytes: &[u8],
) -> Result<T, FleetError> {
    serde_json::from_slice(bytes).map_err(|error| FleetError::Strange {
        subject: subject.to_owned(),
        why: error.to_string(),
    })
}

/// Turns the error in an answer of the server's interface into ours.
pub(crate) fn server_error(subject: &str, error: &Value) -> FleetError {
    let code = error["err_code"]
        .as_u64()
        .or_else(|| error["code"].as_u64())
        .unwrap_or_default();
    if matches!(code, STREAM_NOT_FOUND | CONSUMER_NOT_FOUND) {
        // `$JS.API.STREAM.INFO.PI_WORK` and `$JS.API.CONSUMER.INFO.PI_WORK.default-high` end with
        // the name of the missing thing.
        let name = subject.rsplit('.').next().unwrap_or(subject).to_owned();
        let what = if code == STREAM_NOT_FOUND {
            MissingPart::Stream(name)
        } else {
            MissingPart::Consumer(name)
        };
        return FleetError::NotSetUp { what };
    }
    FleetError::Refused {
        subject: subject.to_owned(),
        code,
        said: error["description"].as_str().unwrap_or_default().to_owned(),
    }
}

fn failed_request(subject: &str, within: Duration, error: &async_nats::RequestError) -> FleetError {
    let subject = subject.to_owned();
    match error.kind() {
        RequestErrorKind::NoResponders => FleetError::Nobody { subject },
        RequestErrorKind::TimedOut => FleetError::NoAnswer { subject, within },
        _ => FleetError::NotSent {
            subject,
            why: error.to_string(),
        },
    }
}
