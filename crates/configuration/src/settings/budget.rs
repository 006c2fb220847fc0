//! The budgets of a session and of a day. A trusted project can tighten those of the user and never
//! lift them; 0 lets nothing start.

use pi_subagents_vocabulary::{BudgetLimits, Dollars, Percent};

use super::reader::Reader;

/// A limit that a call can have, and neither a session nor a day.
const SECONDS: &str = "seconds";

/// The key of the share of a window.
const SHARE: &str = "share";

/// The limits of what all runs of a session, and all runs of a day, may consume together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetSettings {
    /// A session of pi, the life of an MCP server, or the calls that name one budget.
    pub session: BudgetLimits,
    /// All runs of the user on one day.
    pub day: BudgetLimits,
    /// The share of a window of a provider that may be used.
    pub window_share: Option<Percent>,
}

impl BudgetSettings {
    /// Takes every value that is there.
    pub(super) fn take(&mut self, reader: &mut Reader<'_>) {
        reader.object("budget", |budget| {
            budget.object("session", |limits| tighten(&mut self.session, limits));
            budget.object("day", |limits| tighten(&mut self.day, limits));
            budget.object("window", |window| self.take_share(window));
        });
    }
}

impl BudgetSettings {
    fn take_share(&mut self, reader: &mut Reader<'_>) {
        let Some(share) = reader.amount(SHARE) else {
            return;
        };
        match Percent::of_share(share).filter(|_| share <= 1.0) {
            Some(share) => {
                self.window_share = Some(self.window_share.map_or(share, |old| old.min(share)));
            }
            None => reader.reject(SHARE, "must be a number from 0 to 1"),
        }
    }
}

fn tighten(limits: &mut BudgetLimits, reader: &mut Reader<'_>) {
    if reader.value(SECONDS).is_some() {
        reader.reject(SECONDS, "cannot be kept: only a call has a limit of time");
    }
    *limits = limits.tightened(BudgetLimits {
        cost: reader.amount("cost").map(Dollars::new),
        tokens: reader.number("tokens", 0, u64::MAX),
        runs: reader.number("runs", 0, u64::MAX),
        seconds: None,
    });
}
