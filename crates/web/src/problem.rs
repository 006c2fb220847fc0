//! The reason why a request has no answer, as the page reads it.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pi_subagents_ground::error::{CommandError, Kind};
use pi_subagents_records::{FindError, RecordError};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::Door;
use serde_json::json;
use tokio::task::JoinError;

/// The reason why there is no answer: its status, and the problem with its remedy for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
}

impl Problem {
    /// Makes a problem with a status of its own.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    /// Returns the words for a person.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Makes the problem that something failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message)
    }

    /// Makes the problem that there is no such thing.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// Makes the problem of a request that nobody can understand.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.message}))).into_response()
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let message = error.to_answer(Door::Page);
        match error.kind() {
            Kind::NotFound => Self::not_found(message),
            Kind::Usage | Kind::NoAnswer | Kind::Failed | Kind::Interrupted => {
                Self::failed(message)
            }
        }
    }
}

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        find_failure(error).into()
    }
}

/// A record that cannot be read.
impl From<RecordError> for Problem {
    fn from(error: RecordError) -> Self {
        Self::not_found(format!("{error}: {}", error.reason()))
    }
}

/// Work that ended with a panic, which was printed.
impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        Self::failed(error.to_string())
    }
}
