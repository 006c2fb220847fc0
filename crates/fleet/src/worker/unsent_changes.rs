//! Changes that could not be sent when their run ended, mostly because the worker's disk was full.
//! Their workspace is kept, also for the next process with the worker's directory, and they are sent
//! as soon as that works.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_files::{Directory, is_absent, write_whole};
use pi_subagents_fleet_queue::Held;
use pi_subagents_fleet_queue::wire::{LateChanges, Unsent};
use pi_subagents_git::{Cache, ObjectId, Repository};
use pi_subagents_vocabulary::RunId;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::bundle_workspace::{BundledWorkspace, MadeClone, inside};
use super::ground::{CACHES, UNSENT, WORKSPACES, make_room};
use super::one_run::Worker;
use super::order_resolution::NotHere;
use super::sent_changes::SentResult;
use super::worker_lines::print_line;
use super::workplace::Workplace;

/// The file beside the objects of a clone that says what it was made for. It is written while there
/// is room.
const FILE: &str = "pi-subagents-run.json";

/// More than this is not read of it.
const LARGEST: u64 = 16 << 20;

/// More kept workspaces are not looked at.
const MOST: usize = 10_000;

/// The first pause before changes are sent again. Each pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// The fate of what a run has changed, when the run is over.
pub(super) enum LeftChanges {
    /// The fleet has it.
    Sent(SentResult),
    /// It is kept here, for this reason.
    Kept {
        place: PathBuf,
        /// `None` if only the next process can send it.
        changes: Option<UnsentChanges>,
        why: String,
    },
    /// It could not even be kept, for this reason.
    Lost(String),
}

/// A kept workspace with changes that the fleet does not have.
pub(super) struct UnsentChanges {
    run: RunId,
    n: u64,
    directory: PathBuf,
    workspace: BundledWorkspace,
}

/// The facts about a workspace that its files do not tell.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    run: String,
    n: u64,
    /// The project, and then its submodules.
    clones: Vec<NotedClone>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NotedClone {
    path: String,
    /// The name of the cache that it borrows objects from.
    cache: String,
    snapshot: String,
    head: Option<String>,
    large: BTreeSet<String>,
}

impl LeftChanges {
    /// Returns the same for the entry of the run.
    pub(super) fn unsent(&self) -> Option<Unsent> {
        match self {
            Self::Sent(_) => None,
            Self::Kept { place, why, .. } => Some(Unsent {
                place: Some(place.display().to_string()),
                why: why.clone(),
            }),
            Self::Lost(why) => Some(Unsent {
                place: None,
                why: why.clone(),
            }),
        }
    }
}

/// Notes beside the objects of a workspace what it is made for.
pub(super) fn note(workspace: &BundledWorkspace, run: &RunId, n: u64) -> Result<(), NotHere> {
    let clones = workspace.clones.iter().map(|clone| {
        let cache = clone.cache.path().file_name().unwrap_or_default();
        NotedClone {
            path: clone.path.clone(),
            cache: cache.to_string_lossy().into_owned(),
            snapshot: clone.snapshot.to_string(),
            head: clone.head.as_ref().map(ObjectId::to_string),
            large: clone.large.clone(),
        }
    });
    let note = Note {
        run: run.to_string(),
        n,
        clones: clones.collect(),
    };
    let Some(project) = workspace.clones.first() else {
        return Ok(());
    };
    let written = serde_json::to_vec(&note).map_err(io::Error::from);
    let written = written
        .and_then(|content| write_whole(&project.repository.common_dir().join(FILE), &content));
    written.map_err(|error| NotHere::Missing(format!("its workspace could not be made: {error}")))
}

/// Finds the workspaces that an earlier process has kept. They hold on to their caches.
pub(super) fn find(root: &Path) -> Vec<UnsentChanges> {
    let listed = Directory::open_plain(&root.join(UNSENT)).and_then(|kept| kept.list(MOST));
    let entries = listed.unwrap_or_else(|error| {
        if !is_absent(&error) {
            warn!(root = %root.display(), %error, "kept workspaces cannot be listed");
        }
        Vec::new()
    });
    let opened = entries.into_iter().map(|entry| {
        let directory = root.join(UNSENT).join(entry.name);
        UnsentChanges::open(root, &directory).inspect_err(|why| {
            print_line(&format!(
                "{} cannot be sent, and stays: {why}",
                directory.display()
            ));
        })
    });
    opened.filter_map(Result::ok).collect()
}

impl UnsentChanges {
    /// Opens a kept workspace.
    fn open(root: &Path, directory: &Path) -> Result<Self, String> {
        let repository = Repository::find(directory).map_err(|error| error.to_string())?;
        let content = Directory::open_plain(repository.common_dir())
            .and_then(|objects| objects.read(Path::new(FILE), LARGEST));
        let content = content.map_err(|error| format!("{FILE}: {error}"))?;
        let note: Note =
            serde_json::from_slice(&content).map_err(|error| format!("{FILE}: {error}"))?;
        let clones = note.clones.into_iter();
        let clones = clones.map(|clone| clone.open(root, directory));
        Ok(Self {
            run: RunId::parse(&note.run).map_err(|error| error.to_string())?,
            n: note.n,
            directory: directory.to_owned(),
            workspace: BundledWorkspace {
                clones: clones.collect::<Result<Vec<_>, _>>()?,
            },
        })
    }

    /// Removes the workspace.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            let directory = self.directory.display();
            warn!(%directory, %error, "workspace cannot be removed");
        }
    }
}

impl NotedClone {
    fn open(self, root: &Path, directory: &Path) -> Result<MadeClone, String> {
        let place = match self.path.as_str() {
            "" => directory.to_owned(),
            path => inside(directory, path).map_err(NotHere::into_words)?,
        };
        let repository = Repository::find(&place).map_err(|error| error.to_string())?;
        let id =
            |text: &str| ObjectId::parse(text).ok_or_else(|| format!("{FILE}: no commit {text}"));
        let snapshot = id(&self.snapshot)?;
        let name = Path::new(&self.cache).file_name().unwrap_or_default();
        let cache = Cache::open(&root.join(CACHES).join(name), snapshot.format());
        Ok(MadeClone {
            path: self.path,
            repository,
            head: self.head.as_deref().map(id).transpose()?,
            snapshot,
            large: self.large,
            cache: Arc::new(cache.map_err(|error| error.to_string())?),
        })
    }
}

impl Worker {
    /// Sends what a run has changed. If that fails, makes room and tries again; if it fails again,
    /// keeps the workspace.
    pub(super) async fn send_changes(
        &self,
        workspace: &BundledWorkspace,
        workplace: &mut Workplace,
        held: &Held,
    ) -> LeftChanges {
        let why = match self.send_workspace(workspace, held.run(), held.n()).await {
            Ok(sent) => return LeftChanges::Sent(sent),
            Err(why) => why,
        };
        debug!(run = %held.run(), why, "changes of a run cannot be sent");
        let root = self.options.root.clone();
        // A panic in there is no reason not to try again.
        _ = spawn_blocking(move || make_room(&root, 0)).await;
        let why = match self.send_workspace(workspace, held.run(), held.n()).await {
            Ok(sent) => return LeftChanges::Sent(sent),
            Err(why) => why,
        };
        let named = format!("{}-{}", held.run(), held.n());
        let place = self.options.root.join(UNSENT).join(named);
        match workplace.move_to(&place) {
            Ok(()) => LeftChanges::Kept {
                changes: self.open_kept(&place).await,
                place,
                why,
            },
            Err(error) => LeftChanges::Lost(format!("{why}; it cannot be kept: {error}")),
        }
    }

    async fn send_workspace(
        &self,
        workspace: &BundledWorkspace,
        run: &RunId,
        n: u64,
    ) -> Result<SentResult, String> {
        let scratch = self.options.root.join(WORKSPACES);
        workspace.send_result(&self.fleet, run, n, &scratch).await
    }

    /// Opens a workspace that was moved to where it stays. Its old place may be that of the next
    /// run of the conversation.
    async fn open_kept(&self, place: &Path) -> Option<UnsentChanges> {
        let (root, place) = (self.options.root.clone(), place.to_owned());
        let opened = spawn_blocking(move || UnsentChanges::open(&root, &place)).await;
        let opened = opened.unwrap_or_else(|error| Err(error.to_string()));
        let refused = |why: &String| warn!(why, "kept workspace waits for the next process");
        opened.inspect_err(refused).ok()
    }

    /// Sends changes that were kept, as soon as that works, and removes their workspace.
    pub(super) async fn send_later(self: Arc<Self>, unsent: UnsentChanges) {
        let mut pause = FIRST_PAUSE;
        while let Err(why) = self.send_kept(&unsent).await {
            debug!(run = %unsent.run, why, "kept changes cannot be sent yet");
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        print_line(&format!(
            "sent the changes of {}, which were kept",
            unsent.run
        ));
        unsent.remove();
    }

    async fn send_kept(&self, unsent: &UnsentChanges) -> Result<(), String> {
        let sent = self.send_workspace(&unsent.workspace, &unsent.run, unsent.n);
        let sent = sent.await?;
        let changes = LateChanges {
            n: unsent.n,
            result: sent.project,
            submodules: sent.submodules,
        };
        let noted = self.fleet.put_late_changes(&unsent.run, &changes).await;
        noted.map_err(|error| error.to_string())
    }
}
