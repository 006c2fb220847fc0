//! Questions to a person, at a terminal or inside pi. Escape skips a question. On a terminal Ctrl-C
//! ends the command; inside pi it does what Escape does.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use inquire::{Confirm, InquireError, MultiSelect, Select, Text};
use pi_subagents_vocabulary::text::clean;

use super::editor;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// The exit code that shells use for a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The number of options that are seen at once.
const PAGE: usize = 12;

/// The reason why there are no further answers.
pub enum DialogEnd {
    /// Ctrl-C was pressed, or one question after the other cancelled.
    Interrupted,
    /// The terminal or the editor cannot be used.
    Failed(CommandError),
}

/// An answer, or `None` if the question was skipped.
pub type Skippable<T> = Result<Option<T>, DialogEnd>;

impl DialogEnd {
    /// Returns the result of the command.
    pub fn into_result(self, printer: Printer) -> Result<ExitCode, CommandError> {
        match self {
            Self::Interrupted => {
                nothing_written(printer);
                Ok(ExitCode::from(INTERRUPTED))
            }
            Self::Failed(error) => Err(error),
        }
    }
}

impl From<InquireError> for DialogEnd {
    fn from(error: InquireError) -> Self {
        match error {
            InquireError::OperationInterrupted => Self::Interrupted,
            other => Self::Failed(CommandError::failed("could not read an answer").because(&other)),
        }
    }
}

/// The person who answers questions, at a terminal or inside pi.
pub trait Person {
    /// Returns whether somebody can answer.
    fn is_there(&self) -> bool;

    /// Asks a question that is answered with yes or no.
    fn yes(&self, question: &str, default: bool) -> Skippable<bool>;

    /// Asks for a line of text; an empty answer keeps the initial text.
    fn line(&self, question: &str, initial: &str, help: &str) -> Skippable<String>;

    /// Asks for one of several options and returns its position.
    fn place(&self, question: &str, options: &[String], cursor: usize) -> Skippable<usize>;

    /// Asks for any number of options and returns their positions.
    fn several(
        &self,
        question: &str,
        options: &[String],
        chosen: &[usize],
    ) -> Skippable<Vec<usize>>;

    /// Asks for a long text.
    fn long_text(&self, question: &str, initial: &str) -> Skippable<String>;

    /// Shows the page that the next question is about.
    fn show(&self, page: &str) -> Result<(), DialogEnd>;
}

impl dyn Person + '_ {
    /// Asks for one of several options and returns it.
    pub(super) fn choice<T: Display>(
        &self,
        question: &str,
        options: Vec<T>,
        cursor: usize,
    ) -> Skippable<T> {
        let texts: Vec<String> = options.iter().map(ToString::to_string).collect();
        let place = self.place(question, &texts, cursor)?;
        Ok(place.and_then(|place| options.into_iter().nth(place)))
    }
}

/// Returns whether a question can be asked: never with `--json`, where a program reads the answer.
pub fn can_ask(person: &dyn Person, printer: Printer) -> bool {
    !printer.is_json() && person.is_there()
}

/// Prints that nothing was changed.
pub fn nothing_written(printer: Printer) -> ExitCode {
    printer.note("Nothing was written.");
    ExitCode::SUCCESS
}

/// A person at a terminal: questions go to stderr, answers come from stdin.
pub struct AtTerminal<'a> {
    pub places: &'a Places,
}

impl Person for AtTerminal<'_> {
    fn is_there(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    fn yes(&self, question: &str, default: bool) -> Skippable<bool> {
        let question = clean(question);
        Ok(Confirm::new(&question)
            .with_default(default)
            .prompt_skippable()?)
    }

    fn line(&self, question: &str, initial: &str, help: &str) -> Skippable<String> {
        let (question, initial) = (clean(question), clean(initial));
        Ok(Text::new(&question)
            .with_initial_value(&initial)
            .with_help_message(help)
            .prompt_skippable()?)
    }

    fn place(&self, question: &str, options: &[String], cursor: usize) -> Skippable<usize> {
        let question = clean(question);
        let options: Vec<String> = options.iter().map(|option| clean(option)).collect();
        // A list that is visible at one look needs no filter.
        let is_short = options.len() <= PAGE;
        let mut select = Select::new(&question, options)
            .with_starting_cursor(cursor)
            .with_page_size(PAGE)
            .with_sorter(&|_| {});
        if is_short {
            select = select.without_filtering();
        }
        Ok(select.raw_prompt_skippable()?.map(|chosen| chosen.index))
    }

    fn several(
        &self,
        question: &str,
        options: &[String],
        chosen: &[usize],
    ) -> Skippable<Vec<usize>> {
        let question = clean(question);
        let options: Vec<String> = options.iter().map(|option| clean(option)).collect();
        let answer = MultiSelect::new(&question, options)
            .with_default(chosen)
            .with_page_size(PAGE)
            .without_filtering()
            .with_help_message("↑↓ to move, space to choose, enter to continue")
            .raw_prompt_skippable()?;
        Ok(answer.map(|chosen| chosen.iter().map(|option| option.index).collect()))
    }

    /// Lets the person type the text here, or write it in their editor.
    fn long_text(&self, question: &str, initial: &str) -> Skippable<String> {
        let options = [
            "Type it here".to_owned(),
            format!("Write it in the editor {}", editor::command(self.places)),
        ];
        // A line cannot show several.
        let cursor = usize::from(initial.contains('\n'));
        match self.place(question, &options, cursor)? {
            None => Ok(None),
            Some(0) => typed_lines(initial),
            Some(_) => editor::edited(self.places, initial)
                .map(Some)
                .map_err(DialogEnd::Failed),
        }
    }

    /// Shows the page where the question is, also with `--quiet`, because it belongs to the
    /// question.
    fn show(&self, page: &str) -> Result<(), DialogEnd> {
        writeln!(io::stderr(), "\n{}\n", clean(page)).map_err(|error| {
            DialogEnd::Failed(CommandError::failed("the terminal is gone").because(&error))
        })
    }
}

/// Reads lines until an empty line.
fn typed_lines(initial: &str) -> Skippable<String> {
    let mut lines: Vec<String> = Vec::new();
    loop {
        let initial = if lines.is_empty() {
            clean(initial)
        } else {
            String::new()
        };
        let line = Text::new(">")
            .with_initial_value(&initial)
            .with_help_message("An empty line ends the text.")
            .prompt_skippable()?;
        match line {
            None => return Ok(None),
            Some(line) if line.trim().is_empty() => return Ok(Some(lines.join("\n"))),
            Some(line) => lines.push(line),
        }
    }
}
