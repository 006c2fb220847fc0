//! Checks whether a pi child has the tools that its plan allows, once it lists its tools. Pure.
//!
//! Pi drops names it does not know, so a child whose plan has only such names would work without
//! any tool. Which names it knows depends on its extensions, and only pi itself knows.

use std::collections::BTreeSet;

use pi_subagents_vocabulary::{FINALIZE_TOOL, TaskPlan, ToolChange, ToolPolicy};

/// The check of one child's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolCheck {
    allowed: Vec<String>,
    /// The tools of the session that the child goes on with, if they are known.
    before: Option<BTreeSet<String>>,
}

/// The consequence of the tools that a child has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HadTools {
    /// All are there, or nothing is known.
    Fine,
    /// Some are not there, and a person should know.
    Some(String),
    /// None is there: the run is over.
    None(String),
}

impl ToolCheck {
    /// Returns the check that a plan needs, if any.
    pub(crate) fn of(plan: &TaskPlan, before: Option<&BTreeSet<String>>) -> Option<Self> {
        let ToolPolicy::Only(names) = &plan.work.tools else {
            return None;
        };
        if !plan.here.runner.loads_extensions() {
            return None;
        }
        let allowed = names.iter().filter(|name| *name != FINALIZE_TOOL);
        let allowed: Vec<String> = allowed.cloned().collect();
        (!allowed.is_empty()).then(|| Self {
            allowed,
            before: before.cloned(),
        })
    }

    /// Compares the tools that the child lists with those of its plan.
    pub(crate) fn compare(self, change: &ToolChange) -> HadTools {
        let before = match (change.is_first, self.before) {
            (true, _) => BTreeSet::new(),
            (false, Some(before)) => before,
            (false, None) => return HadTools::Fine,
        };
        let has = |name: &String| {
            let was_taken = change.removed.contains(name);
            change.added.contains(name) || (before.contains(name) && !was_taken)
        };
        let missing: Vec<&str> = self
            .allowed
            .iter()
            .filter(|name| !has(name))
            .map(String::as_str)
            .collect();
        let names = missing.join(", ");
        if missing.is_empty() {
            HadTools::Fine
        } else if missing.len() == self.allowed.len() {
            HadTools::None(format!(
                "Only unknown tools are allowed: {names}. Name tools that pi or its extensions have."
            ))
        } else {
            HadTools::Some(format!("pi does not know these allowed tools: {names}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn compared(allowed: &[&str], before: Option<&[&str]>, change: &ToolChange) -> HadTools {
        let check = ToolCheck {
            allowed: allowed.iter().map(|name| (*name).to_owned()).collect(),
            before: before.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        };
        check.compare(change)
    }

    fn change(is_first: bool, added: &[&str], removed: &[&str]) -> ToolChange {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ToolChange {
            is_first,
            added: owned(added),
            removed: owned(removed),
        }
    }

    #[test]
    fn a_child_without_any_allowed_tool_is_not_let_go_on() {
        let first = change(true, &["read"], &[]);
        assert_eq!(compared(&["read"], None, &first), HadTools::Fine);
        assert_eq!(
            compared(&["read", "raed"], None, &first),
            HadTools::Some("pi does not know these allowed tools: raed".to_owned())
        );
        assert_eq!(
            compared(&["raed", "bsah"], None, &first),
            HadTools::None(
                "Only unknown tools are allowed: raed, bsah. Name tools that pi or its extensions have."
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_session_that_goes_on_tells_only_what_is_new() {
        let nothing_new = change(false, &[], &[]);
        assert_eq!(compared(&["read"], None, &nothing_new), HadTools::Fine);
        let before = Some(&["read", "bash"][..]);
        assert_eq!(compared(&["read"], before, &nothing_new), HadTools::Fine);
        let taken = change(false, &["ls"], &["read"]);
        assert_eq!(compared(&["ls"], before, &taken), HadTools::Fine);
        assert!(matches!(
            compared(&["read"], before, &taken),
            HadTools::None(_)
        ));
    }
}
