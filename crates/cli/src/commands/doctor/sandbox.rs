//! Checks which sandboxes can be had here, by a real trial.

use pi_subagents_confine::SandboxTrial;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::sandbox_trial::sandbox_trial;
use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};

use super::check::Check;

/// What to do where user namespaces are refused.
const NAMESPACES: &str = "Ubuntu: an AppArmor profile with userns for this program. Docker: a seccomp profile that allows unshare and mount.";

/// Tries to make a sandbox, and to leave it.
pub(super) fn sandbox(seen: &VisibleAgents) -> Check {
    let trial = sandbox_trial(&seen.places);
    let settings = &seen.settings().sandbox;
    let demanded = [
        ("sandbox", settings.wish.level.unwrap_or_default()),
        ("sandboxMinimum", settings.minimum),
    ];
    let unkept = demanded
        .into_iter()
        .find(|(_, level)| !trial.allows(*level, &NetworkReach::None));
    match unkept {
        Some((key, level)) => unkept_setting(key, level, &trial),
        None => check(&trial),
    }
}

/// Every run of such a user ends before anything is run.
fn unkept_setting(key: &str, level: SandboxLevel, trial: &SandboxTrial) -> Check {
    let text = format!("subagents.{key} is {level}, which cannot be had here");
    let found = match trial {
        SandboxTrial::All { .. } => None,
        SandboxTrial::ReadOnly { reason } | SandboxTrial::Nothing { reason } => Some(cause(reason)),
    };
    let check = Check::new("sandbox", text).problem();
    let check = found.into_iter().fold(check, Check::hint);
    check.hint(NAMESPACES)
}

fn check(trial: &SandboxTrial) -> Check {
    match trial {
        SandboxTrial::All { landlock } => Check::new(
            "sandbox",
            format!("all levels: namespaces, Landlock {landlock}, seccomp"),
        ),
        SandboxTrial::ReadOnly { reason } => {
            Check::new("sandbox", format!("read-only only: {}", cause(reason)))
                .warning()
                .hint(NAMESPACES)
        }
        SandboxTrial::Nothing { reason } => {
            Check::new("sandbox", format!("no level can be had: {}", cause(reason)))
                .warning()
                .hint("Linux 6.2 or newer with Landlock is needed. A task with a sandbox ends before anything is run.")
        }
    }
}

/// Returns the cause in a reason that is a whole text for the end of a run.
fn cause(reason: &str) -> &str {
    let cause = reason.strip_prefix("The sandbox could not be made: ");
    let cause = cause.unwrap_or(reason);
    cause.split(". Nothing was run").next().unwrap_or(cause)
}

#[cfg(test)]
mod tests {
    use pi_subagents_confine::SandboxTrial;

    use super::*;

    #[test]
    fn a_refused_call_is_named() {
        let reason = "The sandbox could not be made: unshare: Operation not permitted. Nothing was run; doctor says more.";
        assert_eq!(cause(reason), "unshare: Operation not permitted");
        let trial = SandboxTrial::ReadOnly {
            reason: reason.to_owned(),
        };
        let expected = Check::new(
            "sandbox",
            "read-only only: unshare: Operation not permitted",
        );
        assert_eq!(check(&trial), expected.warning().hint(NAMESPACES));
        let expected = Check::new(
            "sandbox",
            "subagents.sandbox is workspace-write, which cannot be had here",
        );
        assert_eq!(
            unkept_setting("sandbox", SandboxLevel::WorkspaceWrite, &trial),
            expected
                .problem()
                .hint("unshare: Operation not permitted")
                .hint(NAMESPACES)
        );
    }
}
