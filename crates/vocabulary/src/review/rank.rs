//! The order in which results are proposed: the safe ones first, so that what is accepted together
//! stays green as long as possible. Tiers and counts decide; there are no weights.

use super::facts::ResultFacts;
use super::reason::{RiskReason, RiskRule, RiskTier};
use super::risk::reasons;
use crate::RunId;
use crate::text::one_line;

/// A result in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedResult {
    /// Its place among the results as they were given.
    pub given: usize,
    /// Its tier: that of its weightiest reason.
    pub tier: RiskTier,
    /// The reasons, weightiest first.
    pub reasons: Vec<RiskReason>,
}

/// The relation of a result to the others, in the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Independent,
    BuiltUpon,
    BuiltOnAnother,
    InConflict,
}

type Key<'a> = (RiskTier, Relation, usize, u64, &'a RunId);

/// Puts results into the order in which they are proposed: smallest key first, among those whose
/// needs are in their places. Results of one tier that conflict with each other stand side by side.
pub fn ranked(results: &[ResultFacts]) -> Vec<RankedResult> {
    let mut waiting: Vec<RankedResult> = (0..results.len())
        .map(|given| judged(results, given))
        .collect();
    let mut placed: Vec<RankedResult> = Vec::new();
    while !waiting.is_empty() {
        let next = next_of(results, &waiting, placed.last());
        placed.push(waiting.remove(next));
    }
    placed
}

fn judged(results: &[ResultFacts], given: usize) -> RankedResult {
    let mut reasons = reasons(&results[given]);
    reasons.extend(shared_files(results, given));
    reasons.sort_by_key(|reason| reason.rule);
    let tiers = reasons.iter().map(|reason| reason.rule.tier());
    RankedResult {
        given,
        tier: tiers.max().unwrap_or(RiskTier::Fits),
        reasons,
    }
}

/// Names the smaller results that change a file of this one. Results that conflict or build on each
/// other have a better reason, and the smaller one is proposed first, so it has none.
fn shared_files(results: &[ResultFacts], given: usize) -> Option<RiskReason> {
    let own = &results[given];
    let is_related = |other: &ResultFacts| {
        let conflicts = own.clashes.iter().any(|clash| clash.with == other.run);
        conflicts || own.needs.contains(&other.run) || other.needs.contains(&own.run)
    };
    let is_smaller = |other: &ResultFacts| (other.lines(), &other.run) < (own.lines(), &own.run);
    let others = results.iter().filter(|other| {
        other.run != own.run && is_smaller(other) && !is_related(other) && own.shares_a_file(other)
    });
    let names: Vec<String> = others.map(|other| one_line(&other.name)).collect();
    let verb = if names.len() == 1 {
        "changes"
    } else {
        "change"
    };
    (!names.is_empty()).then(|| RiskReason {
        rule: RiskRule::SharedFile,
        words: format!("changes a file that {} {verb} too", names.join(", ")),
        paths: own
            .files
            .iter()
            .filter(|file| {
                let mut all = results.iter().filter(|other| other.run != own.run);
                all.any(|other| other.files.iter().any(|one| one.path == file.path))
            })
            .map(|file| file.path.clone())
            .collect(),
    })
}

/// Returns the place of the result that comes next.
fn next_of(
    results: &[ResultFacts],
    waiting: &[RankedResult],
    last: Option<&RankedResult>,
) -> usize {
    let is_free = |one: &RankedResult| {
        let needs = &results[one.given].needs;
        let mut unplaced = waiting.iter().map(|other| &results[other.given].run);
        !unplaced.any(|other| needs.contains(other))
    };
    let beside = |one: &RankedResult| {
        let clashes = last.map(|last| &results[last.given].clashes);
        let is_beside = clashes.is_some_and(|clashes| {
            let own = &results[one.given].run;
            clashes.iter().any(|clash| clash.with == *own)
        });
        // A conflict of another tier waits for its tier.
        !(is_beside && last.is_some_and(|last| last.tier == one.tier))
    };
    let of_all = waiting.iter().enumerate();
    let next = of_all.min_by_key(|(_, one)| (!is_free(one), beside(one), key(results, one)));
    next.map_or(0, |(place, _)| place)
}

fn key<'a>(results: &'a [ResultFacts], one: &RankedResult) -> Key<'a> {
    let facts = &results[one.given];
    let is_needed = results.iter().any(|other| other.needs.contains(&facts.run));
    let has_need = results.iter().any(|other| facts.needs.contains(&other.run));
    let relation = if !facts.clashes.is_empty() {
        Relation::InConflict
    } else if has_need {
        Relation::BuiltOnAnother
    } else if is_needed {
        Relation::BuiltUpon
    } else {
        Relation::Independent
    };
    let reasons = one.reasons.len();
    (one.tier, relation, reasons, facts.lines(), &facts.run)
}

#[cfg(test)]
#[path = "rank_tests.rs"]
mod tests;
