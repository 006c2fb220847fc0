//! The index as everybody in this process sees it: read again only when it has changed. Looking
//! changes nothing; what is to be done about runs is in `upkeep.rs`.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use pi_subagents_records::{FindError, Finder, IndexedRun, Store, Survey, SurveyDepth};

use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::Counts;

/// The shortest pause between two questions to a fleet about runs that nobody follows.
const FLEET_PAUSE: Duration = Duration::from_secs(5);

/// The largest index of which all runs are kept, in bytes. It has about five thousand runs. Reading such
/// a file once costs less than reading it twice for what is needed of it.
const SMALL: u64 = 2 * 1024 * 1024;

/// The index of one user, and its content when it was last read.
#[derive(Debug)]
pub struct KnownIndex {
    store: Store,
    known: Mutex<Option<Known>>,
    /// The runs among which something was found last.
    found: Mutex<Option<Known>>,
    surveyed: Mutex<Option<Surveyed>>,
    /// The time at which the fleet of this user was last asked.
    fleet_asked: Mutex<Option<Instant>>,
}

/// The runs in progress and the newest finished runs of a project.
#[derive(Debug, Default)]
pub struct NewestRuns {
    /// These runs, in the order they began.
    pub runs: Vec<IndexedRun>,
    /// The number of older finished runs of the project, in each state.
    pub older: Counts,
}

impl NewestRuns {
    fn of(survey: &Survey, most: usize) -> Self {
        let older = survey.finished.len().saturating_sub(most);
        let (older, newest) = survey.finished.split_at(older);
        let mut runs = survey.open.clone();
        // A line that cannot be read is left out, as in every look at the index.
        let read = |run| survey.read(run).ok().flatten();
        runs.extend(newest.iter().map(Box::as_ref).filter_map(read));
        runs.sort_by_key(|run| run.sequence);
        Self {
            runs,
            older: Counts::of(older.iter().map(|run| run.status)),
        }
    }
}

/// The content of the index at some moment.
#[derive(Debug)]
struct Known {
    runs: Arc<[IndexedRun]>,
    file: Option<FileState>,
}

/// The index at some moment, as it was surveyed for one project.
#[derive(Debug)]
struct Surveyed {
    survey: Arc<Survey>,
    project: PathBuf,
    depth: SurveyDepth,
    file: Option<FileState>,
}

/// The length and the time of the file; another content has another length or time.
type FileState = (u64, Option<SystemTime>);

impl KnownIndex {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: Mutex::new(None),
            found: Mutex::new(None),
            surveyed: Mutex::new(None),
            fleet_asked: Mutex::new(None),
        }
    }

    /// Returns the index of the user whose places these are.
    pub fn of(places: &Places) -> Self {
        Self::new(Store::new(&places.agent_dir))
    }

    /// Returns the records that the index leads to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns all runs, in the order they began. As long as the file has not changed, everybody
    /// gets the same value, and nothing is read.
    pub fn runs(&self) -> Result<Arc<[IndexedRun]>, FindError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A line that is written while we read makes the file differ from this.
        let file = self.file_state();
        if let Some(known) = known.as_ref().filter(|known| known.file == file) {
            return Ok(Arc::clone(&known.runs));
        }
        let runs: Arc<[IndexedRun]> = self.store.runs()?.into();
        *known = Some(Known {
            runs: Arc::clone(&runs),
            file,
        });
        Ok(runs)
    }

    /// Returns the runs that a finder needs for these words, with all runs of their sessions. Among them
    /// it finds the same as among all runs, and they take far less memory.
    pub fn candidates(
        &self,
        finder: Finder<'_>,
        words: &[&str],
    ) -> Result<Arc<[IndexedRun]>, FindError> {
        if let Some(runs) = self.known_runs() {
            return Ok(runs);
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file_state();
        let is_enough = |found: &&Known| found.file == file && has_ids(&found.runs, words);
        if let Some(found) = found.as_ref().filter(is_enough) {
            return Ok(Arc::clone(&found.runs));
        }
        let runs: Arc<[IndexedRun]> = self.store.candidates(finder, words)?.into();
        *found = Some(Known {
            runs: Arc::clone(&runs),
            file,
        });
        Ok(runs)
    }

    /// Returns the runs in progress of all projects, and at most so many finished runs of this project.
    pub fn newest(&self, places: &Places, most: usize) -> Result<NewestRuns, FindError> {
        let survey = self.survey(places, SurveyDepth::Facts)?;
        Ok(NewestRuns::of(&survey, most))
    }

    /// Returns whether keeping all runs costs less than reading the file several times.
    pub fn is_small(&self) -> bool {
        self.file_state().is_none_or(|(length, _)| length <= SMALL)
    }

    /// Returns the runs that have no end in the index.
    pub(crate) fn open_runs(&self) -> Result<Vec<IndexedRun>, FindError> {
        let runs = match self.known_runs() {
            Some(runs) => runs,
            None if self.is_small() => self.runs()?,
            None => return self.store.open_runs(),
        };
        Ok(runs.iter().filter(|run| run.is_open()).cloned().collect())
    }

    /// Returns all runs if they are known already.
    fn known_runs(&self) -> Option<Arc<[IndexedRun]>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file_state();
        let known = known.as_ref().filter(|known| known.file == file)?;
        Some(Arc::clone(&known.runs))
    }

    /// Returns the runs in progress, and in short the finished ones of this project. This keeps far
    /// less in memory than all runs. As long as the file has not changed, nothing is read.
    pub fn survey(&self, places: &Places, depth: SurveyDepth) -> Result<Arc<Survey>, FindError> {
        let mut surveyed = self.surveyed.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.file_state();
        let is_current = |known: &&Surveyed| {
            known.file == file && known.depth == depth && known.project == places.project
        };
        if let Some(known) = surveyed.as_ref().filter(is_current) {
            return Ok(Arc::clone(&known.survey));
        }
        let survey = Arc::new(self.store.survey(&places.project, depth)?);
        *surveyed = Some(Surveyed {
            survey: Arc::clone(&survey),
            project: places.project.clone(),
            depth,
            file,
        });
        Ok(survey)
    }

    /// Returns these runs as the index has them now; a run that was removed meanwhile is left out.
    pub fn again(&self, runs: &[IndexedRun]) -> Result<Vec<IndexedRun>, FindError> {
        let known = self.runs()?;
        let is_meant = |run: &&IndexedRun| runs.iter().any(|one| one.run == run.run);
        Ok(known.iter().filter(is_meant).cloned().collect())
    }

    /// Returns whether the fleet may be asked again about runs that nobody follows, and notes that
    /// it is.
    pub(crate) fn may_ask_fleet(&self) -> bool {
        let mut asked = self
            .fleet_asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if asked.is_some_and(|asked| asked.elapsed() < FLEET_PAUSE) {
            return false;
        }
        *asked = Some(Instant::now());
        true
    }

    fn file_state(&self) -> Option<FileState> {
        let file = fs::metadata(self.store.index()).ok()?;
        Some((file.len(), file.modified().ok()))
    }
}

/// Returns whether all these words are ids of some of the runs: commands find a run by a word of a
/// person first, and then by its id. The runs of a session are all there or none is.
fn has_ids(runs: &[IndexedRun], words: &[&str]) -> bool {
    let is_id = |word: &&str| {
        let mut runs = runs.iter();
        runs.any(|run| [run.run.as_str(), run.session.as_str()].contains(word))
    };
    words.iter().all(is_id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const BEGUN: &str = r#"{"run":"r-1","session":"s-1","name":"a","directory":"/r-1","project":"/p","acceptedAt":"2026-01-01T00:00:00Z","sequence":1,"owner":{"pid":1,"startTime":1,"host":"h"}}"#;

    #[test]
    fn an_index_is_read_again_only_when_it_has_changed() {
        let home = tempfile::tempdir().expect("a directory");
        let index = KnownIndex::new(Store::new(home.path()));
        assert_eq!(index.runs().expect("an index").len(), 0);
        fs::write(index.store().index(), format!("{BEGUN}\n")).expect("a file");
        let first = index.runs().expect("an index");
        assert_eq!(first.len(), 1);
        assert!(Arc::ptr_eq(&first, &index.runs().expect("an index")));
        let second = BEGUN.replace("r-1", "r-2");
        fs::write(index.store().index(), format!("{BEGUN}\n{second}\n")).expect("a file");
        assert_eq!(index.runs().expect("an index").len(), 2);
    }

    #[test]
    fn the_newest_runs_of_a_project_are_read_and_the_older_ones_are_counted() {
        let home = tempfile::tempdir().expect("a directory");
        let index = KnownIndex::new(Store::new(home.path()));
        let begun = |number: usize, project: &str| {
            let line = BEGUN.replace("r-1", &format!("r-{number}"));
            let line = line.replace(r#""project":"/p""#, &format!(r#""project":"{project}""#));
            line.replace(r#""sequence":1"#, &format!(r#""sequence":{number}"#))
        };
        let ended = |number: usize, status: &str| {
            format!(
                r#"{{"run":"r-{number}","status":"{status}","exitCode":0,"endedAt":"2026-01-01T00:00:09Z"}}"#
            )
        };
        let lines = [
            begun(1, "/p"),
            begun(2, "/p"),
            begun(3, "/other"),
            begun(4, "/p"),
            begun(5, "/other"),
            ended(1, "completed"),
            ended(2, "failed"),
            ended(3, "completed"),
            ended(4, "completed"),
        ];
        fs::write(index.store().index(), lines.join("\n") + "\n").expect("a file");
        let survey = index.store().survey(Path::new("/p"), SurveyDepth::Facts);
        let newest = NewestRuns::of(&survey.expect("an index"), 1);
        let runs: Vec<&str> = newest.runs.iter().map(|run| run.run.as_str()).collect();
        assert_eq!(runs, ["r-4", "r-5"]);
        let (completed, failed) = (newest.older.completed, newest.older.failed);
        assert_eq!((completed, failed, newest.older.total()), (1, 1, 2));
    }

    #[test]
    fn what_was_found_by_a_name_is_found_by_its_id_without_reading() {
        let home = tempfile::tempdir().expect("a directory");
        let index = KnownIndex::new(Store::new(home.path()));
        fs::write(index.store().index(), format!("{BEGUN}\n")).expect("a file");
        let find = |word| index.candidates(Finder::GIVEN, &[word]).expect("an index");
        let first = find("last");
        assert!(Arc::ptr_eq(&first, &find("r-1")));
        assert!(Arc::ptr_eq(&first, &find("s-1")));
        let second = BEGUN.replace("r-1", "r-2");
        fs::write(index.store().index(), format!("{BEGUN}\n{second}\n")).expect("a file");
        assert_eq!(find("r-1").len(), 2);
    }
}
