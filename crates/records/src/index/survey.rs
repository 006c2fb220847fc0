//! A look at the whole index that keeps little of each run: enough to count the finished runs of a
//! project, to put them into order, and to read the lines of those that are shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{Counts, Status, Timestamp};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::file::{self, Place};
use super::line::{IndexLine, Kind, beginning_of, hash_of};
use super::{IndexedRun, KnownRuns, RunState};
use crate::run_figures::Used;

/// The facts that a survey keeps about the finished runs of its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurveyDepth {
    /// Their number in each state.
    Counts,
    /// Also the facts by which they are put into order.
    Facts,
}

/// The runs in progress, and in short the finished runs of one project.
#[derive(Debug, Default)]
pub struct Survey {
    /// The runs without an end, of all projects, in the order they began.
    pub open: Vec<IndexedRun>,
    /// The number of finished runs of the project in each state.
    pub counts: Counts,
    /// The finished runs of the project in the order they began, if their facts were asked for.
    pub finished: Vec<Box<FinishedRun>>,
    /// The runs by the hashes of their ids.
    runs: HashMap<u64, SeenRun>,
    parents: Vec<PathBuf>,
    /// The index that was read. Another process may have replaced it since.
    file: Option<File>,
}

/// A finished run in short.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    /// The name its task was given.
    pub name: Box<str>,
    /// Its state.
    pub status: Status,
    /// The time at which it was accepted.
    pub accepted_at: Timestamp,
    /// The time of its end.
    pub ended_at: Timestamp,
    /// Its figures, if they are known.
    pub used: Option<Used>,
    /// Its place among all runs.
    pub sequence: u64,
    first: Place,
    begin: Place,
    end: Place,
}

/// A run after the lines that were read so far.
#[derive(Debug)]
struct SeenRun {
    /// The place of the line that says that it began.
    begin: Place,
    /// The place of the first such line: a run that was moved is entered again.
    first: Place,
    /// The position among the parents of the directory that holds its own, whose name is its id;
    /// `None` if its directory has another name.
    parent: Option<u32>,
    is_of_project: bool,
    state: SeenState,
    /// The facts that are kept of it.
    facts: Option<Box<FinishedRun>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeenState {
    Open,
    Finished(Status),
    Removed,
}

/// The fields of a first line that are looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstLine<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    project: Cow<'a, str>,
    #[serde(borrow, default)]
    directory: Cow<'a, str>,
    #[serde(borrow, default)]
    accepted_at: Cow<'a, str>,
    #[serde(default)]
    sequence: u64,
    /// Only a first line has it.
    #[serde(rename = "owner")]
    _owner: IgnoredAny,
}

/// Surveys an index for one project. It agrees with a whole reading about every run in progress.
pub(crate) fn survey(index: &Path, project: &Path, depth: SurveyDepth) -> io::Result<Survey> {
    let mut fold = Fold {
        project: project.to_string_lossy(),
        depth,
        runs: HashMap::new(),
        parents: Vec::new(),
    };
    let file = file::each_line(index, |line, place| fold.add(line, place))?;
    fold.into_survey(file)
}

struct Fold<'a> {
    project: Cow<'a, str>,
    depth: SurveyDepth,
    runs: HashMap<u64, SeenRun>,
    parents: Vec<PathBuf>,
}

impl Fold<'_> {
    fn add(&mut self, line: &str, place: Place) {
        if let Some((run, Kind::Begin)) = beginning_of(line) {
            self.begin(run, line, place);
            return;
        }
        let Some(parsed) = IndexLine::parse(line) else {
            return;
        };
        match parsed.kind() {
            Kind::Begin => self.begin(&parsed.run, line, place),
            Kind::End => self.end(&parsed, place),
            Kind::Removed => {
                if let Some(run) = self.runs.get_mut(&hash_of(&parsed.run)) {
                    run.state = SeenState::Removed;
                }
            }
        }
    }

    fn begin(&mut self, run: &str, line: &str, place: Place) {
        let Ok(first) = serde_json::from_str::<FirstLine<'_>>(line) else {
            return;
        };
        let known = self.runs.get(&hash_of(run)).map(|known| known.first);
        let is_whole = || IndexLine::parse(line).is_some_and(|line| line.into_run().is_some());
        if known.is_some() && !is_whole() {
            return;
        }
        let is_of_project = first.project == self.project;
        let keeps_facts = is_of_project && self.depth == SurveyDepth::Facts;
        let seen = SeenRun {
            begin: place,
            first: known.unwrap_or(place),
            parent: self.parent_of(run, &first.directory),
            is_of_project,
            state: SeenState::Open,
            facts: keeps_facts.then(|| Box::new(first.facts(known.unwrap_or(place), place))),
        };
        self.runs.insert(hash_of(run), seen);
    }

    fn end(&mut self, line: &IndexLine<'_>, place: Place) {
        let RunState::Over {
            status, at, used, ..
        } = line.state()
        else {
            return;
        };
        let Some(run) = self.runs.get_mut(&hash_of(&line.run)) else {
            return;
        };
        if run.state != SeenState::Removed {
            run.state = SeenState::Finished(status);
        }
        if let Some(facts) = &mut run.facts {
            (facts.status, facts.ended_at, facts.used) = (status, at, used);
            facts.end = place;
        }
    }

    /// Returns the position of the directory that holds the directory of a run. There are few such
    /// directories, and the last one is the most likely.
    fn parent_of(&mut self, run: &str, directory: &str) -> Option<u32> {
        let parent = directory.strip_suffix(run)?.strip_suffix('/')?;
        let is_it = |known: &PathBuf| known.as_os_str() == parent;
        let position = self.parents.iter().rposition(is_it).unwrap_or_else(|| {
            self.parents.push(PathBuf::from(parent));
            self.parents.len() - 1
        });
        u32::try_from(position).ok()
    }

    fn into_survey(self, file: Option<File>) -> io::Result<Survey> {
        let mut runs = self.runs;
        let here = runs.values().filter(|run| run.is_of_project);
        let counts = Counts::of(here.filter_map(|run| run.state.finished()));
        let ended = |run: &mut SeenRun| run.state.finished().and(run.facts.take());
        let mut finished: Vec<Box<FinishedRun>> = runs.values_mut().filter_map(ended).collect();
        finished.sort_unstable_by_key(|run| (run.sequence, run.first));
        let open = runs.values().filter(|run| run.state == SeenState::Open);
        let mut open: Vec<&SeenRun> = open.collect();
        open.sort_unstable_by_key(|run| run.first);
        let places: Vec<Place> = open.iter().map(|run| run.begin).collect();
        let mut survey = Survey {
            open: Vec::new(),
            counts,
            finished,
            runs,
            parents: self.parents,
            file,
        };
        survey.open = survey.runs_at(places)?;
        Ok(survey)
    }
}

impl FirstLine<'_> {
    /// Returns the facts about a run that has not ended yet.
    fn facts(&self, first: Place, begin: Place) -> FinishedRun {
        FinishedRun {
            name: self.name.as_ref().into(),
            status: Status::Running,
            accepted_at: self.accepted_at.parse().unwrap_or_default(),
            ended_at: Timestamp::default(),
            used: None,
            sequence: self.sequence,
            first,
            begin,
            end: begin,
        }
    }
}

impl SeenState {
    fn finished(self) -> Option<Status> {
        match self {
            Self::Finished(status) => Some(status),
            Self::Open | Self::Removed => None,
        }
    }
}

impl Survey {
    /// Reads the lines of a finished run again.
    pub fn read(&self, run: &FinishedRun) -> io::Result<Option<IndexedRun>> {
        Ok(self.runs_at([run.begin, run.end])?.pop())
    }

    /// Returns whether the directory of this name below `parent` is where the index has a run, or
    /// whether the index has that run in another directory that exists.
    pub(crate) fn knows(&self, name: &str, parent: &Path) -> bool {
        let Some(run) = self.runs.get(&hash_of(name)) else {
            return false;
        };
        if run.state == SeenState::Removed {
            return false;
        }
        match run.parent.and_then(|at| self.parents.get(at as usize)) {
            Some(known) => known == parent || known.join(name).exists(),
            // Its directory has another name.
            None => self.runs_at([run.begin]).is_ok_and(|runs| {
                let mut directories = runs.iter().map(|run| run.directory.path());
                directories.any(Path::exists)
            }),
        }
    }

    fn runs_at(&self, places: impl IntoIterator<Item = Place>) -> io::Result<Vec<IndexedRun>> {
        let mut known = KnownRuns::default();
        if let Some(file) = &self.file {
            for place in places {
                known.add(&place.line(file)?);
            }
        }
        Ok(known.into_runs())
    }
}
