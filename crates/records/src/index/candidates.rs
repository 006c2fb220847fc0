//! The runs among which a word can find what it means. The rest of the index is read and not kept:
//! after some years it has a hundred thousand runs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::file::{self, Place};
use super::line::{IndexLine, Kind, beginning_of, hash_of};
use super::{IndexedRun, KnownRuns};
use crate::finder::{FindScope, Finder, newest_needed};

/// A run after the lines that were read so far.
struct Seen {
    sequence: u64,
    /// The hash of its session.
    session: u64,
    begin: Place,
    is_removed: bool,
    is_here: bool,
    is_chosen: bool,
}

/// The fields of a first line that are looked at. What they leave out may be spoilt.
#[derive(Deserialize)]
struct FirstLine<'a> {
    #[serde(borrow, default)]
    session: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    preset: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    project: Cow<'a, str>,
    #[serde(default)]
    sequence: u64,
    owner: Option<IgnoredAny>,
}

/// Reads the runs that a finder needs for these words, and all runs of their sessions, in the order
/// they began. For each of the words it finds the same among them as among all runs of the index.
pub(crate) fn candidates(
    index: &Path,
    finder: Finder<'_>,
    words: &[&str],
) -> io::Result<Vec<IndexedRun>> {
    let mut fold = Fold {
        finder,
        words,
        seen: Vec::new(),
        positions: HashMap::new(),
        ends: Vec::new(),
        replaced: Vec::new(),
    };
    let Some(file) = file::each_line(index, |line, place| fold.add(line, place))? else {
        return Ok(Vec::new());
    };
    fold.choose();
    match fold.read(&file)? {
        Some(runs) => Ok(runs),
        // A spoilt line changed what is chosen.
        None => super::read(index),
    }
}

struct Fold<'a> {
    finder: Finder<'a>,
    words: &'a [&'a str],
    /// The runs in the order of their first lines.
    seen: Vec<Seen>,
    /// Their positions, by the hashes of their ids.
    positions: HashMap<u64, u32>,
    /// The places of the ends.
    ends: Vec<(u32, Place)>,
    /// The first lines of runs that were entered again.
    replaced: Vec<Place>,
}

impl Fold<'_> {
    fn add(&mut self, line: &str, place: Place) {
        match beginning_of(line) {
            Some((run, Kind::Begin)) => match serde_json::from_str::<FirstLine<'_>>(line) {
                Ok(first) if first.owner.is_some() => self.begin(run, &first, line, place),
                Ok(_) | Err(_) => self.add_parsed(line, place),
            },
            // A line in which two were mixed may say something else than its beginning.
            Some((run, Kind::End)) if !line.contains("owner") && !line.contains("removedAt") => {
                self.end(run, place);
            }
            Some(_) | None => self.add_parsed(line, place),
        }
    }

    fn add_parsed(&mut self, line: &str, place: Place) {
        let Some(parsed) = IndexLine::parse(line) else {
            return;
        };
        match parsed.kind() {
            Kind::Begin => {
                if let Ok(first) = serde_json::from_str::<FirstLine<'_>>(line) {
                    self.begin(&parsed.run, &first, line, place);
                }
            }
            Kind::End => self.end(&parsed.run, place),
            Kind::Removed => {
                if let Some(position) = self.positions.get(&hash_of(&parsed.run)) {
                    self.seen[*position as usize].is_removed = true;
                }
            }
        }
    }

    fn begin(&mut self, run: &str, first: &FirstLine<'_>, line: &str, place: Place) {
        let hash = hash_of(run);
        let seen = Seen {
            sequence: first.sequence,
            session: hash_of(&first.session),
            begin: place,
            is_removed: false,
            is_here: match self.finder.scope {
                FindScope::Given => true,
                FindScope::Project(project) => Path::new(&*first.project) == project,
            },
            is_chosen: self.words.iter().any(|word| first.is_named(run, word)),
        };
        let Some(position) = self.positions.get(&hash) else {
            // There are fewer lines than this.
            if let Ok(position) = self.seen.len().try_into() {
                self.positions.insert(hash, position);
                self.seen.push(seen);
            }
            return;
        };
        // It was moved, and entered again.
        if is_whole(line) {
            let known = &mut self.seen[*position as usize];
            self.replaced.push(known.begin);
            *known = seen;
        }
    }

    fn end(&mut self, run: &str, place: Place) {
        if let Some(position) = self.positions.get(&hash_of(run)) {
            self.ends.push((*position, place));
        }
    }

    fn choose(&mut self) {
        let mut order: Vec<usize> = (0..self.seen.len()).collect();
        order.retain(|position| !self.seen[*position].is_removed);
        order.sort_by_key(|position| self.seen[*position].sequence);
        let (all, here) = newest_needed(self.words);
        let newest = order.iter().rev();
        let mut chosen: Vec<usize> = newest.clone().take(all).copied().collect();
        let in_project = newest.filter(|position| self.seen[**position].is_here);
        chosen.extend(in_project.take(here));
        for position in chosen {
            self.seen[position].is_chosen = true;
        }
        let chosen = self.seen.iter().filter(|seen| seen.is_chosen);
        let sessions: HashSet<u64> = chosen.map(|seen| seen.session).collect();
        for seen in &mut self.seen {
            seen.is_chosen = !seen.is_removed && sessions.contains(&seen.session);
        }
    }

    /// Reads the lines of the chosen runs; `None` if one of them is spoilt.
    fn read(&self, file: &File) -> io::Result<Option<Vec<IndexedRun>>> {
        for place in &self.replaced {
            if !is_whole(&place.line(file)?) {
                return Ok(None);
            }
        }
        let mut places: Vec<(u32, Place)> = Vec::new();
        for (position, seen) in (0..).zip(&self.seen) {
            if seen.is_chosen {
                places.push((position, seen.begin));
            }
        }
        let number = places.len();
        for (position, end) in &self.ends {
            let seen = &self.seen[*position as usize];
            // An end before the last beginning counts no more.
            if seen.is_chosen && *end > seen.begin {
                places.push((*position, *end));
            }
        }
        // Runs with one sequence stay in the order of their first lines.
        places.sort_unstable();
        let mut known = KnownRuns::default();
        for (_, place) in places {
            known.add(&place.line(file)?);
        }
        let runs = known.into_runs();
        Ok((runs.len() == number).then_some(runs))
    }
}

impl FirstLine<'_> {
    /// Returns whether a word may mean the run by its ids, their beginnings or its names.
    fn is_named(&self, run: &str, word: &str) -> bool {
        let begins = !word.is_empty() && [run, &self.session].iter().any(|id| id.starts_with(word));
        begins || self.name == word || self.preset.as_deref() == Some(word)
    }
}

fn is_whole(line: &str) -> bool {
    IndexLine::parse(line).is_some_and(|line| line.into_run().is_some())
}
