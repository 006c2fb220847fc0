//! Questions on a terminal. Escape skips one, Ctrl-C ends the command.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use inquire::{Confirm, Editor, InquireError, Select, Text};
use pi_subagents_delegation::text::clean;

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;

/// What a shell says about a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Nobody goes on answering.
pub(in crate::commands) enum Stopped {
    /// Ctrl-C was pressed.
    Interrupted,
    /// The terminal or the editor cannot be used.
    Failed(CommandError),
}

/// An answer, or none if the question was skipped.
pub(in crate::commands) type Answer<T> = Result<Option<T>, Stopped>;

impl Stopped {
    /// What the command comes to.
    pub(in crate::commands) fn into_result(
        self,
        printer: Printer,
    ) -> Result<ExitCode, CommandError> {
        match self {
            Self::Interrupted => {
                nothing_written(printer);
                Ok(ExitCode::from(INTERRUPTED))
            }
            Self::Failed(error) => Err(error),
        }
    }
}

impl From<InquireError> for Stopped {
    fn from(error: InquireError) -> Self {
        match error {
            InquireError::OperationInterrupted => Self::Interrupted,
            other => Self::Failed(CommandError::failed("no answer can be read").because(&other)),
        }
    }
}

/// Whether somebody is there to answer: questions stand on stderr, answers come from stdin.
pub(in crate::commands) fn can_ask(printer: Printer) -> bool {
    !printer.is_json() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Says that all is as it was.
pub(in crate::commands) fn nothing_written(printer: Printer) -> ExitCode {
    printer.note("Nothing was written.");
    ExitCode::SUCCESS
}

/// Yes or no.
pub(in crate::commands) fn yes(question: &str, default: bool) -> Answer<bool> {
    let question = clean(question);
    Ok(Confirm::new(&question)
        .with_default(default)
        .prompt_skippable()?)
}

/// A line of text, which may be there already.
pub(super) fn line(question: &str, initial: &str, help: &str) -> Answer<String> {
    let (question, initial) = (clean(question), clean(initial));
    Ok(Text::new(&question)
        .with_initial_value(&initial)
        .with_help_message(help)
        .prompt_skippable()?)
}

/// One of several.
pub(super) fn choice<T: Display>(question: &str, options: Vec<T>, cursor: usize) -> Answer<T> {
    let question = clean(question);
    Ok(Select::new(&question, options)
        .with_starting_cursor(cursor)
        .without_filtering()
        .prompt_skippable()?)
}

/// A long text, in the user's editor.
pub(super) fn long_text(question: &str, initial: &str, places: &Places) -> Answer<String> {
    let command = editor(places);
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or(FALLBACK_EDITOR);
    let arguments: Vec<&OsStr> = words.map(OsStr::new).collect();
    let answer = Editor::new(question)
        .with_editor_command(OsStr::new(program))
        .with_args(&arguments)
        .with_file_extension(".md")
        .with_predefined_text(initial)
        .prompt_skippable();
    answer.map_err(|error| match error {
        InquireError::IO(cause) => Stopped::Failed(
            CommandError::failed(format!("the editor {program} cannot be used"))
                .because(&cause)
                .hint("Set EDITOR to one that works, or use --system-prompt @FILE."),
        ),
        other => other.into(),
    })
}

/// What every POSIX system has.
const FALLBACK_EDITOR: &str = "vi";

fn editor(places: &Places) -> Cow<'_, str> {
    places
        .variable("VISUAL")
        .or_else(|| places.variable("EDITOR"))
        .map_or(Cow::Borrowed(FALLBACK_EDITOR), OsStr::to_string_lossy)
}
