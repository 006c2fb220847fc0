//! Writes the files that a child needs into its run directory.

use std::path::{Path, PathBuf};

use pi_subagents_configuration::{PlanPatch, PromptFiles};
use pi_subagents_files::write_whole;
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{Refusal, Runner, SystemPrompt};

use super::child_extension::write_child_extension;
use super::worktree::Isolated;
use crate::destination::Destination;
use crate::resolve::{ResolvedWork, Resolver};

/// The files of one child.
pub(super) struct RunFiles {
    pub(super) prompts: PromptFiles,
    /// The extension that a pi child loads.
    extension: Option<PathBuf>,
    /// The arguments of the embedded agent: the directories that it does not write to, and the
    /// schema of its report. A pi has both in its extension.
    further: Vec<String>,
}

impl RunFiles {
    /// Writes them. System prompts reach a child through files, never through arguments.
    pub(super) fn write(
        work: &ResolvedWork,
        resolver: &Resolver<'_>,
        directory: Option<&RunDir>,
        isolated: Option<&Isolated>,
    ) -> Result<Self, Refusal> {
        let refuse = |why: &dyn std::fmt::Display| Refusal {
            message: format!("The files that its child needs could not be written: {why}"),
        };
        let patch = work.patch.as_ref();
        let Some(directory) = directory else {
            return match (patch, &work.schema) {
                (Some(_), _) | (None, Some(_)) => Err(refuse(&"the run has no directory")),
                (None, None) => Ok(Self {
                    prompts: no_prompts(),
                    extension: None,
                    further: Vec::new(),
                }),
            };
        };
        let mut prompts =
            patch.map_or_else(no_prompts, |patch| patch.prompt_files(directory.path()));
        for (path, text) in &prompts.files {
            write_whole(path, text.as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", path.display())))?;
        }
        if let Some(isolated) = isolated {
            add_prompt(&mut prompts.policy, isolated.told.clone());
        }
        let extension = match (resolver.destination, work.runner) {
            (Destination::Here, Runner::Pi) => {
                write_child_extension((work, isolated), resolver.caller, directory)
                    .map_err(|error| refuse(&error))?
            }
            // A worker of a fleet writes its own.
            (Destination::Fleet(_), _) | (Destination::Here, Runner::Embedded) => None,
        };
        let mut further = match (work.runner, isolated) {
            (Runner::Embedded, Some(isolated)) => isolated.arguments(),
            (Runner::Embedded | Runner::Pi, _) => Vec::new(),
        };
        if let Some(schema) = &work.schema {
            let file = directory.path().join("output-schema.json");
            write_whole(&file, schema.source().to_string().as_bytes())
                .map_err(|error| refuse(&format!("{}: {error}", file.display())))?;
            if work.runner == Runner::Embedded {
                further.extend(["--output-schema".to_owned(), file.display().to_string()]);
            }
        }
        Ok(Self {
            prompts,
            extension,
            further,
        })
    }

    /// Returns the text of the system prompt and the file that carries it.
    pub(super) fn system_prompt(&self) -> Option<(&str, &Path)> {
        let (path, text) = self.prompts.files.first()?;
        Some((text.as_str(), path.as_path()))
    }

    /// Returns the arguments that have no field in a plan.
    pub(super) fn further_arguments(&self, patch: Option<&PlanPatch>) -> Vec<String> {
        let mut arguments = patch.map(PlanPatch::further_arguments).unwrap_or_default();
        if let Some(extension) = &self.extension {
            arguments.extend(["--extension".to_owned(), extension.display().to_string()]);
        }
        arguments.extend(self.further.iter().cloned());
        arguments
    }
}

/// Adds a file to a system prompt.
fn add_prompt(policy: &mut SystemPrompt, file: PathBuf) {
    match policy {
        SystemPrompt::Inherit => *policy = SystemPrompt::Append(vec![file]),
        SystemPrompt::Append(files) | SystemPrompt::Replace { append: files, .. } => {
            files.push(file);
        }
    }
}

fn no_prompts() -> PromptFiles {
    PromptFiles {
        policy: SystemPrompt::Inherit,
        files: Vec::new(),
    }
}
