//! The workspace of an order whose files are a repository: made from a cache, with its submodules.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::names::{base_commit, short_name};
use pi_subagents_fleet_queue::wire::{Bundle, Cloned};
use pi_subagents_git::{
    Cache, CheckOut, ObjectFormat, ObjectId, Repository, WorkspaceError, lay_ignored,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::ground::{ARRIVING, CACHES};
use super::order_resolution::NotHere;
use crate::runs::fetch_large_files;

/// A larger bundle is not taken.
const LARGEST_BUNDLE: u64 = 100_000_000_000;

/// The clones that were made for a run: the project, and then its submodules.
#[derive(Debug, Clone)]
pub(super) struct BundledWorkspace {
    pub(super) clones: Vec<MadeClone>,
}

/// A clone of one repository.
#[derive(Debug, Clone)]
pub(super) struct MadeClone {
    /// The path in the project; empty for the project itself.
    pub(super) path: String,
    pub(super) repository: Repository,
    /// The state that the run began from.
    pub(super) snapshot: ObjectId,
    pub(super) head: Option<ObjectId>,
    /// The large files that came with it.
    pub(super) large: BTreeSet<String>,
    /// Its objects are borrowed from there.
    pub(super) cache: Arc<Cache>,
}

impl BundledWorkspace {
    /// Makes the clones of an order at a path, with the objects that the caches lack out of the
    /// fleet.
    pub(super) async fn make(
        fleet: &Fleet,
        root: &Path,
        bundle: &Bundle,
        path: PathBuf,
    ) -> Result<Self, NotHere> {
        let mut clones = vec![MadeClone::of(fleet, root, "", bundle, path.clone()).await?];
        for submodule in &bundle.submodules {
            let place = inside(&path, &submodule.path)?;
            let (path, bundle) = (&submodule.path, &submodule.bundle);
            clones.push(MadeClone::of(fleet, root, path, bundle, place).await?);
        }
        if let (Some(included), Some(project)) = (&bundle.included, clones.first()) {
            let commit = id("included files", &included.commit)?;
            take(fleet, root, &project.cache, &commit, &[], &included.object).await?;
            let repository = project.repository.clone();
            making(move || lay_ignored(&repository, &commit)).await?;
        }
        Ok(Self { clones })
    }

    /// Makes a clone of a repository that this worker fetches with its own rights.
    pub(super) async fn fetch(
        root: &Path,
        cloned: &Cloned,
        path: PathBuf,
    ) -> Result<Self, NotHere> {
        let commit = id("commit", &cloned.commit)?;
        let (url, wanted) = (cloned.url.clone(), commit.clone());
        let place = root.join(CACHES).join(short_name(&[&url]));
        let (cache, repository) = making(move || {
            let cache = Cache::open(&place, wanted.format())?;
            cache.fetch(&url, &wanted)?;
            let repository = cache.check_out(CheckOut {
                path: &path,
                head: Some(&wanted),
                snapshot: &wanted,
                branch: None,
                origin: Some(&url),
            })?;
            Ok((Arc::new(cache), repository))
        })
        .await?;
        let clone = MadeClone {
            path: String::new(),
            repository,
            head: Some(commit.clone()),
            snapshot: commit,
            large: BTreeSet::new(),
            cache,
        };
        Ok(Self {
            clones: vec![clone],
        })
    }
}

impl MadeClone {
    async fn of(
        fleet: &Fleet,
        root: &Path,
        path: &str,
        bundle: &Bundle,
        place: PathBuf,
    ) -> Result<Self, NotHere> {
        let snapshot = id("snapshot", &bundle.commit)?;
        let head = bundle.head.as_ref().map(|head| id("head", head));
        let head = head.transpose()?;
        let cache = Arc::new(open(root, &bundle.repo, snapshot.format()).await?);
        let shallow = bundle.shallow.iter().map(|one| id("boundary", one));
        let shallow = shallow.collect::<Result<Vec<_>, _>>()?;
        if let Some(base) = &bundle.base {
            let commit = id("base", base_commit(base).unwrap_or_default())?;
            take(fleet, root, &cache, &commit, &shallow, base).await?;
        }
        if let Some(thin) = &bundle.snapshot {
            take(fleet, root, &cache, &snapshot, &shallow, thin).await?;
        }
        let large = fetch_large_files(fleet, &bundle.lfs, &cache.large_files()).await;
        large.map_err(NotHere::Missing)?;
        let large = bundle.lfs.iter().map(|file| file.oid.clone()).collect();
        let origin = bundle.origin.clone();
        let begin = match (&head, bundle.from_head) {
            (Some(head), true) => head.clone(),
            (None, true) => {
                return Err(NotHere::Refused(
                    "its order begins from no commit".to_owned(),
                ));
            }
            (_, false) => snapshot,
        };
        let (at, from, lender) = (head.clone(), begin.clone(), Arc::clone(&cache));
        let repository = making(move || {
            lender.check_out(CheckOut {
                path: &place,
                head: at.as_ref(),
                snapshot: &from,
                branch: None,
                origin: origin.as_deref(),
            })
        })
        .await?;
        Ok(Self {
            path: path.to_owned(),
            repository,
            snapshot: begin,
            head,
            large,
            cache,
        })
    }
}

/// Opens the cache of a repository.
async fn open(root: &Path, repo: &str, format: ObjectFormat) -> Result<Cache, NotHere> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    if repo.is_empty() || !repo.chars().all(is_plain) {
        let words = "its order has no usable name for its repository";
        return Err(NotHere::Refused(words.to_owned()));
    }
    let place = root.join(CACHES).join(repo);
    making(move || Cache::open(&place, format)).await
}

/// Takes a commit out of an object of the fleet, unless the cache has it. The object comes to a
/// directory of the worker, which has more room than that for temporary files may have.
async fn take(
    fleet: &Fleet,
    root: &Path,
    cache: &Arc<Cache>,
    commit: &ObjectId,
    shallow: &[ObjectId],
    object: &str,
) -> Result<(), NotHere> {
    let (known, asked) = (Arc::clone(cache), commit.clone());
    if making(move || known.has(&asked)).await? {
        return Ok(());
    }
    let scratch = TempDir::new_in(root.join(ARRIVING));
    let scratch = scratch.map_err(|error| NotHere::Missing(error.to_string()))?;
    let file = scratch.path().join("bundle");
    let got = fleet.blobs().get(object, &file, LARGEST_BUNDLE).await;
    got.map_err(|error| {
        NotHere::Missing(format!("the files of the project did not come: {error}"))
    })?;
    let (cache, commit, shallow) = (Arc::clone(cache), commit.clone(), shallow.to_vec());
    making(move || cache.take(&commit, &shallow, &file)).await
}

fn id(what: &str, text: &str) -> Result<ObjectId, NotHere> {
    let refused = || NotHere::Refused(format!("its order names no commit as its {what}"));
    ObjectId::parse(text).ok_or_else(refused)
}

/// Returns the place of a submodule, which never leads out of the project.
pub(super) fn inside(project: &Path, path: &str) -> Result<PathBuf, NotHere> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let refused = || NotHere::Refused(format!("the submodule {path} leads out of the project"));
    let missing = |error: std::io::Error| NotHere::Missing(error.to_string());
    if path.is_empty() || !Path::new(path).components().all(is_plain) {
        return Err(refused());
    }
    let place = project.join(path);
    let above = place.parent().unwrap_or(project);
    pi_subagents_files::create_directories(above).map_err(missing)?;
    let real = |path: &Path| fs::canonicalize(path).map_err(missing);
    if real(above)?.starts_with(real(project)?) {
        Ok(place)
    } else {
        Err(refused())
    }
}

/// Does a step of making a workspace on a thread of its own.
async fn making<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, NotHere> {
    let made = on_thread(work).await;
    made.map_err(|why| NotHere::Missing(format!("its workspace could not be made: {why}")))
}

/// Does something with git on a thread of its own.
pub(super) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, String> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
