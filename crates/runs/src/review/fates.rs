//! What became of each result of an accept, with the reason why it is out.

use std::path::Path;

use pi_subagents_git::Conflict;
use pi_subagents_vocabulary::review::{Acceptance, RedResult};

use super::accept_report::{AcceptReport, Fate, ReviewedResult};
use super::later::ReviewNote;
use super::queue::ReviewQueue;
use super::rehearsed_results::{Candidate, RehearsedResults};
use crate::workspace::place;
use pi_subagents_ground::error::CommandError;

/// The candidates of a round, whose fates are told.
pub(super) struct Fates<'a> {
    pub(super) candidates: &'a [Candidate<'a>],
    /// True if they are tried again because somebody changed the checkout.
    pub(super) is_again: bool,
}

impl Fates<'_> {
    /// Says what became of a candidate.
    pub(super) fn reviewed(&self, candidate: usize, fate: Fate) -> ReviewedResult {
        let candidate = &self.candidates[candidate];
        let part = candidate.part.as_ref().filter(|_| fate == Fate::Taken);
        ReviewedResult {
            left: part.map(|part| part.after),
            ..ReviewedResult::of(candidate.waiting, fate)
        }
    }

    /// Says of each result that is out why.
    pub(super) fn of_left_out(
        &self,
        found: &Acceptance,
        rehearsed: &mut RehearsedResults<'_, '_>,
    ) -> Result<Vec<ReviewedResult>, CommandError> {
        let mut fates = Vec::new();
        for red in &found.red {
            fates.push(self.reviewed(red.result, self.red_fate(red, rehearsed)));
        }
        for unfit in &found.unfit {
            let alone = rehearsed.conflicts(&[], *unfit)?;
            let is_of_checkout = !alone.is_empty();
            let conflicts = if is_of_checkout {
                alone
            } else {
                rehearsed.conflicts(&found.accepted, *unfit)?
            };
            let with = self.touching(&found.accepted, &conflicts);
            let places: Vec<String> = conflicts.iter().map(place).collect();
            let fate = if is_of_checkout && self.is_again {
                Fate::ChangedMeanwhile { places }
            } else if is_of_checkout {
                Fate::Conflict {
                    with: Vec::new(),
                    places,
                }
            } else {
                Fate::Conflict { with, places }
            };
            fates.push(self.reviewed(*unfit, fate));
        }
        Ok(fates)
    }

    fn red_fate(&self, red: &RedResult, rehearsed: &RehearsedResults<'_, '_>) -> Fate {
        let tried = [&red.with[..], &[red.result]].concat();
        let gate = rehearsed.red_gate(&tried);
        let name = |one: &usize| self.candidates[*one].waiting.facts.name.clone();
        Fate::Red {
            command: gate.map_or_else(String::new, |gate| gate.command.clone()),
            code: gate.map_or(1, |gate| gate.code),
            output: gate.map_or_else(String::new, |gate| gate.output.clone()),
            with: red.with.iter().map(name).collect(),
            is_green_alone: red.is_green_alone,
        }
    }

    /// Names the accepted results that change a file of some conflicts.
    fn touching(&self, accepted: &[usize], conflicts: &[Conflict]) -> Vec<String> {
        let changes_one = |one: &&usize| {
            let files = &self.candidates[**one].waiting.facts.files;
            let mut paths = conflicts.iter().map(|conflict| &conflict.path);
            paths.any(|path| files.iter().any(|file| Path::new(&file.path) == path))
        };
        let named = accepted.iter().filter(changes_one);
        let named = named.map(|one| self.candidates[*one].waiting.facts.name.clone());
        named.collect()
    }
}

/// Keeps the gates that failed beside the runs, so that a result that is sent back can name them.
pub(super) fn note_failed_gates(report: &AcceptReport, queue: &ReviewQueue) {
    for one in &report.results {
        let waiting = queue
            .results
            .iter()
            .find(|other| other.facts.run == one.run);
        let Some((gate, waiting)) = one.fate.failed_gate().zip(waiting) else {
            continue;
        };
        let directory = &waiting.result.run.directory;
        let mut note = ReviewNote::read(directory);
        note.failed_gate = Some(gate);
        // Without the note the sub-agent reads less, and nothing else is lost.
        _ = note.write(directory);
    }
}
