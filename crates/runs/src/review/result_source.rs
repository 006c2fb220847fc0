//! Where the files of a result can be read, and what a screen shows of it beside them.

use std::path::{Path, PathBuf};

use pi_subagents_git::{Change, Repository, file_patch};
use pi_subagents_records::IndexedRun;
use pi_subagents_view::receipt_lines;
use pi_subagents_vocabulary::RunReport;
use pi_subagents_vocabulary::review::{FileDiff, TouchedPath};
use pi_subagents_vocabulary::text::{clean, one_line};

use super::queue::WaitingResult;

/// Where the files of a result can be read.
#[derive(Debug, Clone)]
pub struct ResultSource {
    pub indexed: IndexedRun,
    pub(super) repository: Repository,
    pub(super) change: Change,
}

impl ResultSource {
    /// Names the two states between which it is the difference.
    pub fn states(&self) -> String {
        format!("{}..{}", self.change.base, self.change.result)
    }

    /// Reads the difference of one file. An error says why there is none to show.
    pub fn diff(&self, file: &TouchedPath) -> Result<FileDiff, String> {
        let paths = [Some(&file.path), file.from.as_ref()];
        let paths: Vec<PathBuf> = paths.into_iter().flatten().map(PathBuf::from).collect();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let patch = file_patch(&self.repository, &self.change, &paths);
        match patch.map_err(|error| error.to_string())? {
            Some(patch) => Ok(FileDiff::read(&String::from_utf8_lossy(&patch))),
            None => Err("its difference has more than 20 MB".to_owned()),
        }
    }
}

impl WaitingResult {
    /// Returns where its files can be read.
    pub fn source(&self) -> ResultSource {
        ResultSource {
            indexed: self.result.run.clone(),
            repository: self.result.repository.clone(),
            change: self.result.change.clone(),
        }
    }

    /// Names the state that its run began from.
    pub fn base_words(&self) -> Option<String> {
        let base = self.result.workspace.as_ref()?.base.as_ref()?;
        Some(format!("began with {}", base.words()?))
    }
}

/// Lists what was seen of a run, a line for each kind.
pub fn seen_lines(report: &RunReport) -> Vec<String> {
    let receipt = report.receipt.as_deref();
    let lines = receipt.map(receipt_lines).unwrap_or_default();
    let lines = lines.iter().map(|line| {
        let line = line.trim();
        one_line(&clean(line.strip_prefix("saw: ").unwrap_or(line)))
    });
    lines.collect()
}
