//! The functions of a program, served to the sub-agents of its team.

use std::collections::BTreeMap;
use std::ffi::OsString;

use pi_subagents_ground::error::CommandError;
use pi_subagents_host_tools::{HostToolServer, HostTools};
use pi_subagents_vocabulary::{McpServer, read_servers};
use serde_json::{Map, Value};

/// Servers that run, as tasks name them.
#[derive(Default)]
pub(super) struct ServedTools {
    pub(super) running: Vec<HostToolServer>,
    pub(super) entries: Vec<McpServer>,
    /// The tokens, by the variables that the entries name.
    pub(super) variables: BTreeMap<OsString, OsString>,
}

/// Serves functions until what is returned is dropped.
pub(super) async fn serve(all: Vec<HostTools>) -> Result<ServedTools, CommandError> {
    let mut served = ServedTools::default();
    let mut entries = Map::new();
    for tools in all {
        let running = tools.serve().await.map_err(|error| {
            CommandError::usage("the tools of this program cannot be served").because(&error)
        })?;
        let variable = (running.variable().into(), running.token().into());
        let is_second = entries
            .insert(running.name().to_owned(), running.entry())
            .is_some();
        if is_second || served.variables.insert(variable.0, variable.1).is_some() {
            let name = running.name();
            return Err(CommandError::usage(format!(
                "two servers of tools are called {name}"
            )));
        }
        served.running.push(running);
    }
    let read = read_servers(&Value::Object(entries));
    served.entries = read.map_err(|error| {
        CommandError::usage("the tools of this program cannot be served").because(&error)
    })?;
    Ok(served)
}
