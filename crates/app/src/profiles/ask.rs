//! Questions to a person, at a terminal or inside pi. Escape skips a question. On a terminal Ctrl-C
//! ends the command; inside pi it does what Escape does.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use inquire::{Confirm, Editor, InquireError, Select, Text};
use pi_subagents_delegation::text::clean;

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;

/// The exit code that shells use for a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The reason why there are no further answers.
pub(crate) enum Stopped {
    /// Ctrl-C was pressed, or one question after the other cancelled.
    Interrupted,
    /// The terminal or the editor cannot be used.
    Failed(CommandError),
}

/// An answer, or none if the question was skipped.
pub(crate) type Answer<T> = Result<Option<T>, Stopped>;

impl Stopped {
    /// Returns what the command ends with.
    pub(crate) fn into_result(self, printer: Printer) -> Result<ExitCode, CommandError> {
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
            other => Self::Failed(CommandError::failed("could not read an answer").because(&other)),
        }
    }
}

/// The person who answers questions, at a terminal or inside pi.
pub(crate) trait Person {
    /// Returns whether somebody can answer.
    fn is_there(&self) -> bool;

    /// Asks a question that is answered with yes or no.
    fn yes(&self, question: &str, default: bool) -> Answer<bool>;

    /// Asks for a line of text; an empty answer keeps the initial one.
    fn line(&self, question: &str, initial: &str, help: &str) -> Answer<String>;

    /// Asks for one of several options and returns its position.
    fn place(&self, question: &str, options: &[String], cursor: usize) -> Answer<usize>;

    /// Asks for a long text.
    fn long_text(&self, question: &str, initial: &str) -> Answer<String>;

    /// Shows what the next question is about.
    fn show(&self, page: &str) -> Result<(), Stopped>;
}

impl dyn Person + '_ {
    /// Asks for one of several options and returns it.
    pub(super) fn choice<T: Display>(
        &self,
        question: &str,
        options: Vec<T>,
        cursor: usize,
    ) -> Answer<T> {
        let texts: Vec<String> = options.iter().map(ToString::to_string).collect();
        let place = self.place(question, &texts, cursor)?;
        Ok(place.and_then(|place| options.into_iter().nth(place)))
    }
}

/// Returns whether a question can be asked: never with `--json`, where a program reads the answer.
pub(crate) fn can_ask(person: &dyn Person, printer: Printer) -> bool {
    !printer.is_json() && person.is_there()
}

/// Prints that nothing was changed.
pub(crate) fn nothing_written(printer: Printer) -> ExitCode {
    printer.note("Nothing was written.");
    ExitCode::SUCCESS
}

/// A person at a terminal: questions stand on stderr, answers come from stdin.
pub(crate) struct AtTerminal<'a> {
    pub(crate) places: &'a Places,
}

impl Person for AtTerminal<'_> {
    fn is_there(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    fn yes(&self, question: &str, default: bool) -> Answer<bool> {
        let question = clean(question);
        Ok(Confirm::new(&question)
            .with_default(default)
            .prompt_skippable()?)
    }

    fn line(&self, question: &str, initial: &str, help: &str) -> Answer<String> {
        let (question, initial) = (clean(question), clean(initial));
        Ok(Text::new(&question)
            .with_initial_value(&initial)
            .with_help_message(help)
            .prompt_skippable()?)
    }

    fn place(&self, question: &str, options: &[String], cursor: usize) -> Answer<usize> {
        let question = clean(question);
        let answer = Select::new(&question, options.to_vec())
            .with_starting_cursor(cursor)
            .without_filtering()
            .raw_prompt_skippable()?;
        Ok(answer.map(|chosen| chosen.index))
    }

    /// Opens the user's editor.
    fn long_text(&self, question: &str, initial: &str) -> Answer<String> {
        let command = editor(self.places);
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
                CommandError::failed(format!("could not run the editor {program}"))
                    .because(&cause)
                    .hint(
                        "Set EDITOR to an editor that is installed, or use --system-prompt @FILE.",
                    ),
            ),
            other => other.into(),
        })
    }

    /// Shows the page where the question is, also with `--quiet`, because it belongs to the
    /// question.
    fn show(&self, page: &str) -> Result<(), Stopped> {
        writeln!(io::stderr(), "\n{}\n", clean(page)).map_err(|error| {
            Stopped::Failed(CommandError::failed("the terminal is gone").because(&error))
        })
    }
}

/// An editor that every POSIX system has.
const FALLBACK_EDITOR: &str = "vi";

fn editor(places: &Places) -> Cow<'_, str> {
    places
        .variable("VISUAL")
        .or_else(|| places.variable("EDITOR"))
        .map_or(Cow::Borrowed(FALLBACK_EDITOR), OsStr::to_string_lossy)
}
