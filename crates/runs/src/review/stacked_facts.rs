//! Results that were done again on top of others which still wait: they are compared with the checkout
//! that has those, because they never come in without them.

use std::collections::HashMap;

use pi_subagents_git::{Conflict, ObjectId, Repository, Snapshot, Stack, Stacked};
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::ResultFacts;

use super::result_facts::{paths, places};
use crate::results::{RunResult, failed};
use pi_subagents_ground::error::CommandError;

/// Corrects the conflicts of results that stand on others of the list.
pub(super) fn compare_on_top(
    checkout: &Repository,
    results: &[RunResult],
    all: &mut [ResultFacts],
) -> Result<(), CommandError> {
    let known = all.iter().enumerate();
    let known: HashMap<RunId, usize> = known
        .map(|(place, facts)| (facts.run.clone(), place))
        .collect();
    let grounds: Vec<Vec<usize>> = (0..all.len())
        .map(|own| grounds_of(own, all, &known))
        .collect();
    if grounds.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let now = Snapshot::take(checkout).map_err(|error| failed(&error))?;
    let stack = Stack::of(checkout).map_err(|error| failed(&error))?;
    let put = |place: usize, state: &ObjectId| {
        let stacked = stack.put(&results[place].change, state);
        stacked.map_err(|error| failed(&error))
    };
    for (own, grounds) in grounds.iter().enumerate() {
        if grounds.is_empty() {
            continue;
        }
        let mut state = Stacked::State(now.commit.clone());
        for place in grounds.iter().chain([&own]) {
            let Stacked::State(before) = &state else {
                break;
            };
            state = put(*place, before)?;
        }
        let conflicts = match state {
            Stacked::State(_) => Vec::new(),
            Stacked::Conflicts(conflicts) => conflicts,
        };
        let (blocking, clashing): (Vec<&Conflict>, _) =
            conflicts.iter().partition(|one| one.is_in_the_way());
        all[own].in_the_way = paths(blocking);
        all[own].checkout_conflicts = places(clashing);
        let id = all[own].run.clone();
        for ground in grounds {
            let ground_id = all[*ground].run.clone();
            all[own].clashes.retain(|clash| clash.with != ground_id);
            all[*ground].clashes.retain(|clash| clash.with != id);
        }
    }
    Ok(())
}

/// Lists the results on which one stands and that wait too, those on which they stand first.
fn grounds_of(own: usize, all: &[ResultFacts], known: &HashMap<RunId, usize>) -> Vec<usize> {
    let mut grounds = Vec::new();
    let mut open = vec![own];
    while let Some(one) = open.pop() {
        for ground in all[one].needs.iter().filter_map(|need| known.get(need)) {
            if *ground != own && !grounds.contains(ground) {
                grounds.push(*ground);
                open.push(*ground);
            }
        }
    }
    grounds.reverse();
    grounds
}
