//! The order of the list: a pure rule.

use std::cmp::Ordering;

use pi_subagents_vocabulary::Status;

/// The key by which the rows are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SortBy {
    /// The runs under way first, in the order in which they began, then the finished runs, the
    /// latest first.
    #[default]
    Age,
    /// The most expensive first; runs whose cost is not known come last.
    Cost,
    /// Running runs come first, then queued, failed, stopped and completed ones; in each state the
    /// latest first.
    Status,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sorting {
    pub(crate) by: SortBy,
    pub(crate) is_reversed: bool,
}

/// The facts on which the order of a row depends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SortKey {
    pub(crate) sequence: u64,
    pub(crate) is_open: bool,
    pub(crate) status: Status,
    pub(crate) cost: Option<f64>,
}

impl Sorting {
    /// Returns the order after a person asked for this key: the same key again turns the order
    /// round.
    pub(crate) fn asked(self, by: SortBy) -> Self {
        Self {
            by,
            is_reversed: self.by == by && !self.is_reversed,
        }
    }

    /// Compares two rows.
    pub(crate) fn compare(self, left: &SortKey, right: &SortKey) -> Ordering {
        let order = match self.by {
            SortBy::Age => by_age(left, right),
            SortBy::Cost => {
                // A run whose cost is not known stays last in either direction.
                match (left.cost, right.cost) {
                    (Some(one), Some(other)) => {
                        let order = other.total_cmp(&one).then_with(|| by_age(left, right));
                        return self.turned(order);
                    }
                    (Some(_), None) => return Ordering::Less,
                    (None, Some(_)) => return Ordering::Greater,
                    (None, None) => return by_age(left, right),
                }
            }
            SortBy::Status => {
                let rank = left.status.list_rank().cmp(&right.status.list_rank());
                rank.then_with(|| right.sequence.cmp(&left.sequence))
            }
        };
        self.turned(order)
    }

    fn turned(self, order: Ordering) -> Ordering {
        if self.is_reversed {
            order.reverse()
        } else {
            order
        }
    }
}

fn by_age(left: &SortKey, right: &SortKey) -> Ordering {
    match (left.is_open, right.is_open) {
        (true, true) => left.sequence.cmp(&right.sequence),
        (false, false) => right.sequence.cmp(&left.sequence),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts made-up rows and returns their numbers.
    fn sorted(sorting: Sorting) -> Vec<u64> {
        let mut rows = [
            (1, false, Status::Completed, Some(0.5)),
            (2, false, Status::Failed, None),
            (3, true, Status::Running, Some(0.1)),
            (4, false, Status::Completed, Some(2.0)),
            (5, true, Status::Queued, None),
            (6, false, Status::Stopped, Some(0.1)),
        ]
        .map(|(sequence, is_open, status, cost)| SortKey {
            sequence,
            is_open,
            status,
            cost,
        });
        rows.sort_by(|left, right| sorting.compare(left, right));
        rows.iter().map(|row| row.sequence).collect()
    }

    #[test]
    fn what_runs_is_first_then_the_latest() {
        let age = Sorting::default();
        assert_eq!(sorted(age), [3, 5, 6, 4, 2, 1]);
        assert_eq!(sorted(age.asked(SortBy::Age)), [1, 2, 4, 6, 5, 3]);
    }

    #[test]
    fn an_unknown_cost_is_last_whichever_way_round() {
        let cost = Sorting::default().asked(SortBy::Cost);
        assert_eq!(sorted(cost), [4, 1, 3, 6, 5, 2]);
        assert_eq!(sorted(cost.asked(SortBy::Cost)), [6, 3, 1, 4, 5, 2]);
    }

    #[test]
    fn states_stand_together() {
        let status = Sorting::default().asked(SortBy::Status);
        assert_eq!(sorted(status), [3, 5, 2, 6, 4, 1]);
    }
}
