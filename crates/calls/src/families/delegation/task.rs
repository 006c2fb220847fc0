//! A call of the delegation family, written by a model, a person or a program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::attachments::FileSpec;
use crate::arguments::{self, CallError};
use crate::open_run::EarlierSession;
use crate::task_terms::TaskTerms;

/// A call that fits.
#[derive(Debug)]
pub struct DelegateCall {
    pub(crate) tasks: Vec<TaskCall>,
    /// The profile of all tasks that name none themselves.
    pub profile: Option<String>,
}

/// One task of a call.
#[derive(Debug, Default)]
pub struct TaskCall {
    /// The name of its window.
    pub name: String,
    pub prompt: String,
    /// The directory in which it works, as an absolute path without `..` segments.
    pub cwd: Option<PathBuf>,
    pub profile: Option<String>,
    pub timeout: Option<Duration>,
    pub resume: Option<Resume>,
    pub terms: TaskTerms,
    /// The files that are put before the prompt.
    pub files: Vec<FileSpec>,
}

/// The earlier session that a task goes on with.
#[derive(Debug)]
pub enum Resume {
    /// By an id that is still to be looked up: that of the session or of one of its runs, or the
    /// beginning of either.
    Named(String),
    /// Found by the maker of the call.
    Found(Arc<EarlierSession>),
}

impl DelegateCall {
    /// Makes a call of these tasks. Fails if there are none, or too many.
    pub fn new(tasks: Vec<TaskCall>) -> Result<Self, CallError> {
        Self {
            tasks,
            profile: None,
        }
        .checked()
    }

    /// Checks the number of tasks, names those without a name and drops files without a path.
    pub(super) fn checked(mut self) -> Result<Self, CallError> {
        arguments::check_count(self.tasks.len())?;
        for (index, task) in self.tasks.iter_mut().enumerate() {
            task.files
                .retain(|file| !file.path().as_os_str().is_empty());
            if task.name.is_empty() {
                task.name = format!("task {}", index + 1);
            }
        }
        Ok(self)
    }
}
