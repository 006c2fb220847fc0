//! The repositories inside a repository that travel with it.

use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::repository::{Repository, entries, path};

/// Submodules inside each other beyond this are left out.
const DEEPEST: usize = 8;

/// A repository with its submodules.
#[derive(Debug, Clone)]
pub struct Part {
    /// The path below the top of the outermost repository; empty for the outermost one.
    pub path: PathBuf,
    /// The repository.
    pub repository: Repository,
}

/// Lists a repository and its checked-out submodules, each before its own submodules.
pub fn parts(repository: &Repository) -> Result<Vec<Part>, WorkspaceError> {
    let mut found = Vec::new();
    collect(repository.clone(), Path::new(""), DEEPEST, &mut found)?;
    Ok(found)
}

fn collect(
    repository: Repository,
    at: &Path,
    depth: usize,
    found: &mut Vec<Part>,
) -> Result<(), WorkspaceError> {
    let inner = if depth == 0 {
        Vec::new()
    } else {
        submodules(&repository)?
    };
    found.push(Part {
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
    let printed = repository.git().run(&["ls-files", "--stage", "-z"])?;
    let mut found = Vec::new();
    for entry in entries(&printed).filter(|entry| entry.starts_with(b"160000 ")) {
        let at = entry
            .iter()
            .position(|byte| *byte == b'\t')
            .unwrap_or_default();
        let name = path(&entry[at + 1..]).to_owned();
        if let Some(submodule) = open(repository.top(), &name) {
            found.push((name, submodule));
        }
    }
    Ok(found)
}

/// Opens a submodule; `None` if it is not checked out, so that its directory belongs to the outer
/// repository.
fn open(top: &Path, name: &Path) -> Option<Repository> {
    let directory = std::fs::canonicalize(top.join(name)).ok()?;
    let inside = directory.starts_with(std::fs::canonicalize(top).ok()?);
    let submodule = Repository::find(&directory).ok()?;
    (inside && submodule.top() == directory).then_some(submodule)
}
