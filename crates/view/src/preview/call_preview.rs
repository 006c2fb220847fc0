//! A tool call that can be drawn at any width, now and when its result is there.

use pi_subagents_vocabulary::{CallFailure, text};
use serde_json::Value;

use super::outcome::FAILED;
use super::shell::Command;
use super::{Arguments, CallOutcome, PreviewContext, Sentence, one_line};
use crate::{Line, Role};

/// The largest width of a line that is not cut to a screen.
const WHOLE_WIDTH: usize = 4096;

/// The subject of a call, read from its arguments once. It holds a bounded part of the arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPreview {
    tool: String,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Command(Command),
    Sentence(Sentence),
}

impl CallPreview {
    /// Reads the subject of a call.
    pub fn new(tool: &str, arguments: &Value, context: &PreviewContext) -> Self {
        let arguments = Arguments::new(arguments);
        let form = match tool {
            "bash" => Form::Command(Command::new(arguments, context)),
            tool => Form::Sentence(one_line(tool, arguments, context)),
        };
        Self {
            tool: text::one_line(&text::clean(tool)),
            form,
        }
    }

    /// Draws the call no wider than `width`; the first line has the most important part, further
    /// lines continue it.
    pub fn lines(&self, outcome: &CallOutcome, width: usize) -> Vec<Line> {
        if let CallOutcome::Failed(failure @ CallFailure::NoSuchTool) = outcome {
            return vec![self.refused(failure, width)];
        }
        let mut lines = match &self.form {
            Form::Command(command) => command.lines(outcome, width),
            Form::Sentence(sentence) => vec![sentence.fitted(outcome, width)],
        };
        if let CallOutcome::Done {
            summary: Some(summary),
            ..
        } = outcome
        {
            lines.push(summary.clone());
        }
        lines
    }

    /// Draws all of the call, whatever the width of the screen is.
    pub(crate) fn whole(&self, outcome: &CallOutcome) -> Vec<Line> {
        match &self.form {
            Form::Command(command) => command.whole(outcome, WHOLE_WIDTH),
            Form::Sentence(_) => self.lines(outcome, WHOLE_WIDTH),
        }
    }

    /// Returns how many bytes it holds, about.
    pub(crate) fn size(&self) -> usize {
        match &self.form {
            Form::Command(command) => command.size(),
            Form::Sentence(sentence) => sentence.size(),
        }
    }

    fn refused(&self, failure: &CallFailure, width: usize) -> Line {
        let words = format!("{FAILED}{}: {failure}", self.tool);
        crate::paint::fit(&Line::new(Role::Failed, &words), width)
    }
}
