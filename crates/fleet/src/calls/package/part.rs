//! One repository that travels: the project, or one of its submodules.

use std::path::{Path, PathBuf};

use pi_subagents_fleet_queue::names::{base_object, large_file_object, snapshot_object};
use pi_subagents_fleet_queue::wire;
use pi_subagents_git::{
    LargeFile, LeftOut, ObjectId, Repository, RepositoryPart, Snapshot, WhyLeftOut, WorkspaceError,
    WrittenBundle, bundle_base, bundle_thin, large_files, large_files_of,
};

use super::base::Base;
use super::upload::Upload;
use pi_subagents_view::figures::bytes;

/// A repository before anything is written.
pub(super) struct Looked {
    found: RepositoryPart,
    snapshot: Snapshot,
    id: String,
    /// The base that was sent last. It is taken away if the fleet has not kept it.
    pub(super) known: Option<Base>,
    large: Vec<LargeFile>,
}

/// A repository that is packed.
pub(super) struct Part {
    /// The path in the project; empty for the project itself.
    pub(super) path: PathBuf,
    pub(super) repository: Repository,
    pub(super) snapshot: Snapshot,
    pub(super) id: String,
    /// The history that the fleet has then; none for a repository without a commit.
    pub(super) base: Option<Base>,
    /// The number of bytes of history that the fleet does not have yet, if it has no base.
    pub(super) new_base: Option<u64>,
    /// The objects that lead from the base to the snapshot, unless the base holds them.
    pub(super) thin: Option<WrittenBundle>,
    pub(super) large: Vec<LargeFile>,
    /// The number of files that git keeps apart and that are not on this machine.
    pub(super) absent: usize,
}

impl Looked {
    /// Takes a snapshot of a repository.
    pub(super) fn at(found: RepositoryPart) -> Result<Self, WorkspaceError> {
        let repository = &found.repository;
        let snapshot = Snapshot::take(repository)?;
        let known = snapshot.head.as_ref();
        let known = known.and_then(|head| Base::read(repository, head));
        let mut large = large_files(repository, &snapshot.commit)?;
        let head = snapshot.head.as_ref();
        let head = head.filter(|head| **head != snapshot.commit && !large.is_empty());
        if let Some(head) = head {
            // A task may begin from HEAD alone, where these files may have other contents.
            large.extend(large_files(repository, head)?);
            large.sort();
            large.dedup();
        }
        Ok(Self {
            id: repository.id()?,
            known,
            large,
            snapshot,
            found,
        })
    }

    /// Takes the state that an earlier run left in a repository, of which the fleet has a base.
    pub(super) fn left(
        found: RepositoryPart,
        commit: ObjectId,
        head: Option<ObjectId>,
        known: Option<Base>,
    ) -> Result<Self, WorkspaceError> {
        let repository = &found.repository;
        Ok(Self {
            id: repository.id()?,
            known,
            large: large_files(repository, &commit)?,
            snapshot: Snapshot {
                tree: repository.tree_of(&commit)?,
                commit,
                head,
                uncommitted: Vec::new(),
                left_out: Vec::new(),
            },
            found,
        })
    }

    /// Writes the bundles of the repository, and returns it with what may have to be sent.
    pub(super) fn pack(
        self,
        history: u32,
        scratch: &Path,
    ) -> Result<(Part, Vec<Upload>), WorkspaceError> {
        let Self {
            found: RepositoryPart { path, repository },
            snapshot,
            id,
            known,
            large,
        } = self;
        let mut uploads = Vec::new();
        let (base, new_base) = match (known, &snapshot.head) {
            (Some(base), _) => (Some(base), None),
            (None, Some(head)) => {
                let file = scratch.join("base");
                let bundle = bundle_base(&repository, head, history, &file)?;
                let base = Base {
                    object: base_object(&id, head.as_str(), history),
                    commit: head.to_string(),
                    shallow: bundle.shallow.iter().map(ToString::to_string).collect(),
                };
                uploads.push(Upload::of(base.object.clone(), file, bundle.bytes));
                (Some(base), Some(bundle.bytes))
            }
            (None, None) => (None, None),
        };
        let ids = |texts: &[String]| -> Vec<ObjectId> {
            texts
                .iter()
                .filter_map(|text| ObjectId::parse(text))
                .collect()
        };
        let (have, shallow) = match &base {
            Some(base) => (ids(std::slice::from_ref(&base.commit)), ids(&base.shallow)),
            None => (Vec::new(), Vec::new()),
        };
        let file = scratch.join("thin");
        let thin = bundle_thin(&repository, &snapshot.commit, &have, &shallow, &file)?;
        if let Some(bundle) = &thin {
            let object = snapshot_object(bundle.commit.as_str());
            uploads.push(Upload::of(object, file, bundle.bytes));
        }
        let storage = large_files_of(&repository);
        let (large, absent): (Vec<_>, Vec<_>) = large
            .into_iter()
            .partition(|file| file.path_in(&storage).is_file());
        uploads.extend(large.iter().map(|file| {
            Upload::of(
                large_file_object(&file.oid),
                file.path_in(&storage),
                file.size,
            )
        }));
        let part = Part {
            path,
            repository,
            snapshot,
            id,
            base,
            new_base,
            thin,
            large,
            absent: absent.len(),
        };
        Ok((part, uploads))
    }
}

impl Part {
    /// Returns it as an order says it, without what is inside it.
    pub(super) fn wire(&self) -> wire::Bundle {
        let thin = self.thin.as_ref();
        let base = self.base.as_ref();
        wire::Bundle {
            repo: self.id.clone(),
            base: base.map(|base| base.object.clone()),
            shallow: base.map(|base| base.shallow.clone()).unwrap_or_default(),
            head: self.snapshot.head.as_ref().map(ToString::to_string),
            commit: self.snapshot.commit.to_string(),
            from_head: false,
            snapshot: thin.map(|bundle| snapshot_object(bundle.commit.as_str())),
            origin: self.repository.origin().ok().flatten(),
            submodules: Vec::new(),
            lfs: self.large.iter().map(as_wire).collect(),
            included: None,
        }
    }

    /// Says what of it stays here.
    pub(super) fn left_out(&self) -> impl Iterator<Item = String> {
        let files = self.snapshot.left_out.iter().map(|LeftOut { path, why }| {
            let path = self.path.join(path);
            let path = path.display();
            match why {
                WhyLeftOut::TooLarge { bytes: size } => {
                    format!("{path}, which is not in git and has {}", bytes(*size))
                }
                WhyLeftOut::NestedRepository => format!("{path}, which is a separate repository"),
            }
        });
        let absent = match self.absent {
            0 => None,
            1 => Some("the content of one LFS file, which is not on this machine".to_owned()),
            number => Some(format!(
                "the content of {number} LFS files, which is not on this machine"
            )),
        };
        files.chain(absent)
    }
}

fn as_wire(file: &LargeFile) -> wire::SentLargeFile {
    wire::SentLargeFile {
        oid: file.oid.clone(),
        size: file.size,
    }
}
