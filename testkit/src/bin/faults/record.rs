//! Reads the files of a round's runs.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::Value;

use crate::words::words_in;

/// The directory of a run, and its task.
#[derive(Debug, Clone)]
pub(crate) struct RunFiles {
    pub(crate) directory: PathBuf,
    meta: Value,
}

impl RunFiles {
    pub(crate) fn id(&self) -> &str {
        self.meta["runId"].as_str().unwrap_or_default()
    }

    pub(crate) fn session(&self) -> &str {
        self.meta["sessionId"].as_str().unwrap_or_default()
    }

    pub(crate) fn owner(&self) -> Option<u32> {
        u32::try_from(self.meta["owner"]["pid"].as_u64()?).ok()
    }

    /// Returns whether the run has a result.
    pub(crate) fn is_over(&self) -> bool {
        self.directory.join("result.json").is_file()
    }

    /// Returns the result, if it can be read.
    pub(crate) fn result(&self) -> Option<Value> {
        let text = fs::read(self.directory.join("result.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Returns the number of endings in its events.
    pub(crate) fn endings(&self) -> usize {
        let lines = json_lines(&self.directory.join("events.jsonl"));
        lines
            .iter()
            .filter(|line| line["type"] == "run_ended")
            .count()
    }

    /// Returns the words of the model's messages in the child's own session, in their order.
    pub(crate) fn model_words(&self) -> Vec<String> {
        let lines = json_lines(&self.directory.join("child-session.jsonl"));
        let answers = lines
            .iter()
            .filter(|line| line["message"]["role"] == "assistant");
        answers
            .flat_map(|line| words_in(&line["message"]["content"].to_string()))
            .collect()
    }
}

/// Returns the runs of a sandbox, whose record is there.
pub(crate) fn runs(sandbox: &Sandbox) -> Vec<RunFiles> {
    let places = [
        sandbox.project().join(".pi/subagents/runs"),
        sandbox.agent_dir().join("subagents/runs"),
    ];
    let mut directories: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| fs::read_dir(place).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .collect();
    directories.sort();
    directories
        .into_iter()
        .filter_map(|directory| {
            let meta = fs::read(directory.join("meta.json")).ok()?;
            let meta = serde_json::from_slice(&meta).ok()?;
            Some(RunFiles { directory, meta })
        })
        .collect()
}

/// Returns the index of a sandbox.
pub(crate) fn index(sandbox: &Sandbox) -> PathBuf {
    sandbox.agent_dir().join("subagents-index.jsonl")
}

/// Returns how many lines of the index note the end of a run.
pub(crate) fn ends_in_index(sandbox: &Sandbox, run: &str) -> usize {
    let lines = json_lines(&index(sandbox));
    let is_end = |line: &&Value| line["run"] == run && line["status"].is_string();
    lines.iter().filter(is_end).count()
}

/// Returns the lines of a file that are JSON.
fn json_lines(file: &Path) -> Vec<Value> {
    let bytes = fs::read(file).unwrap_or_default();
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}
