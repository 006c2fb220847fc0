//! Commands after which a shell no longer does what its next words say.

use super::command_line::{CommandLine, Simple};
use super::test_programs::{program_name, without_assignments};

/// Builtins that change what later commands mean, or how the shell exits.
const BUILTINS: [&str; 10] = [
    ".", "alias", "enable", "eval", "exec", "hash", "shopt", "source", "trap", "unalias",
];

/// Variables that decide which program a name means, or what a shell does first.
const VARIABLES: [&str; 5] = ["BASH_ENV", "ENV", "LD_PRELOAD", "PATH", "SHELLOPTS"];

/// Returns whether a command line changes its shell, so that nothing follows from its exit code.
pub(super) fn changes_shell(line: &CommandLine) -> bool {
    line.commands.iter().any(is_change)
}

fn is_change(command: &Simple) -> bool {
    if command.words.iter().any(|word| assigns(word)) {
        return true;
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let words = without_assignments(&words);
    let words = match words.split_first() {
        Some((&("builtin" | "command"), rest)) => rest,
        _ => words,
    };
    match words.split_first() {
        Some((&"set", options)) => !only_makes_lines_fail(options),
        Some((word, _)) => BUILTINS.contains(&program_name(word)),
        None => false,
    }
}

/// Returns whether a word sets one of the variables, wherever it stands: `export PATH=…`, `env
/// PATH=…`.
fn assigns(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| VARIABLES.contains(&name.trim_end_matches('+')))
}

/// Returns whether the options of `set` are among those with which a line can only fail more often.
fn only_makes_lines_fail(options: &[&str]) -> bool {
    const NAMES: [&str; 4] = ["errexit", "nounset", "pipefail", "xtrace"];
    let is_flag = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.chars().all(|l| "euxo".contains(l))
        })
    };
    !options.is_empty()
        && options
            .iter()
            .all(|word| is_flag(word) || NAMES.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_change_their_shell_are_known() {
        for (command, is_changed) in [
            ("trap 'exit 0' EXIT; make test", true),
            ("alias cargo=true\ncargo test", true),
            ("shopt -s expand_aliases", true),
            ("eval cargo test", true),
            ("source venv/bin/activate && pytest", true),
            (". ./env", true),
            ("exec cargo test", true),
            ("builtin trap x EXIT", true),
            ("hash -p /bin/true cargo; cargo test", true),
            ("PATH=$PWD/bin:$PATH cargo test", true),
            ("export PATH+=:bin", true),
            ("env PATH=bin cargo test", true),
            ("BASH_ENV=x sh -c y", true),
            ("set -n; cargo test", true),
            ("set +e", true),
            ("set", true),
            ("set -euo pipefail; cargo test | tail", false),
            ("set -o pipefail", false),
            ("X=1 cargo test", false),
            ("grep PATH a", false),
            ("echo trap", false),
        ] {
            let line = CommandLine::read(command);
            assert_eq!(changes_shell(&line), is_changed, "{command}");
        }
    }
}
