//! The files of a run's record.

use std::path::PathBuf;

use pi_subagents_records::RunDir;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files of a run. A file is named once it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifacts {
    /// The directory of the record.
    pub(crate) directory: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meta: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    events: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdout: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stderr: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transcript: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child_session: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt: Option<PathBuf>,
}

impl Artifacts {
    /// Looks which files there are in the directory of a run.
    pub(crate) fn of(directory: &RunDir) -> Self {
        let there = |file: PathBuf| file.symlink_metadata().is_ok().then_some(file);
        Self {
            directory: directory.path().to_owned(),
            meta: there(directory.meta()),
            events: there(directory.events()),
            result: there(directory.result()),
            stdout: there(directory.stdout()),
            stderr: there(directory.stderr()),
            transcript: there(directory.transcript()),
            child_session: there(directory.child_session()),
            system_prompt: there(directory.system_prompt()),
        }
    }
}
