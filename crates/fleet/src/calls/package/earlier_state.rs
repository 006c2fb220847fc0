//! The state that an earlier run left in a repository, on its way to the next run of its session.

use std::path::PathBuf;

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::names::base_commit;
use pi_subagents_fleet_queue::wire;
use pi_subagents_git::{ObjectId, Repository, RepositoryPart};
use tempfile::TempDir;

use super::base::Base;
use super::part::Looked;
use super::{not_packed, not_sent, on_thread};
use pi_subagents_ground::error::CommandError;

/// A repository in which an earlier run left something: the project, or one of its submodules.
#[derive(Debug, Clone)]
pub(in crate::calls) struct LeftPart {
    /// The path in the project; empty for the project itself.
    pub(in crate::calls) path: String,
    pub(in crate::calls) repository: Repository,
    /// The state that the changes of the session are compared with.
    pub(in crate::calls) base: ObjectId,
    /// The state that the run left.
    pub(in crate::calls) result: ObjectId,
    /// The commit that was checked out when it ended, if any.
    pub(in crate::calls) head: Option<ObjectId>,
}

/// Sends what an earlier run left in one repository, and makes the bundle of an order begin from it.
pub(in crate::calls) async fn send_left(
    fleet: &Fleet,
    part: &LeftPart,
    bundle: &mut wire::Bundle,
) -> Result<(), CommandError> {
    let known = bundle.base.as_ref().and_then(|object| {
        Some(Base {
            object: object.clone(),
            commit: base_commit(object)?.to_owned(),
            shallow: bundle.shallow.clone(),
        })
    });
    let found = RepositoryPart {
        path: PathBuf::from(&part.path),
        repository: part.repository.clone(),
    };
    let (commit, head) = (part.result.clone(), part.head.clone());
    let (packed, uploads, _scratch) = on_thread(move || {
        let scratch = TempDir::new().map_err(|error| {
            CommandError::failed("there is no room to pack the files").because(&error)
        })?;
        let looked =
            Looked::left(found, commit, head, known).map_err(|error| not_packed(&error))?;
        // The base is there, so the number of its commits does not matter.
        let packed = looked.pack(1, scratch.path());
        let (packed, uploads) = packed.map_err(|error| not_packed(&error))?;
        Ok((packed, uploads, scratch))
    })
    .await?;
    let blobs = fleet.blobs();
    for upload in &uploads {
        let is_missing = upload.is_missing(&blobs).await;
        if is_missing.map_err(|error| not_sent(&error))? {
            upload
                .send(&blobs)
                .await
                .map_err(|error| not_sent(&error))?;
        }
    }
    *bundle = wire::Bundle {
        submodules: std::mem::take(&mut bundle.submodules),
        included: bundle.included.take(),
        ..packed.wire()
    };
    Ok(())
}
