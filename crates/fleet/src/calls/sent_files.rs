//! The files of a project on their way to workers.

use std::path::{Path, PathBuf};

use pi_subagents_configuration::FleetSettings;
use pi_subagents_files::write_whole;
use pi_subagents_fleet_queue::wire::{SentWorkspace, Shared};
use pi_subagents_fleet_queue::{Fleet, begins};
use pi_subagents_git::{ObjectId, Pin, Repository, pin};
use pi_subagents_vocabulary::{Refusal, RunId, WorkspaceChoice};

use super::published_project::Published;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;

/// The files that the runs of a call find on their worker.
pub(crate) struct SentFiles {
    /// The directory that became the workspace; `None` if the workspace is empty.
    root: Option<PathBuf>,
    workspace: SentWorkspace,
    /// The repository that the workspace is one of, if it is.
    repository: Option<Repository>,
    /// The repository and its submodules, by their paths in the workspace.
    parts: Vec<(String, Repository)>,
    /// The file that proves that a directory is shared; removed when the call is over.
    _token: Option<TokenFile>,
    /// The warnings about them for a person.
    pub(crate) warnings: Vec<String>,
}

impl SentFiles {
    /// Sends the files of the project that a directory is in.
    pub(crate) async fn send(
        fleet: &Fleet,
        choice: WorkspaceChoice,
        cwd: &Path,
        settings: &FleetSettings,
    ) -> Result<Self, CommandError> {
        match choice {
            WorkspaceChoice::None => Ok(Self {
                root: None,
                workspace: SentWorkspace::None,
                repository: None,
                parts: Vec::new(),
                _token: None,
                warnings: Vec::new(),
            }),
            WorkspaceChoice::Shared => Self::share(cwd),
            WorkspaceChoice::Bundle => super::package::send(fleet, cwd, settings).await,
            WorkspaceChoice::Clone => Ok(Published::look(cwd).await?.sent()),
        }
    }

    /// Makes the files of a repository, with its submodules.
    pub(super) fn of_repository(
        repository: Repository,
        workspace: SentWorkspace,
        submodules: Vec<(String, Repository)>,
        warnings: Vec<String>,
    ) -> Self {
        let project = (String::new(), repository.clone());
        Self {
            root: Some(repository.top().to_owned()),
            workspace,
            repository: Some(repository),
            parts: [project].into_iter().chain(submodules).collect(),
            _token: None,
            warnings,
        }
    }

    /// Returns the id of the repository that the workspace is one of, if it is.
    pub(super) fn repository_id(&self) -> Option<String> {
        self.repository.as_ref()?.id().ok()
    }

    /// Returns the repository of the workspace and its submodules, by their paths in it.
    pub(super) fn parts(&self) -> &[(String, Repository)] {
        &self.parts
    }

    /// Keeps the states that a run begins from, so that its changes can be shown and merged.
    pub(super) fn keep_for(&self, run: &RunId, workspace: &SentWorkspace) {
        for begin in begins(workspace) {
            let part = self.parts.iter().find(|(path, _)| *path == begin.path);
            if let (Some((_, repository)), Some(commit)) = (part, ObjectId::parse(&begin.commit)) {
                // Without it diff and merge have nothing to compare the result with, and say so.
                _ = pin(repository, run.as_str(), Pin::Base, &commit);
            }
        }
    }

    /// Leaves a token in a directory that workers see under the same path.
    fn share(cwd: &Path) -> Result<Self, CommandError> {
        let token = random::new_secret()?;
        let name = format!(".pi-subagents-shared-{}", &token[..8]);
        let file = TokenFile(cwd.join(&name));
        write_whole(&file.0, token.as_bytes()).map_err(|error| {
            CommandError::failed(format!(
                "the file that proves that {} is shared could not be written",
                cwd.display()
            ))
            .because(&error)
        })?;
        Ok(Self {
            root: Some(cwd.to_owned()),
            workspace: SentWorkspace::Shared(Shared {
                path: cwd.display().to_string(),
                token_file: name,
                token,
            }),
            repository: None,
            parts: Vec::new(),
            _token: Some(file),
            warnings: Vec::new(),
        })
    }

    /// Returns whether a directory is among the files.
    pub(super) fn has(&self, cwd: &Path) -> bool {
        self.root.is_none() || self.inside(cwd).is_some()
    }

    fn inside(&self, cwd: &Path) -> Option<PathBuf> {
        match &self.repository {
            Some(repository) => repository.relative(cwd),
            None => cwd
                .strip_prefix(self.root.as_ref()?)
                .ok()
                .map(Path::to_owned),
        }
    }

    /// Returns the workspace of a task and its directory in it.
    pub(super) fn of_task(&self, cwd: &Path) -> Result<(SentWorkspace, String), Refusal> {
        let Some(root) = &self.root else {
            return Ok((self.workspace.clone(), String::new()));
        };
        let relative = self.inside(cwd).ok_or_else(|| Refusal {
            message: format!(
                "{} is not in {}, whose files are sent with this call; use --on local for it, or a separate call",
                cwd.display(),
                root.display()
            ),
        })?;
        let relative = relative.to_str().ok_or_else(|| Refusal {
            message: format!("{} is not text, and cannot be sent", cwd.display()),
        })?;
        Ok((self.workspace.clone(), relative.to_owned()))
    }
}

/// A file that is removed with the call.
struct TokenFile(PathBuf);

impl Drop for TokenFile {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        _ = std::fs::remove_file(&self.0);
    }
}
