//! The environment in which git runs: what it needs and nothing else. A key that the caller has in
//! the environment is not handed to git, nor to a filter that git starts.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The variables that git, and the filters that the user has set up, may have.
const KEPT: [&str; 22] = [
    "DISPLAY",
    "DYLD_LIBRARY_PATH",
    "EMAIL",
    "GNUPGHOME",
    "GPG_TTY",
    "HOME",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "WAYLAND_DISPLAY",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// The variables that only a connection to another machine needs. Their names are compared without
/// regard to case.
const FOR_CONNECTIONS: [&str; 9] = [
    "ALL_PROXY",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSH_CONNECTION",
    "XDG_RUNTIME_DIR",
];

/// The variables of git that lead it elsewhere (`git rev-parse --local-env-vars`), or that change
/// its questions, its programs or its paths.
const REMOVED: [&str; 33] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
    "GIT_ATTR_SOURCE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REFLOG_ACTION",
    "GIT_TRACE",
    "GIT_TRACE_SETUP",
    "GIT_DEFAULT_HASH",
    "GIT_ALLOW_PROTOCOL",
];

/// The reach of a command of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It works on this machine alone.
    Local,
    /// It may connect to another machine, with the credentials of the user.
    Connections,
}

/// Returns the variables of this process that a command of git gets.
pub(crate) fn surroundings(reach: Reach) -> Vec<(OsString, OsString)> {
    let kept = env::vars_os().filter(|(name, _)| is_kept(name, reach));
    let mut kept: Vec<(OsString, OsString)> = kept.collect();
    kept.push(("PATH".into(), search_path()));
    kept
}

/// Finds a program in the directories of the search path, without those that depend on where we
/// are: a repository must not bring along its own git.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = search_path();
    let mut found = env::split_paths(&path).map(|directory| directory.join(name));
    found.find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && pi_subagents_os::may_execute(file)
}

#[expect(
    clippy::disallowed_methods,
    reason = "git is started with the search path of this process, and nothing else is read"
)]
fn search_path() -> OsString {
    let written = env::var_os("PATH").unwrap_or_default();
    let absolute = env::split_paths(&written).filter(|directory| directory.is_absolute());
    // It was split, so no part has the separator in it.
    env::join_paths(absolute).unwrap_or_default()
}

fn is_kept(name: &OsStr, reach: Reach) -> bool {
    let Some(text) = name.to_str() else {
        return false;
    };
    if KEPT.contains(&text) || text.starts_with("LC_") {
        return true;
    }
    if reach == Reach::Connections && FOR_CONNECTIONS.contains(&text.to_uppercase().as_str()) {
        return true;
    }
    name.as_bytes().starts_with(b"GIT_") && !REMOVED.contains(&text) && !is_of_a_key(text)
}

/// Returns whether a variable that begins like those of git looks like a key of somebody.
fn is_of_a_key(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Git;

    #[test]
    fn git_gets_what_it_needs_and_no_key() {
        let kept = |name: &str| is_kept(OsStr::new(name), Reach::Local);
        for name in ["HOME", "LC_ALL", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME"] {
            assert!(kept(name), "{name}");
        }
        for name in [
            "OPENAI_API_KEY",
            "MY_PROVIDER",
            "GIT_DIR",
            "GIT_TOKEN",
            "PATH",
            "https_proxy",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!kept(name), "{name}");
        }
        assert!(is_kept(OsStr::new("https_proxy"), Reach::Connections));
    }

    #[test]
    fn a_program_is_not_looked_for_where_we_are() {
        assert!(find_program("git").is_some_and(|found| found.is_absolute()));
        assert_eq!(find_program("no-such-program-here"), None);
    }

    #[test]
    fn git_names_no_variable_that_is_not_removed() {
        let named = Git::at(Path::new("/"))
            .line(&["rev-parse", "--local-env-vars"])
            .unwrap();
        let left: Vec<&str> = named
            .lines()
            .filter(|name| !REMOVED.contains(name))
            .collect();
        assert_eq!(left, [""; 0]);
    }
}
