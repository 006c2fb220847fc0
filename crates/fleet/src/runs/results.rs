//! Fetches what a run of a fleet has changed into the repositories that it began from. The checkout
//! is not touched.

use std::path::Path;

use pi_subagents_fleet_queue::Fleet;
use pi_subagents_fleet_queue::wire::{Begin, Ended, ResultName, RunCard};
use pi_subagents_git::{
    ObjectId, Pin, Pins, Repository, WorkspaceError, changes, large_files_of, pin, receive_begin,
    receive_result,
};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::shell_quoted;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::large_files::fetch_large_files;
use pi_subagents_runs::workspace::{FetchedFigures, WorkspaceFile, files_words, keep_fetched};

/// A larger result is not fetched by itself.
const LARGEST_RESULT: u64 = 10_000_000_000;

/// A run whose changes are fetched.
#[derive(Clone, Copy)]
pub(super) struct FetchedRun<'a> {
    pub(super) run: &'a RunId,
    /// The directory of its record.
    pub(super) directory: &'a RunDir,
    /// The directory of the repository that gets the changes.
    pub(super) cwd: &'a Path,
    /// The card of a run that somebody on another machine asked for, which says what it began from.
    pub(super) card: Option<&'a RunCard>,
}

/// Fetches everything that a run has changed into the repository of a directory and its submodules,
/// and writes down the result. Returns a note for people about each submodule, and the reasons why
/// something could not be fetched.
pub(super) async fn fetch_changes(
    fleet: &Fleet,
    fetched_run: FetchedRun<'_>,
    ended: &Ended,
) -> Vec<Result<String, String>> {
    let FetchedRun {
        run,
        directory,
        cwd,
        card,
    } = fetched_run;
    let mut fetched = Vec::new();
    for (path, result) in &ended.submodules {
        let part = Part { cwd, path, card };
        let changed = part.fetch(fleet, run, directory, result).await;
        fetched.push(
            changed
                .map(|changed| {
                    let place = shell_quoted(path);
                    format!("{changed} in the submodule {path}; not merged (cd {place} && pi-subagents merge {run})")
                })
                .map_err(|error| {
                    format!("what it changed in the submodule {path} could not be fetched: {error}")
                }),
        );
    }
    if let Some(result) = &ended.result {
        let failure = fetch_project(fleet, fetched_run, result).await.err();
        let failure = failure.map(|error| format!("what it changed could not be fetched: {error}"));
        fetched.extend(failure.map(Err));
    }
    fetched
}

/// Fetches what a run has changed in its project, after its submodules, which the note about the
/// result names.
async fn fetch_project(
    fleet: &Fleet,
    FetchedRun {
        run,
        directory,
        cwd,
        card,
    }: FetchedRun<'_>,
    result: &ResultName,
) -> Result<(), String> {
    let path = "";
    let part = Part { cwd, path, card };
    part.fetch(fleet, run, directory, result).await?;
    let figures = FetchedFigures {
        commits: result.commits,
        left_uncommitted: result.left_uncommitted,
    };
    let (run, directory, cwd) = (run.clone(), directory.clone(), cwd.to_owned());
    on_thread(move || keep_fetched(&directory, &run, &cwd, figures)).await
}

/// A repository that a run has changed: the project of a directory, or a submodule of it.
struct Part<'a> {
    cwd: &'a Path,
    path: &'a str,
    /// The card of the run, if somebody on another machine asked for it.
    card: Option<&'a RunCard>,
}

impl Part<'_> {
    async fn fetch(
        &self,
        fleet: &Fleet,
        run: &RunId,
        directory: &RunDir,
        result: &ResultName,
    ) -> Result<String, String> {
        let (cwd, path) = (self.cwd.to_owned(), self.path.to_owned());
        let wanted = self.card.map(|card| card.repository.clone());
        let place = on_thread(move || {
            let project = Repository::find(&cwd)?;
            let is_its = match wanted {
                Some(wanted) => wanted.is_some() && wanted == project.id().ok(),
                None => true,
            };
            Ok(is_its.then(|| project.top().join(&path)))
        });
        let place = place.await?.ok_or_else(|| {
            format!(
                "{} is not a clone of its repository; pi-subagents diff {run} in a clone fetches it",
                self.cwd.display()
            )
        })?;
        if let Some(card) = self.card {
            let begin = card.begins.iter().find(|begin| begin.path == self.path);
            let begin = begin.ok_or("the fleet does not say what it began from")?;
            fetch_begin(fleet, run, directory, &place, begin, &card.caller).await?;
        }
        fetch(fleet, run, directory, &place, result).await
    }
}

/// Fetches the state that a run began from, unless it is there.
async fn fetch_begin(
    fleet: &Fleet,
    run: &RunId,
    record: &RunDir,
    place: &Path,
    begin: &Begin,
    caller: &str,
) -> Result<(), String> {
    let commit = ObjectId::parse(&begin.commit).ok_or("the fleet names no commit as its begin")?;
    let (id, directory) = (run.to_string(), place.to_owned());
    let (wanted, behind) = (commit.clone(), begin.behind.clone());
    let (is_there, lacks) = on_thread(move || {
        let repository = Repository::find(&directory)?;
        if repository.commit_of(wanted.as_str())?.is_some() {
            pin(&repository, &id, Pin::Base, &wanted)?;
            return Ok((true, None));
        }
        let behind = behind.as_deref().map(|behind| repository.commit_of(behind));
        let is_behind_missing = matches!(behind.transpose()?, Some(None));
        Ok((false, is_behind_missing.then_some(wanted)))
    })
    .await?;
    if is_there {
        return Ok(());
    }
    let (Some(object), None) = (&begin.object, lacks) else {
        let missing = begin.behind.as_deref().unwrap_or(&begin.commit);
        return Err(format!(
            "this clone does not have the commit {missing}, which it builds on; push and fetch that commit, or use diff and merge at {caller}"
        ));
    };
    let scratch = arriving(record)?;
    let file = scratch.path().join("begin.bundle");
    let got = fleet.blobs().get(object, &file, LARGEST_RESULT).await;
    got.map_err(|error| error.to_string())?;
    let (id, directory) = (run.to_string(), place.to_owned());
    on_thread(move || receive_begin(&Repository::find(&directory)?, &id, &commit, &file)).await
}

async fn fetch(
    fleet: &Fleet,
    run: &RunId,
    record: &RunDir,
    directory: &Path,
    result: &ResultName,
) -> Result<String, String> {
    let scratch = arriving(record)?;
    let file = scratch.path().join("result.bundle");
    let got = fleet
        .blobs()
        .get(&result.object, &file, LARGEST_RESULT)
        .await;
    got.map_err(|error| error.to_string())?;
    let head = ObjectId::parse(&result.head).ok_or("the fleet names no commit as its result")?;
    let (run, directory) = (run.to_string(), directory.to_owned());
    let (repository, changed) = on_thread(move || {
        let repository = Repository::find(&directory)?;
        let pins = receive_result(&repository, &run, &head, &file)?;
        let changed = described(&repository, &pins);
        Ok((repository, changed))
    })
    .await?;
    fetch_large_files(fleet, &result.lfs, &large_files_of(&repository)).await?;
    Ok(changed)
}

/// Makes a directory for a file that comes from the fleet, beside the record of its run: nobody else
/// reads there, and the directory for temporary files may be too small.
fn arriving(record: &RunDir) -> Result<TempDir, String> {
    TempDir::new_in(record.path()).map_err(|error| error.to_string())
}

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, String> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn described(repository: &Repository, pins: &Pins) -> String {
    let changed = match (&pins.base, &pins.result) {
        (Some(base), Some(result)) => changes(repository, base, result).unwrap_or_default(),
        _ => Vec::new(),
    };
    let changed: Vec<WorkspaceFile> = changed.iter().map(WorkspaceFile::of).collect();
    files_words(&changed)
}
