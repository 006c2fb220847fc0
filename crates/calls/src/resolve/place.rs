//! The place where a run works: the directory of its task, or a worktree.

use std::path::Path;

use pi_subagents_configuration::PlanPatch;
use pi_subagents_vocabulary::{BaseChoice, Isolation, Refusal, RunTerms};

use super::asked::Asked;
use crate::caller::Overrides;
use pi_subagents_runs::workspace::EarlierWorktree;

/// The place of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPlace {
    /// The directory of the task itself.
    Checkout,
    /// A git worktree of its own.
    Worktree {
        /// The state that it begins from if it is new.
        base: BaseChoice,
        /// The worktree of an earlier run, in which this one goes on.
        earlier: Option<Box<EarlierWorktree>>,
    },
}

/// Decides where a run works: what the task says counts before the call, that before the definition,
/// and that before the setting. A session that had a worktree goes on in it.
pub(super) fn place_of(
    (asked, terms): (&Asked, &RunTerms),
    overrides: &Overrides,
    patch: Option<&PlanPatch>,
    (setting, cwd): (Isolation, &Path),
) -> Result<RunPlace, Refusal> {
    let inherited = asked.inherited.as_ref();
    let inherited = inherited.and_then(|inherited| inherited.worktree.as_ref());
    let earlier = overrides.worktree.as_ref().or(inherited);
    let earlier = earlier.filter(|earlier| earlier.workspace.is_of(cwd));
    let isolation = terms
        .isolation
        .or(earlier.map(|_| Isolation::Worktree))
        .or(patch.and_then(|patch| patch.definition.isolation))
        .unwrap_or(setting);
    let base = asked.terms.base.as_ref().or(overrides.base.as_ref());
    match (isolation, base) {
        (Isolation::None, None) => Ok(RunPlace::Checkout),
        (Isolation::None, Some(base)) => Err(Refusal {
            message: format!(
                "base is {}, and the sub-agent has no worktree that could begin from it; set \
                 isolation to worktree, or leave base out",
                base.as_str()
            ),
        }),
        (Isolation::Worktree, base) => Ok(RunPlace::Worktree {
            base: base.cloned().unwrap_or_default(),
            earlier: earlier.cloned().map(Box::new),
        }),
    }
}
