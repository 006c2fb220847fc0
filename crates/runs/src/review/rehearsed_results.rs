//! Results as they are put on top of each other and gated, in a scratch copy of what the person has.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use pi_subagents_git::{Change, Conflict, ObjectId, Repository, Stack, Stacked};
use pi_subagents_vocabulary::review::Rehearsal;

use super::accept_news::AcceptNews;
use super::gate_run::{GateCommand, GateVerdict, RedGate};
use super::queue::WaitingResult;
use super::result_parts::TakenPart;
use super::scratch::{ScratchCopy, ScratchPlan};
use crate::results::failed;
use pi_subagents_ground::error::CommandError;

/// A result that may be accepted, with the gates that its own call set.
pub(super) struct Candidate<'a> {
    pub(super) waiting: &'a WaitingResult,
    /// The part of it that may be accepted, unless it is the whole.
    pub(super) part: Option<TakenPart>,
    pub(super) gates: Vec<GateCommand>,
}

impl Candidate<'_> {
    /// Returns the change that would come into the checkout.
    fn change(&self) -> &Change {
        let part = self.part.as_ref().map(|part| &part.change);
        part.unwrap_or(&self.waiting.result.change)
    }
}

/// The states that results make on top of a checkout, and what gates said of them.
pub(super) struct RehearsedResults<'a, 'b> {
    candidates: &'a [Candidate<'a>],
    /// The gate that every state must pass.
    review_gate: Option<&'a GateCommand>,
    has_gates: bool,
    base: ObjectId,
    repository: Repository,
    stack: Stack,
    states: HashMap<Vec<usize>, Stacked>,
    /// The verdicts, by the tree of a state. They are kept for this one review only.
    verdicts: HashMap<(ObjectId, GateCommand), GateVerdict>,
    plan: &'a ScratchPlan,
    scratch: Option<ScratchCopy>,
    pub(super) written: BTreeSet<PathBuf>,
    pub(super) gate_runs: usize,
    /// The gate that failed last on a state.
    reds: HashMap<Vec<usize>, RedGate>,
    news: &'b mut dyn FnMut(AcceptNews<'_>),
}

/// The gates that states must pass.
#[derive(Clone, Copy)]
pub(super) struct StateGates<'a> {
    pub(super) review: Option<&'a GateCommand>,
    /// False if a person has said that nothing is to be gated.
    pub(super) any: bool,
}

impl<'a, 'b> RehearsedResults<'a, 'b> {
    pub(super) fn of(
        repository: &Repository,
        base: &ObjectId,
        candidates: &'a [Candidate<'a>],
        gates: StateGates<'a>,
        plan: &'a ScratchPlan,
        news: &'b mut dyn FnMut(AcceptNews<'_>),
    ) -> Result<Self, CommandError> {
        Ok(Self {
            candidates,
            review_gate: gates.review,
            has_gates: gates.any,
            base: base.clone(),
            repository: repository.clone(),
            stack: Stack::of(repository).map_err(|error| failed(&error))?,
            states: HashMap::new(),
            verdicts: HashMap::new(),
            plan,
            scratch: None,
            written: BTreeSet::new(),
            gate_runs: 0,
            reds: HashMap::new(),
            news,
        })
    }

    /// Returns the state that some results make on top of each other, or the conflicts of the last.
    pub(super) fn state(&mut self, results: &[usize]) -> Result<Stacked, CommandError> {
        let Some((last, before)) = results.split_last() else {
            return Ok(Stacked::State(self.base.clone()));
        };
        if let Some(known) = self.states.get(results) {
            return Ok(known.clone());
        }
        let stacked = match self.state(before)? {
            Stacked::State(state) => {
                let change = self.candidates[*last].change();
                self.stack
                    .put(change, &state)
                    .map_err(|error| failed(&error))?
            }
            conflicts @ Stacked::Conflicts(_) => conflicts,
        };
        self.states.insert(results.to_vec(), stacked.clone());
        Ok(stacked)
    }

    /// Returns the conflicts of a result with what was accepted.
    pub(super) fn conflicts(
        &mut self,
        accepted: &[usize],
        result: usize,
    ) -> Result<Vec<Conflict>, CommandError> {
        let results = [accepted, &[result]].concat();
        Ok(match self.state(&results)? {
            Stacked::State(_) => Vec::new(),
            Stacked::Conflicts(conflicts) => conflicts,
        })
    }

    /// Returns the gate that failed on the state of some results.
    pub(super) fn red_gate(&self, results: &[usize]) -> Option<&RedGate> {
        self.reds.get(results)
    }

    /// Returns the gates of a state, each once: that of the review, and those of its members.
    fn gates_of(&self, results: &[usize]) -> Vec<GateCommand> {
        let own = results.iter().flat_map(|one| &self.candidates[*one].gates);
        let mut gates: Vec<GateCommand> = Vec::new();
        for gate in self.review_gate.into_iter().chain(own) {
            if !gates.contains(gate) {
                gates.push(gate.clone());
            }
        }
        gates
    }

    fn verdict(
        &mut self,
        results: &[usize],
        state: &ObjectId,
        gate: &GateCommand,
    ) -> Result<GateVerdict, CommandError> {
        let tree = self
            .repository
            .tree_of(state)
            .map_err(|error| failed(&error))?;
        let key = (tree, gate.clone());
        if let Some(known) = self.verdicts.get(&key) {
            return Ok(known.clone());
        }
        let names = results
            .iter()
            .map(|one| self.candidates[*one].waiting.facts.name.as_str());
        let names: Vec<&str> = names.collect();
        (self.news)(AcceptNews::GateBegan {
            results: &names,
            command: &gate.command,
        });
        if self.scratch.is_none() {
            self.scratch = Some(self.plan.make(state)?);
        }
        let began = Instant::now();
        let Some(scratch) = &mut self.scratch else {
            return Err(CommandError::failed("the scratch copy is gone"));
        };
        let (verdict, written) = scratch.gate(state, gate)?;
        self.written.extend(written);
        self.gate_runs += 1;
        (self.news)(AcceptNews::GateEnded {
            results: &names,
            command: &gate.command,
            code: match &verdict {
                GateVerdict::Green => 0,
                GateVerdict::Red(red) => red.code,
            },
            took: began.elapsed(),
        });
        self.verdicts.insert(key, verdict.clone());
        Ok(verdict)
    }
}

impl Rehearsal for RehearsedResults<'_, '_> {
    type Stop = CommandError;

    fn fitting(
        &mut self,
        accepted: &[usize],
        candidates: &[usize],
    ) -> Result<Vec<usize>, CommandError> {
        let mut chain = accepted.to_vec();
        for one in candidates {
            // Work that stands on another result means nothing without it.
            let has_needs = self.candidates[*one]
                .waiting
                .facts
                .needs
                .iter()
                .all(|needed| {
                    let is_needed = |other: &Candidate<'_>| other.waiting.facts.run == *needed;
                    let place = self.candidates.iter().position(is_needed);
                    place.is_none_or(|place| chain.contains(&place))
                });
            chain.push(*one);
            let fits = has_needs && matches!(self.state(&chain)?, Stacked::State(_));
            if !fits {
                chain.pop();
            }
        }
        Ok(chain.split_off(accepted.len()))
    }

    fn is_green(&mut self, results: &[usize]) -> Result<bool, CommandError> {
        if !self.has_gates {
            return Ok(true);
        }
        let Stacked::State(state) = self.state(results)? else {
            return Ok(false);
        };
        for gate in self.gates_of(results) {
            if let GateVerdict::Red(red) = self.verdict(results, &state, &gate)? {
                self.reds.insert(results.to_vec(), red);
                return Ok(false);
            }
        }
        Ok(true)
    }
}
