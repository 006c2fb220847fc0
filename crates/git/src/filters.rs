//! The filters that git may run. Those of the user may, if their program is installed. Those that
//! the repository itself names may not, unless somebody trusts it: a repository that came as an
//! archive, or a child that plants one, would run programs with the rights of the user. Where a
//! filter is left out, files have the content of the repository and no command fails.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use crate::git::{Git, GitError, NamedSetting};
use crate::surroundings::find_program;

/// The filters that may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterTrust {
    /// Those of the user alone.
    User,
    /// Those that the repository names too.
    Repository,
}

/// The commands of a filter, by their keys: `clean`, `smudge`, `process`.
type Commands = BTreeMap<String, String>;

/// A filter, as it is written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Filter {
    /// The commands in the configuration of the user or the machine.
    of_user: Commands,
    /// The commands in the configuration of the repository.
    of_repository: Commands,
}

/// What becomes of a filter.
#[derive(Debug, PartialEq, Eq)]
enum Fate<'a> {
    /// Git runs it as it is written.
    Runs,
    /// Git runs the commands of the user, and those of the repository are left out.
    RunsOfUser(&'a Commands),
    /// It is left out, because nobody trusts the repository that names it.
    Untrusted,
    /// It is left out, because this program is not installed.
    NotInstalled(&'a str),
}

/// Leaves out the filters that may not or cannot run here. Returns a sentence about each.
pub(crate) fn allowed(git: Git, trust: FilterTrust) -> Result<(Git, Vec<String>), GitError> {
    let arguments = [
        "config",
        "-z",
        "--show-scope",
        "--get-regexp",
        r"^filter\..*\.(clean|smudge|process)$",
    ];
    let printed = git.try_run(&arguments, b"")?.stdout;
    let (mut settings, mut notes) = (Vec::new(), Vec::new());
    for (name, filter) in &filters(&printed) {
        let shown = String::from_utf8_lossy(name);
        let (commands, note) = match fate(filter, trust, is_installed) {
            Fate::Runs => continue,
            Fate::RunsOfUser(commands) => (Some(commands), None),
            Fate::Untrusted => (
                None,
                Some(format!(
                    "the filter {shown} is named by the repository itself, which is not trusted, so \
                     its files are as the repository holds them"
                )),
            ),
            Fate::NotInstalled(program) => (
                None,
                Some(format!(
                    "{program} is not installed, so files with the filter {shown} are as the \
                     repository holds them"
                )),
            ),
        };
        for key in ["clean", "smudge", "process"] {
            let command = commands.and_then(|commands| commands.get(key));
            let command = command.map_or("", String::as_str);
            settings.push(setting(name, key, command));
        }
        if commands.is_none() {
            settings.push(setting(name, "required", "false"));
        }
        notes.extend(note);
    }
    Ok((git.with_named_settings(settings), notes))
}

fn setting(name: &[u8], key: &str, value: &str) -> NamedSetting {
    let whole = [b"filter.", name, b".", key.as_bytes()].concat();
    (OsString::from_vec(whole), value.into())
}

/// Decides about a filter.
fn fate(filter: &Filter, trust: FilterTrust, is_installed: impl Fn(&str) -> bool) -> Fate<'_> {
    let is_changed = filter
        .of_repository
        .iter()
        .any(|(key, command)| filter.of_user.get(key) != Some(command));
    let is_left_out = trust == FilterTrust::User && is_changed;
    let has_own = filter.of_user.values().any(|command| !command.is_empty());
    if is_left_out && !has_own {
        return Fate::Untrusted;
    }
    let mut commands = filter.of_user.clone();
    if !is_left_out {
        commands.extend(filter.of_repository.clone());
    }
    let written = filter.of_repository.values().chain(filter.of_user.values());
    let programs = written
        .filter(|command| commands.values().any(|runs| runs == *command))
        .filter_map(|command| command.split_whitespace().next());
    let missing = programs.into_iter().find(|program| !is_installed(program));
    match missing {
        Some(program) => Fate::NotInstalled(program),
        None if is_left_out => Fate::RunsOfUser(&filter.of_user),
        None => Fate::Runs,
    }
}

/// Reads filters from what git has printed: a scope, and then a key with its value. A name is any
/// bytes that a repository likes.
fn filters(printed: &[u8]) -> BTreeMap<Vec<u8>, Filter> {
    let mut parts = printed.split(|byte| *byte == 0);
    let mut found: BTreeMap<Vec<u8>, Filter> = BTreeMap::new();
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let end = entry.iter().position(|byte| *byte == b'\n');
        let (key, command) = entry.split_at(end.unwrap_or(entry.len()));
        let Some(key) = key.strip_prefix(b"filter.") else {
            continue;
        };
        let Some(dot) = key.iter().rposition(|byte| *byte == b'.') else {
            continue;
        };
        let filter = found.entry(key[..dot].to_vec()).or_default();
        let commands = match scope {
            b"system" | b"global" | b"command" => &mut filter.of_user,
            _ => &mut filter.of_repository,
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        commands.insert(text(&key[dot + 1..]), text(command).trim_start().to_owned());
    }
    found
}

fn is_installed(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    // A word of the shell, such as `test`, is a program too on every system that has git.
    find_program(program).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &[u8] = b"global\0filter.lfs.clean\ngit-lfs clean -- %f\0global\0filter.lfs.process\ngit-lfs filter-process\0local\0filter.a.b.smudge\ncat\0worktree\0filter.lfs.clean\nevil\0local\0filter.empty.clean\n\0";

    fn fate_of(name: &str, trust: FilterTrust) -> String {
        let all = filters(PRINTED);
        let is_installed = |program: &str| program != "git-lfs";
        match fate(&all[name.as_bytes()], trust, is_installed) {
            Fate::Runs => "runs".to_owned(),
            Fate::RunsOfUser(_) => "runs as the user has it".to_owned(),
            Fate::Untrusted => "untrusted".to_owned(),
            Fate::NotInstalled(program) => format!("{program} is missing"),
        }
    }

    #[test]
    fn a_filter_of_the_repository_needs_trust_and_one_of_the_user_its_program() {
        let all = filters(PRINTED);
        let names: Vec<&[u8]> = all.keys().map(Vec::as_slice).collect();
        assert_eq!(names, [&b"a.b"[..], b"empty", b"lfs"]);
        assert_eq!(fate_of("a.b", FilterTrust::User), "untrusted");
        assert_eq!(fate_of("a.b", FilterTrust::Repository), "runs");
        assert_eq!(fate_of("lfs", FilterTrust::User), "git-lfs is missing");
        assert_eq!(
            fate_of("lfs", FilterTrust::Repository),
            "git-lfs is missing"
        );
        let installed = fate(&all[&b"lfs"[..]], FilterTrust::User, |_| true);
        assert_eq!(installed, Fate::RunsOfUser(&all[&b"lfs"[..]].of_user));
    }

    #[test]
    fn a_repository_that_repeats_what_the_user_has_changes_nothing() {
        let printed = b"global\0filter.x.clean\ncat\0local\0filter.x.clean\ncat\0";
        let all = filters(printed);
        assert_eq!(
            fate(&all[&b"x"[..]], FilterTrust::User, |_| true),
            Fate::Runs
        );
    }

    #[test]
    fn programs_are_found_by_name_or_path() {
        assert!(is_installed("cat"));
        assert!(!is_installed("no-such-program-here"));
        assert!(!is_installed("/no/such/program"));
    }
}
