//! The files that the program has made on this machine, and those that lead to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_records::{IndexedRun, sticky_sessions_folder};
use pi_subagents_runs::workspace::{size_of, worktrees_folder};
use pi_subagents_vocabulary::text::shell_quoted;

use super::{clients, program};
use crate::commands::doctor::installed_package;
use crate::commands::init::{InitChanges, tilde};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;

/// The beginning of the names of our files in the directory of pi.
const PREFIX: &str = "subagents-";

/// The most files of one folder that are named one by one.
const MOST_NAMED: usize = 2;

/// Something that is on this machine, and the line that removes it.
pub(super) struct Trace {
    pub(super) name: String,
    pub(super) size: Option<u64>,
    pub(super) removal: String,
}

/// Finds what there is, in the order in which it is best removed.
pub(super) fn traces(places: &Places, runs: &[IndexedRun]) -> Vec<Trace> {
    // Its copies are among our own files, which go later.
    let changes = InitChanges::read(&places.agent_dir);
    let mut traces: Vec<Trace> = changes_of_init(&changes, &places.home)
        .into_iter()
        .collect();
    traces.extend(package(places, &changes));
    traces.extend(clients::entries(places, &changes));
    traces.extend(records(runs));
    traces.extend(folders(places));
    traces.extend(own_files(&places.agent_dir));
    traces.extend(
        program::removal(&places.program, &places.agent_dir).map(|removal| Trace {
            name: "The program".to_owned(),
            size: size(&places.program),
            removal,
        }),
    );
    traces
}

/// Names the files that `init` has changed or made, which it puts back itself.
fn changes_of_init(changes: &InitChanges, home: &Path) -> Option<Trace> {
    let files = changes.files();
    (!files.is_empty()).then(|| Trace {
        name: format!("Changes that init has made to {}", listed(&files, home)),
        size: None,
        removal: "pi-subagents init --undo".to_owned(),
    })
}

/// Lists files as people read them: many files of one folder are counted.
fn listed(files: &[&Path], home: &Path) -> String {
    let mut folders: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for file in files {
        let folder = file.parent().unwrap_or(file);
        folders.entry(folder).or_default().push(file);
    }
    let mut names = Vec::new();
    for (folder, files) in folders {
        if files.len() > MOST_NAMED {
            names.push(format!("{} files in {}", files.len(), tilde(folder, home)));
        } else {
            names.extend(files.iter().map(|file| tilde(file, home)));
        }
    }
    names.join(", ")
}

/// Finds our package among those of pi, or what is left of it where `init` takes it out of pi's settings.
fn package(places: &Places, changes: &InitChanges) -> Option<Trace> {
    let settings = places.agent_dir.join("settings.json");
    let named = installed_package(places)
        .filter(|package| !changes.undo_removes(&settings, &package.source));
    if let Some(package) = named {
        return Some(Trace {
            name: "The package of pi".to_owned(),
            size: None,
            removal: format!("pi remove {}", shell_quoted(&package.source)),
        });
    }
    let downloaded = places.agent_dir.join("npm/node_modules/@pi-subagents");
    downloaded
        .is_dir()
        .then(|| directory("The package that pi has downloaded", &downloaded))
}

/// Finds the folders with records of runs: one in each project, and one for runs without a project.
fn records(runs: &[IndexedRun]) -> Vec<Trace> {
    let folders = runs.iter().filter_map(|run| run.directory.path().parent());
    let folders: BTreeSet<&Path> = folders.filter(|folder| folder.is_dir()).collect();
    let records = folders.into_iter();
    records
        .map(|folder| directory("Records of runs", folder))
        .collect()
}

fn folders(places: &Places) -> Vec<Trace> {
    let settings = Configuration::read_once(places, false).settings;
    let worktrees = worktrees_folder(&places.home, settings.worktrees.directory.as_deref());
    let all = [
        ("Worktrees of runs", worktrees),
        ("Shared sessions", sticky_sessions_folder(&places.home)),
        ("Sockets", places.sockets.clone()),
    ];
    let there = all.into_iter().filter(|(_, folder)| folder.is_dir());
    there
        .map(|(name, folder)| directory(name, &folder))
        .collect()
}

/// Finds the index, the logs, the keys and the locks.
fn own_files(agent_dir: &Path) -> Option<Trace> {
    let entries = fs::read_dir(agent_dir).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let sizes: Vec<u64> = ours.filter_map(|entry| size(&entry.path())).collect();
    (!sizes.is_empty()).then(|| Trace {
        name: "Index, logs, keys and locks".to_owned(),
        size: Some(sizes.iter().sum()),
        removal: format!("rm -r {}/{PREFIX}*", quoted(agent_dir)),
    })
}

fn directory(name: &str, folder: &Path) -> Trace {
    Trace {
        name: name.to_owned(),
        size: size(folder),
        removal: format!("rm -r {}", quoted(folder)),
    }
}

/// Returns the size of a file, or of everything in a directory.
fn size(path: &Path) -> Option<u64> {
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_dir() {
        size_of(path)
    } else {
        Some(found.len())
    }
}

fn quoted(path: &Path) -> String {
    shell_quoted(&PathBuf::from(path).display().to_string())
}
