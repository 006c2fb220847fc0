//! The functions that a program gives to its sub-agents.

use std::fmt::{self, Display};
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host_tool_server::HostToolServer;

/// The longest name of a tool with its server: providers limit it.
const LONGEST_NAME: usize = 64;

/// Everything that stands before the names of tools, beside the name of the server.
const AROUND: &str = "mcp____";

/// A running call. Dropping it stops the call.
pub(crate) type HostCall = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

/// A function that sub-agents can call.
pub(crate) struct HostTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) call: Box<dyn Fn(Value) -> HostCall + Send + Sync>,
}

/// Functions of this program that its sub-agents can call as tools.
///
/// ```
/// use pi_subagents_host_tools::HostTools;
///
/// #[derive(schemars::JsonSchema, serde::Deserialize)]
/// struct Order {
///     /// The number on the receipt.
///     number: u32,
/// }
///
/// let tools = HostTools::new("shop").tool(
///     "find_order",
///     "Says where an order is.",
///     |order: Order| async move {
///         match order.number {
///             7 => Ok("It is on its way.".to_owned()),
///             number => Err(format!("There is no order {number}.")),
///         }
///     },
/// );
/// ```
#[derive(Clone)]
#[must_use]
pub struct HostTools {
    pub(crate) name: String,
    pub(crate) tools: Vec<Arc<HostTool>>,
}

impl HostTools {
    /// Begins a server of tools. Its name has letters, digits, `-` and single `_`; sub-agents see the
    /// tools as `mcp__NAME__TOOL`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            tools: Vec::new(),
        }
    }

    /// Adds a function. A model reads its name, its description and the schema of its arguments, and
    /// the text that it returns; an error is a text for the model too. The function runs in the async
    /// runtime of this program, beside other calls, and is dropped when the run that called it ends.
    pub fn tool<A, F, R, E>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, E>> + Send + 'static,
        E: Display,
    {
        let call = move |arguments: Value| -> HostCall {
            match serde_json::from_value(arguments) {
                Ok(arguments) => {
                    let answer = function(arguments);
                    Box::pin(async move { answer.await.map_err(|error| error.to_string()) })
                }
                Err(error) => {
                    let why = format!("the arguments do not fit: {error}");
                    Box::pin(async { Err(why) })
                }
            }
        };
        self.tools.push(Arc::new(HostTool {
            name: name.into(),
            description: description.into(),
            schema: schemars::schema_for!(A).to_value(),
            call: Box::new(call),
        }));
        self
    }

    /// Serves the functions on the loopback interface until the server is dropped. It needs the async
    /// runtime of tokio.
    pub async fn serve(self) -> io::Result<HostToolServer> {
        self.check()?;
        HostToolServer::start(self).await
    }

    /// Fails if a name is none, or stands twice.
    fn check(&self) -> io::Result<()> {
        let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if !is_name(&self.name) {
            return refuse(format!(
                "\"{}\" is not a name of a server: it may have letters, digits, \"-\" and single \"_\"",
                self.name
            ));
        }
        for (place, tool) in self.tools.iter().enumerate() {
            let length = AROUND.len() + self.name.len() + tool.name.len();
            if !is_name(&tool.name) || length > LONGEST_NAME {
                return refuse(format!(
                    "\"{}\" is not a name of a tool: it may have letters, digits, \"-\" and single \"_\", and at most {LONGEST_NAME} of them with its server",
                    tool.name
                ));
            }
            if tool.schema["type"] != "object" {
                return refuse(format!(
                    "the arguments of {} must be a struct with named fields",
                    tool.name
                ));
            }
            if self.tools[..place].iter().any(|one| one.name == tool.name) {
                return refuse(format!("there are two tools {}", tool.name));
            }
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty()
        && name.bytes().all(is_allowed)
        && !name.contains("__")
        && !name.starts_with('_')
        && !name.ends_with('_')
}

impl fmt::Debug for HostTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut shown = formatter.debug_struct("HostTools");
        shown
            .field("name", &self.name)
            .field("tools", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(schemars::JsonSchema, serde::Deserialize)]
    struct Nothing {}

    fn tools(server: &str, names: &[&str]) -> HostTools {
        let tools = HostTools::new(server);
        names.iter().fold(tools, |tools, name| {
            tools.tool(*name, "", |_: Nothing| async {
                Ok::<_, String>(String::new())
            })
        })
    }

    #[test]
    fn names_are_those_that_every_provider_takes() {
        assert!(tools("shop", &["find_order", "find-item"]).check().is_ok());
        for (server, names) in [
            ("", &["find"][..]),
            ("a__b", &["find"]),
            ("shop", &["find order"]),
            ("shop", &[""]),
            ("shop", &["find", "find"]),
            ("shop", &["x".repeat(60).as_str()]),
        ] {
            assert!(tools(server, names).check().is_err(), "{server} {names:?}");
        }
        let number = |_: u32| async { Ok::<_, String>(String::new()) };
        assert!(
            HostTools::new("shop")
                .tool("find", "", number)
                .check()
                .is_err()
        );
    }
}
