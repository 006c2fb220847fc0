//! The changes of a run on their way to the fleet, packed as bundles.

use std::collections::BTreeMap;
use std::path::Path;

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::names::{large_file_object, result_object, submodule_result_object};
use pi_subagents_fleet_queue::wire::{self, ResultName};
use pi_subagents_git::{Captured, ObjectId, WorkspaceKind, bundle_result, large_files};
use pi_subagents_vocabulary::RunId;
use tempfile::TempDir;

use super::bundle_workspace::{BundledWorkspace, MadeClone, on_thread};

/// The name of the ref that leads to a result.
const RESULT: &str = "refs/pi-subagents/result";

/// The changes of a run.
#[derive(Debug, Default)]
pub(super) struct SentResult {
    pub(super) project: Option<ResultName>,
    /// By the paths of the submodules.
    pub(super) submodules: BTreeMap<String, ResultName>,
}

impl BundledWorkspace {
    /// Sends what the run has left to the fleet. Bundles are written into a scratch directory on
    /// the disk of the workspaces, which has more room than a temporary directory usually has.
    pub(super) async fn send_result(
        &self,
        fleet: &Fleet,
        run: &RunId,
        n: u64,
        scratch: &Path,
    ) -> Result<SentResult, String> {
        let mut sent = SentResult::default();
        for clone in &self.clones {
            if clone.path.is_empty() {
                sent.project = clone.send(fleet, result_object(run, n), scratch).await?;
                continue;
            }
            let object = submodule_result_object(run, n, &clone.path);
            if let Some(result) = clone.send(fleet, object, scratch).await? {
                sent.submodules.insert(clone.path.clone(), result);
            }
        }
        Ok(sent)
    }
}

impl MadeClone {
    /// Sends what the run has left in this clone. Returns none if it has changed nothing.
    async fn send(
        &self,
        fleet: &Fleet,
        object: String,
        scratch: &Path,
    ) -> Result<Option<ResultName>, String> {
        let scratch = TempDir::new_in(scratch).map_err(|error| error.to_string())?;
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
                lfs.push(wire::SentLargeFile {
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
