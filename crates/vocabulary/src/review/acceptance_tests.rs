//! Results that are red alone, together, or in conflict, and how often the gate runs.

use std::convert::Infallible;

use pretty_assertions::assert_eq;

use super::*;

/// A project whose gate fails if all results of one of these groups are in it; a group without
/// results fails always.
#[derive(Default)]
struct Project {
    red: Vec<Vec<usize>>,
    conflicts: Vec<[usize; 2]>,
    /// A result that is red without another one.
    needs: Option<[usize; 2]>,
    gated: Vec<Vec<usize>>,
}

impl Rehearsal for Project {
    type Stop = Infallible;

    fn fitting(
        &mut self,
        accepted: &[usize],
        candidates: &[usize],
    ) -> Result<Vec<usize>, Infallible> {
        let mut chain = accepted.to_vec();
        for one in candidates {
            let conflicts = |other: &usize| {
                self.conflicts.contains(&[*one, *other]) || self.conflicts.contains(&[*other, *one])
            };
            if !chain.iter().any(conflicts) {
                chain.push(*one);
            }
        }
        Ok(chain.split_off(accepted.len()))
    }

    fn is_green(&mut self, results: &[usize]) -> Result<bool, Infallible> {
        self.gated.push(results.to_vec());
        let lacks = self
            .needs
            .is_some_and(|[one, needed]| results.contains(&one) && !results.contains(&needed));
        let has = |group: &Vec<usize>| group.iter().all(|one| results.contains(one));
        Ok(!lacks && !self.red.iter().any(has))
    }
}

fn accepted(mut project: Project, count: usize) -> (Acceptance, Vec<Vec<usize>>) {
    let order: Vec<usize> = (0..count).collect();
    let Ok(found) = accept(&mut project, &order);
    (found, project.gated)
}

fn red(result: usize, with: &[usize], is_green_alone: Option<bool>) -> RedResult {
    RedResult {
        result,
        with: with.to_vec(),
        is_green_alone,
    }
}

#[test]
fn good_results_are_accepted_by_one_run() {
    let (found, gated) = accepted(Project::default(), 4);
    assert_eq!(found.accepted, [0, 1, 2, 3]);
    assert_eq!(gated, [[0, 1, 2, 3]]);
    let nothing = (Acceptance::default(), Vec::new());
    assert_eq!(accepted(Project::default(), 0), nothing);
}

#[test]
fn the_second_of_two_that_break_each_other_is_out_and_is_said_to_be_green_alone() {
    let project = Project {
        red: vec![vec![1, 6]],
        ..Project::default()
    };
    let (found, gated) = accepted(project, 8);
    assert_eq!(found.accepted, [0, 1, 2, 3, 4, 5, 7]);
    assert_eq!(found.red, [red(6, &[0, 1, 2, 3, 4, 5], Some(true))]);
    // The whole, three looks for the first red state, the rest, a second chance, and alone.
    assert_eq!(gated.len(), 7);
}

#[test]
fn a_conflict_is_final_only_against_what_was_accepted() {
    let project = Project {
        red: vec![vec![0]],
        conflicts: vec![[0, 1], [2, 3]],
        ..Project::default()
    };
    let (found, _) = accepted(project, 4);
    assert_eq!(found.accepted, [1, 2]);
    assert_eq!(found.unfit, [3]);
    assert_eq!(found.red, [red(0, &[], None)]);
}

#[test]
fn nobody_is_blamed_if_the_checkout_is_red() {
    let project = Project {
        red: vec![vec![]],
        ..Project::default()
    };
    let (found, gated) = accepted(project, 3);
    let expected = Acceptance {
        is_red_before: true,
        ..Acceptance::default()
    };
    assert_eq!(found, expected);
    assert_eq!(gated.last(), Some(&Vec::new()));
}

#[test]
fn a_result_that_needs_a_later_one_gets_a_second_chance() {
    let project = Project {
        needs: Some([0, 2]),
        ..Project::default()
    };
    let (found, _) = accepted(project, 3);
    // All three together are green, so nothing is tried alone.
    assert_eq!(found.accepted, [0, 1, 2]);
    let project = Project {
        needs: Some([0, 2]),
        red: vec![vec![3]],
        ..Project::default()
    };
    let (found, _) = accepted(project, 4);
    assert_eq!(found.accepted, [1, 2, 0]);
    assert_eq!(found.red, [red(3, &[1, 2], Some(false))]);
}

#[test]
fn where_all_are_red_one_is_tried_after_the_other() {
    let project = Project {
        red: (0..8).map(|one| vec![one]).collect(),
        ..Project::default()
    };
    let (found, gated) = accepted(project, 8);
    assert_eq!(found.accepted, [0_usize; 0]);
    assert_eq!(found.red.len(), 8);
    // A search of four runs, the checkout, a search of three, and one run for each of the other six.
    assert_eq!(gated.len(), 4 + 1 + 3 + 6);
}

#[test]
fn the_end_is_green_whatever_is_red_or_conflicts() {
    // All pairs of eight results that break each other or conflict, with every single red one.
    for first in 0..8 {
        for second in 0..8 {
            let project = || Project {
                red: vec![vec![first, second]],
                conflicts: vec![[(first + 3) % 8, (second + 5) % 8]],
                ..Project::default()
            };
            let (found, _) = accepted(project(), 8);
            assert_eq!(project().is_green(&found.accepted), Ok(true));
            let decided = found.accepted.len() + found.red.len() + found.unfit.len();
            assert_eq!(decided, 8, "{found:?}");
        }
    }
}
