//! The repositories inside a repository that travel with it.

use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries, path};

/// Submodules inside each other beyond this are left out.
pub(crate) const DEEPEST: usize = 8;

/// A repository with its submodules.
#[derive(Debug, Clone)]
pub struct RepositoryPart {
    /// The path below the top of the outermost repository; empty for the outermost one.
    pub path: PathBuf,
    /// The repository.
    pub repository: Repository,
}

/// Lists a repository and its checked-out submodules, each before its own submodules.
pub fn parts(repository: &Repository) -> Result<Vec<RepositoryPart>, WorkspaceError> {
    let mut found = Vec::new();
    collect(repository.clone(), Path::new(""), DEEPEST, &mut found)?;
    Ok(found)
}

/// Returns the commit of a submodule that a commit of its project names; `None` if it names none.
pub fn submodule_commit(
    project: &Repository,
    commit: &ObjectId,
    path: &str,
) -> Result<Option<ObjectId>, WorkspaceError> {
    let name = format!("{commit}:{path}");
    let arguments = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &name,
    ];
    Ok(project.git().maybe_id(&arguments)?)
}

fn collect(
    repository: Repository,
    at: &Path,
    depth: usize,
    found: &mut Vec<RepositoryPart>,
) -> Result<(), WorkspaceError> {
    let inner = if depth == 0 {
        Vec::new()
    } else {
        submodules(&repository)?
    };
    found.push(RepositoryPart {
        path: at.to_owned(),
        repository,
    });
    for (name, submodule) in inner {
        collect(submodule, &at.join(name), depth - 1, found)?;
    }
    Ok(())
}

/// Lists the submodules of a repository that are checked out.
fn submodules(repository: &Repository) -> Result<Vec<(PathBuf, Repository)>, WorkspaceError> {
    let named = gitlinks(repository)?.into_iter().map(|(name, _)| name);
    let opened = named.filter_map(|name| {
        let submodule = open(repository.top(), &name)?;
        Some((name, submodule))
    });
    Ok(opened.collect())
}

/// Lists the submodules that the index of a checkout names, each with its commit.
pub(crate) fn gitlinks(
    repository: &Repository,
) -> Result<Vec<(PathBuf, ObjectId)>, WorkspaceError> {
    let printed = repository.git().run(&["ls-files", "--stage", "-z"])?;
    let links = entries(&printed).filter_map(|entry| entry.strip_prefix(b"160000 "));
    let links = links.filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        let commit = entry.split(|byte| *byte == b' ').next()?;
        let commit = ObjectId::parse(std::str::from_utf8(commit).ok()?)?;
        Some((path(&entry[at + 1..]).to_owned(), commit))
    });
    Ok(links.collect())
}

/// Opens a submodule; `None` if it is not checked out, so that its directory belongs to the outer
/// repository.
pub(crate) fn open(top: &Path, name: &Path) -> Option<Repository> {
    let directory = std::fs::canonicalize(top.join(name)).ok()?;
    let inside = directory.starts_with(std::fs::canonicalize(top).ok()?);
    let submodule = Repository::find(&directory).ok()?;
    (inside && submodule.top() == directory).then_some(submodule)
}
