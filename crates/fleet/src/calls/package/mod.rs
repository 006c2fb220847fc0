//! The files of a project as git objects: the last commits of it and of its submodules once, and then
//! what is new since; large files that git keeps apart; ignored files that the user has named.

mod base;
mod description;
mod earlier_state;
mod included_files;
mod part;
mod upload;

use std::fs;
use std::path::Path;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::names::included_object;
use pi_subagents_fleet_queue::wire::{self, SentWorkspace};
use pi_subagents_fleet_queue::{BlobError, Fleet};
use pi_subagents_git::{Repository, WorkspaceError, bundle_thin, commit_ignored, parts};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

pub(super) use self::earlier_state::{LeftPart, send_left};
use self::included_files::{ChosenFiles, Included, chosen};
use self::part::{Looked, Part};
use self::upload::Upload;
use super::sent_files::SentFiles;
use pi_subagents_ground::error::CommandError;

/// A project as it is now, and what the fleet does not have of it.
pub(super) struct Packed {
    /// The project, and then its submodules.
    parts: Vec<Part>,
    included: Option<Included>,
    /// The objects that the fleet lacks.
    uploads: Vec<Upload>,
    /// The bundles are in it.
    _scratch: TempDir,
}

/// Sends a project to the fleet: only what the fleet does not have.
pub(super) async fn send(
    fleet: &Fleet,
    cwd: &Path,
    settings: &FleetSettings,
) -> Result<SentFiles, CommandError> {
    let packed = pack(fleet, cwd, settings).await?;
    let blobs = fleet.blobs();
    for upload in &packed.uploads {
        let sent = upload.send(&blobs).await;
        sent.map_err(|error| not_sent(&error))?;
    }
    for part in &packed.parts {
        if let (Some(base), Some(_)) = (&part.base, part.new_base) {
            base.remember(&part.repository);
        }
    }
    packed.sent()
}

/// Packs a project: finds out what the fleet has, and writes the rest into bundles.
pub(super) async fn pack(
    fleet: &Fleet,
    cwd: &Path,
    settings: &FleetSettings,
) -> Result<Packed, CommandError> {
    let directory = cwd.to_owned();
    let (patterns, most) = (settings.include.clone(), settings.max_include);
    let (mut looked, ignored) = on_thread(move || {
        let repository = Repository::find(&directory).map_err(|error| no_repository(&error))?;
        let ignored = chosen(&repository, &patterns, most)?;
        let found = parts(&repository).map_err(|error| not_packed(&error))?;
        let looked = found.into_iter().map(Looked::at);
        let looked: Result<Vec<_>, _> = looked.collect();
        Ok((looked.map_err(|error| not_packed(&error))?, ignored))
    })
    .await?;
    let blobs = fleet.blobs();
    for one in &mut looked {
        if let Some(base) = &one.known {
            let size = blobs.size(&base.object).await;
            if size.map_err(|error| not_sent(&error))?.is_none() {
                one.known = None;
            }
        }
    }
    let history = settings.history;
    let mut packed = on_thread(move || {
        let written = write_all(looked, history, ignored);
        written.map_err(|error| not_packed(&error))
    })
    .await?;
    let mut missing = Vec::new();
    for upload in packed.uploads {
        let is_missing = upload.is_missing(&blobs).await;
        if is_missing.map_err(|error| not_sent(&error))? {
            missing.push(upload);
        }
    }
    packed.uploads = missing;
    packed.check_size(settings.max_upload)?;
    Ok(packed)
}

fn write_all(
    looked: Vec<Looked>,
    history: u32,
    ignored: Option<ChosenFiles>,
) -> Result<Packed, WorkspaceError> {
    let no_room = |error| WorkspaceError::File {
        path: std::env::temp_dir(),
        source: error,
    };
    let scratch = TempDir::new().map_err(no_room)?;
    let (mut parts, mut uploads) = (Vec::new(), Vec::new());
    for (number, one) in looked.into_iter().enumerate() {
        let folder = scratch.path().join(number.to_string());
        fs::create_dir(&folder).map_err(no_room)?;
        let (part, its) = one.pack(history, &folder)?;
        parts.push(part);
        uploads.extend(its);
    }
    let mut included = None;
    if let (Some(project), Some(chosen)) = (parts.first(), ignored) {
        let commit = commit_ignored(&project.repository, &chosen.files)?;
        let file = scratch.path().join("included");
        let bundle = bundle_thin(&project.repository, &commit, &[], &[], &file)?;
        let bytes = bundle.map_or(0, |bundle| bundle.bytes);
        let object = included_object(commit.as_str());
        uploads.push(Upload::of(object, file, bytes));
        included = Some(Included { chosen, commit });
    }
    Ok(Packed {
        parts,
        included,
        uploads,
        _scratch: scratch,
    })
}

impl Packed {
    /// Returns how many bytes travel.
    pub(super) fn bytes(&self) -> u64 {
        self.uploads.iter().map(|upload| upload.bytes).sum()
    }

    fn sent(self) -> Result<SentFiles, CommandError> {
        let warnings = self
            .left_out()
            .map(|line| format!("not sent to the fleet: {line}"))
            .collect();
        let mut parts = self.parts.into_iter();
        let project = parts
            .next()
            .ok_or_else(|| CommandError::failed("there is no repository to send"))?;
        let mut bundle = project.wire();
        bundle.included = self.included.map(|included| wire::Included {
            object: included_object(included.commit.as_str()),
            commit: included.commit.to_string(),
        });
        let mut submodules = Vec::new();
        for part in parts {
            let path = part.path.to_str().ok_or_else(|| {
                CommandError::failed(format!(
                    "the path of the submodule {} is not text, and cannot be sent",
                    part.path.display()
                ))
            })?;
            bundle.submodules.push(wire::BundledSubmodule {
                path: path.to_owned(),
                bundle: part.wire(),
            });
            submodules.push((path.to_owned(), part.repository));
        }
        let workspace = SentWorkspace::Bundle(Box::new(bundle));
        Ok(SentFiles::of_repository(
            project.repository,
            workspace,
            submodules,
            warnings,
        ))
    }
}

pub(super) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(CommandError::failed("this is a bug in pi-subagents").because(&error))
    })
}

pub(super) fn no_repository(error: &WorkspaceError) -> CommandError {
    CommandError::usage(format!("{error}, so its files cannot be sent to a fleet"))
        .hint("Use --workspace none to work in an empty directory, or --workspace shared if the workers see this directory under the same path.")
}

pub(super) fn not_packed(error: &WorkspaceError) -> CommandError {
    CommandError::failed("the files of the project could not be packed for the fleet")
        .because(error)
}

fn not_sent(error: &BlobError) -> CommandError {
    CommandError::failed("the files of the project could not be sent to the fleet").because(error)
}
