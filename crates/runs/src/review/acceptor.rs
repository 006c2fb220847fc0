//! The rounds of an accept: results are rehearsed on the checkout as it is, and land if it still is so
//! when the last gate has ended.

use pi_subagents_git::{Landed, Landing, ObjectId, Repository, Snapshot, Stacked};
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::review::accept;
use pi_subagents_vocabulary::text::{count, first_of, one_line};

use super::accept_all::AcceptAll;
use super::accept_news::AcceptNews;
use super::accept_report::{AcceptReport, Fate, LandedFiles};
use super::close::close;
use super::fates::Fates;
use super::gate_run::GateCommand;
use super::landing_note::{LandedRun, LandingNote};
use super::rehearsed_results::{Candidate, RehearsedResults, StateGates};
use super::result_parts::TakenPart;
use super::scratch::ScratchPlan;
use crate::merging::interruptions;
use crate::results::failed;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random::new_run_id;

/// At most so many times results are rehearsed again because somebody changed the checkout.
const MOST_ROUNDS: usize = 3;

/// At most so many files are named.
const MOST_NAMED: usize = 3;

/// The work of accepting, round by round.
pub(super) struct Acceptor<'a> {
    pub(super) wanted: &'a AcceptAll<'a>,
    pub(super) checkout: &'a Repository,
    pub(super) candidates: &'a [Candidate<'a>],
    pub(super) review_gate: Option<GateCommand>,
    pub(super) plan: ScratchPlan,
    pub(super) report: &'a mut AcceptReport,
}

/// The outcome of one round.
enum Round {
    Done,
    /// The checkout has changed; these are tried again.
    Again(Vec<usize>),
}

impl Acceptor<'_> {
    /// Tries the candidates until the checkout stays the same meanwhile, and lands them.
    pub(super) fn run(&mut self, news: &mut dyn FnMut(AcceptNews<'_>)) -> Result<(), CommandError> {
        self.plan.clear();
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        let mut is_again = false;
        for _ in 0..MOST_ROUNDS {
            match self.round(&order, is_again, news)? {
                Round::Done => return Ok(()),
                Round::Again(left) => order = left,
            }
            is_again = true;
            news(AcceptNews::Again);
        }
        Err(CommandError::failed(
            "the checkout was changed again and again while results were tried on it; nothing was taken",
        )
        .hint("Try again when nobody changes it."))
    }

    fn round(
        &mut self,
        order: &[usize],
        is_again: bool,
        news: &mut dyn FnMut(AcceptNews<'_>),
    ) -> Result<Round, CommandError> {
        let before = Snapshot::take(self.checkout).map_err(|error| failed(&error))?;
        let gates = StateGates {
            review: self.review_gate.as_ref(),
            any: self.wanted.gates.may_run(),
        };
        let plan = self.plan.clone();
        let mut rehearsed = RehearsedResults::of(
            self.checkout,
            &before.commit,
            self.candidates,
            gates,
            &plan,
            news,
        )?;
        let found = accept(&mut rehearsed, order)?;
        if found.is_red_before {
            return Err(red_before(&rehearsed));
        }
        let told = Fates {
            candidates: self.candidates,
            is_again,
        };
        let mut fates = told.of_left_out(&found, &mut rehearsed)?;
        let after = match rehearsed.state(&found.accepted)? {
            Stacked::State(state) => state,
            Stacked::Conflicts(_) => before.commit.clone(),
        };
        self.report.gate_runs += rehearsed.gate_runs;
        self.report.written.append(&mut rehearsed.written);
        drop(rehearsed);
        if found.accepted.is_empty() {
            self.report.results.append(&mut fates);
            return Ok(Round::Done);
        }
        news(AcceptNews::Lands);
        match self.land(&before.commit, &after, &found.accepted)? {
            Landed::Whole { files, late_saves } => {
                self.report.warnings.extend(interruptions(&[], &late_saves));
                self.report.landed = LandedFiles::of(&files);
                self.report.uncommitted = before.uncommitted.len();
                let taken = found.accepted.iter();
                fates.extend(taken.map(|one| told.reviewed(*one, Fate::Taken)));
                self.report.results.append(&mut fates);
                Ok(Round::Done)
            }
            Landed::Moved => {
                self.report.results.append(&mut fates);
                Ok(Round::Again(found.accepted))
            }
            Landed::InTheWay(files) => {
                let files = files.iter().map(|path| path.display().to_string());
                let files: Vec<String> = files.collect();
                let words = format!(
                    "{} would be overwritten, which git does not keep; nothing was taken",
                    one_line(&first_of(files, MOST_NAMED, ", "))
                );
                Err(CommandError::failed(words).hint("Move it away, and try again."))
            }
        }
    }

    fn land(
        &mut self,
        before: &ObjectId,
        after: &ObjectId,
        accepted: &[usize],
    ) -> Result<Landed, CommandError> {
        let id = new_run_id()?;
        let landing = Landing::begin(self.checkout, id.as_str()).map_err(|error| failed(&error))?;
        let runs = accepted.iter().map(|one| {
            let candidate = &self.candidates[*one];
            let result = &candidate.waiting.result;
            LandedRun {
                run: result.run.run.clone(),
                name: result.run.name.clone(),
                result: result.change.result.to_string(),
                base: Some(result.change.base.to_string()),
                part: candidate.part.as_ref().map(TakenPart::note),
            }
        });
        let note = LandingNote {
            at: Timestamp::now(),
            runs: runs.collect(),
        };
        note.write(&landing).map_err(|error| failed(&error))?;
        let landed = landing
            .land(before, after)
            .map_err(|error| failed(&error))?;
        match landed {
            Landed::Whole { .. } => {
                let (places, index) = (self.wanted.places, self.wanted.index);
                let warnings = close(self.checkout, &landing, places, index)?;
                self.report.warnings.extend(warnings);
                self.report.landing = Some(id.to_string());
            }
            Landed::Moved | Landed::InTheWay(_) => {
                landing.forget().map_err(|error| failed(&error))?;
            }
        }
        Ok(landed)
    }
}

/// Returns the error for a checkout that fails the gate already.
fn red_before(rehearsed: &RehearsedResults<'_, '_>) -> CommandError {
    let Some(red) = rehearsed.red_gate(&[]) else {
        return CommandError::failed("your checkout fails the gate already; nothing was taken");
    };
    let words = format!(
        "your checkout fails the gate already: {} → {}; nothing was taken",
        one_line(&red.command),
        red.code
    );
    let lines = count(red.output.lines().count(), "line");
    CommandError::failed(words).hint(format!("Its last {lines}:\n{}", red.output))
}
