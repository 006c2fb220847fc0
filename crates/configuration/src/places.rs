//! The folders of definitions.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{Dialect, FolderDepth, FolderName, ProjectFolder, Scope};

use crate::file_list::is_markdown;
use crate::settings::DefinitionDir;

/// The folder that several tools share, in a project and in the home directory.
const SHARED: &str = ".agents/agents";

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
    /// The home directory, in which other tools have their files.
    pub home: &'a Path,
    /// The other tools whose files count.
    pub foreign: &'a [Dialect],
}

impl FolderDialect {
    /// Returns the dialect of the files in a folder with this name.
    pub fn of_folder(folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default();
        let ours = Dialect::OURS.into_iter().find(|dialect| {
            let files = dialect.our_files();
            files.is_some_and(|files| {
                files.folder_name == FolderName::Decides && name == files.folder
            })
        });
        let foreign = || {
            Dialect::FOREIGN.into_iter().find(|dialect| {
                let files = dialect.foreign_files();
                files.is_some_and(|files| {
                    let mut known = files.in_project.iter().chain(files.in_home);
                    known.any(|known| folder.ends_with(known))
                })
            })
        };
        ours.or_else(foreign).map_or(Self::ByKeys, Self::Fixed)
    }
}

impl Folder {
    /// Returns the tool whose files are in the folder, if it is not ours.
    pub fn foreign_dialect(&self) -> Option<Dialect> {
        match self.dialect {
            FolderDialect::Fixed(dialect) => dialect.is_foreign().then_some(dialect),
            FolderDialect::ByKeys => None,
        }
    }

    /// Returns the place of the folder in the order of preference; less is stronger. Ours come
    /// first, whatever their scope, so that no file of another tool hides one of ours.
    pub(crate) fn rank(&self) -> usize {
        let place = |dialect| Dialect::FOREIGN.iter().position(|known| *known == dialect);
        match self.foreign_dialect().and_then(place) {
            Some(place) => place + 2,
            None if self.path.ends_with(SHARED) => 1,
            None => 0,
        }
    }

    pub(crate) fn depth(&self) -> FolderDepth {
        let files = self.foreign_dialect().and_then(Dialect::foreign_files);
        files.map_or(FolderDepth::Flat, |files| files.depth)
    }

    pub(crate) fn ending(&self) -> &'static str {
        let files = self.foreign_dialect().and_then(Dialect::foreign_files);
        files.map_or("md", |files| files.ending)
    }
}

impl DefinitionPlaces {
    /// Finds the folders that count from a viewpoint; they need not exist.
    pub fn find(viewpoint: &Viewpoint<'_>) -> Self {
        let mut folders = Vec::new();
        let ours = Dialect::OURS.into_iter().filter_map(Dialect::our_files);
        for files in ours.clone() {
            folders.extend(match files.project_folder {
                ProjectFolder::OfWorkingDirectory => of_cwd(viewpoint, files.folder),
                ProjectFolder::Nearest => nearest(viewpoint, files.folder),
            });
        }
        folders.extend(named(viewpoint, Scope::Project));
        folders.extend(ours.map(|files| global(viewpoint, files.folder)));
        folders.extend(named(viewpoint, Scope::Global));
        folders.extend(of_everybody(viewpoint, &[SHARED], &[SHARED]));
        for files in viewpoint
            .foreign
            .iter()
            .filter_map(|dialect| dialect.foreign_files())
        {
            folders.extend(of_everybody(viewpoint, files.in_project, files.in_home));
        }
        Self {
            folders: without_repetition(folders),
        }
    }

    /// Returns the folder in which a new definition is saved.
    pub fn folder_for(viewpoint: &Viewpoint<'_>, scope: Scope, dialect: Dialect) -> PathBuf {
        // Files of other tools are never written, so a copy of one is a profile.
        let files = dialect.our_files().or(Dialect::Profile.our_files());
        let Some(files) = files else {
            return viewpoint.agent_dir.to_owned();
        };
        let base = match (scope, files.project_folder) {
            (Scope::Global, _) => viewpoint.agent_dir.to_owned(),
            (Scope::Project, ProjectFolder::OfWorkingDirectory) => viewpoint.cwd.join(".pi"),
            (Scope::Project, ProjectFolder::Nearest) => viewpoint.project.join(".pi"),
        };
        base.join(files.folder)
    }
}

/// Returns the folders that other tools have in the directories of a project and in the home
/// directory, nearest first.
fn of_everybody(
    viewpoint: &Viewpoint<'_>,
    in_project: &'static [&'static str],
    in_home: &'static [&'static str],
) -> Vec<Folder> {
    let directories = viewpoint.own_directories.iter().enumerate();
    let of_project = directories.flat_map(|(distance, owner)| {
        in_project.iter().map(move |name| Folder {
            path: owner.join(name),
            dialect: FolderDialect::of_folder(Path::new(name)),
            scope: Scope::Project,
            owner: owner.to_owned(),
            distance,
        })
    });
    let of_user = in_home.iter().map(|name| Folder {
        path: viewpoint.home.join(name),
        dialect: FolderDialect::of_folder(Path::new(name)),
        scope: Scope::Global,
        owner: viewpoint.home.to_owned(),
        distance: usize::MAX,
    });
    of_project.chain(of_user).collect()
}

fn of_cwd(viewpoint: &Viewpoint<'_>, folder: &str) -> Option<Folder> {
    let is_own = viewpoint.own_directories.first().map(PathBuf::as_path) == Some(viewpoint.cwd);
    let path = viewpoint.cwd.join(".pi").join(folder);
    is_own.then(|| Folder {
        dialect: FolderDialect::of_folder(&path),
        path,
        scope: Scope::Project,
        owner: viewpoint.cwd.to_owned(),
        distance: 0,
    })
}

fn nearest(viewpoint: &Viewpoint<'_>, folder: &str) -> Option<Folder> {
    let candidates = viewpoint.own_directories.iter().enumerate();
    candidates
        .map(|(distance, owner)| {
            let path = owner.join(".pi").join(folder);
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

fn global(viewpoint: &Viewpoint<'_>, folder: &str) -> Folder {
    let path = viewpoint.agent_dir.join(folder);
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
