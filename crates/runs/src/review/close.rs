//! What follows from a landing: its results wait no more and lose their worktrees; when it is taken
//! back, they wait again. Each step can be repeated, so that whoever comes after a crash does the
//! rest.

use pi_subagents_git::{
    Change, Landing, LandingMark, ObjectId, Pin, Repository, WorkspaceError, pin, unpin_merged,
};
use pi_subagents_records::{IndexedRun, runs_of_session};
use pi_subagents_vocabulary::text::one_line;

use super::landing_note::{HalfNote, LandedRun, LandingNote};
use crate::ask_which::find_failure;
use crate::known_index::KnownIndex;
use crate::merging::{interruptions, tidy};
use crate::results::{Results, RunResult, failed};
use crate::workspace::{PartsLeft, Workspace, WorkspaceState};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// So many of the last landings of a checkout can be taken back.
const MOST_KEPT: usize = 20;

/// Finishes what a process that was killed has left: writes into the checkout, and what follows from
/// them. The caller holds the lock of the review. Returns sentences about what was found.
pub(super) fn finish_interrupted(
    checkout: &Repository,
    places: &Places,
    index: &KnownIndex,
) -> Result<Vec<String>, CommandError> {
    let locked = checkout.locked().map_err(|error| failed(&error))?;
    let mut said = interruptions(locked.recovered(), &[]);
    drop(locked);
    let landings = Landing::all(checkout).map_err(|error| failed(&error))?;
    let mut landed = Vec::new();
    for landing in landings {
        if landing.has(LandingMark::Halved) {
            close_half(checkout, &landing, index)?;
        }
        let marks = [
            LandingMark::Landed,
            LandingMark::Closed,
            LandingMark::TakenBack,
            LandingMark::Reopened,
        ];
        match marks.map(|mark| landing.has(mark)) {
            // Nothing was written.
            [false, _, _, _] => landing.forget().map_err(|error| failed(&error))?,
            [true, _, true, false] => reopen(checkout, &landing, index)?,
            [true, false, false, _] => {
                said.extend(close(checkout, &landing, places, index)?);
                landed.push(landing);
            }
            [true, _, _, _] => landed.push(landing),
        }
    }
    let old = landed.len().saturating_sub(MOST_KEPT);
    for landing in landed.into_iter().take(old) {
        landing.forget().map_err(|error| failed(&error))?;
    }
    Ok(said)
}

/// Notes that the results of a landing were taken, and removes their worktrees. Returns sentences
/// about what could not be tidied up.
pub(super) fn close(
    checkout: &Repository,
    landing: &Landing,
    places: &Places,
    index: &KnownIndex,
) -> Result<Vec<String>, CommandError> {
    let Some(note) = LandingNote::read(landing) else {
        return Ok(Vec::new());
    };
    let known = index.runs().map_err(find_failure)?;
    let mut results = Results::here(&places.cwd);
    let mut warnings = Vec::new();
    for landed in &note.runs {
        let Some(mut result) = result_of(landed, &known, &mut results)? else {
            continue;
        };
        match &landed.part {
            None => warnings.extend(tidy(checkout, &mut result).err()),
            Some(part) => {
                let rest = landed.since(&part.taken);
                begin_from(checkout, &result.run, rest, Some(part.after))?;
            }
        }
    }
    landing
        .set(LandingMark::Closed)
        .map_err(|error| failed(&error))?;
    Ok(warnings)
}

/// Compares the result of a run with another state from now on, of which some parts wait.
fn begin_from(
    checkout: &Repository,
    run: &IndexedRun,
    change: Option<Change>,
    parts: Option<PartsLeft>,
) -> Result<(), CommandError> {
    // Somebody else has written the note.
    let Some(change) = change else { return Ok(()) };
    let of_git = |error: WorkspaceError| failed(&error);
    pin(checkout, run.run.as_str(), Pin::Base, &change.base).map_err(of_git)?;
    let directory = run.directory.path();
    let workspace = Workspace::read(directory);
    let own = workspace.filter(|workspace| {
        let left = workspace.left.as_ref();
        left.is_some_and(|left| left.result == change.result.as_str())
    });
    let Some(mut workspace) = own else {
        return Ok(());
    };
    workspace.parts = parts;
    workspace
        .begin_from(checkout, &change, directory)
        .map_err(of_git)
}

/// Finds a result that was landed, unless its run has another one by now.
fn result_of(
    landed: &LandedRun,
    known: &[IndexedRun],
    results: &mut Results,
) -> Result<Option<RunResult>, CommandError> {
    let Some(run) = known.iter().find(|run| run.run == landed.run) else {
        return Ok(None);
    };
    let found = results.of_conversation(std::slice::from_ref(run))?;
    let found = found
        .into_iter()
        .flatten()
        .find(|result| result.change.result.as_str() == landed.result);
    Ok(found.map(|result| result.with_earlier(&runs_of_session(known, &run.session))))
}

/// Lets the results of a landing that was taken back wait again.
pub(super) fn reopen(
    checkout: &Repository,
    landing: &Landing,
    index: &KnownIndex,
) -> Result<(), CommandError> {
    let note = LandingNote::read(landing).into_iter();
    for landed in note.flat_map(|note| note.runs) {
        reopen_one(checkout, &landed, index)?;
    }
    landing
        .set(LandingMark::Reopened)
        .map_err(|error| failed(&error))
}

/// Lets a result that was taken back wait again.
fn reopen_one(
    checkout: &Repository,
    landed: &LandedRun,
    index: &KnownIndex,
) -> Result<(), CommandError> {
    let known = index.runs().map_err(find_failure)?;
    unpin_merged(checkout, landed.run.as_str()).map_err(|error| failed(&error))?;
    let Some(run) = known.iter().find(|run| run.run == landed.run) else {
        return Ok(());
    };
    if let Some(part) = &landed.part {
        begin_from(checkout, run, landed.since(&part.base), part.before)?;
    }
    let directory = run.directory.path();
    let Some(mut workspace) = Workspace::read(directory) else {
        return Ok(());
    };
    if workspace.state == WorkspaceState::Merged || workspace.merged_in_part {
        workspace.state = WorkspaceState::Captured;
        workspace.merged_in_part = false;
        let written = workspace.write(directory);
        written.map_err(|error| {
            let name = one_line(&landed.name);
            CommandError::failed(format!("{name} cannot be listed again")).because(&error)
        })?;
    }
    Ok(())
}

/// Does what follows from a part of a landing that was taken back: its results wait again, or the parts
/// of them that went.
pub(super) fn close_half(
    checkout: &Repository,
    landing: &Landing,
    index: &KnownIndex,
) -> Result<(), CommandError> {
    let of_git = |error: WorkspaceError| failed(&error);
    if let Some(half) = HalfNote::read(landing) {
        for landed in &half.reopened {
            reopen_one(checkout, landed, index)?;
        }
        let known = index.runs().map_err(find_failure)?;
        for landed in &half.kept.runs {
            let is_reopened = half.reopened.iter().any(|other| other.run == landed.run);
            let run = known.iter().find(|run| run.run == landed.run);
            if let (true, Some(run), Some(part)) = (is_reopened, run, &landed.part) {
                begin_from(checkout, run, landed.since(&part.taken), Some(part.after))?;
            }
        }
        if let Some(to) = ObjectId::parse(&half.to) {
            landing.end_at(&to).map_err(of_git)?;
        }
        half.kept.write(landing).map_err(of_git)?;
    }
    landing.clear(LandingMark::Halved).map_err(of_git)?;
    HalfNote::remove(landing).map_err(of_git)
}
