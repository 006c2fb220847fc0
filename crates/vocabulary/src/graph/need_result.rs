//! The result of a task, as far as other tasks may ask for it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::placeholder::{part_of, written};
use crate::text::{cut_bytes, one_line};
use crate::{Ending, RunId, RunReport, Status};

/// The largest number of bytes of one value in a prompt.
pub(super) const LARGEST_VALUE: usize = 32 << 10;

/// The largest number of bytes of all values in a prompt.
pub(super) const LARGEST_TOGETHER: usize = 256 << 10;

/// The result of one run that another task needs.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedResult {
    run: RunId,
    /// The name of the run.
    name: String,
    /// The reason why it did not complete, if it did not.
    problem: Option<String>,
    /// True if it never began because of other runs.
    is_unbegun: bool,
    output: Option<String>,
    structured: Option<Value>,
    receipt: Option<Value>,
    /// The worktree in which it worked, if it had one.
    workspace: Option<Value>,
    /// The file that has the whole result.
    whole: Option<PathBuf>,
}

/// The results of a task that is needed: one, or one for each item of a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskResults<'a> {
    /// The name of the task.
    pub name: &'a str,
    /// True if the task is a map.
    pub is_map: bool,
    /// The results, in the order of the items.
    pub results: &'a [NeedResult],
}

impl NeedResult {
    /// Takes the result out of the report of a run that is over. `whole` is the file that has all
    /// of it.
    pub fn of(report: &RunReport, whole: Option<&Path>) -> Self {
        let is_completed = report.status == Status::Completed;
        let problem = || {
            let message = report.error_message.as_deref();
            one_line(message.unwrap_or("its end was not seen"))
        };
        Self {
            run: report.run_id.clone(),
            name: report.name.clone(),
            problem: (!is_completed).then(problem),
            is_unbegun: matches!(report.ending.as_deref(), Some(Ending::NotStarted { .. })),
            output: report.output.clone(),
            structured: report.structured.clone(),
            receipt: report
                .receipt
                .as_ref()
                .and_then(|receipt| serde_json::to_value(receipt).ok()),
            workspace: None,
            whole: whole.map(Path::to_owned),
        }
    }

    /// Adds the worktree in which the run worked.
    #[must_use]
    pub fn with_workspace(self, workspace: Option<Value>) -> Self {
        Self { workspace, ..self }
    }

    /// Returns whether it is the result of the task of this name, and not of an item.
    pub fn is_of(&self, task: &str) -> bool {
        self.name == task
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the directory of the run, if it has one.
    pub fn directory(&self) -> Option<&Path> {
        self.whole.as_deref()?.parent()
    }

    /// Returns its text.
    pub(super) fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    /// Returns its data.
    pub(super) fn structured(&self) -> Option<&Value> {
        self.structured.as_ref()
    }

    /// Returns what was seen of its work, without the names of models.
    pub(super) fn receipt_without_models(&self) -> Value {
        let mut receipt = self.receipt.clone().unwrap_or_default();
        if let Value::Object(fields) = &mut receipt {
            fields.remove("models");
            fields.remove("fallbacks");
        }
        receipt
    }

    /// Returns whether the run completed.
    pub fn is_completed(&self) -> bool {
        self.problem.is_none()
    }

    /// Returns whether the run failed, and did not only follow another run that had failed.
    pub(super) fn is_failure(&self) -> bool {
        self.problem.is_some() && !self.is_unbegun
    }

    /// Returns a part of the result, not cut.
    fn value(&self, path: &[String]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "output" => self.output.clone().map(Value::String),
            "structured" => part_of(self.structured.as_ref()?, rest).cloned(),
            "receipt" => part_of(self.receipt.as_ref()?, rest).cloned(),
            "workspace" => part_of(self.workspace.as_ref()?, rest).cloned(),
            _ => None,
        }
    }

    /// Returns the words that stand in the place of a result that there is none of.
    fn failure(&self) -> Option<String> {
        let problem = self.problem.as_ref()?;
        Some(format!("[{} did not complete: {problem}]", self.name))
    }

    /// Returns a text with at most this many bytes, and the file with the rest of it.
    fn cut(&self, text: String, most: usize) -> String {
        if text.len() <= most {
            return text;
        }
        let shown = &text[..text.floor_char_boundary(most)];
        let (shown_bytes, bytes) = (shown.len(), text.len());
        let all = match &self.whole {
            Some(file) => format!("; {} has all of them", file.display()),
            None => String::new(),
        };
        format!("{shown}\n[cut: these are the first {shown_bytes} of {bytes} bytes{all}]")
    }

    /// Returns the result as a section of a prompt, between fences that it cannot close.
    pub(super) fn section(&self, most: usize) -> String {
        let name = one_line(&self.name);
        let failure = self.failure().map(|words| format!("{words}\n"));
        let Some(output) = self.output.clone() else {
            let words = failure.unwrap_or_else(|| "[it completed without a text]\n".to_owned());
            return format!("Result of {name}:\n{words}");
        };
        let failure = failure.unwrap_or_default();
        let output = self.cut(output, most);
        let fence = "`".repeat(longest_run(&output).max(2) + 1);
        format!("Result of {name}:\n{failure}{fence}text\n{output}\n{fence}\n")
    }
}

impl TaskResults<'_> {
    /// Returns the value of a placeholder as data; `None` if the result has no such part. For a map
    /// it is the list of the parts of its items.
    pub fn data(&self, path: &[String]) -> Option<Value> {
        match self.results {
            [result] if !self.is_map => result.value(path),
            results => {
                let parts = results
                    .iter()
                    .map(|result| result.value(path).unwrap_or_default());
                Some(parts.collect())
            }
        }
    }

    /// Returns the value of a placeholder as text of at most this many bytes; `None` if the result
    /// has no such part.
    pub(super) fn text(&self, path: &[String], most: usize) -> Option<String> {
        let is_output = path.first().is_some_and(|first| first == "output");
        match self.results {
            [result] if !self.is_map => {
                let value = result.value(path).map(|value| written(&value));
                let value = value.map(|value| result.cut(value, most));
                value.or_else(|| result.failure())
            }
            results if is_output => {
                let each = most / results.len().max(1);
                let sections = results.iter().map(|result| result.section(each));
                Some(sections.collect::<Vec<_>>().join("\n"))
            }
            _ => {
                let list = self.data(path)?.to_string();
                Some(cut_list(list, most))
            }
        }
    }
}

fn cut_list(list: String, most: usize) -> String {
    let bytes = list.len();
    if bytes <= most {
        return list;
    }
    format!(
        "{}\n[cut: the list has {bytes} bytes]",
        cut_bytes(list, most)
    )
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or_default()
}
