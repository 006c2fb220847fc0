//! The one place that starts git.
//!
//! No hook, no monitor, no signature, no collection of garbage, no fetch and no question comes of
//! it, whatever the caller's environment and configuration say. Git gets only the variables that it
//! needs (`surroundings`), so it has no keys and is not led to another repository. It runs below a
//! keeper of the crate `os`, which ends whatever a filter or git itself leaves behind.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pi_subagents_files::HeldLock;
use tracing::debug;

use crate::object_id::ObjectId;
use crate::surroundings::{Reach, find_program, surroundings};
use pi_subagents_os::{EndedProgram, ProgramBounds, ProgramCommand, ProgramCut, run_holding};

/// The time that one command may take. Files that a child wrote decide how long git works, so it is
/// short.
const PATIENCE: Duration = Duration::from_mins(1);

/// The time that a command may take which writes or sends a whole repository.
const LONG_PATIENCE: Duration = Duration::from_mins(10);

/// The largest number of bytes that one command may print.
const MOST_OUTPUT: usize = 256 * 1024 * 1024;

/// The setting that keeps git from asking helpers for credentials.
const NO_CREDENTIALS: &str = "credential.helper=";

/// The settings that switch off parts of git for every command.
const SETTINGS: [&str; 19] = [
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
    "safe.bareRepository=explicit",
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "protocol.ext.allow=never",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "advice.detachedHead=false",
];

/// The variables that every command gets.
const ALWAYS: [(&str, &str); 5] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_EDITOR", ":"),
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

/// A setting with its whole name and its value.
pub(crate) type NamedSetting = (OsString, OsString);

/// The directories of a repository, so that git looks for none.
#[derive(Debug, Clone)]
pub(crate) struct GitPlace {
    pub(crate) git_dir: PathBuf,
    /// The top of the files; `None` for a repository without a checkout.
    pub(crate) work_tree: Option<PathBuf>,
}

/// Git, at work in one directory.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    directory: PathBuf,
    settings: Vec<String>,
    named_settings: Vec<NamedSetting>,
    environment: Vec<(&'static str, OsString)>,
    bounds: ProgramBounds,
    /// The repository, if it is not to be looked for from the directory.
    place: Option<GitPlace>,
    reach: Reach,
    /// A lock that each command holds.
    lock: Option<Arc<HeldLock>>,
}

impl Git {
    /// Prepares git for a directory.
    pub(crate) fn at(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            settings: Vec::new(),
            named_settings: Vec::new(),
            environment: Vec::new(),
            bounds: ProgramBounds {
                time: PATIENCE,
                output: MOST_OUTPUT,
            },
            place: None,
            reach: Reach::Local,
            lock: None,
        }
    }

    /// Prepares git for a repository without a checkout.
    pub(crate) fn of_bare(directory: &Path) -> Self {
        let place = GitPlace {
            git_dir: directory.to_owned(),
            work_tree: None,
        };
        Self::at(directory).with_place(place)
    }

    /// Works in another directory, on a repository that git does not look for.
    pub(crate) fn at_place(mut self, directory: &Path, place: GitPlace) -> Self {
        directory.clone_into(&mut self.directory);
        self.with_place(place)
    }

    /// Names the repository, so that git does not look for it.
    pub(crate) fn with_place(mut self, place: GitPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Lets a command take as long as a whole repository may need.
    pub(crate) fn patient(mut self) -> Self {
        self.bounds.time = LONG_PATIENCE;
        self
    }

    /// Returns the directory in which git is at work.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Lets the user's helpers be asked for credentials. Nobody is asked in person.
    pub(crate) fn with_credentials(mut self) -> Self {
        self.reach = Reach::Connections;
        self
    }

    /// Adds a setting, as `name=value`.
    pub(crate) fn with_setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    /// Adds settings whose names somebody else has chosen. Written as `name=value`, a name with a
    /// `=` in it would be another one.
    pub(crate) fn with_named_settings(mut self, settings: Vec<NamedSetting>) -> Self {
        self.named_settings = settings;
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
        let program = find_program("git").ok_or(GitError::Absent)?;
        let lock = self.lock.as_deref().map(HeldLock::file);
        let command = self.command(program, arguments);
        let ended = run_holding(&command, input, self.bounds, lock);
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

    fn command<A: AsRef<OsStr>>(&self, program: PathBuf, arguments: &[A]) -> ProgramCommand {
        ProgramCommand {
            program,
            arguments: self.arguments(arguments),
            environment: self.environment(arguments),
            directory: Some(self.directory.clone()),
        }
    }

    fn environment<A: AsRef<OsStr>>(&self, arguments: &[A]) -> BTreeMap<OsString, OsString> {
        let mut environment: BTreeMap<OsString, OsString> =
            surroundings(self.reach).into_iter().collect();
        let mut set = |name: &str, value: &OsStr| {
            environment.insert(name.into(), value.into());
        };
        for (name, value) in ALWAYS {
            set(name, OsStr::new(value));
        }
        if self.reach == Reach::Local {
            // An old git does not know of lazy fetches. A bundle is a file.
            let is_fetch = name_of(arguments) == "fetch";
            let allowed = if is_fetch { "file" } else { "" };
            set("GIT_ALLOW_PROTOCOL", OsStr::new(allowed));
        }
        if !self.named_settings.is_empty() {
            let count = self.named_settings.len().to_string();
            set("GIT_CONFIG_COUNT", OsStr::new(&count));
        }
        for (number, (name, value)) in self.named_settings.iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{number}"), name);
            set(&format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        for (name, value) in &self.environment {
            set(name, value);
        }
        environment
    }

    fn arguments<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec!["--no-pager".into()];
        if let Some(place) = &self.place {
            all.extend(["--git-dir".into(), place.git_dir.clone().into()]);
            if let Some(work_tree) = &place.work_tree {
                all.extend(["--work-tree".into(), work_tree.clone().into()]);
            }
        }
        let own = self.settings.iter().map(String::as_str);
        let asks = self.reach == Reach::Connections;
        let off = SETTINGS.into_iter();
        let off = off.filter(|setting| !(asks && *setting == NO_CREDENTIALS));
        for setting in off.chain(own) {
            all.extend(["-c".into(), setting.into()]);
        }
        all.extend(arguments.iter().map(|argument| argument.as_ref().into()));
        all
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
    fn errors_hold_the_first_line_of_git() {
        let error = Git::at(Path::new("/"))
            .run(&["cat-file", "-t", "nothing"])
            .unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("git cat-file failed: "), "{error}");
    }
}
