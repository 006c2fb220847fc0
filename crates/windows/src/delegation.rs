//! The line that shows a delegation before any of its runs has begun.

use pi_subagents_delegation::text;

use crate::{Line, Role};

/// `delegate_to_subagents 3 sub-agents (default profile: researcher) profiles: [writer, researcher]`
pub fn delegation(tasks: usize, default_profile: Option<&str>, profiles: &[&str]) -> Line {
    let mut line = Line::new(Role::Title, "delegate_to_subagents")
        .with(Role::Plain, " ")
        .with(Role::Accent, &text::count(tasks, "sub-agent"));
    if let Some(profile) = default_profile {
        line = line.with(Role::Muted, &format!(" (default profile: {profile})"));
    }
    if !profiles.is_empty() {
        let profiles = profiles.join(", ");
        line = line.with(Role::Muted, &format!(" profiles: [{profiles}]"));
    }
    line
}
