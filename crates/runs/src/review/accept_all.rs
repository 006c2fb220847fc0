//! Accepts results as far as they stay green: they are rehearsed in a scratch copy of what the person
//! has now, and land in the checkout in one step when all gates have ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_configuration::WorktreeSettings;
use pi_subagents_git::{Conflict, Landed, Landing, ObjectId, Repository, Snapshot, Stacked};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::review::{Acceptance, RedResult, RiskTier, accept};
use pi_subagents_vocabulary::text::{count, first_of, one_line};
use pi_subagents_vocabulary::{Advice, Gate, RunId, Timestamp};

use super::accept_report::{AcceptReport, Fate, LandedFiles, ReviewedResult};
use super::close::{close, finish_interrupted};
use super::gate_run::GateCommand;
use super::gate_sandbox::{GateSandbox, HiddenGround};
use super::landing_note::{LandedRun, LandingNote};
use super::later::ReviewNote;
use super::queue::{ReviewQueue, WaitingResult};
use super::rehearsed_results::{Candidate, RehearsedResults, StateGates};
use super::result_facts::own_gates;
use super::result_parts::{TakenPart, WantedParts};
use super::review_lock::lock_review;
use super::scratch::ScratchPlan;
use super::undo::checkout_of;
use crate::known_index::KnownIndex;
use crate::merging::interruptions;
use crate::results::{RunResult, failed};
use crate::workspace::place;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random::new_run_id;

/// At most so many times results are rehearsed again because somebody changed the checkout.
const MOST_ROUNDS: usize = 3;

/// The gates that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewGates {
    /// No gate is run.
    None,
    /// Each state must pass this command, if there is one, and the gates of the results in it.
    Run(Option<String>),
    /// The same, but results that nothing gates are taken too: a person has looked at them.
    IfAny(Option<String>),
}

/// The results that are to be accepted, and the rules for it.
pub struct AcceptAll<'a> {
    pub places: &'a Places,
    pub index: &'a KnownIndex,
    pub gates: ReviewGates,
    /// Results of a higher tier are left to a person.
    pub up_to: RiskTier,
    /// The only results, if a person has chosen some. Their tier does not matter then.
    pub only: Option<Vec<RunId>>,
    /// The parts of results that are wanted, by their runs; the others are wanted whole.
    pub parts: BTreeMap<RunId, WantedParts>,
    /// The gates that a person was asked about; no other is run. `None` if whoever accepts has named
    /// or written them.
    pub confirmed: Option<Vec<String>>,
    pub worktrees: WorktreeSettings,
    /// The environment of gates.
    pub variables: BTreeMap<OsString, OsString>,
    /// Files with keys that the settings name, which no confined gate sees.
    pub keys: Vec<PathBuf>,
}

/// Something that happens while results are accepted.
#[derive(Debug, Clone, Copy)]
pub enum AcceptNews<'a> {
    /// Gates run in this sandbox, because sub-agents that made the results had one.
    Confined(&'a str),
    /// A gate began on these results.
    GateBegan {
        results: &'a [&'a str],
        command: &'a str,
    },
    /// It ended.
    GateEnded {
        results: &'a [&'a str],
        command: &'a str,
        code: i32,
        took: Duration,
    },
    /// The checkout was changed meanwhile, and the results are rehearsed again.
    Again,
    /// From here the landing is finished, whatever happens.
    Lands,
}

impl AcceptNews<'_> {
    /// Says it in a sentence.
    pub fn sentence(&self) -> String {
        let names = |results: &[&str]| {
            if results.is_empty() {
                return "your checkout".to_owned();
            }
            let names = results.iter().map(|name| one_line(name));
            first_of(names, 6, ", ")
        };
        match self {
            Self::Confined(sandbox) => {
                format!("gates run in the sandbox of the results: {sandbox}")
            }
            Self::GateBegan { results, command } => {
                format!("{}: {} …", names(results), one_line(command))
            }
            Self::GateEnded {
                results,
                command,
                code,
                took,
            } => {
                let seconds = took.as_secs_f64();
                let (names, command) = (names(results), one_line(command));
                format!("{names}: {command} → {code} ({seconds:.1} s)")
            }
            Self::Again => {
                "the checkout has changed meanwhile; the results are tried again on it".to_owned()
            }
            Self::Lands => "the results land in the checkout".to_owned(),
        }
    }
}

impl AcceptAll<'_> {
    /// Accepts results, and reports what became of each. Nothing is written before all gates have
    /// ended, and then everything in one step.
    pub fn run(&self, news: &mut dyn FnMut(AcceptNews<'_>)) -> Result<AcceptReport, CommandError> {
        let checkout = checkout_of(self.places)?;
        let _lock = lock_review(&checkout)?;
        let warnings = finish_interrupted(&checkout, self.places, self.index)?;
        let queue = ReviewQueue::gather(self.places, self.index)?;
        let mut report = AcceptReport {
            warnings,
            ..AcceptReport::default()
        };
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        for one in queue.results.iter().filter(|one| self.is_meant(one)) {
            let wanted = self.parts.get(&one.facts.run);
            let part = wanted.map(|wanted| wanted.of(one)).transpose()?.flatten();
            if self.tries(one, part.as_ref()) {
                candidates.push(self.candidate(one, part));
            } else {
                let fate = Fate::NotTried(one.reasons.clone());
                report.results.push(ReviewedResult::of(one, fate));
            }
        }
        report.others = queue.count() - queue.results.len();
        if !candidates.is_empty() {
            self.check_gates(&candidates)?;
            let review_gate = self.review_gate(&checkout);
            self.check_confirmed(&candidates, review_gate.as_ref())?;
            let sandbox = self.gate_sandbox(&candidates, review_gate.as_ref(), checkout.top());
            report.gate_sandbox = sandbox.as_ref().map(|one| one.sandbox.to_string());
            if let Some(sandbox) = &report.gate_sandbox {
                news(AcceptNews::Confined(sandbox));
            }
            let plan = ScratchPlan::of(&checkout, self.places, &self.worktrees, &self.variables);
            Acceptor {
                wanted: self,
                checkout: &checkout,
                candidates: &candidates,
                review_gate,
                plan: plan.confined(sandbox),
                report: &mut report,
            }
            .run(news)?;
        }
        report.in_order_of(&queue);
        note_failed_gates(&report, &queue);
        Ok(report)
    }

    fn is_meant(&self, one: &WaitingResult) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.contains(&one.facts.run))
    }

    /// Returns whether a result may be accepted without another look. What cannot be written is not
    /// tried even if a person has chosen it.
    fn tries(&self, one: &WaitingResult, part: Option<&TakenPart>) -> bool {
        if let Some(part) = part {
            return part.is_writable();
        }
        if self.only.is_none() && one.note.is_later {
            return false;
        }
        let is_writable = one.facts.in_the_way.is_empty()
            && one.facts.checkout_conflicts.is_empty()
            && one.facts.marked.is_empty()
            && one.facts.copies.is_empty();
        is_writable && (self.only.is_some() || one.tier <= self.up_to)
    }

    fn candidate<'c>(&self, waiting: &'c WaitingResult, part: Option<TakenPart>) -> Candidate<'c> {
        let gates = match self.gates {
            ReviewGates::None => Vec::new(),
            ReviewGates::Run(_) | ReviewGates::IfAny(_) => gates_of(waiting),
        };
        Candidate {
            waiting,
            part,
            gates,
        }
    }

    /// Refuses to take something that nothing has proved.
    fn check_gates(&self, candidates: &[Candidate<'_>]) -> Result<(), CommandError> {
        if self.gates != ReviewGates::Run(None) {
            return Ok(());
        }
        let without = candidates.iter().filter(|one| one.gates.is_empty());
        let names: Vec<String> = without
            .map(|one| one_line(&one.waiting.facts.name))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let names = first_of(names, 3, ", ");
        Err(
            CommandError::usage(format!("no gate says whether {names} may be taken"))
                .advise(
                    "",
                    Advice::AcceptWithGate,
                    " names one; subagents.reviewGate in settings.json names one for good.",
                )
                .advise("", Advice::AcceptWithoutGate, " takes them unseen."),
        )
    }

    /// Refuses to run a command that a person was not asked about.
    fn check_confirmed(
        &self,
        candidates: &[Candidate<'_>],
        review_gate: Option<&GateCommand>,
    ) -> Result<(), CommandError> {
        let Some(confirmed) = &self.confirmed else {
            return Ok(());
        };
        let own = candidates.iter().flat_map(|one| &one.gates);
        let mut all = own.chain(review_gate);
        let Some(other) = all.find(|gate| !confirmed.contains(&gate.command)) else {
            return Ok(());
        };
        let words = format!(
            "the gate `{}` was not confirmed; nothing was run",
            one_line(&other.command)
        );
        Err(CommandError::failed(words).hint("Look at the gates again, and confirm them."))
    }

    /// Returns the sandbox of all gates; `None` if there is no gate, or if all results were made by
    /// sub-agents without a sandbox.
    fn gate_sandbox(
        &self,
        candidates: &[Candidate<'_>],
        review_gate: Option<&GateCommand>,
        checkout: &Path,
    ) -> Option<GateSandbox> {
        let own = candidates.iter().flat_map(|one| &one.gates);
        own.chain(review_gate).next()?;
        let ground = HiddenGround {
            places: self.places,
            keys: &self.keys,
        };
        let results = candidates.iter().map(|one| &one.waiting.result);
        let runs: Vec<RunDir> = results.flat_map(RunResult::records).collect();
        ground.sandbox_of(&runs, checkout)
    }

    fn review_gate(&self, checkout: &Repository) -> Option<GateCommand> {
        match &self.gates {
            ReviewGates::Run(Some(command)) | ReviewGates::IfAny(Some(command)) => {
                Some(GateCommand {
                    command: command.clone(),
                    inside: checkout.relative(&self.places.cwd).unwrap_or_default(),
                    timeout: Gate::USUAL_TIMEOUT,
                })
            }
            ReviewGates::Run(None) | ReviewGates::IfAny(None) | ReviewGates::None => None,
        }
    }
}

pub(super) fn gates_of(waiting: &WaitingResult) -> Vec<GateCommand> {
    let gates = own_gates(&waiting.result.run);
    let workspace = waiting.result.workspace.as_ref();
    let inside = workspace.map_or_else(PathBuf::new, |workspace| workspace.inside.clone());
    let gates = gates.into_iter().map(|gate| GateCommand {
        command: gate.command,
        inside: inside.clone(),
        timeout: gate.timeout,
    });
    gates.collect()
}

/// Keeps the gates that failed beside the runs, so that a result that is sent back can name them.
fn note_failed_gates(report: &AcceptReport, queue: &ReviewQueue) {
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

/// The work of accepting, round by round.
struct Acceptor<'a> {
    wanted: &'a AcceptAll<'a>,
    checkout: &'a Repository,
    candidates: &'a [Candidate<'a>],
    review_gate: Option<GateCommand>,
    plan: ScratchPlan,
    report: &'a mut AcceptReport,
}

/// The outcome of one round.
enum Round {
    Done,
    /// The checkout has changed; these are tried again.
    Again(Vec<usize>),
}

impl Acceptor<'_> {
    fn run(&mut self, news: &mut dyn FnMut(AcceptNews<'_>)) -> Result<(), CommandError> {
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
            any: self.wanted.gates != ReviewGates::None,
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
        let mut fates = self.fates(&found, &mut rehearsed, is_again)?;
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
                fates.extend(
                    found
                        .accepted
                        .iter()
                        .map(|one| self.reviewed(*one, Fate::Taken)),
                );
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
                    one_line(&first_of(files, 3, ", "))
                );
                Err(CommandError::failed(words).hint("Move it away, and try again."))
            }
        }
    }

    fn reviewed(&self, candidate: usize, fate: Fate) -> ReviewedResult {
        let candidate = &self.candidates[candidate];
        let part = candidate.part.as_ref().filter(|_| fate == Fate::Taken);
        ReviewedResult {
            left: part.map(|part| part.after),
            ..ReviewedResult::of(candidate.waiting, fate)
        }
    }

    /// Says of each result that is out why.
    fn fates(
        &self,
        found: &Acceptance,
        rehearsed: &mut RehearsedResults<'_, '_>,
        is_again: bool,
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
            let fate = if is_of_checkout && is_again {
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
