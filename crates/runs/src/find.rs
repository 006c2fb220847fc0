//! Finds recorded runs by the words that people and models use for them.

use std::sync::Arc;

use pi_subagents_records::{
    FindError, FindScope, Finder, IndexedRun, Prefers, RunOrSession, RunState, SurveyDepth,
    history, runs_of_session,
};
use pi_subagents_vocabulary::{Ending, HeldMessages, RunHistory, RunId, SessionId, Status};

use crate::conversation::of_one_conversation;
use crate::elsewhere::look_elsewhere;
use crate::known_index::KnownIndex;
use crate::upkeep::tend_records;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;

/// Returns the runs of each of several ids. The index is read once for all of them.
pub(crate) fn find_each(
    index: &KnownIndex,
    places: &Places,
    finder: Finder<'_>,
    words: &[&str],
) -> Result<Vec<RunOrSession<IndexedRun>>, FindError> {
    let wanted = Wanted { finder, words };
    let of_each = |runs: &[IndexedRun]| {
        let found = words.iter().map(|word| finder.find(runs, word));
        found.collect::<Result<Vec<_>, _>>()
    };
    look_up(index, places, wanted, of_each, |found| {
        let mut runs = found.iter().flat_map(RunOrSession::runs);
        runs.any(is_lost)
    })
}

/// The words by which runs are looked for, and how they are understood.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    finder: Finder<'a>,
    words: &'a [&'a str],
}

/// Returns the rule by which a word is understood in a project.
pub fn newest_of(places: &Places) -> Finder<'_> {
    Finder {
        scope: FindScope::Project(&places.project),
        prefers: Prefers::Newest,
    }
}

/// Returns the runs of an id, oldest first.
pub fn find_runs(
    index: &KnownIndex,
    places: &Places,
    id: &str,
) -> Result<Vec<IndexedRun>, FindError> {
    let found = find_each(index, places, newest_of(places), &[id])?;
    Ok(found
        .into_iter()
        .flat_map(RunOrSession::into_runs)
        .collect())
}

/// Returns the session that is meant with all its runs, and the run if a run is meant.
pub(crate) fn find_session(
    index: &KnownIndex,
    places: &Places,
    finder: Finder<'_>,
    word: &str,
) -> Result<(SessionId, Vec<IndexedRun>, Option<RunId>), FindError> {
    let words = [word];
    let wanted = Wanted {
        finder,
        words: &words,
    };
    let with_session = |runs: &[IndexedRun]| {
        let found = finder.find(runs, word)?;
        let session = found.session().clone();
        let of_session = runs_of_session(runs, &session);
        Ok((session, of_session, found.run().cloned()))
    };
    look_up(index, places, wanted, with_session, |(_, found, _)| {
        found.iter().any(is_lost)
    })
}

/// Looks among the runs of the index that the words need. If a run is not there, or is not where
/// the index says, the runs directory of the project is searched too, and then the fleet.
fn look_up<T>(
    index: &KnownIndex,
    places: &Places,
    wanted: Wanted<'_>,
    find: impl Fn(&[IndexedRun]) -> Result<T, FindError>,
    lacks_some: impl Fn(&T) -> bool,
) -> Result<T, FindError> {
    let mut found = look_here(index, places, wanted, &find, lacks_some);
    let mut looked_for = Vec::new();
    while let Err(FindError::NotFound { id, unasked, .. }) = &mut found
        && !looked_for.contains(id)
    {
        looked_for.push(id.clone());
        match look_elsewhere(index.store(), places, id) {
            Ok(true) => found = find(&wanted.runs(index)?),
            Ok(false) => {}
            Err(why) => *unasked = Some(why),
        }
    }
    found
}

fn look_here<T>(
    index: &KnownIndex,
    places: &Places,
    wanted: Wanted<'_>,
    find: impl Fn(&[IndexedRun]) -> Result<T, FindError>,
    lacks_some: impl Fn(&T) -> bool,
) -> Result<T, FindError> {
    let runs = wanted.runs(index)?;
    let found = find(&runs);
    let is_worth_a_look = match &found {
        Ok(found) => lacks_some(found),
        Err(error) => error.is_absence(),
    };
    if is_worth_a_look && has_entered_more(index, places) {
        return find(&wanted.runs(index)?);
    }
    found
}

impl Wanted<'_> {
    fn runs(self, index: &KnownIndex) -> Result<Arc<[IndexedRun]>, FindError> {
        index.candidates(self.finder, self.words)
    }
}

fn is_lost(run: &IndexedRun) -> bool {
    !run.directory.path().exists()
}

/// Enters the runs of this project that the index does not know, and tends them: their owners may
/// be gone. Returns whether there were any.
pub fn has_entered_more(index: &KnownIndex, places: &Places) -> bool {
    // An index that cannot be read is reported to whoever looks at it next.
    let Ok(known) = index.survey(places, SurveyDepth::Facts) else {
        return false;
    };
    let settings = Configuration::read_once(places, false).settings;
    let store = index.store().with_runs_dir(settings.runs_dir);
    let has_entered = store.reindex(places.real_project(), &known) > 0;
    if has_entered {
        tend_records(index, places);
    }
    has_entered
}

/// Returns the state of a run, as far as the index knows it.
pub fn status_of(run: &IndexedRun) -> Status {
    match run.state {
        RunState::Open => Status::Running,
        RunState::Over { status, .. } => status,
    }
}

/// Returns whether the run was refused because another run held its session. Such a run is no part
/// of the conversation.
pub fn was_kept_out(run: &RunHistory) -> bool {
    matches!(run.summary.ending, Some(Ending::SessionInUse { .. }))
}

/// Narrows the runs of an id to those that are still running. If none is, returns the latest run
/// that got hold of its session. Fails if the runs belong to different conversations.
pub fn current(mut runs: Vec<IndexedRun>) -> Result<Vec<IndexedRun>, FindError> {
    let is_running = runs.iter().any(IndexedRun::is_open);
    runs.retain(|run| run.is_open() == is_running);
    let mut runs = of_one_conversation(runs, None)?;
    if is_running {
        return Ok(runs);
    }
    let was_let_in = |run: &IndexedRun| {
        !history(&run.directory, HeldMessages::LastText).is_ok_and(|run| was_kept_out(&run))
    };
    let latest = runs.iter().rposition(was_let_in);
    let latest = latest.or_else(|| runs.len().checked_sub(1));
    Ok(latest.map(|at| runs.swap_remove(at)).into_iter().collect())
}
