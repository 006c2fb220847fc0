//! The groups in which commands that start runs list their options: nobody reads a list of fifty.

use clap::Command;

/// Some options under one heading, by their ids.
struct Group {
    heading: &'static str,
    options: &'static [&'static str],
}

/// All groups. Options that are in none stand first, under "Options".
const GROUPS: [Group; 7] = [
    Group {
        heading: "Model",
        options: &["runner", "model", "thinking", "fallbacks", "no_fallback"],
    },
    Group {
        heading: "Files and sandbox",
        options: &[
            "cwd",
            "isolation",
            "base",
            "sandbox",
            "network",
            "read_only",
            "trust",
        ],
    },
    Group {
        heading: "Limits of each run",
        options: &[
            "timeout",
            "max_cost",
            "max_tokens",
            "no_wrap_up",
            "max_turns",
        ],
    },
    Group {
        heading: "Checks",
        options: &[
            "gates",
            "no_gate",
            "gate_retries",
            "gate_timeout",
            "output_schema",
        ],
    },
    Group {
        heading: "Budget of all runs together",
        options: &[
            "budget_cost",
            "budget_tokens",
            "budget_runs",
            "budget_time",
            "budget",
            "budget_wait",
        ],
    },
    Group {
        heading: "Fleet",
        options: &["on", "priority", "retries", "workspace", "dry_run"],
    },
    Group {
        heading: "Output",
        options: &["junit", "format", "details", "json", "json_stream", "quiet"],
    },
];

/// Returns the program whose commands that start runs have their options in groups.
pub(super) fn grouped(program: Command) -> Command {
    let names: Vec<String> = program
        .get_subcommands()
        .filter(|command| starts_runs(command))
        .map(|command| command.get_name().to_owned())
        .collect();
    names.into_iter().fold(program, |program, name| {
        program.mut_subcommand(name, |command| {
            command.mut_args(|option| match heading(option.get_id().as_str()) {
                Some(heading) => option.help_heading(heading),
                None => option,
            })
        })
    })
}

/// Every command that starts runs has the options of a run, and one of them chooses the runner.
fn starts_runs(command: &Command) -> bool {
    command
        .get_arguments()
        .any(|option| option.get_id() == "runner")
}

fn heading(option: &str) -> Option<&'static str> {
    GROUPS
        .iter()
        .find(|group| group.options.contains(&option))
        .map(|group| group.heading)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::command_line;

    #[test]
    fn every_option_of_a_group_exists_and_is_in_no_other() {
        let mut program = command_line();
        program.build();
        let existing: BTreeSet<&str> = program
            .get_subcommands()
            .filter(|command| starts_runs(command))
            .flat_map(|command| {
                command
                    .get_arguments()
                    .map(|option| option.get_id().as_str())
            })
            .collect();
        let listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.options.iter().copied())
            .collect();
        let once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(once.len(), listed.len(), "{listed:?}");
        assert_eq!(&once - &existing, BTreeSet::new());
    }
}
