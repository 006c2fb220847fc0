//! The folders of definitions.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{Dialect, FolderName, ProjectFolder, Scope};

use crate::settings::DefinitionDir;

/// The folders that are read, nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionPlaces {
    /// The folders.
    pub folders: Vec<Folder>,
}

/// A folder of definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The folder itself.
    pub path: PathBuf,
    /// The dialect of its files.
    pub dialect: FolderDialect,
    /// The scope of its files.
    pub scope: Scope,
    /// The project they came with, or the user's directory; trust is asked for it.
    pub owner: PathBuf,
    /// The number of directories from the working directory up to the directory that the folder
    /// belongs to.
    pub distance: usize,
}

/// The rule that gives the files of a folder their dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderDialect {
    /// All files have one dialect.
    Fixed(Dialect),
    /// The keys of each file show its dialect; a file without such keys is a prompt.
    ByKeys,
}

/// The directory from which definitions are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Viewpoint<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// The working directory and those above it in which files of a project may be looked for,
    /// nearest first; empty if there is no project.
    pub own_directories: &'a [PathBuf],
    /// The directory of pi and of ours.
    pub agent_dir: &'a Path,
    /// The project, for folders its settings name.
    pub project: &'a Path,
    /// Folders named in settings.
    pub definition_dirs: &'a [DefinitionDir],
}

impl FolderDialect {
    /// Returns the dialect of the files in a folder with this name.
    pub fn of_folder(folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default();
        let found = Dialect::ALL.into_iter().find(|dialect| {
            let row = dialect.row();
            row.folder_name == FolderName::Decides && name == row.folder
        });
        found.map_or(Self::ByKeys, Self::Fixed)
    }
}

impl DefinitionPlaces {
    /// Finds the folders that count from a viewpoint; they need not exist.
    pub fn find(viewpoint: &Viewpoint<'_>) -> Self {
        let mut folders = Vec::new();
        folders.extend(Dialect::ALL.into_iter().filter_map(|dialect| {
            match dialect.row().project_folder {
                ProjectFolder::OfWorkingDirectory => of_cwd(viewpoint, dialect),
                ProjectFolder::Nearest => nearest(viewpoint, dialect),
            }
        }));
        folders.extend(named(viewpoint, Scope::Project));
        folders.extend(Dialect::ALL.map(|dialect| global(viewpoint, dialect)));
        folders.extend(named(viewpoint, Scope::Global));
        Self {
            folders: without_repetition(folders),
        }
    }

    /// Returns the folder in which a new definition is saved.
    pub fn folder_for(viewpoint: &Viewpoint<'_>, scope: Scope, dialect: Dialect) -> PathBuf {
        let row = dialect.row();
        let base = match (scope, row.project_folder) {
            (Scope::Global, _) => viewpoint.agent_dir.to_owned(),
            (Scope::Project, ProjectFolder::OfWorkingDirectory) => viewpoint.cwd.join(".pi"),
            (Scope::Project, ProjectFolder::Nearest) => viewpoint.project.join(".pi"),
        };
        base.join(row.folder)
    }
}

fn of_cwd(viewpoint: &Viewpoint<'_>, dialect: Dialect) -> Option<Folder> {
    let is_own = viewpoint.own_directories.first().map(PathBuf::as_path) == Some(viewpoint.cwd);
    is_own.then(|| Folder {
        path: viewpoint.cwd.join(".pi").join(dialect.row().folder),
        dialect: FolderDialect::Fixed(dialect),
        scope: Scope::Project,
        owner: viewpoint.cwd.to_owned(),
        distance: 0,
    })
}

fn nearest(viewpoint: &Viewpoint<'_>, dialect: Dialect) -> Option<Folder> {
    let candidates = viewpoint.own_directories.iter().enumerate();
    candidates
        .map(|(distance, owner)| {
            let path = owner.join(".pi").join(dialect.row().folder);
            Folder {
                dialect: FolderDialect::of_folder(&path),
                path,
                scope: Scope::Project,
                owner: owner.to_owned(),
                distance,
            }
        })
        .find(|folder| holds_markdown(&folder.path))
}

/// Returns whether a folder holds definitions: it may be there for something else, such as the runs
/// of a project.
fn holds_markdown(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries
        .flatten()
        .any(|entry| is_markdown(Path::new(&entry.file_name())))
}

/// Returns whether a file's name is that of a definition: `*.md`, not hidden.
pub(crate) fn is_markdown(name: &Path) -> bool {
    let is_hidden = name.as_os_str().as_encoded_bytes().starts_with(b".");
    !is_hidden && name.extension().is_some_and(|extension| extension == "md")
}

fn named(viewpoint: &Viewpoint<'_>, scope: Scope) -> impl Iterator<Item = Folder> {
    let (owner, distance) = match scope {
        Scope::Project => {
            let mut ancestors = viewpoint.cwd.ancestors();
            let distance = ancestors.position(|ancestor| ancestor == viewpoint.project);
            (viewpoint.project, distance.unwrap_or(usize::MAX))
        }
        Scope::Global => (viewpoint.agent_dir, usize::MAX),
    };
    let of_scope = viewpoint
        .definition_dirs
        .iter()
        .filter(move |dir| dir.scope == scope);
    of_scope.map(move |dir| Folder {
        path: dir.path.clone(),
        dialect: FolderDialect::of_folder(&dir.path),
        scope,
        owner: owner.to_owned(),
        distance,
    })
}

fn global(viewpoint: &Viewpoint<'_>, dialect: Dialect) -> Folder {
    let path = viewpoint.agent_dir.join(dialect.row().folder);
    Folder {
        dialect: FolderDialect::of_folder(&path),
        path,
        scope: Scope::Global,
        owner: viewpoint.agent_dir.to_owned(),
        distance: usize::MAX,
    }
}

/// Removes folders that are named twice. A folder that is also the user's own counts as the user's.
fn without_repetition(folders: Vec<Folder>) -> Vec<Folder> {
    let real =
        |folder: &Folder| fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
    let mut global: HashSet<PathBuf> = folders
        .iter()
        .filter(|folder| folder.scope == Scope::Global)
        .map(real)
        .collect();
    let mut seen = HashSet::new();
    folders
        .into_iter()
        .filter(|folder| {
            let real = real(folder);
            match folder.scope {
                Scope::Project => !global.contains(&real) && seen.insert(real),
                Scope::Global => global.remove(&real),
            }
        })
        .collect()
}
