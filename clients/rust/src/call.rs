//! A call under way: a stream of events that ends in an answer.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::client::Client;
use crate::event::Event;
use crate::failure::{ClientError, ErrorKind};
use crate::private_directory::PrivateDirectory;
use crate::run::{Run, Status};

/// A call under way. It is a [`Stream`] of events. Dropping it ends its run.
#[derive(Debug)]
pub struct Call<T = String> {
    client: Client,
    lines: Lines<BufReader<ChildStdout>>,
    process: Child,
    run_id: Option<String>,
    result: Option<Value>,
    is_typed: bool,
    /// Files that the program reads while it works.
    _files: Option<Arc<PrivateDirectory>>,
    returned: PhantomData<fn() -> T>,
}

/// The answer of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer<T = String> {
    /// What the task returns.
    pub value: T,
    /// The run.
    pub run: Run,
}

impl<T> Call<T> {
    pub(crate) fn new(
        client: Client,
        mut process: Child,
        is_typed: bool,
        files: Option<Arc<PrivateDirectory>>,
    ) -> Result<Self, ClientError> {
        let stdout = process
            .stdout
            .take()
            .ok_or_else(|| ClientError::new(ErrorKind::Program, "the program has no stdout"))?;
        Ok(Self {
            client,
            lines: BufReader::new(stdout).lines(),
            process,
            run_id: None,
            result: None,
            is_typed,
            _files: files,
            returned: PhantomData,
        })
    }

    /// Returns the next event; `None` when the run is over.
    pub async fn next(&mut self) -> Option<Result<Event, ClientError>> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    /// Returns the id of the run, as soon as an event has named it.
    pub fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    /// Sends the sub-agent a message, which it reads before its next turn.
    pub async fn steer(&mut self, message: &str) -> Result<(), ClientError> {
        let run = self.begun().await?;
        self.client.steer(&run, message).await
    }

    /// Stops the run, and returns when all its processes are gone.
    pub async fn stop(&mut self) -> Result<Run, ClientError> {
        let run = self.begun().await?;
        self.client.stop(&run).await
    }

    /// Returns the id of the run, for which it waits for the first event.
    async fn begun(&mut self) -> Result<String, ClientError> {
        while self.run_id.is_none() {
            match self.next().await {
                Some(event) => event?,
                None => return Err(ClientError::new(ErrorKind::NotFound, "no run has begun")),
            };
        }
        Ok(self.run_id.clone().unwrap_or_default())
    }

    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Event, ClientError>>> {
        loop {
            let line = match Pin::new(&mut self.lines).poll_next_line(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Some(line))) => line,
                Poll::Ready(Ok(None)) => return Poll::Ready(None),
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Some(Err(ClientError::new(ErrorKind::Program, error))));
                }
            };
            let Ok(line) = serde_json::from_str::<Value>(&line) else {
                let error = "the program printed a line that is no JSON";
                return Poll::Ready(Some(Err(ClientError::new(ErrorKind::Protocol, error))));
            };
            if line["type"] != "event" {
                // The last line: a result, or an error.
                self.result = Some(line);
                continue;
            }
            let event = Event::read(line);
            if let Ok(event) = &event {
                self.run_id.get_or_insert_with(|| event.run_id.clone());
            }
            let event = event.map_err(|error| ClientError::new(ErrorKind::Protocol, error));
            return Poll::Ready(Some(event));
        }
    }

    /// Waits for the end of the call and returns its run, whatever became of it. Events that were
    /// not taken are passed over.
    pub async fn run(&mut self) -> Result<Run, ClientError> {
        while let Some(event) = self.next().await {
            event?;
        }
        let Some(result) = self.result.take() else {
            let ended = self.process.wait().await;
            let why = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            let message = format!("the program printed no result ({why})");
            return Err(ClientError::new(ErrorKind::Program, message));
        };
        if result["type"] == "error" {
            return Err(ClientError::of_json(&result["error"]));
        }
        let mut runs = Run::read_all(&result)?;
        runs.pop()
            .ok_or_else(|| ClientError::new(ErrorKind::Protocol, "the result has no run"))
    }
}

impl<T: DeserializeOwned> Call<T> {
    /// Waits for the end of the call and returns what the task returns. A run that did not complete
    /// is an error.
    pub async fn answer(mut self) -> Result<Answer<T>, ClientError> {
        let run = self.run().await?;
        if run.status != Status::Completed {
            let message = run.error_message.clone();
            let message = message.unwrap_or_else(|| format!("the run is {:?}", run.status));
            return Err(ClientError::new(ErrorKind::Run, message));
        }
        let returned = if self.is_typed {
            run.structured.clone().unwrap_or(Value::Null)
        } else {
            Value::String(run.output.clone().unwrap_or_default())
        };
        let value = serde_json::from_value(returned)
            .map_err(|error| ClientError::new(ErrorKind::Result, error))?;
        Ok(Answer { value, run })
    }
}

impl<T> Stream for Call<T> {
    type Item = Result<Event, ClientError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_event(context)
    }
}

impl<T> Unpin for Call<T> {}
