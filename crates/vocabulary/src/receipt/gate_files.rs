//! Finds out whether a run changed a file that the command of its gate names.

use std::path::Path;

use super::changed_files::shown_path;
use super::command_line::{CommandLine, Simple};
use super::reading_programs::only_reads;
use super::test_programs::program_name;
use super::{Receipt, SeenCommand};

/// Programs that read what they do from a file of the project.
const FILES_OF_PROGRAMS: [(&str, &[&str]); 2] = [
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
];

/// Returns whether the changed files of a run, or the files that its shell commands may have
/// changed, are files that the gate names.
pub(super) fn changes_gate(gate: &str, receipt: &Receipt) -> bool {
    let line = CommandLine::read(gate);
    let words: Vec<&String> = line.commands.iter().flat_map(|one| &one.words).collect();
    let of_programs = of_programs(&line);
    // In a shell command, `check` alone is rather a word than a file.
    let paths = words.iter().filter(|word| word.contains(['.', '/']));
    let mut paths: Vec<String> = paths.map(|word| shown_path(word, None)).collect();
    paths.extend(of_programs.iter().cloned());
    let mut files: Vec<String> = words.iter().map(|word| shown_path(word, None)).collect();
    files.extend(of_programs);
    let changed = &receipt.files.changed;
    changed.iter().any(|path| is_among(path, &files))
        || receipt.commands.iter().any(|seen| may_change(seen, &paths))
}

/// Returns the files from which the programs of a line read what they do.
fn of_programs(line: &CommandLine) -> Vec<String> {
    let mut files = Vec::new();
    for word in line.commands.iter().filter_map(|one| one.words.first()) {
        let program = program_name(word);
        let known = FILES_OF_PROGRAMS.iter().find(|(name, _)| *name == program);
        files.extend(
            known
                .iter()
                .flat_map(|(_, files)| files.iter())
                .map(|file| (*file).to_owned()),
        );
    }
    files
}

fn is_among(path: &str, files: &[String]) -> bool {
    let path = Path::new(path);
    let mut named = files.iter().filter(|file| !file.is_empty());
    named.any(|file| path.ends_with(file))
}

/// Returns whether a shell command names the file as an argument, other than to run it, and is not
/// known to only read.
fn may_change(seen: &SeenCommand, files: &[String]) -> bool {
    let line = CommandLine::read(&seen.command);
    !only_reads(&line) && line.commands.iter().any(|command| names(command, files))
}

fn names(command: &Simple, files: &[String]) -> bool {
    let mut words = command.words.iter();
    let program = words.next().map_or("", |word| program_name(word));
    let is_run = ["bash", "dash", "sh", "zsh", "python", "python3", "node"].contains(&program);
    let target = |word: &str| {
        let target = word.trim_start_matches(|next: char| next.is_ascii_digit() || next == '&');
        let redirected = target
            .strip_prefix('>')
            .map(|target| target.trim_start_matches('>'));
        shown_path(redirected.unwrap_or(word), None)
    };
    !is_run && words.any(|word| is_among(&target(word), files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receipt::{CommandEnd, SeenFiles};

    fn is_changed(gate: &str, files: &[&str], commands: &[&str]) -> bool {
        let receipt = Receipt {
            files: SeenFiles {
                changed: files.iter().map(|&file| file.to_owned()).collect(),
                ..SeenFiles::default()
            },
            commands: commands
                .iter()
                .map(|&command| SeenCommand {
                    command: command.to_owned(),
                    end: CommandEnd::exited(0),
                    seconds: None,
                    kind: None,
                })
                .collect(),
            ..Receipt::default()
        };
        changes_gate(gate, &receipt)
    }

    #[test]
    fn a_gate_is_changed_if_a_file_that_it_names_is() {
        assert!(is_changed("./check.sh", &["check.sh"], &[]));
        assert!(is_changed("sh ci/check.sh --all", &["ci/check.sh"], &[]));
        assert!(is_changed("cd sub && ./check.sh", &["sub/check.sh"], &[]));
        assert!(is_changed("make check", &["Makefile"], &[]));
        assert!(is_changed("./check.sh", &[], &["echo 'exit 0' >check.sh"]));
        assert!(is_changed("./check.sh", &[], &["sed -i 1d ./check.sh"]));
        assert!(!is_changed("./check.sh", &["src/a.rs"], &[]));
        assert!(!is_changed("cargo test", &["src/test.rs"], &["cargo fmt"]));
        assert!(!is_changed(
            "./check.sh",
            &[],
            &["sh check.sh", "./check.sh; rm x"]
        ));
        assert!(!is_changed("./check.sh", &[], &["cat check.sh"]));
        assert!(!is_changed("make check", &["check.c"], &["make check"]));
    }
}
