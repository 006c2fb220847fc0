//! The groups in which the help lists the commands: a list of forty says nothing about which one to
//! look at.

use std::io::{self, IsTerminal as _};

use clap::Command;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_ground::terminal;
use pi_subagents_view::{Line, Role};

/// The help is not wider than this, because long lines are hard to read.
pub(super) const WIDEST: usize = 100;

/// The help of the program itself: its commands stand in groups, before its options.
pub(super) const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}Options:
{options}{after-help}";

/// Some commands under one heading.
struct Group {
    heading: &'static str,
    commands: &'static [&'static str],
}

const GROUPS: [Group; 5] = [
    Group {
        heading: "Work",
        commands: &[
            "tour", "run", "delegate", "spawn", "resume", "steer", "answer", "stop", "wait",
        ],
    },
    Group {
        heading: "Look",
        commands: &[
            "status", "inbox", "output", "logs", "session", "attach", "web", "budget", "export",
            "trace",
        ],
    },
    Group {
        heading: "Take changes",
        commands: &[
            "review",
            "undo",
            "diff",
            "merge",
            "worktrees",
            "keep",
            "discard",
        ],
    },
    Group {
        heading: "Set up",
        commands: &[
            "init",
            "doctor",
            "models",
            "agents",
            "trust",
            "clean",
            "fleet",
            "completions",
            "man",
            "uninstall",
            "version",
            "help",
        ],
    },
    Group {
        heading: "For programs",
        commands: &["mcp", "events", "tools", "schema", "embedded", "host"],
    },
];

/// Returns the program with its commands in groups above its options.
pub(super) fn listed(program: Command) -> Command {
    let text = list(&program);
    program.before_help(text.clone()).before_long_help(text)
}

fn list(program: &Command) -> String {
    let names = GROUPS.iter().flat_map(|group| group.commands);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let sheet = Sheet::plain(Some(columns()));
    let groups = GROUPS.iter().map(|group| {
        let commands = group.commands.iter().flat_map(|name| {
            let line = format!("  {name:width$}  {}", about(program, name));
            sheet.hang(&Line::new(Role::Plain, &line), width + 4)
        });
        let commands: Vec<Line> = commands.collect();
        format!("{}:\n{}", group.heading, sheet.text(&commands))
    });
    groups.collect::<Vec<String>>().join("\n\n")
}

/// Returns the width of the help.
fn columns() -> usize {
    if io::stdout().is_terminal() {
        terminal::size(io::stdout()).0.min(WIDEST)
    } else {
        WIDEST
    }
}

/// Returns what the help of a command says first, with its other names.
fn about(program: &Command, name: &str) -> String {
    let Some(command) = program.find_subcommand(name) else {
        // The parser adds this command itself, and only when it is built.
        return "Print the help of the program or of a command".to_owned();
    };
    let about = command.get_about().map(ToString::to_string);
    let others: Vec<&str> = command.get_visible_aliases().collect();
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(" [also: {}]", others.join(", ")),
    };
    format!("{}{others}", about.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::command_line;

    #[test]
    fn every_command_stands_in_one_group() {
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.commands.iter().copied())
            .collect();
        let once: BTreeSet<&str> = grouped.iter().copied().collect();
        assert_eq!(once.len(), grouped.len(), "{grouped:?}");
        let mut program = command_line();
        program.build();
        let all: BTreeSet<&str> = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        assert_eq!(once, all);
    }
}
