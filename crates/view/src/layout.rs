//! Shares the rows of a screen among windows.
//!
//! Windows of running runs are open. Windows of other runs fold to their header before a running
//! one gets too few rows, and at last they are only counted.

/// The number of rows with which a running window needs no row of a folded one.
const ENOUGH_ROWS: usize = 3;

/// The states of runs, from the state that is shown first to the state that is left out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Running,
    Failed,
    Done,
    Queued,
}

/// The rows that a window would like to have under its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    pub(crate) standing: Standing,
    pub(crate) body: usize,
}

/// The rows that each window gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The number of rows under the header of each window; `None` for a window that is left out.
    pub(crate) shares: Vec<Option<usize>>,
    /// This is true if there is an empty row beside every open window.
    pub(crate) has_gaps: bool,
}

/// Shares this number of rows. If a window is left out, one more row is kept free.
pub(crate) fn plan(needs: &[Need], rows: usize) -> Plan {
    all_of_them(needs, rows, true)
        .or_else(|| all_of_them(needs, rows, false))
        .unwrap_or_else(|| some_of_them(needs, rows))
}

/// Returns whether there is an empty row between two windows with these numbers of rows.
pub(crate) fn has_gap(above: usize, below: usize) -> bool {
    above > 0 || below > 0
}

fn all_of_them(needs: &[Need], rows: usize, has_gaps: bool) -> Option<Plan> {
    let gaps = if has_gaps { gaps(needs) } else { 0 };
    let rest = rows.checked_sub(needs.len() + gaps)?;
    let is_alone = needs.iter().all(is_running);
    if rest < enough(needs) && (has_gaps || !is_alone) {
        return None;
    }
    let mut shares = fair_shares(needs, is_running, rest);
    // The remaining rows open the other windows, each of which may need a gap.
    let taken: usize = shares.iter().sum();
    let most_gaps = if has_gaps {
        needs.len().saturating_sub(1)
    } else {
        0
    };
    let left = (rest - taken).saturating_sub(most_gaps - gaps);
    for (share, more) in shares
        .iter_mut()
        .zip(fair_shares(needs, |need| !is_running(need), left))
    {
        *share += more;
    }
    Some(Plan {
        shares: shares.into_iter().map(Some).collect(),
        has_gaps,
    })
}

fn some_of_them(needs: &[Need], rows: usize) -> Plan {
    let rows = rows.saturating_sub(1);
    let running = needs.iter().filter(|need| is_running(need)).count();
    let room = rows.saturating_sub(running);
    let bodies = enough(needs).min(room);
    let folded = (room - bodies).min(needs.len() - running);
    let shown = running.min(rows) + folded;
    let mut by_standing: Vec<usize> = (0..needs.len()).collect();
    by_standing.sort_by_key(|place| needs[*place].standing);
    let mut shares = vec![None; needs.len()];
    let bodies = fair_shares(needs, is_running, room - folded);
    for place in by_standing.into_iter().take(shown) {
        shares[place] = Some(bodies[place]);
    }
    Plan {
        shares,
        has_gaps: false,
    }
}

fn is_running(need: &Need) -> bool {
    need.standing == Standing::Running
}

/// Returns how many rows the running windows need at least.
fn enough(needs: &[Need]) -> usize {
    let running = needs.iter().filter(|need| is_running(need));
    running.map(|need| need.body.min(ENOUGH_ROWS)).sum()
}

/// Counts the empty rows while only running windows are open.
fn gaps(needs: &[Need]) -> usize {
    let open = |need: &Need| if is_running(need) { need.body } else { 0 };
    let pairs = needs.windows(2);
    pairs
        .filter(|pair| has_gap(open(&pair[0]), open(&pair[1])))
        .count()
}

/// Shares `room` among some windows: who needs less than a fair share leaves the rest to others.
fn fair_shares(needs: &[Need], is_served: impl Fn(&Need) -> bool, room: usize) -> Vec<usize> {
    let mut by_need: Vec<usize> = (0..needs.len())
        .filter(|place| is_served(&needs[*place]))
        .collect();
    by_need.sort_by_key(|place| needs[*place].body);
    let mut room = room;
    let mut shares = vec![0; needs.len()];
    for (served, place) in by_need.iter().enumerate() {
        let share = needs[*place].body.min(room / (by_need.len() - served));
        shares[*place] = share;
        room -= share;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn needs(standings: &[(Standing, usize)]) -> Vec<Need> {
        let need = |(standing, body): &(Standing, usize)| Need {
            standing: *standing,
            body: *body,
        };
        standings.iter().map(need).collect()
    }

    fn height(plan: &Plan) -> usize {
        let shown: Vec<usize> = plan.shares.iter().copied().flatten().collect();
        let pairs = shown.windows(2).filter(|pair| has_gap(pair[0], pair[1]));
        let gaps = if plan.has_gaps { pairs.count() } else { 0 };
        let counted = usize::from(shown.len() < plan.shares.len());
        shown.iter().map(|share| 1 + share).sum::<usize>() + gaps + counted
    }

    #[test]
    fn one_window_has_the_whole_screen() {
        let plan = plan(&needs(&[(Standing::Running, 90)]), 23);
        assert_eq!(plan.shares, [Some(22)]);
    }

    #[test]
    fn finished_windows_fold_before_running_ones_get_too_little() {
        let needs = needs(&[
            (Standing::Done, 9),
            (Standing::Running, 9),
            (Standing::Queued, 0),
            (Standing::Running, 2),
        ]);
        let shares = |rows| plan(&needs, rows).shares;
        assert_eq!(shares(28), [Some(9), Some(9), Some(0), Some(2)]);
        assert_eq!(shares(20), [Some(2), Some(9), Some(0), Some(2)]);
        assert_eq!(shares(12), [Some(0), Some(3), Some(0), Some(2)]);
        assert_eq!(shares(9), [Some(0), Some(3), Some(0), Some(2)]);
        assert_eq!(shares(8), [None, Some(3), None, Some(2)]);
        assert_eq!(shares(3), [None, Some(0), None, Some(0)]);
        assert_eq!(shares(2), [None, Some(0), None, None]);
        assert_eq!(shares(0), [None, None, None, None]);
    }

    fn standing() -> impl Strategy<Value = Standing> {
        prop_oneof![
            Just(Standing::Running),
            Just(Standing::Failed),
            Just(Standing::Done),
            Just(Standing::Queued),
        ]
    }

    proptest! {
        #[test]
        fn a_plan_fits_and_shows_every_running_run_there_is_room_for(
            standings in prop::collection::vec((standing(), 0_usize..40), 0..40),
            rows in 1_usize..80,
        ) {
            let needs = needs(&standings);
            let plan = plan(&needs, rows);
            prop_assert!(height(&plan) <= rows.max(1), "{plan:?}");
            let running = needs.iter().filter(|need| is_running(need)).count();
            let shown = needs.iter().zip(&plan.shares).filter(|(need, share)| is_running(need) && share.is_some());
            prop_assert!(shown.count() >= running.min(rows - 1));
            for (need, share) in needs.iter().zip(&plan.shares) {
                prop_assert!(share.unwrap_or(0) <= need.body);
            }
        }
    }
}
