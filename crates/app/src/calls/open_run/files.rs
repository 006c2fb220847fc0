//! Writes the files that a child needs into its run directory.

use std::path::{Path, PathBuf};

use pi_subagents_definitions::{PlanPatch, PromptFiles};
use pi_subagents_delegation::{Refusal, Runner, SystemPrompt};
use pi_subagents_files::write_whole;
use pi_subagents_sessions::RunDir;

use super::child_extension::write_child_extension;
use crate::calls::caller::Caller;
use crate::calls::resolve::ResolvedWork;

/// The files of one child.
pub(super) struct RunFiles {
    pub(super) prompts: PromptFiles,
    /// What a pi child loads.
    extension: Option<PathBuf>,
}

impl RunFiles {
    /// Writes them. System prompts reach a child through files, never through arguments.
    pub(super) fn write(
        work: &ResolvedWork,
        caller: &Caller,
        directory: Option<&RunDir>,
    ) -> Result<Self, Refusal> {
        let refuse = |why: &dyn std::fmt::Display| Refusal {
            message: format!("The files that its child needs could not be written: {why}"),
        };
        let patch = work.patch.as_ref();
        let Some(directory) = directory else {
            return match patch {
                Some(_) => Err(refuse(&"the run has no directory")),
                None => Ok(Self {
                    prompts: no_prompts(),
                    extension: None,
                }),
            };
        };
        let prompts = patch.map_or_else(no_prompts, |patch| patch.prompt_files(directory.path()));
        for (path, text) in &prompts.files {
            write_whole(path, text.as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", path.display())))?;
        }
        let extension = match work.runner {
            Runner::Pi => write_child_extension(patch, &work.model.choice, caller, directory)
                .map_err(|error| refuse(&error))?,
            Runner::Embedded => None,
        };
        Ok(Self { prompts, extension })
    }

    /// Returns the text of the system prompt and the file that carries it.
    pub(super) fn system_prompt(&self) -> Option<(&str, &Path)> {
        let (path, text) = self.prompts.files.first()?;
        Some((text.as_str(), path.as_path()))
    }

    /// Adds a file to the system prompt.
    pub(super) fn add_prompt(&mut self, file: PathBuf) {
        match &mut self.prompts.policy {
            SystemPrompt::Inherit => self.prompts.policy = SystemPrompt::Append(vec![file]),
            SystemPrompt::Append(files) | SystemPrompt::Replace { append: files, .. } => {
                files.push(file);
            }
        }
    }

    /// Returns the arguments for what a plan has no field for.
    pub(super) fn further_arguments(&self, patch: Option<&PlanPatch>) -> Vec<String> {
        let mut arguments = patch.map(PlanPatch::further_arguments).unwrap_or_default();
        if let Some(extension) = &self.extension {
            arguments.extend(["--extension".to_owned(), extension.display().to_string()]);
        }
        arguments
    }
}

fn no_prompts() -> PromptFiles {
    PromptFiles {
        policy: SystemPrompt::Inherit,
        files: Vec::new(),
    }
}
