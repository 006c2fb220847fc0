//! Checks the names of the tools that a program gives to its sub-agents.

use pi_subagents_pi_files::BUILT_IN_TOOLS;
use pi_subagents_vocabulary::{RunnerChoice, SERVER_PREFIX, nearest};

use pi_subagents_ground::error::CommandError;

/// Fails at a name that no tool has. The extensions of a pi may bring tools that are unknown here,
/// so for a pi only a slip is found.
pub(super) fn check_tools(
    tools: &[String],
    runner: Option<RunnerChoice>,
) -> Result<(), CommandError> {
    let unknown = tools
        .iter()
        .filter(|name| !BUILT_IN_TOOLS.contains(&name.as_str()))
        // The tools of a server are known when it runs.
        .filter(|name| !name.starts_with(SERVER_PREFIX));
    for name in unknown {
        let error = CommandError::usage(format!("there is no tool \"{name}\""));
        match (nearest(name, BUILT_IN_TOOLS), runner) {
            (Some(meant), _) => return Err(error.hint(format!("Did you mean {meant}?"))),
            (None, Some(RunnerChoice::Embedded)) => {
                let all = BUILT_IN_TOOLS.join(", ");
                return Err(error.hint(format!("The tools are {all}.")));
            }
            (
                None,
                Some(RunnerChoice::Auto | RunnerChoice::Pi | RunnerChoice::Bridge(_)) | None,
            ) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Door;

    use super::*;

    fn checked(tools: &[&str], runner: Option<RunnerChoice>) -> String {
        let tools: Vec<String> = tools.iter().map(|name| (*name).to_owned()).collect();
        match check_tools(&tools, runner) {
            Ok(()) => "fine".to_owned(),
            Err(error) => error.lines(Door::CommandLine),
        }
    }

    #[test]
    fn a_misspelt_tool_is_an_error_and_an_unknown_one_may_be_of_an_extension() {
        assert_eq!(checked(&["read", "grep"], None), "fine");
        assert_eq!(
            checked(&["read", "gerp"], None),
            "there is no tool \"gerp\"\nhint: Did you mean grep?"
        );
        assert_eq!(checked(&["teleport"], Some(RunnerChoice::Pi)), "fine");
        assert_eq!(
            checked(&["teleport"], Some(RunnerChoice::Embedded)),
            "there is no tool \"teleport\"\nhint: The tools are read, bash, edit, write, grep, find, ls."
        );
    }
}
