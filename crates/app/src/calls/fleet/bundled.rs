//! The files of a repository as git objects: its last commits once, and then what is new since.

use std::path::{Path, PathBuf};

use pi_subagents_definitions::FleetSettings;
use pi_subagents_delegation::text::count;
use pi_subagents_files::{read_own_text, write_whole};
use pi_subagents_fleet::names::{base_object, snapshot_object};
use pi_subagents_fleet::wire::{self, Workspace};
use pi_subagents_fleet::{BlobError, Fleet};
use pi_subagents_windows::figures::bytes;
use pi_subagents_workspaces::{
    Bundle, LeftOut, ObjectId, Repository, Snapshot, WhyLeftOut, WorkspaceError, bundle_base,
    bundle_thin, largest_files,
};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::sent_files::SentFiles;
use crate::error::CommandError;

/// A base that is further behind is replaced by a new one.
const FURTHEST_BASE: u64 = 200;

/// The file in the repository's own directory that names the last base that was sent.
const NOTE: &str = "pi-subagents-base.json";

/// More is not read of that file.
const LONGEST_NOTE: u64 = 1 << 20;

/// The base that was sent last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Base {
    object: String,
    commit: String,
    shallow: Vec<String>,
}

/// A repository as it is now, and the bundles that are still to be sent.
pub(super) struct Packed {
    repository: Repository,
    snapshot: Snapshot,
    id: String,
    head: ObjectId,
    base: Base,
    /// The bundle of the base, unless the fleet has it.
    new_base: Option<(PathBuf, Bundle)>,
    /// The objects that lead from the base to the snapshot, unless the base holds them.
    thin: Option<(PathBuf, Bundle)>,
    /// The bundles are in it.
    _scratch: TempDir,
}

/// Sends a repository to the fleet: only what the fleet does not have.
pub(super) async fn send(
    fleet: &Fleet,
    cwd: &Path,
    settings: &FleetSettings,
) -> Result<SentFiles, CommandError> {
    let packed = pack(fleet, cwd, settings).await?;
    let blobs = fleet.blobs();
    if let Some((file, _)) = &packed.new_base {
        let sent = blobs.put(&packed.base.object, file).await;
        sent.map_err(|error| not_sent(&error))?;
        packed.remember_base();
    }
    if let Some((file, bundle)) = &packed.thin {
        let name = snapshot_object(bundle.commit.as_str());
        if blobs
            .size(&name)
            .await
            .map_err(|error| not_sent(&error))?
            .is_none()
        {
            let sent = blobs.put(&name, file).await;
            sent.map_err(|error| not_sent(&error))?;
        }
    }
    Ok(packed.sent())
}

/// Packs a repository: finds out what the fleet has, and writes the rest into bundles.
pub(super) async fn pack(
    fleet: &Fleet,
    cwd: &Path,
    settings: &FleetSettings,
) -> Result<Packed, CommandError> {
    let directory = cwd.to_owned();
    let looked = on_thread(move || look(&directory)).await?;
    let mut known = looked.known.clone();
    if let Some(base) = &known {
        let size = fleet.blobs().size(&base.object).await;
        if size.map_err(|error| not_sent(&error))?.is_none() {
            known = None;
        }
    }
    let (history, most) = (settings.history, settings.max_upload);
    on_thread(move || write_bundles(looked, known, history, most)).await
}

/// The state of a repository before anything is written.
struct Looked {
    repository: Repository,
    snapshot: Snapshot,
    id: String,
    head: ObjectId,
    known: Option<Base>,
}

fn look(cwd: &Path) -> Result<Looked, CommandError> {
    let repository = Repository::find(cwd).map_err(|error| no_repository(&error))?;
    let snapshot = Snapshot::take(&repository).map_err(|error| not_packed(&error))?;
    let head = repository
        .demand_head()
        .map_err(|error| not_packed(&error))?;
    let known = read_base(&repository, &head);
    Ok(Looked {
        id: repository.id().map_err(|error| not_packed(&error))?,
        known,
        repository,
        snapshot,
        head,
    })
}

/// Returns the base that was sent last, if it is near enough.
fn read_base(repository: &Repository, head: &ObjectId) -> Option<Base> {
    let text = read_own_text(&note_of(repository), LONGEST_NOTE).ok()?;
    let base: Base = serde_json::from_str(&text).ok()?;
    let commit = ObjectId::parse(&base.commit)?;
    let distance = repository.distance(&commit, head).ok()??;
    (distance <= FURTHEST_BASE).then_some(base)
}

fn note_of(repository: &Repository) -> PathBuf {
    repository.common_dir().join(NOTE)
}

fn write_bundles(
    looked: Looked,
    known: Option<Base>,
    history: u32,
    most: u64,
) -> Result<Packed, CommandError> {
    let Looked {
        repository,
        snapshot,
        id,
        head,
        ..
    } = looked;
    let scratch = TempDir::new().map_err(|error| {
        CommandError::failed("a temporary directory could not be made").because(&error)
    })?;
    let (base, new_base) = if let Some(base) = known {
        (base, None)
    } else {
        let file = scratch.path().join("base.bundle");
        let bundle = bundle_base(&repository, &head, history, &file);
        let bundle = bundle.map_err(|error| not_packed(&error))?;
        let base = Base {
            object: base_object(&id, head.as_str(), history),
            commit: head.to_string(),
            shallow: bundle.shallow.iter().map(ToString::to_string).collect(),
        };
        (base, Some((file, bundle)))
    };
    let ids = |texts: &[String]| -> Vec<ObjectId> {
        texts
            .iter()
            .filter_map(|text| ObjectId::parse(text))
            .collect()
    };
    let have = ids(std::slice::from_ref(&base.commit));
    let file = scratch.path().join("thin.bundle");
    let thin = bundle_thin(
        &repository,
        &snapshot.commit,
        &have,
        &ids(&base.shallow),
        &file,
    );
    let thin = thin.map_err(|error| not_packed(&error))?;
    let packed = Packed {
        thin: thin.map(|bundle| (file, bundle)),
        repository,
        snapshot,
        id,
        head,
        base,
        new_base,
        _scratch: scratch,
    };
    packed.check_size(most)?;
    Ok(packed)
}

impl Packed {
    /// Returns how many bytes travel.
    pub(super) fn bytes(&self) -> u64 {
        let bundles = [&self.new_base, &self.thin];
        bundles
            .into_iter()
            .flatten()
            .map(|(_, bundle)| bundle.bytes)
            .sum()
    }

    /// Describes what travels, for somebody who only wants to know.
    pub(super) fn described(&self) -> Vec<String> {
        let base = match &self.new_base {
            Some((_, bundle)) => format!(
                "{} of history, which the fleet does not have yet",
                bytes(bundle.bytes)
            ),
            None => format!(
                "history up to {}, which the fleet has",
                &self.base.commit[..12.min(self.base.commit.len())]
            ),
        };
        let thin = match &self.thin {
            Some((_, bundle)) => format!("{} since then", bytes(bundle.bytes)),
            None => "nothing since then".to_owned(),
        };
        let changed = match self.snapshot.uncommitted.len() {
            0 => "no uncommitted files".to_owned(),
            number => count(number, "uncommitted file"),
        };
        let mut lines = vec![
            format!("repository  {}", self.repository.top().display()),
            format!("commit      {} with {changed}", self.head),
            format!("upload      {}: {base}, and {thin}", bytes(self.bytes())),
        ];
        lines.extend(self.left_out().map(|line| format!("left out    {line}")));
        lines
    }

    fn left_out(&self) -> impl Iterator<Item = String> {
        self.snapshot.left_out.iter().map(|LeftOut { path, why }| {
            let path = path.display();
            match why {
                WhyLeftOut::TooLarge { bytes: size } => {
                    format!("{path}, which is not in git and has {}", bytes(*size))
                }
                WhyLeftOut::NestedRepository => format!("{path}, which is a repository of its own"),
            }
        })
    }

    fn check_size(&self, most: u64) -> Result<(), CommandError> {
        let size = self.bytes();
        if size <= most {
            return Ok(());
        }
        let base = match &self.new_base {
            Some(_) => None,
            None => ObjectId::parse(&self.base.commit),
        };
        let largest = largest_files(&self.repository, base.as_ref(), &self.snapshot.commit);
        let largest = largest.unwrap_or_default();
        let files = largest
            .iter()
            .map(|(path, size)| format!("  {}  {}", bytes(*size), path.display()));
        let files: Vec<String> = files.collect();
        Err(CommandError::failed(format!(
            "{} of {} would travel to the fleet, and subagents.fleet.maxUpload allows {}",
            bytes(size),
            self.repository.top().display(),
            bytes(most)
        ))
        .hint(format!("Its largest files are:\n{}", files.join("\n")))
        .hint("Send less history (subagents.fleet.history), allow more (maxUpload), or use --workspace none."))
    }

    fn remember_base(&self) {
        // Without the note the base is sent again next time.
        if let Ok(text) = serde_json::to_vec(&self.base) {
            _ = write_whole(&note_of(&self.repository), &text);
        }
    }

    fn sent(self) -> SentFiles {
        let warnings = self
            .left_out()
            .map(|line| format!("not sent to the fleet: {line}"))
            .collect();
        let snapshot = self.thin.as_ref();
        let snapshot = snapshot.map(|(_, bundle)| snapshot_object(bundle.commit.as_str()));
        let workspace = Workspace::Bundle(Box::new(wire::Bundle {
            repo: self.id,
            base: self.base.object,
            shallow: self.base.shallow,
            head: self.head.to_string(),
            commit: self.snapshot.commit.to_string(),
            snapshot,
            origin: self.repository.origin().ok().flatten(),
            submodules: Vec::new(),
            lfs: Vec::new(),
        }));
        SentFiles::bundled(self.repository, self.snapshot.commit, workspace, warnings)
    }
}

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(CommandError::failed("this is a bug in pi-subagents").because(&error))
    })
}

fn no_repository(error: &WorkspaceError) -> CommandError {
    CommandError::usage(format!("{error}, so its files cannot travel to a fleet"))
        .hint("Use --workspace none to work in an empty directory, or --workspace shared if the workers see this directory under the same path.")
}

fn not_packed(error: &WorkspaceError) -> CommandError {
    CommandError::failed("the files of the project could not be packed for the fleet")
        .because(error)
}

fn not_sent(error: &BlobError) -> CommandError {
    CommandError::failed("the files of the project could not be sent to the fleet").because(error)
}
