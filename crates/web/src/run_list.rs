//! A list of runs: which of them somebody wants, by state and by words, over the whole project.

use std::io::{BufRead as _, BufReader, Read as _};
use std::thread::{self, available_parallelism};

use pi_subagents_files::read_own;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::find::status_of;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::{Status, text};

use crate::finished_runs::FinishedRuns;
use crate::index::SeenRuns;
use crate::query::Query;
use crate::scope::Scope;

/// The number of runs that are listed by default, and the largest number that may be asked for.
const USUAL_RUNS: usize = 200;
const MOST_RUNS: usize = 1000;

/// The number of records that one question searches. The page goes on where it ended, so that a
/// person sees what was found so far and the search still looks at every run.
const SEARCHED_AT_ONCE: usize = 1000;

/// At most so many threads search.
const MOST_THREADS: usize = 4;

/// The number of bytes of a transcript that are searched.
const LONGEST_TRANSCRIPT: u64 = 4 << 20;

/// The number of characters of a line that are shown, and of those before the words.
const HIT_LENGTH: usize = 160;
const WORDS_BEFORE: usize = 40;

/// The runs that somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedRuns {
    pub(crate) project: Option<String>,
    state: WantedState,
    /// The words, in small letters, that must be in a run's name, task, model, state or answer.
    words: Option<String>,
    /// The number of runs that are skipped.
    from: usize,
    /// The largest number of runs that are wanted.
    count: usize,
    /// The search goes on with the runs that began before the run of this number.
    before: Option<u64>,
    /// True if the words may also stand in the transcript of a run.
    in_transcripts: bool,
}

/// The states of runs that are told apart, as the page names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WantedState {
    All,
    /// It has not ended.
    Running,
    /// Its result waits to be merged or discarded.
    Waiting,
    Finished,
    /// It failed; a run that somebody stopped did not.
    Failed,
}

/// The runs that were found.
pub(crate) struct FoundRuns<'a> {
    /// Those that are shown, newest first.
    pub(crate) shown: Vec<&'a IndexedRun>,
    /// The number of runs that fit; of a search, of those that were searched now.
    pub(crate) found: usize,
    /// The number with which the search goes on; `None` if all runs were searched.
    pub(crate) next: Option<u64>,
}

impl WantedRuns {
    /// Reads what is wanted out of a question.
    pub(crate) fn of(query: &Query) -> Self {
        Self {
            project: query.text("project"),
            state: WantedState::of(query.text("state").as_deref()),
            words: query.text("q").map(|words| words.to_lowercase()),
            from: query.number("from").unwrap_or(0),
            count: query.number("count").unwrap_or(USUAL_RUNS).min(MOST_RUNS),
            before: query.number("before"),
            in_transcripts: query.text("in").as_deref() == Some("transcripts"),
        }
    }

    /// Returns whether words are searched for.
    pub(crate) fn is_search(&self) -> bool {
        self.words.is_some()
    }

    /// Returns the runs that fit.
    pub(crate) fn find<'a>(
        &self,
        known: &'a SeenRuns,
        scope: &'a Scope,
        finished: &FinishedRuns,
    ) -> FoundRuns<'a> {
        let runs = self.of_state(known, scope, finished);
        match &self.words {
            Some(words) => self.search(&runs, |run| {
                has_words(run, words) || (self.in_transcripts && line_with(run, words).is_some())
            }),
            None => FoundRuns {
                found: runs.len(),
                shown: runs.into_iter().skip(self.from).take(self.count).collect(),
                next: None,
            },
        }
    }

    /// Returns the line of a run's transcript that has the words, if transcripts are searched.
    pub(crate) fn hit(&self, run: &IndexedRun) -> Option<String> {
        let words = self.words.as_ref().filter(|_| self.in_transcripts)?;
        line_with(run, words)
    }

    /// Returns the runs of the wanted state, newest first.
    fn of_state<'a>(
        &self,
        known: &'a SeenRuns,
        scope: &'a Scope,
        finished: &FinishedRuns,
    ) -> Vec<&'a IndexedRun> {
        let mut runs = match self.state {
            WantedState::Waiting => finished.waiting(known.of(scope)),
            state => known.of(scope).filter(|run| state.has(run)).collect(),
        };
        runs.reverse();
        runs
    }

    /// Searches some runs, newest first. Everything that is found is shown.
    fn search<'a>(
        &self,
        runs: &[&'a IndexedRun],
        fits: impl Fn(&IndexedRun) -> bool + Sync,
    ) -> FoundRuns<'a> {
        let is_due = |run: &&&IndexedRun| self.before.is_none_or(|before| run.sequence < before);
        let mut due = runs.iter().filter(is_due).peekable();
        let some: Vec<&IndexedRun> = due.by_ref().take(SEARCHED_AT_ONCE).copied().collect();
        let last = some.last().map(|run| run.sequence);
        let shown = fitting(&some, fits);
        FoundRuns {
            found: shown.len(),
            shown,
            next: due.peek().is_some().then_some(last).flatten(),
        }
    }
}

impl WantedState {
    fn of(word: Option<&str>) -> Self {
        match word {
            Some("running") => Self::Running,
            Some("waiting") => Self::Waiting,
            Some("finished") => Self::Finished,
            Some("failed") => Self::Failed,
            _ => Self::All,
        }
    }

    /// Returns whether the index alone says that a run has this state.
    fn has(self, run: &IndexedRun) -> bool {
        match self {
            Self::All | Self::Waiting => true,
            Self::Running => run.is_open(),
            Self::Finished => !run.is_open(),
            Self::Failed => status_of(run) == Status::Failed,
        }
    }
}

/// Returns the runs that fit, in their order, by several threads: their files are read.
fn fitting<'a>(
    runs: &[&'a IndexedRun],
    fits: impl Fn(&IndexedRun) -> bool + Sync,
) -> Vec<&'a IndexedRun> {
    let threads = available_parallelism().map_or(1, |threads| threads.get().min(MOST_THREADS));
    let each = runs.len().div_ceil(threads).max(1);
    let search = |part: &[&'a IndexedRun]| -> Vec<&'a IndexedRun> {
        part.iter().copied().filter(|run| fits(run)).collect()
    };
    let search = &search;
    thread::scope(|scope| {
        let parts = runs.chunks(each);
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || search(part)))
            .collect();
        // A panic was printed, and its part has found nothing.
        let found = parts.into_iter().filter_map(|part| part.join().ok());
        found.flatten().collect()
    })
}

/// The largest file that is looked at as text; a larger one is read as the record that it is.
const LARGEST_LOOK: u64 = 4 * 1024 * 1024;

/// Returns whether the files of a run may have these words, in small letters. Most have not, and to read
/// them as JSON takes several times as long as to look.
fn may_have(run: &IndexedRun, words: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if run.is_open() || !words.bytes().all(is_plain) {
        return true;
    }
    // A model and its provider stand apart.
    let last = words.rsplit('/').next().unwrap_or_default();
    let files = [run.directory.meta(), run.directory.result()];
    files.iter().any(|file| match read_own(file, LARGEST_LOOK) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
            // These two are the only letters that become plain ones when they are made small.
            text.contains(last) || text.contains(['\u{130}', '\u{212a}'])
        }
        Err(_) => true,
    })
}

/// Returns whether a run has these words, in small letters, in its name, task, model, state or
/// answer.
fn has_words(run: &IndexedRun, words: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(words);
    if has(&run.name) || has(run.run.as_str()) || has(status_of(run).as_str()) {
        return true;
    }
    if !may_have(run, words) {
        return false;
    }
    let row = RunRow::read(run);
    let model = row.report.full_model();
    let texts = [
        row.report.task.as_deref(),
        model.as_deref(),
        row.report.agent.as_deref(),
        row.report.output.as_deref(),
        row.report.error_message.as_deref(),
    ];
    texts.into_iter().flatten().any(has)
}

/// Returns the first line of a transcript with these words, in small letters: the part of it around
/// them.
fn line_with(run: &IndexedRun, words: &str) -> Option<String> {
    let file = run.directory.open_transcript().ok()?;
    let lines = BufReader::new(file.take(LONGEST_TRANSCRIPT)).split(b'\n');
    for line in lines.map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let small = line.to_lowercase();
        let Some(place) = small.find(words) else {
            continue;
        };
        // Small letters may take other bytes, so the place is one of characters.
        let before = small[..place].chars().count().saturating_sub(WORDS_BEFORE);
        let part: String = line.chars().skip(before).take(HIT_LENGTH).collect();
        return Some(text::one_line(&text::clean(&part)));
    }
    None
}
