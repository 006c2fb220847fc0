//! Filters whose program is not installed, such as `git-lfs`: they are left out, so that files have
//! the content of the repository and no command fails.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::git::{Git, GitError};
use pi_subagents_os::{ProgramBounds, run_bounded};

const BOUNDS: ProgramBounds = ProgramBounds {
    time: Duration::from_secs(10),
    output: 64 * 1024,
};

/// Leaves out the filters of a repository that cannot run here. Returns a sentence about each.
pub(crate) fn without_missing(mut git: Git) -> Result<(Git, Vec<String>), GitError> {
    let arguments = [
        "config",
        "-z",
        "--get-regexp",
        r"^filter\..*\.(clean|smudge|process)$",
    ];
    let printed = git.try_run(&arguments, b"")?.stdout;
    let mut notes = Vec::new();
    for (name, program) in programs(&printed) {
        if is_installed(program) {
            continue;
        }
        for setting in ["clean=", "smudge=", "process=", "required=false"] {
            git = git.with_setting(format!("filter.{name}.{setting}"));
        }
        notes.push(format!(
            "{program} is not installed, so files with the filter {name} are as the repository \
             holds them"
        ));
    }
    Ok((git, notes))
}

/// Returns the name of each filter with the first word of one of its commands.
fn programs(printed: &[u8]) -> BTreeMap<&str, &str> {
    let entries = printed.split(|byte| *byte == 0);
    let entries = entries.filter_map(|entry| std::str::from_utf8(entry).ok());
    let found = entries.filter_map(|entry| {
        let (key, command) = entry.split_once('\n')?;
        let (name, _) = key.strip_prefix("filter.")?.rsplit_once('.')?;
        Some((name, command.split_whitespace().next()?))
    });
    found.collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the shell that git would use is asked whether it knows a program"
)]
fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    let mut command = Command::new("sh");
    command.args(["-c", "command -v -- \"$1\"", "sh", program]);
    let found = run_bounded(&mut command, b"", BOUNDS);
    matches!(found, Ok(Ok(ended)) if ended.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_filters_are_read() {
        let printed = b"filter.lfs.clean\ngit-lfs clean -- %f\0filter.lfs.process\ngit-lfs filter-process\0filter.a.b.smudge\ncat\0filter.empty.clean\n\0";
        let found: Vec<_> = programs(printed).into_iter().collect();
        assert_eq!(found, [("a.b", "cat"), ("lfs", "git-lfs")]);
        assert!(is_installed("cat"));
        assert!(!is_installed("no-such-program-here"));
        assert!(!is_installed("/no/such/program"));
    }
}
