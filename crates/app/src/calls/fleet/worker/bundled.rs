//! The workspace of an order whose files travelled as git objects: made from a cache, and packed
//! again when the run is over.

use std::path::{Path, PathBuf};

use pi_subagents_delegation::RunId;
use pi_subagents_fleet::Fleet;
use pi_subagents_fleet::names::{base_commit, result_object};
use pi_subagents_fleet::wire::{Bundle, ResultName};
use pi_subagents_workspaces::{
    Cache, Captured, CheckOut, ObjectId, Repository, WorkspaceError, WorkspaceKind, bundle_result,
};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

/// A larger bundle is not taken.
const LARGEST_BUNDLE: u64 = 100_000_000_000;

/// The name of the ref that leads to a result.
const RESULT: &str = "refs/pi-subagents/result";

/// A clone that was made for a run.
#[derive(Debug, Clone)]
pub(super) struct BundledWorkspace {
    repository: Repository,
    /// The state that the run began from.
    snapshot: ObjectId,
    head: ObjectId,
}

impl BundledWorkspace {
    /// Makes the clone of an order at a path, with the objects that the cache lacks out of the
    /// fleet.
    pub(super) async fn make(
        fleet: &Fleet,
        root: &Path,
        bundle: &Bundle,
        path: PathBuf,
    ) -> Result<Self, String> {
        let id = |what: &str, text: &str| {
            ObjectId::parse(text).ok_or_else(|| format!("its order names no commit as its {what}"))
        };
        let snapshot = id("snapshot", &bundle.commit)?;
        let head = id("head", &bundle.head)?;
        let base = id("base", base_commit(&bundle.base).unwrap_or_default())?;
        let shallow = bundle.shallow.iter().map(|one| id("boundary", one));
        let shallow = shallow.collect::<Result<Vec<_>, _>>()?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric();
        if bundle.repo.is_empty() || !bundle.repo.chars().all(is_plain) {
            return Err("its order has no usable name for its repository".to_owned());
        }
        let place = root.join("cache").join(&bundle.repo);
        let format = snapshot.format();
        let cache = on_thread(move || Cache::open(&place, format)).await?;
        let cache = std::sync::Arc::new(cache);
        let thin = bundle.snapshot.as_ref();
        let wanted = [(&base, Some(&bundle.base)), (&snapshot, thin)];
        for (commit, object) in wanted {
            let Some(object) = object else { continue };
            let (known, asked) = (std::sync::Arc::clone(&cache), commit.clone());
            if on_thread(move || known.has(&asked)).await? {
                continue;
            }
            let scratch = TempDir::new().map_err(|error| error.to_string())?;
            let file = scratch.path().join("bundle");
            let got = fleet.blobs().get(object, &file, LARGEST_BUNDLE).await;
            got.map_err(|error| format!("the files of the project did not come: {error}"))?;
            let (cache, commit, shallow) = (
                std::sync::Arc::clone(&cache),
                commit.clone(),
                shallow.clone(),
            );
            on_thread(move || cache.take(&commit, &shallow, &file)).await?;
        }
        let origin = bundle.origin.clone();
        let (at, from) = (head.clone(), snapshot.clone());
        let repository = on_thread(move || {
            cache.check_out(CheckOut {
                path: &path,
                head: Some(&at),
                snapshot: &from,
                branch: None,
                origin: origin.as_deref(),
            })
        })
        .await?;
        Ok(Self {
            repository,
            snapshot,
            head,
        })
    }

    /// Sends what the run has left to the fleet. Returns none if it has changed nothing.
    pub(super) async fn send_result(
        &self,
        fleet: &Fleet,
        run: &RunId,
        n: u64,
    ) -> Result<Option<ResultName>, String> {
        let scratch = TempDir::new().map_err(|error| error.to_string())?;
        let file = scratch.path().join("result.bundle");
        let (packed, written) = (self.clone(), file.clone());
        let bundle = on_thread(move || {
            let captured =
                Captured::take(&packed.repository, &packed.snapshot, WorkspaceKind::Clone)?;
            if captured.is_unchanged {
                return Ok(None);
            }
            let have = [packed.head.clone(), packed.snapshot.clone()];
            bundle_result(&packed.repository, &captured, &have, &written)
        })
        .await?;
        let Some(bundle) = bundle else {
            return Ok(None);
        };
        let object = result_object(run, n);
        let sent = fleet.blobs().put(&object, &file).await;
        sent.map_err(|error| format!("the changes could not be sent: {error}"))?;
        Ok(Some(ResultName {
            object,
            reference: RESULT.to_owned(),
            head: bundle.commit.to_string(),
        }))
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
