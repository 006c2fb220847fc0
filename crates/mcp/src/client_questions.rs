//! Questions to a client on behalf of a call: the directories it works in, and the decisions of its
//! person.
//!
//! Older versions of the protocol let a server send requests. Since 2026-07-28 a server answers a
//! call with its questions, and the client calls again with the answers.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, CustomRequest, InputRequest, InputRequiredResult,
    InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::{Value, json};

use crate::elicitation::ClientPerson;
use crate::roots::directories;
use crate::tools::Question;

/// The time that a program may take to answer a question by itself; a person may take as long as
/// they like.
const PATIENCE: Duration = Duration::from_secs(5);

const ROOTS: &str = "roots";
const QUESTION: &str = "question";
const ANSWER: &str = "answer";

/// Asks the client of one call.
pub(crate) struct Asker<'a> {
    context: &'a RequestContext<RoleServer>,
    capabilities: ClientCapabilities,
    answers: InputResponses,
}

impl<'a> Asker<'a> {
    /// Takes the answers that came with the call.
    pub(crate) fn new(
        request: &mut CallToolRequestParams,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        Self {
            context,
            capabilities: context.client_capabilities().unwrap_or_default(),
            answers: request.input_responses.take().unwrap_or_default(),
        }
    }

    /// Returns the directories the client works in; empty if it does not know.
    pub(crate) async fn roots(&mut self) -> Result<Vec<PathBuf>, InputRequiredResult> {
        if self.capabilities.roots.is_none() {
            return Ok(Vec::new());
        }
        let told = self.ask(ROOTS, "roots/list", None, Some(PATIENCE)).await?;
        Ok(told.map(|told| directories(&told)).unwrap_or_default())
    }

    /// Returns whether the client has somebody who can answer questions.
    pub(crate) fn has_somebody(&self) -> bool {
        let elicitation = self.capabilities.elicitation.as_ref();
        // If no mode is named, it is the mode of the first version, which is a form.
        elicitation.is_some_and(|known| known.form.is_some() || known.url.is_none())
    }

    /// Returns the client's person, if questions can be sent in the middle of a call: since
    /// 2026-07-28 a server sends no requests.
    pub(crate) fn person(&self) -> Option<ClientPerson> {
        let is_there = self.has_somebody() && !self.is_asked_by_answers();
        is_there.then(|| ClientPerson {
            peer: self.context.peer.clone(),
        })
    }

    /// Returns whether the client is asked by the answers of its calls.
    fn is_asked_by_answers(&self) -> bool {
        let version = self.context.protocol_version();
        version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
    }

    /// Asks the client's person a question and returns the option they choose; `None` if they
    /// decline.
    pub(crate) async fn choice(
        &mut self,
        question: &Question,
    ) -> Result<Option<String>, InputRequiredResult> {
        let form = json!({
            "mode": "form",
            "message": question.message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    ANSWER: {"type": "string", "title": "Answer", "enum": question.options}
                },
                "required": [ANSWER],
            },
        });
        let told = self.ask(QUESTION, "elicitation/create", Some(form), None);
        let told = told.await?.unwrap_or_default();
        let chosen = told["content"][ANSWER].as_str();
        let is_accepted = told["action"] == "accept";
        Ok(chosen.filter(|_| is_accepted).map(str::to_owned))
    }

    async fn ask(
        &mut self,
        key: &str,
        method: &str,
        params: Option<Value>,
        timeout: Option<Duration>,
    ) -> Result<Option<Value>, InputRequiredResult> {
        if let Some(answer) = self.answers.remove(key) {
            return Ok(Some(answer));
        }
        if self.is_asked_by_answers() {
            let mut request = json!({"method": method});
            if let Some(params) = params {
                request["params"] = params;
            }
            // The client is not asked if the library does not know this kind of request.
            let Ok(request) = serde_json::from_value::<InputRequest>(request) else {
                return Ok(None);
            };
            let requests = [(key.to_owned(), request)].into();
            return Err(InputRequiredResult::from_input_requests(requests));
        }
        Ok(self.request(method, params, timeout).await)
    }

    /// Sends a request. `None` if the client gives no answer.
    async fn request(
        &self,
        method: &str,
        params: Option<Value>,
        timeout: Option<Duration>,
    ) -> Option<Value> {
        let request = ServerRequest::CustomRequest(CustomRequest::new(method, params));
        let options = timeout.map_or_else(PeerRequestOptions::no_options, |timeout| {
            PeerRequestOptions::with_timeout(timeout)
        });
        let sent = self.context.peer.send_request_with_option(request, options);
        let answer = sent.await.ok()?.await_response().await.ok()?;
        serde_json::to_value(answer).ok()
    }
}
