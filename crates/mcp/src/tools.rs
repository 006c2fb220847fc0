//! The tools that are served, as the handler of the protocol sees them.

use std::path::PathBuf;
use std::pin::Pin;

use crate::elicitation::ClientPerson;
use pi_subagents_calls::Effect;
use pi_subagents_calls::detached_process::CallRecord;
use pi_subagents_calls::progress::OnCallProgress;
use pi_subagents_calls::watch::Cancelled;
use rmcp::model::{CallToolResult, Resource, ResourceTemplate, Tool};
use serde_json::{Map, Value};

/// Tools that clients can list and call, several at once.
pub(crate) trait Tools: Send + Sync + 'static {
    /// Lists all tools with their effects, also those that are not offered yet; asked once.
    fn list(&self) -> Vec<(Tool, Effect)>;

    /// Returns whether a tool is offered to a client now; asked for every list and after every call,
    /// so it must not take long.
    fn is_offered(&self, _tool: &str, _client: &Client) -> bool {
        true
    }

    /// Looks at what a client can be offered, before it lists the tools.
    fn look<'a>(&'a self, _client: &'a Client) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async {})
    }

    /// Explains why a tool is not listed, if there is more to say than that it does not exist.
    fn why_not_listed(&self) -> Option<String> {
        None
    }

    /// Returns the question that the client's person should decide before this call, again and
    /// again until [`Tools::decided`] is called.
    fn question<'a>(
        &'a self,
        tool: &'a str,
        roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Option<Question>> + Send + 'a>>;

    /// Takes the decision; `None` if the person did not decide.
    fn decided(&self, question: &Question, option: Option<&str>);

    /// Lists the resources that can be read beside calling tools.
    fn resources<'a>(
        &'a self,
        _client: &'a Client,
        _roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Vec<Resource>> + Send + 'a>> {
        Box::pin(async { Vec::new() })
    }

    /// Lists the forms of the URIs that can be read.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource; fails with a text for the client if there is no such resource.
    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
        _roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>> {
        Box::pin(async move { Err(format!("There is no resource {uri}.")) })
    }

    /// Calls a tool that is listed.
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = CallToolResult> + Send + '_>>;

    /// Makes the record of a call that is to outlive this server; `None` if that cannot be, and the
    /// call is to be answered when it has ended.
    fn begin_task<'a>(
        &'a self,
        _call: &'a LongCall,
    ) -> Pin<Box<dyn Future<Output = Option<CallRecord>> + Send + 'a>> {
        Box::pin(async { None })
    }

    /// Does a call that has a record, and returns when it has ended.
    fn do_task(
        &self,
        _call: LongCall,
        _record: CallRecord,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }

    /// Returns the record of a call, as it is now.
    fn task<'a>(
        &'a self,
        _id: &'a str,
    ) -> Pin<Box<dyn Future<Output = Option<CallRecord>> + Send + 'a>> {
        Box::pin(async { None })
    }

    /// Takes the answers of the client's person to questions of a call that has a record, each under
    /// the id of its question.
    fn answer_task<'a>(
        &'a self,
        _id: &'a str,
        _answers: Map<String, Value>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async {})
    }

    /// Ends a call that has a record early. Returns when it has been asked to end.
    fn cancel_task<'a>(&'a self, _id: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async {})
    }
}

/// The introduction that a client gets when it connects.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    /// The name of the server.
    pub(crate) name: String,
    /// The name for people.
    pub(crate) title: String,
    /// Its version.
    pub(crate) version: String,
    /// The instructions for the client's model about the tools together.
    pub(crate) instructions: String,
}

/// A question to a person, with the answers it can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The subject of the question. Two questions about the same subject are never asked at once.
    pub(crate) about: PathBuf,
    /// The text for the person.
    pub(crate) message: String,
    /// The answers to choose from.
    pub(crate) options: Vec<String>,
}

/// The client that calls, by which its runs are known as its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    /// The name by which its program introduces itself.
    pub(crate) name: Option<String>,
    /// Its session, where several clients share this server.
    pub(crate) session: Option<String>,
}

/// A call whose client asks how it stands and waits for no answer.
#[derive(Debug, Clone)]
pub(crate) struct LongCall {
    /// The name of the tool.
    pub(crate) tool: String,
    /// The arguments of the call.
    pub(crate) arguments: Map<String, Value>,
    /// The directories the client works in, as far as they are known.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) client: Client,
    /// True if the client has somebody who can answer questions.
    pub(crate) has_person: bool,
}

/// One call of a tool.
pub(crate) struct Call {
    /// The name of the tool.
    pub(crate) tool: String,
    /// The arguments of the call.
    pub(crate) arguments: Map<String, Value>,
    /// The directories the client works in, as far as they are known.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) client: Client,
    /// The person of the client, if questions can be sent in the middle of a call.
    pub(crate) person: Option<ClientPerson>,
    /// Takes how far it is, if somebody wants to know.
    pub(crate) on_progress: Option<OnCallProgress>,
    /// Becomes ready when nobody wants the answer any more.
    pub(crate) cancelled: Cancelled,
}
