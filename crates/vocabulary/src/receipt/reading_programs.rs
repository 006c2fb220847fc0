//! Commands that are known to change no file.

use super::command_line::{CommandLine, Simple};
use super::shell_changes::changes_shell;
use super::test_programs::{program_name, runs_tests, without_assignments};

/// Programs that only read, with whatever options.
const READERS: [&str; 65] = [
    ":",
    "[",
    "[[",
    "ag",
    "arch",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "export",
    "expr",
    "false",
    "fgrep",
    "file",
    "fold",
    "free",
    "getconf",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pgrep",
    "popd",
    "printenv",
    "printf",
    "ps",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "seq",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "wc",
    "which",
];

/// Subcommands of git that only read.
const GIT_READERS: [&str; 14] = [
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// Options of `find` with which it changes files or runs another program.
const FIND_ACTS: [&str; 9] = [
    "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir",
];

/// Returns whether a command line is known to change no file.
pub(super) fn only_reads(line: &CommandLine) -> bool {
    is_plain(line) && line.commands.iter().all(reads)
}

/// Returns whether a command line does nothing but run tests and read files.
pub(super) fn only_reads_or_tests(line: &CommandLine, test_commands: &[String]) -> bool {
    let is_either = |command: &Simple| reads(command) || runs_tests(&command.words, test_commands);
    is_plain(line) && line.commands.iter().all(is_either)
}

fn is_plain(line: &CommandLine) -> bool {
    !line.is_tangled && !line.does_more && !changes_shell(line)
}

/// Returns whether one command is known to change no file, apart from where its output goes.
pub(super) fn reads(command: &Simple) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let Some((program, rest)) = without_assignments(&words).split_first() else {
        // It only assigns variables.
        return true;
    };
    // A program of the project may have any name.
    if program.contains('/') && !is_of_system(program) {
        return false;
    }
    match program_name(program) {
        "find" => !rest.iter().any(|word| FIND_ACTS.contains(word)),
        "git" => git_reads(rest),
        "sed" => sed_reads(rest),
        // Without a command it prints the variables.
        "env" => rest.is_empty(),
        "command" | "type" => rest.first().is_some_and(|word| *word != "-p"),
        "sort" => !rest.iter().any(|word| is_output_option(word)),
        // Its second file is written.
        "uniq" => rest.iter().filter(|word| !word.starts_with('-')).count() < 2,
        "tree" => !rest.contains(&"-o"),
        name => READERS.contains(&name),
    }
}

fn is_of_system(program: &str) -> bool {
    let directory = program.rsplit_once('/').map(|(directory, _)| directory);
    directory.is_some_and(|directory| ["/bin", "/usr/bin"].contains(&directory))
}

fn is_output_option(word: &str) -> bool {
    word.starts_with("--o") || (word.starts_with('-') && word.contains('o'))
}

fn git_reads(words: &[&str]) -> bool {
    let mut words = words.iter();
    let subcommand = loop {
        match words.next() {
            Some(&"-C") => _ = words.next(),
            Some(&("--no-pager" | "-P" | "--no-optional-locks")) => {}
            other => break other,
        }
    };
    let writes = |word: &str| {
        word.starts_with("--output") || word.starts_with("--open-files") || word.starts_with("-O")
    };
    subcommand.is_some_and(|name| GIT_READERS.contains(name)) && !words.any(|word| writes(word))
}

/// Returns whether `sed` only prints lines by their numbers: its other commands can write files.
fn sed_reads(words: &[&str]) -> bool {
    let Some((&"-n", [script, ..])) = words.split_first() else {
        return false;
    };
    let is_plain = |next: char| next.is_ascii_digit() || ",$p; ".contains(next);
    script.chars().all(is_plain) && !words[2..].iter().any(|word| word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_known_to_read(command: &str) -> bool {
        only_reads(&CommandLine::read(command))
    }

    #[test]
    fn commands_that_only_read_are_known() {
        for command in [
            "ls -la src | head -5",
            "cat a.rs && grep -rn 'a => b' src 2>/dev/null",
            "cd /tmp; pwd",
            "git status --short",
            "git --no-pager -C sub diff HEAD~1 -- a",
            "find . -name '*.rs' | wc -l",
            "sed -n '1,20p' a.rs",
            "sort a | uniq -c | sort -rn",
            "X=1",
            "LC_ALL=C sort a",
            "echo done",
            "command -v cargo",
            "/usr/bin/env",
            "env",
        ] {
            assert!(is_known_to_read(command), "{command}");
        }
    }

    #[test]
    fn commands_that_may_change_files_are_not_taken_for_reading() {
        for command in [
            "sed -i s/a/b/ a",
            "sed -n 'w b' a",
            "sed -n 1p a -i",
            "echo broken > a",
            "echo \"$(rm a)\"",
            "ls `rm a`",
            "find . -delete",
            "find . -exec rm {} +",
            "git checkout a",
            "git -c alias.diff=x diff",
            "git diff --output=a",
            "git stash",
            "sort -o a a",
            "sort -uo a a",
            "uniq a b",
            "python3 -c 'open(\"a\", \"w\")'",
            "awk '{print > \"a\"}' b",
            "cargo fmt",
            "./ls",
            "bin/cat a",
            "env X=1 rm a",
            "tee a",
            "xargs rm",
            "if true; then ls; fi",
            "(ls)",
            "PATH=/tmp:$PATH ls",
            "alias ls=rm; ls a",
        ] {
            assert!(!is_known_to_read(command), "{command}");
        }
    }
}
