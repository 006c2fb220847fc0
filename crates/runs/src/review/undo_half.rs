//! Takes a part of the last landing back: one of its results, or some files. What stays is gated first,
//! because nobody has seen it without the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use pi_subagents_configuration::WorktreeSettings;
use pi_subagents_git::{
    Change, ChangeParts, HalfRehearsed, Landing, ObjectId, Repository, SavedEdits, Stacked,
    TakenBack, WorkspaceError,
};
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::text::{first_of, one_line};
use pi_subagents_vocabulary::{Gate, RunId};

use super::close::{close_half, finish_interrupted};
use super::gate_run::{GateCommand, GateVerdict};
use super::gate_sandbox::HiddenGround;
use super::landing_note::{HalfNote, LandedPart, LandedRun, LandingNote};
use super::result_facts::own_gates;
use super::review_lock::lock_review;
use super::scratch::ScratchPlan;
use super::undo::{UndoReport, checkout_of, last_landing, refusal, undo};
use crate::ask_which::find_failure;
use crate::known_index::KnownIndex;
use crate::merging::interruptions;
use crate::results::failed;
use crate::workspace::{PartsLeft, Workspace, WorkspaceFile, place};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// At most so many places are named.
const MOST_NAMED: usize = 3;

/// The part of the last landing that is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoneHalf {
    /// The results of those of these runs that are in it.
    Runs(Vec<RunId>),
    /// These files, and the files of these directories, below the top of the checkout.
    Files(Vec<PathBuf>),
}

/// Takes a part of the last landing back.
pub struct HalfUndo<'a> {
    pub places: &'a Places,
    pub index: &'a KnownIndex,
    pub half: UndoneHalf,
    pub edits: SavedEdits,
    /// The gates that what stays must pass; `None` if it is not gated.
    pub gates: Option<HalfGates>,
    pub worktrees: WorktreeSettings,
    /// The environment of gates.
    pub variables: BTreeMap<OsString, OsString>,
    /// Files with keys that the settings name, which no confined gate sees.
    pub keys: Vec<PathBuf>,
}

/// The gates that what stays must pass, beside those that the calls of its results have set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HalfGates {
    /// The gate of the review.
    pub review: Option<String>,
}

/// What stays of a landing.
struct Rest {
    to: ObjectId,
    note: HalfNote,
}

impl HalfUndo<'_> {
    /// Takes it back. Fails, and changes nothing, if its files were changed since or what stays fails a
    /// gate.
    pub fn run(&self) -> Result<UndoReport, CommandError> {
        let checkout = checkout_of(self.places)?;
        let lock = lock_review(&checkout)?;
        let mut warnings = finish_interrupted(&checkout, self.places, self.index)?;
        let landing = last_landing(&checkout)?;
        let Some(note) = LandingNote::read(&landing) else {
            return Err(CommandError::failed(
                "nobody knows what the last step was made of",
            ));
        };
        let known = self.index.runs().map_err(find_failure)?;
        let rest = self.rest(&checkout, &landing, &note)?;
        let of_git = |error: WorkspaceError| failed(&error);
        let tree = |commit: &ObjectId| checkout.tree_of(commit).map_err(of_git);
        let before = landing.states().map_err(of_git)?;
        let before = before.map(|[before, _]| tree(&before)).transpose()?;
        if before.as_ref() == Some(&tree(&rest.to)?) {
            // Nothing would stay of it.
            drop(lock);
            return undo(self.places, self.index, self.edits);
        }
        let names = names_of(&rest.note.reopened);
        let rehearsed = landing
            .rehearse_back(&rest.to, self.edits)
            .map_err(of_git)?;
        let rehearsed = match rehearsed {
            HalfRehearsed::State(state) => state,
            HalfRehearsed::Refused(why) => return Err(refusal(&names, &why)),
        };
        self.gate(&checkout, &rehearsed.state, &rest.note.kept, &known)?;
        rest.note.write(&landing).map_err(of_git)?;
        let taken_back = landing.take_back_half(&rest.to, &rehearsed, self.edits);
        let (files, late_saves) = match taken_back.map_err(of_git)? {
            TakenBack::Whole { files, late_saves } => (files, late_saves),
            refused => return Err(refusal(&names, &refused)),
        };
        warnings.extend(interruptions(&[], &late_saves));
        close_half(&checkout, &landing, self.index)?;
        let runs = rest.note.reopened.iter().map(|run| run.run.to_string());
        Ok(UndoReport {
            names,
            runs: runs.collect(),
            files: files.iter().map(WorkspaceFile::of).collect(),
            warnings,
        })
    }

    /// Finds out what stays.
    fn rest(
        &self,
        checkout: &Repository,
        landing: &Landing,
        note: &LandingNote,
    ) -> Result<Rest, CommandError> {
        match &self.half {
            UndoneHalf::Runs(runs) => without_runs(landing, note, runs),
            UndoneHalf::Files(files) => without_files(checkout, landing, note, files),
        }
    }

    fn gate(
        &self,
        checkout: &Repository,
        state: &ObjectId,
        kept: &LandingNote,
        known: &[IndexedRun],
    ) -> Result<(), CommandError> {
        let Some(gates) = &self.gates else {
            return Ok(());
        };
        let review = gates.review.clone().map(|command| GateCommand {
            command,
            inside: checkout.relative(&self.places.cwd).unwrap_or_default(),
            timeout: Gate::USUAL_TIMEOUT,
        });
        let is_kept = |run: &&IndexedRun| kept.runs.iter().any(|landed| landed.run == run.run);
        let own = known.iter().filter(is_kept).flat_map(|run| {
            let workspace = Workspace::read(run.directory.path());
            let inside = workspace.map_or_else(PathBuf::new, |workspace| workspace.inside);
            let gates = own_gates(run).into_iter();
            gates.map(move |gate| GateCommand {
                command: gate.command,
                inside: inside.clone(),
                timeout: gate.timeout,
            })
        });
        let mut all: Vec<GateCommand> = Vec::new();
        for gate in review.into_iter().chain(own) {
            if !all.contains(&gate) {
                all.push(gate);
            }
        }
        if all.is_empty() {
            return Ok(());
        }
        // Runs of the same session may have worked on what stays.
        let sessions: BTreeSet<_> = known
            .iter()
            .filter(is_kept)
            .map(|run| &run.session)
            .collect();
        let runs = known.iter().filter(|run| sessions.contains(&run.session));
        let runs: Vec<RunDir> = runs.map(|run| run.directory.clone()).collect();
        let ground = HiddenGround {
            places: self.places,
            keys: &self.keys,
        };
        let plan = ScratchPlan::of(checkout, self.places, &self.worktrees, &self.variables);
        let plan = plan.confined(ground.sandbox_of(&runs, checkout.top()));
        plan.clear();
        let mut scratch = plan.make(state)?;
        for gate in &all {
            if let (GateVerdict::Red(red), _) = scratch.gate(state, gate)? {
                let words = format!(
                    "what stays fails the gate: {} → {}; nothing was taken back",
                    one_line(&red.command),
                    red.code
                );
                let error = CommandError::failed(words);
                return Err(if red.output.is_empty() {
                    error
                } else {
                    error.hint(format!("Its last lines:\n{}", red.output))
                });
            }
        }
        Ok(())
    }
}

/// Finds out what stays without some results.
fn without_runs(
    landing: &Landing,
    note: &LandingNote,
    runs: &[RunId],
) -> Result<Rest, CommandError> {
    let is_meant = |one: &LandedRun| runs.contains(&one.run);
    let (reopened, kept): (Vec<LandedRun>, Vec<LandedRun>) =
        note.runs.iter().cloned().partition(is_meant);
    if reopened.is_empty() {
        let words = format!("that is not in the last step, which is {}", note.names());
        return Err(CommandError::not_found(words).hint("Take that step back first."));
    }
    let mut to = None;
    // The last one may stand on those before it.
    for landed in reopened.iter().rev() {
        to = Some(without_run(landing, landed, to.as_ref())?);
    }
    let to = to.ok_or_else(|| gone(&note.names()))?;
    let kept = LandingNote {
        at: note.at,
        runs: kept,
    };
    Ok(Rest {
        note: HalfNote {
            to: to.to_string(),
            kept,
            reopened,
        },
        to,
    })
}

/// Returns a state after a landing without one of its results.
fn without_run(
    landing: &Landing,
    landed: &LandedRun,
    after: Option<&ObjectId>,
) -> Result<ObjectId, CommandError> {
    let name = one_line(&landed.name);
    let change = landed.change().ok_or_else(|| gone(&name))?;
    let without = landing.without_change(&change, after);
    match without
        .map_err(|error| failed(&error))?
        .ok_or_else(|| gone(&name))?
    {
        Stacked::State(to) => Ok(to),
        Stacked::Conflicts(conflicts) => {
            let places = first_of(conflicts.iter().map(place), MOST_NAMED, ", ");
            let words =
                format!("{name}: not taken back; another result of the same step changed {places}");
            Err(CommandError::failed(words).hint("Take the whole step back."))
        }
    }
}

fn gone(name: &str) -> CommandError {
    CommandError::failed(format!(
        "{name}: not taken back; git does not keep its change any more"
    ))
}

/// Finds out what stays without some files.
fn without_files(
    checkout: &Repository,
    landing: &Landing,
    note: &LandingNote,
    files: &[PathBuf],
) -> Result<Rest, CommandError> {
    let of_git = |error: WorkspaceError| failed(&error);
    let to = landing.without_files(files).map_err(of_git)?;
    let Some(to) = to else {
        let files = files
            .iter()
            .map(|path| one_line(&path.display().to_string()));
        let files = first_of(files.collect::<Vec<_>>(), MOST_NAMED, ", ");
        return Err(CommandError::not_found(format!(
            "the last step did not change {files}"
        )));
    };
    let (mut kept, mut reopened) = (Vec::new(), Vec::new());
    for landed in &note.runs {
        match less(checkout, landed, files)? {
            Less::Nothing => kept.push(landed.clone()),
            Less::All => reopened.push(landed.clone()),
            Less::Some(part) => {
                reopened.push(landed.clone());
                kept.push(LandedRun {
                    part: Some(part),
                    ..landed.clone()
                });
            }
        }
    }
    Ok(Rest {
        note: HalfNote {
            to: to.to_string(),
            kept: LandingNote {
                at: note.at,
                runs: kept,
            },
            reopened,
        },
        to,
    })
}

/// What some files are of a landed change.
enum Less {
    Nothing,
    /// A part; this one stays.
    Some(LandedPart),
    All,
}

/// Finds out what of a landed change goes with some files.
fn less(
    checkout: &Repository,
    landed: &LandedRun,
    files: &[PathBuf],
) -> Result<Less, CommandError> {
    let of_git = |error: WorkspaceError| failed(&error);
    let Some((change, whole)) = landed.change().zip(landed.whole()) else {
        return Ok(Less::Nothing);
    };
    let parts_of = |change: &Change| ChangeParts::of(checkout, change).map_err(of_git);
    let too_large =
        || CommandError::failed("its difference has more than 20 MB, so it has no parts");
    let parts = parts_of(&change)?.ok_or_else(too_large)?;
    let goes = |path: &PathBuf| files.iter().any(|wanted| path.starts_with(wanted));
    let stays = parts.parts().iter().filter(|part| {
        let mut paths = [Some(&part.path), part.from.as_ref()].into_iter().flatten();
        !paths.any(goes)
    });
    let stays: BTreeSet<String> = stays.map(|part| part.name.clone()).collect();
    if stays.len() == parts.parts().len() {
        return Ok(Less::Nothing);
    }
    if stays.is_empty() {
        return Ok(Less::All);
    }
    let taken = parts.take(checkout, &stays).map_err(of_git)?;
    let rest = Change {
        base: taken.result.clone(),
        result: whole.result,
    };
    let left = parts_of(&rest)?.ok_or_else(too_large)?.parts().len();
    let before = landed.part.as_ref().and_then(|part| part.before);
    let of = landed.part.as_ref().map(|part| part.after.of);
    Ok(Less::Some(LandedPart {
        base: change.base.to_string(),
        taken: taken.result.to_string(),
        before,
        after: PartsLeft {
            left,
            of: of.unwrap_or(parts.parts().len()),
        },
    }))
}

fn names_of(runs: &[LandedRun]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    one_line(&names.join(", "))
}
