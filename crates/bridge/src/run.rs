//! From the command line to an exit code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::bridge::Bridge;
use crate::flags::{self, Flags};
use crate::{output, reports};

/// The place in which a bridge works.
#[derive(Debug, Clone)]
pub struct BridgePlace {
    /// This program.
    pub program: PathBuf,
    /// The directory of the child.
    pub cwd: PathBuf,
    /// The environment, of which the values of MCP servers name variables.
    pub variables: BTreeMap<String, String>,
}

/// Runs `bridge acp NAME …` until its stdin closes, or `bridge report …`, and returns the exit code.
pub fn run(arguments: Vec<String>, place: &BridgePlace) -> u8 {
    let mut words = arguments.into_iter();
    let done = match words.next().as_deref() {
        Some("acp") => flags::parse(words)
            .map_err(|error| error.to_string())
            .and_then(|flags| serve(&flags, place)),
        Some("report") => reports::serve(&words.collect::<Vec<_>>()),
        _ => Err("use bridge acp NAME --program PATH; --runner NAME starts it".to_owned()),
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            output::notice(&format!("bridge: {error}"));
            1
        }
    }
}

fn serve(flags: &Flags, place: &BridgePlace) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(said)?;
    let (output, writer) = output::start().map_err(said)?;
    let commands = output::commands().map_err(said)?;
    let served = runtime.block_on(async {
        let bridge = Bridge::start(flags, place, output)?;
        bridge.serve(commands).await;
        Ok(())
    });
    // The keeper of the run ends the processes that the agent has started.
    runtime.shutdown_background();
    writer.finish();
    served
}
