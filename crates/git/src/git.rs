//! The one place that starts git.
//!
//! No hook, no monitor, no signature, no collection of garbage and no question comes of it,
//! whatever the caller's environment and configuration say. `GIT_DIR` and its kin are taken away,
//! because they would lead to another repository.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pi_subagents_files::HeldLock;
use tracing::debug;

use crate::object_id::ObjectId;
use pi_subagents_os::{EndedProgram, ProgramBounds, ProgramCut, run_holding};

/// The time that one command may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// The largest number of bytes that one command may print.
const MOST_OUTPUT: usize = 256 * 1024 * 1024;

/// The setting that keeps git from asking helpers for credentials.
const NO_CREDENTIALS: &str = "credential.helper=";

/// The settings that switch off parts of git for every command.
const SETTINGS: [&str; 17] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=",
    "core.askPass=",
    "core.quotePath=false",
    NO_CREDENTIALS,
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "protocol.ext.allow=never",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "advice.detachedHead=false",
];

/// The variables that lead git elsewhere (`git rev-parse --local-env-vars`), and those that change
/// its questions, its programs or its paths.
const REMOVED: [&str; 32] = [
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
];

/// The reason why git could not do something.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("git is not installed, or not in PATH")]
    Absent,
    /// The program is too old.
    #[error("git {found} is too old for this; it needs 2.43 or newer")]
    TooOld {
        /// The version that is there.
        found: String,
    },
    /// The program could not be run.
    #[error("git {command}: {source}")]
    Run {
        /// The command.
        command: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A command took too long and was ended.
    #[error("git {command} took more than {seconds} s and was ended")]
    TimedOut {
        /// The command.
        command: String,
        /// The limit.
        seconds: u64,
    },
    /// A command printed too much and was ended.
    #[error("git {command} printed more than {bytes} bytes and was ended")]
    TooMuch {
        /// The command.
        command: String,
        /// The limit.
        bytes: usize,
    },
    /// A command failed.
    #[error("git {command} failed: {said}")]
    Failed {
        /// The command.
        command: String,
        /// The first line of its stderr, or its status.
        said: String,
    },
    /// A command printed something that was not expected.
    #[error("git {command} printed something unexpected: {said}")]
    Strange {
        /// The command.
        command: String,
        /// The beginning of its output.
        said: String,
    },
}

/// Git, at work in one directory.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    directory: PathBuf,
    settings: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
    bounds: ProgramBounds,
    /// True if the user's helpers may be asked for credentials.
    has_credentials: bool,
    /// A lock that each command holds.
    lock: Option<Arc<HeldLock>>,
}

impl Git {
    /// Prepares git for a directory.
    pub(crate) fn at(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            settings: Vec::new(),
            environment: Vec::new(),
            bounds: ProgramBounds {
                time: PATIENCE,
                output: MOST_OUTPUT,
            },
            has_credentials: false,
            lock: None,
        }
    }

    /// Returns the directory in which git is at work.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Lets the user's helpers be asked for credentials. Nobody is asked in person.
    pub(crate) fn with_credentials(mut self) -> Self {
        self.has_credentials = true;
        self
    }

    /// Adds a setting, as `name=value`.
    pub(crate) fn with_setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Adds a variable.
    pub(crate) fn with_variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Works on another index than that of the checkout.
    pub(crate) fn with_index(self, index: &Path) -> Self {
        self.with_variable("GIT_INDEX_FILE", index)
    }

    /// Holds a lock in every command, for as long as that lives.
    pub(crate) fn holding(mut self, lock: HeldLock) -> Self {
        self.lock = Some(Arc::new(lock));
        self
    }

    /// Accepts at most so many bytes of output.
    pub(crate) fn with_most_output(mut self, bytes: usize) -> Self {
        self.bounds.output = bytes;
        self
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        self.run_with(arguments, b"")
    }

    /// Runs a command that must succeed with something to read.
    pub(crate) fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let ended = self.try_run(arguments, input)?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        Err(failed(arguments, &ended))
    }

    /// Runs a command that must succeed, and returns the line it printed.
    pub(crate) fn line<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, GitError> {
        let printed = self.run(arguments)?;
        Ok(String::from_utf8_lossy(&printed).trim_end().to_owned())
    }

    /// Runs a command that must print the name of an object.
    pub(crate) fn id<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<ObjectId, GitError> {
        self.id_with(arguments, b"")
    }

    /// Runs a command that must print the name of an object with something to read.
    pub(crate) fn id_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> Result<ObjectId, GitError> {
        let printed = self.run_with(arguments, input)?;
        let line = String::from_utf8_lossy(&printed);
        ObjectId::parse(line.trim_end()).ok_or_else(|| strange(arguments, &printed))
    }

    /// Runs a command that must print the names of so many objects, each in a line.
    pub(crate) fn ids_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
        count: usize,
    ) -> Result<Vec<ObjectId>, GitError> {
        let printed = self.run_with(arguments, input)?;
        let text = String::from_utf8_lossy(&printed);
        let ids: Option<Vec<ObjectId>> = text.lines().map(ObjectId::parse).collect();
        ids.filter(|ids| ids.len() == count)
            .ok_or_else(|| strange(arguments, &printed))
    }

    /// Runs a command that prints the name of an object, or fails if there is no such object.
    pub(crate) fn maybe_id(&self, arguments: &[&str]) -> Result<Option<ObjectId>, GitError> {
        let ended = self.try_run(arguments, b"")?;
        let line = String::from_utf8_lossy(&ended.stdout);
        Ok(ObjectId::parse(line.trim_end()).filter(|_| ended.status.success()))
    }

    /// Runs a command, however it ends.
    pub(crate) fn try_run<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> Result<EndedProgram, GitError> {
        let begun = Instant::now();
        let lock = self.lock.as_deref().map(HeldLock::file);
        let ended = run_holding(&mut self.command(arguments), input, self.bounds, lock);
        let name = name_of(arguments);
        let seconds = begun.elapsed().as_secs_f64();
        let code = ended.as_ref().ok().and_then(|ended| ended.as_ref().ok());
        let code = code.and_then(|ended| ended.status.code());
        debug!(command = name, seconds, code, "git has ended");
        match ended {
            Ok(Ok(ended)) => Ok(ended),
            Ok(Err(ProgramCut::TimedOut)) => Err(GitError::TimedOut {
                command: name,
                seconds: self.bounds.time.as_secs(),
            }),
            Ok(Err(ProgramCut::TooMuch)) => Err(GitError::TooMuch {
                command: name,
                bytes: self.bounds.output,
            }),
            // The directory may be gone as well as the program.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.directory.is_dir() => {
                Err(GitError::Absent)
            }
            Err(source) => Err(GitError::Run {
                command: name,
                source,
            }),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "git is started here and nowhere else; it is no sub-agent and starts none"
    )]
    fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.directory);
        for name in REMOVED {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_EDITOR", ":")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .arg("--no-pager");
        let own = self.settings.iter().map(String::as_str);
        let off = SETTINGS.into_iter();
        let off = off.filter(|setting| !(self.has_credentials && *setting == NO_CREDENTIALS));
        for setting in off.chain(own) {
            command.arg("-c").arg(setting);
        }
        command.args(arguments);
        command
    }
}

/// Refuses a git that cannot merge and make worktrees as this crate does.
pub fn demand_git() -> Result<(), GitError> {
    let arguments = ["version"];
    let line = Git::at(Path::new("/")).line(&arguments)?;
    let found = line.strip_prefix("git version ").unwrap_or(&line);
    match version(found) {
        Some(version) if version >= (2, 43) => Ok(()),
        Some(_) => Err(GitError::TooOld {
            found: found.to_owned(),
        }),
        None => Err(strange(&arguments, line.as_bytes())),
    }
}

/// Reads the first two numbers of a version such as `2.47.3` or `2.43.0 (Apple Git-154)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split(|letter: char| !letter.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Returns words as arguments, to which paths can be added.
pub(crate) fn words<'a>(words: &[&'a str]) -> Vec<&'a OsStr> {
    words.iter().map(|word| OsStr::new(*word)).collect()
}

/// Returns the error for a command whose output is not understood.
pub(crate) fn strange<A: AsRef<OsStr>>(arguments: &[A], printed: &[u8]) -> GitError {
    let said: String = String::from_utf8_lossy(printed).chars().take(200).collect();
    GitError::Strange {
        command: name_of(arguments),
        said: said.escape_debug().to_string(),
    }
}

/// Returns the error for a command that failed.
pub(crate) fn failed<A: AsRef<OsStr>>(arguments: &[A], ended: &EndedProgram) -> GitError {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let first = stderr.lines().map(str::trim).find(|line| !line.is_empty());
    let said = first.map_or_else(
        || ended.status.to_string(),
        |line| line.strip_prefix("fatal: ").unwrap_or(line).to_owned(),
    );
    GitError::Failed {
        command: name_of(arguments),
        said,
    }
}

/// Returns the name of a command: its first word, which never holds a secret.
fn name_of<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    let words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    let mut words = words.skip_while(|word| word.starts_with('-'));
    words
        .next()
        .map_or_else(String::new, std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_far_as_they_matter() {
        assert_eq!(version("2.47.3"), Some((2, 47)));
        assert_eq!(version("2.43.0 (Apple Git-154)"), Some((2, 43)));
        assert_eq!(version("2.50.rc1"), Some((2, 50)));
        assert_eq!(version("unknown"), None);
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

    #[test]
    fn errors_hold_the_first_line_of_git() {
        let error = Git::at(Path::new("/"))
            .run(&["cat-file", "-t", "nothing"])
            .unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("git cat-file failed: "), "{error}");
    }
}
