//! The steps in which a child is confined, and what is said of one that fails.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One step. The order of the variants is the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfineStep {
    /// The order is read.
    Order,
    /// The files of the machine are looked at, and the plan is made.
    Plan,
    /// The process leaves its terminal.
    Session,
    /// The process gets a user namespace and a mount namespace, and, unless the network is the
    /// machine's, a network namespace.
    Namespaces,
    /// Its user and group are mapped to themselves.
    Identity,
    /// The loopback interface of the network namespace is switched on.
    Loopback,
    /// The listener of the gateway is made.
    Listener,
    /// Mounts of the machine that come later do not reach the namespace.
    PrivateMounts,
    /// The parts that are placed again later are cloned.
    Clone,
    /// Every mount becomes read-only.
    ReadOnly,
    /// Hidden, private, writable and guarded paths are placed.
    Place,
    /// The process enters its working directory again.
    Directory,
    /// The capabilities of the namespace are dropped.
    Capabilities,
    /// Programs cannot raise what they may do.
    NoNewPrivileges,
    /// Landlock.
    Landlock,
    /// seccomp.
    SystemCalls,
    /// Descriptors that the child must not have are closed.
    Descriptors,
    /// The keeper learns that everything is done.
    Seal,
    /// The child is executed.
    Execute,
}

impl ConfineStep {
    /// All steps, in their order.
    pub const ALL: [Self; 19] = [
        Self::Order,
        Self::Plan,
        Self::Session,
        Self::Namespaces,
        Self::Identity,
        Self::Loopback,
        Self::Listener,
        Self::PrivateMounts,
        Self::Clone,
        Self::ReadOnly,
        Self::Place,
        Self::Directory,
        Self::Capabilities,
        Self::NoNewPrivileges,
        Self::Landlock,
        Self::SystemCalls,
        Self::Descriptors,
        Self::Seal,
        Self::Execute,
    ];

    /// Returns its word: a system call where there is one that people search for.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Plan => "plan",
            Self::Session => "setsid",
            Self::Namespaces => "unshare",
            Self::Identity => "uid_map",
            Self::Loopback => "loopback",
            Self::Listener => "listen",
            Self::PrivateMounts => "private mounts",
            Self::Clone => "open_tree",
            Self::ReadOnly => "remount",
            Self::Place => "mount",
            Self::Directory => "chdir",
            Self::Capabilities => "capset",
            Self::NoNewPrivileges => "no_new_privs",
            Self::Landlock => "landlock",
            Self::SystemCalls => "seccomp",
            Self::Descriptors => "close",
            Self::Seal => "seal",
            Self::Execute => "exec",
        }
    }
}

impl fmt::Display for ConfineStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfineFailure {
    /// The step.
    pub step: ConfineStep,
    /// The number of the system's error, if the system refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// The path that it was about, if it was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The words for a person.
    pub message: String,
}

impl ConfineFailure {
    /// Describes an error of the system.
    pub(crate) fn new(step: ConfineStep, error: &io::Error) -> Self {
        Self {
            step,
            errno: error.raw_os_error(),
            path: None,
            message: format!("{step}: {}", words(error)),
        }
    }

    /// Adds the path that it was about.
    pub(crate) fn at(self, path: &Path) -> Self {
        Self {
            message: format!("{} ({})", self.message, path.display()),
            path: Some(path.to_owned()),
            ..self
        }
    }

    /// Describes a policy that cannot be kept, in a whole sentence.
    pub(crate) fn refused(sentence: String) -> Self {
        Self {
            step: ConfineStep::Plan,
            errno: None,
            path: None,
            message: sentence,
        }
    }

    /// Returns whether the policy cannot be kept in this place, so that the message is a sentence.
    pub fn is_refusal(&self) -> bool {
        self.step == ConfineStep::Plan && self.errno.is_none()
    }

    /// Returns the reason with which a run ends that could not be confined.
    pub fn reason(&self) -> String {
        if self.is_refusal() {
            return format!("{} Nothing was run.", self.message);
        }
        format!(
            "The sandbox could not be made: {}. Nothing was run; doctor says more.",
            self.message
        )
    }
}

/// Returns the words of an error without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_list_has_every_step_in_its_order() {
        let mut sorted = ConfineStep::ALL;
        sorted.sort_unstable();
        assert_eq!(sorted, ConfineStep::ALL);
    }

    #[test]
    fn a_failure_names_the_call_and_the_words_of_the_system() {
        let refused = io::Error::from_raw_os_error(1);
        let failure = ConfineFailure::new(ConfineStep::Namespaces, &refused);
        assert_eq!(
            failure.reason(),
            "The sandbox could not be made: unshare: Operation not permitted. Nothing was run; doctor says more."
        );
        let read_only = io::Error::from_raw_os_error(30);
        let failure = ConfineFailure::new(ConfineStep::Place, &read_only).at(Path::new("/a"));
        assert_eq!(
            (
                failure.errno,
                failure.path.as_deref(),
                failure.message.as_str()
            ),
            (
                Some(30),
                Some(Path::new("/a")),
                "mount: Read-only file system (/a)"
            )
        );
    }
}
