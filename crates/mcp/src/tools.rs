//! The tools that are served: the other side of this crate's boundary.

use std::path::PathBuf;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::progress::OnProgress;

/// Tools that clients can list and call, several at once.
///
/// It is used as an object: generic code would compile the protocol's library again in the crate
/// that implements it.
pub trait Tools: Send + Sync + 'static {
    /// Lists all tools, also those that are not offered yet; asked once.
    fn list(&self) -> Vec<ToolDescription>;

    /// Returns whether a tool is offered now; asked for every list and after every call, so it must
    /// not take long.
    fn is_offered(&self, _tool: &str) -> bool {
        true
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
        _roots: &'a [PathBuf],
    ) -> Pin<Box<dyn Future<Output = Vec<ResourceDescription>> + Send + 'a>> {
        Box::pin(async { Vec::new() })
    }

    /// Lists the forms of the URIs that can be read.
    fn resource_templates(&self) -> Vec<ResourceTemplateDescription> {
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
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = CallAnswer> + Send + '_>>;
}

/// The introduction that a client gets when it connects.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// The name of the server.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Its version.
    pub version: String,
    /// The instructions for the client's model about the tools together.
    pub instructions: String,
}

/// A tool as a client lists it.
#[derive(Debug, Clone)]
pub struct ToolDescription {
    /// The name by which it is called.
    pub name: String,
    /// The name for people, where tools are listed.
    pub title: String,
    /// The description for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The effect of a call.
    pub effect: ToolEffect,
}

/// A resource as a client lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceDescription {
    /// The address by which it is read.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people, where resources are listed.
    pub title: String,
    /// The description of its content.
    pub description: String,
}

/// Resources of the same kind, as a client lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplateDescription {
    /// The form of their URIs (RFC 6570).
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people, where templates are listed.
    pub title: String,
    /// The description of their contents.
    pub description: String,
}

/// The effect of calling a tool. A client decides by it whom to ask before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// It only reads.
    Reads,
    /// It may change anything, and answers soon.
    Changes,
    /// It may change anything, and may take long: a client that knows tasks gets one.
    ChangesForLong,
    /// It changes files of this machine, and a second call changes nothing more.
    ChangesOnce,
}

/// A question to a person, with the answers it can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The subject of the question. Two questions about the same subject are never asked at once.
    pub about: PathBuf,
    /// The text for the person.
    pub message: String,
    /// The answers to choose from.
    pub options: Vec<String>,
}

/// One call of a tool.
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The directories the client works in, as far as they are known.
    pub roots: Vec<PathBuf>,
    /// The name by which the client's program introduces itself.
    pub client: Option<String>,
    /// True if the client asks how the call stands and waits for no answer.
    pub is_task: bool,
    /// Takes how far it is, if somebody wants to know.
    pub on_progress: Option<OnProgress>,
    /// Becomes ready when nobody wants the answer any more.
    pub cancelled: Cancelled,
}

/// Becomes ready when nobody wants the answer any more.
pub type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct CallAnswer {
    /// The text for the client's model.
    pub text: String,
    /// The same as data, for programs.
    pub details: Option<Map<String, Value>>,
    /// True if the tool could not do its job.
    pub is_error: bool,
}
