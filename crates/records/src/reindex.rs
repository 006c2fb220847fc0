//! Rebuilds the index from the directories, which are the record.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use pi_subagents_files::Directory;
use pi_subagents_vocabulary::{RunId, Task};

use crate::format::Meta;
use crate::index::{self, RemovedRun, Survey};
use crate::record_files::{parse_meta, read_result};
use crate::run_dir::{self, RunDir};
use crate::run_figures::UsedByRun;
use crate::runs_place;
use crate::seal::Seal;
use crate::store::Store;

/// The number of run directories that are looked at in one place.
const MOST_RUNS: usize = 1_000_000;

impl Store {
    /// Enters into the index the runs in a project's directories that the index lacks, or that it
    /// has at an old place. Only records that this user's program has sealed count: records that a
    /// clone brought along are neither shown nor touched.
    pub fn reindex(&self, project: Option<&Path>, known: &Survey) -> usize {
        // Without a key nothing can have been sealed.
        let Ok(seal) = Seal::read(self.agent_dir()) else {
            return 0;
        };
        let mut entered: HashSet<RunId> = HashSet::new();
        for (runs, project) in self.places(project) {
            let entries = runs.list(MOST_RUNS).unwrap_or_default();
            let names = entries.iter().filter_map(|entry| entry.name.to_str());
            // Most runs are known by the names of their directories.
            for name in names.filter(|name| !known.knows(name, runs.path())) {
                let directory = RunDir::new(runs.path().join(name));
                let Some((meta, task)) = sealed_meta(&directory, &seal) else {
                    continue;
                };
                let is_new = task.run.as_str() == name && !entered.contains(&task.run);
                if is_new && self.enter(&directory, project, &meta, &task).is_ok() {
                    entered.insert(task.run.clone());
                }
            }
        }
        entered.len()
    }

    /// Enters a run again whose removal was noted and whose record is still there: a process was
    /// killed between the note and the removal, or a person brought the record back. Returns
    /// whether the run was entered.
    pub fn bring_back(&self, removed: &RemovedRun) -> io::Result<bool> {
        if !removed.directory.path().exists() {
            return Ok(false);
        }
        let Ok(seal) = Seal::read(self.agent_dir()) else {
            return Ok(false);
        };
        match sealed_meta(&removed.directory, &seal) {
            Some((meta, task)) if task.run == removed.run => {
                self.enter(&removed.directory, None, &meta, &task)?;
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }

    /// Returns the places where runs may be, each with the project whose they are by their place.
    fn places<'a>(&self, project: Option<&'a Path>) -> Vec<(Directory, Option<&'a Path>)> {
        let named = self.runs_dir().map(runs_place::open_named);
        let of_project = project.map(runs_place::open_in_project);
        let elsewhere = Directory::open(&self.runs_elsewhere());
        let without_project = named.into_iter().chain([elsewhere]);
        let mut places: Vec<_> = of_project
            .and_then(Result::ok)
            .map(|runs| (runs, project))
            .into_iter()
            .collect();
        places.extend(without_project.flatten().map(|runs| (runs, None)));
        places
    }

    /// Enters a run into the index. `project` is where its directory lies now; the project may have
    /// been moved since `meta.json` was written.
    fn enter(
        &self,
        directory: &RunDir,
        project: Option<&Path>,
        meta: &Meta,
        task: &Task,
    ) -> io::Result<()> {
        let index = self.index();
        let project = project.unwrap_or(&meta.project);
        index::append_begin(&index, task, directory, project, meta)?;
        // Without a readable result the run is closed again, when somebody looks at it.
        if let Ok(Some(result)) = read_result(directory) {
            let end = result.report;
            let (at, used) = (end.ended_at.unwrap_or_default(), UsedByRun::from(&end));
            if let Some(ending) = end.ending.as_deref() {
                index::append_end(&index, &task.run, ending, at, Some(&used))?;
            }
        }
        Ok(())
    }
}

/// Reads a `meta.json` that this user's program wrote.
fn sealed_meta(directory: &RunDir, seal: &Seal) -> Option<(Meta, std::sync::Arc<Task>)> {
    let content = directory.read(run_dir::META).ok()?;
    if !seal.fits(&content) {
        return None;
    }
    parse_meta(directory, &content).ok()
}
