//! Accepts results as far as they stay green: they are rehearsed in a scratch copy of what the person
//! has now, and land in the checkout in one step when all gates have ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::WorktreeSettings;
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::RiskTier;

use super::accept_news::AcceptNews;
use super::accept_report::{AcceptReport, Fate, ReviewedResult};
use super::acceptor::Acceptor;
use super::close::finish_interrupted;
use super::fates::note_failed_gates;
use super::gate_run::GateCommand;
use super::gate_sandbox::{GateSandbox, HiddenGround};
use super::queue::{ReviewQueue, WaitingResult};
use super::rehearsed_results::Candidate;
use super::result_parts::{TakenPart, WantedParts};
use super::review_gates::{ReviewGates, check_confirmed};
use super::review_lock::lock_review;
use super::scratch::ScratchPlan;
use super::undo::checkout_of;
use crate::known_index::KnownIndex;
use crate::results::RunResult;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

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

impl AcceptAll<'_> {
    /// Accepts results, and reports what became of each. Nothing is written before all gates have
    /// ended, and then everything in one step.
    pub fn run(&self, news: &mut dyn FnMut(AcceptNews<'_>)) -> Result<AcceptReport, CommandError> {
        let checkout = checkout_of(self.places)?;
        let _lock = lock_review(&checkout)?;
        let warnings = finish_interrupted(&checkout, self.places, self.index)?;
        let named = self.only.as_deref().unwrap_or_default();
        let queue = ReviewQueue::gather_named(self.places, self.index, named)?;
        let mut report = AcceptReport {
            warnings,
            ..AcceptReport::default()
        };
        let mut candidates: Vec<Candidate<'_>> = Vec::new();
        for one in queue.results.iter().filter(|one| self.is_meant(one)) {
            let wanted = self.parts.get(&one.facts.run);
            let part = wanted.map(|wanted| wanted.of(one)).transpose()?.flatten();
            if self.tries(one, part.as_ref()) {
                candidates.push(Candidate {
                    waiting: one,
                    part,
                    gates: self.gates.of_result(one),
                });
            } else {
                let fate = Fate::NotTried(one.reasons.clone());
                report.results.push(ReviewedResult::of(one, fate));
            }
        }
        report.others = queue.count() - queue.results.len();
        if !candidates.is_empty() {
            self.gates.check_proof(&candidates)?;
            let inside = checkout.relative(&self.places.cwd);
            let review_gate = self.gates.of_review(inside.as_deref());
            if let Some(confirmed) = &self.confirmed {
                let own = candidates.iter().flat_map(|one| &one.gates);
                check_confirmed(confirmed, own.chain(&review_gate))?;
            }
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
}
