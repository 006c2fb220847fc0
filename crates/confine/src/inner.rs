//! `confine --inner`: executes a shell in the inner layer.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::access_rules::{self, AccessRules};
use crate::environment::PROXY_VARIABLES;
use crate::inner_policy::{INNER_VARIABLE, InnerPolicy};
use crate::system_calls::{self, FurtherRefusals};

/// The exit code of a shell whose command cannot be executed.
const CANNOT_EXECUTE: u8 = 126;

/// Closes the inner layer around this process and becomes the program. Returns only if that fails;
/// then nothing was run.
pub fn confine_inner(words: &[OsString]) -> ExitCode {
    let error = execute(words);
    let text = format!("The inner sandbox could not be made: {error}. Nothing was run.\n");
    // If stderr is closed, the exit code is left.
    _ = io::stderr().write_all(text.as_bytes());
    ExitCode::from(CANNOT_EXECUTE)
}

fn execute(words: &[OsString]) -> io::Error {
    let Some((program, arguments)) = words.split_first() else {
        return io::Error::other("there is no program to start");
    };
    let policy = match close() {
        Ok(policy) => policy,
        Err(error) => return error,
    };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(INNER_VARIABLE);
    if policy.closes_gateway {
        for name in PROXY_VARIABLES {
            command.env_remove(name);
        }
    }
    command.exec()
}

fn close() -> io::Result<InnerPolicy> {
    let policy = std::env::var(INNER_VARIABLE).map_err(io::Error::other)?;
    let policy: InnerPolicy = serde_json::from_str(&policy)?;
    // The outer layer says what may be read and written. This one keeps signals and the files of
    // processes inside.
    access_rules::restrict(&AccessRules {
        readable: Vec::new(),
        listable: Vec::new(),
        writable: vec![PathBuf::from("/")],
    })?;
    system_calls::restrict(FurtherRefusals {
        metadata: false,
        network: policy.closes_network,
    })?;
    Ok(policy)
}
