//! The parts of results, and those that a person has left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use pi_subagents_git::ChangePart;
use pi_subagents_vocabulary::RunId;

/// The parts of the results that were opened.
#[derive(Debug, Default)]
pub(super) struct ShownParts {
    asked: HashSet<RunId>,
    read: HashMap<RunId, Result<Vec<ChangePart>, String>>,
    left_out: HashMap<RunId, BTreeSet<String>>,
}

/// How many parts of something are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChosenParts {
    pub(super) chosen: usize,
    pub(super) of: usize,
}

impl ShownParts {
    /// Returns whether the parts of a result are to be read, which is so once.
    pub(super) fn ask(&mut self, run: &RunId) -> bool {
        self.asked.insert(run.clone())
    }

    pub(super) fn take(&mut self, run: RunId, parts: Result<Vec<ChangePart>, String>) {
        self.read.insert(run, parts);
    }

    /// Forgets what is known of other results.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&RunId) -> bool) {
        self.asked.retain(&is_kept);
        self.read.retain(|run, _| is_kept(run));
        self.left_out.retain(|run, _| is_kept(run));
    }

    /// Leaves out a hunk of a file, or all of it, or takes it again.
    pub(super) fn toggle(
        &mut self,
        run: &RunId,
        path: &str,
        hunk: Option<usize>,
    ) -> Result<(), String> {
        let parts = match self.read.get(run) {
            None => return Err("its parts are being read; try again".to_owned()),
            Some(Err(why)) => return Err(why.clone()),
            Some(Ok(parts)) => parts,
        };
        let is_meant = |part: &&ChangePart| {
            let is_whole = part.hunk.is_none() || hunk.is_none();
            is_whole || part.hunk == hunk
        };
        let own = of_file(parts, path).filter(is_meant);
        let names: Vec<&String> = own.map(|part| &part.name).collect();
        let left_out = self.left_out.entry(run.clone()).or_default();
        let is_chosen = names.iter().any(|name| !left_out.contains(*name));
        for name in names {
            if is_chosen {
                left_out.insert(name.clone());
            } else {
                left_out.remove(name);
            }
        }
        Ok(())
    }

    /// Returns the names of the chosen parts; `None` if nothing is left out.
    pub(super) fn chosen(&self, run: &RunId) -> Option<BTreeSet<String>> {
        let left_out = self.left_out.get(run).filter(|names| !names.is_empty())?;
        let parts = self.read.get(run)?.as_ref().ok()?;
        let names = parts.iter().map(|part| part.name.clone());
        Some(names.filter(|name| !left_out.contains(name)).collect())
    }

    /// Counts the chosen parts of a result; `None` before they were read.
    pub(super) fn count(&self, run: &RunId) -> Option<ChosenParts> {
        let parts = self.read.get(run)?.as_ref().ok()?;
        let chosen = self.chosen(run);
        Some(ChosenParts {
            chosen: chosen.map_or(parts.len(), |chosen| chosen.len()),
            of: parts.len(),
        })
    }

    /// Counts the chosen parts of a file; `None` if nothing of it is left out.
    pub(super) fn count_of_file(&self, run: &RunId, path: &str) -> Option<ChosenParts> {
        let chosen = self.chosen(run)?;
        let parts = self.read.get(run)?.as_ref().ok()?;
        let own: Vec<&ChangePart> = of_file(parts, path).collect();
        let taken = own.iter().filter(|part| chosen.contains(&part.name));
        let counted = ChosenParts {
            chosen: taken.count(),
            of: own.len(),
        };
        (counted.chosen < counted.of).then_some(counted)
    }

    /// Returns whether a hunk of a file is left out.
    pub(super) fn is_left_out(&self, run: &RunId, path: &str, hunk: usize) -> bool {
        let parts = self.read.get(run).and_then(|parts| parts.as_ref().ok());
        let left_out = self.left_out.get(run);
        let Some((parts, left_out)) = parts.zip(left_out) else {
            return false;
        };
        of_file(parts, path).any(|part| {
            let is_it = part.hunk.is_none_or(|own| own == hunk);
            is_it && left_out.contains(&part.name)
        })
    }
}

fn of_file<'a>(parts: &'a [ChangePart], path: &'a str) -> impl Iterator<Item = &'a ChangePart> {
    parts
        .iter()
        .filter(move |part| part.path == Path::new(path))
}
