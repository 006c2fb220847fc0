//! The workspace of an order whose files are a repository: made from a cache, with its submodules, and
//! packed again when the run is over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use pi_subagents_delegation::RunId;
use pi_subagents_fleet::Fleet;
use pi_subagents_fleet::names::{
    base_commit, large_file_object, result_object, short_name, submodule_result_object,
};
use pi_subagents_fleet::wire::{self, Bundle, Cloned, ResultName};
use pi_subagents_workspaces::{
    Cache, Captured, CheckOut, ObjectFormat, ObjectId, Repository, WorkspaceError, WorkspaceKind,
    bundle_result, large_files, lay_ignored,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::ground::CACHES;
use super::resolved::NotHere;
use crate::runs::fleet::fetch_large_files;

/// A larger bundle is not taken.
const LARGEST_BUNDLE: u64 = 100_000_000_000;

/// The name of the ref that leads to a result.
const RESULT: &str = "refs/pi-subagents/result";

/// The clones that were made for a run: the project, and then its submodules.
#[derive(Debug, Clone)]
pub(super) struct BundledWorkspace {
    clones: Vec<MadeClone>,
}

/// A clone of one repository.
#[derive(Debug, Clone)]
struct MadeClone {
    /// The path in the project; empty for the project itself.
    path: String,
    repository: Repository,
    /// The state that the run began from.
    snapshot: ObjectId,
    head: Option<ObjectId>,
    /// The large files that came with it.
    large: BTreeSet<String>,
    /// Its objects are borrowed from there.
    cache: Arc<Cache>,
}

/// The changes of a run.
#[derive(Debug, Default)]
pub(super) struct SentResult {
    pub(super) project: Option<ResultName>,
    /// By the paths of the submodules.
    pub(super) submodules: BTreeMap<String, ResultName>,
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
        let mut clones = vec![MadeClone::of(fleet, root, ("", bundle), path.clone()).await?];
        for submodule in &bundle.submodules {
            let place = inside(&path, &submodule.path)?;
            let part = (submodule.path.as_str(), &submodule.bundle);
            clones.push(MadeClone::of(fleet, root, part, place).await?);
        }
        if let (Some(included), Some(project)) = (&bundle.included, clones.first()) {
            let commit = id("included files", &included.commit)?;
            let taken = take(fleet, &project.cache, (&commit, &[]), &included.object).await;
            taken.map_err(NotHere::Missing)?;
            let repository = project.repository.clone();
            let laid = on_thread(move || lay_ignored(&repository, &commit)).await;
            laid.map_err(NotHere::Missing)?;
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
        let (cache, repository) = on_thread(move || {
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
        .await
        .map_err(NotHere::Missing)?;
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

    /// Sends what the run has left to the fleet.
    pub(super) async fn send_result(
        &self,
        fleet: &Fleet,
        run: &RunId,
        n: u64,
    ) -> Result<SentResult, String> {
        let mut sent = SentResult::default();
        for clone in &self.clones {
            if clone.path.is_empty() {
                sent.project = clone.send(fleet, result_object(run, n)).await?;
                continue;
            }
            let object = submodule_result_object(run, n, &clone.path);
            if let Some(result) = clone.send(fleet, object).await? {
                sent.submodules.insert(clone.path.clone(), result);
            }
        }
        Ok(sent)
    }
}

impl MadeClone {
    async fn of(
        fleet: &Fleet,
        root: &Path,
        (path, bundle): (&str, &Bundle),
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
            let taken = take(fleet, &cache, (&commit, &shallow), base).await;
            taken.map_err(NotHere::Missing)?;
        }
        if let Some(thin) = &bundle.snapshot {
            let taken = take(fleet, &cache, (&snapshot, &shallow), thin).await;
            taken.map_err(NotHere::Missing)?;
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
        let repository = on_thread(move || {
            lender.check_out(CheckOut {
                path: &place,
                head: at.as_ref(),
                snapshot: &from,
                branch: None,
                origin: origin.as_deref(),
            })
        })
        .await
        .map_err(NotHere::Missing)?;
        Ok(Self {
            path: path.to_owned(),
            repository,
            snapshot: begin,
            head,
            large,
            cache,
        })
    }

    /// Sends what the run has left in this clone. Returns none if it has changed nothing.
    async fn send(&self, fleet: &Fleet, object: String) -> Result<Option<ResultName>, String> {
        let scratch = TempDir::new().map_err(|error| error.to_string())?;
        let file = scratch.path().join("result.bundle");
        let (packed, written) = (self.clone(), file.clone());
        let found = on_thread(move || {
            let repository = &packed.repository;
            let captured = Captured::take(repository, &packed.snapshot, WorkspaceKind::Clone)?;
            if captured.is_unchanged {
                return Ok(None);
            }
            let have = packed.head.iter().chain([&packed.snapshot]);
            let have: Vec<ObjectId> = have.cloned().collect();
            let bundle = bundle_result(repository, &captured, &have, &written)?;
            let Some(bundle) = bundle else {
                return Ok(None);
            };
            let mut large = large_files(repository, &bundle.commit)?;
            large.retain(|file| !packed.large.contains(&file.oid));
            Ok(Some((bundle, large, captured)))
        })
        .await?;
        let Some((bundle, large, captured)) = found else {
            return Ok(None);
        };
        let failed = |error| format!("the changes could not be sent: {error}");
        fleet.blobs().put(&object, &file).await.map_err(failed)?;
        let mut lfs = Vec::new();
        for new in large {
            let content = new.path_in(&self.cache.large_files());
            if content.is_file() {
                let object = large_file_object(&new.oid);
                fleet.blobs().put(&object, &content).await.map_err(failed)?;
                lfs.push(wire::LargeFile {
                    oid: new.oid,
                    size: new.size,
                });
            }
        }
        Ok(Some(ResultName {
            object,
            reference: RESULT.to_owned(),
            head: bundle.commit.to_string(),
            commits: captured.commits,
            left_uncommitted: captured.left_uncommitted,
            lfs,
        }))
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
    let opened = on_thread(move || Cache::open(&place, format)).await;
    opened.map_err(NotHere::Missing)
}

/// Takes a commit out of an object of the fleet, unless the cache has it.
async fn take(
    fleet: &Fleet,
    cache: &Arc<Cache>,
    (commit, shallow): (&ObjectId, &[ObjectId]),
    object: &str,
) -> Result<(), String> {
    let (known, asked) = (Arc::clone(cache), commit.clone());
    if on_thread(move || known.has(&asked)).await? {
        return Ok(());
    }
    let scratch = TempDir::new().map_err(|error| error.to_string())?;
    let file = scratch.path().join("bundle");
    let got = fleet.blobs().get(object, &file, LARGEST_BUNDLE).await;
    got.map_err(|error| format!("the files of the project did not come: {error}"))?;
    let (cache, commit, shallow) = (Arc::clone(cache), commit.clone(), shallow.to_vec());
    on_thread(move || cache.take(&commit, &shallow, &file)).await
}

fn id(what: &str, text: &str) -> Result<ObjectId, NotHere> {
    let refused = || NotHere::Refused(format!("its order names no commit as its {what}"));
    ObjectId::parse(text).ok_or_else(refused)
}

/// Returns the place of a submodule, which never leads out of the project.
fn inside(project: &Path, path: &str) -> Result<PathBuf, NotHere> {
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

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, String> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| format!("its workspace could not be made: {error}")),
        Err(error) => Err(error.to_string()),
    }
}
