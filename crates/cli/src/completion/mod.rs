//! The words that a shell offers when somebody presses Tab. The scripts call this program, which
//! answers from the tree of commands and from the existing runs, definitions, models and tools. It
//! writes nothing to disk, sends no request, and prints nothing on stderr.

mod choices;
mod meaning;
mod place;
mod runs;
mod shell;
mod typed_words;

use std::ffi::OsString;
use std::process::ExitCode;

use self::place::Place;
pub(crate) use self::shell::Shell;
use crate::cli::command_line;
use pi_subagents_ground::print::Printer;

/// The largest number of offers that a person can read.
const MOST_OFFERS: usize = 200;

/// A word that a shell may put in the place of the begun word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offer {
    /// The word.
    value: String,
    /// The description that a person reads beside it.
    description: String,
}

impl Offer {
    fn new(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            description: description.into(),
        }
    }
}

/// The words that are offered, and whether the shell adds files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Offers {
    words: Vec<Offer>,
    and: Besides,
}

/// The part of the work that the shell does itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Besides {
    /// Nothing.
    #[default]
    Nothing,
    /// It writes no space behind the word, because a list may go on.
    NoSpace,
    /// It completes names of files.
    Files,
    /// It completes names of directories.
    Directories,
}

/// Answers a shell: its name, then the line up to the cursor and the characters that separate words
/// (bash), or the words up to the cursor (zsh, fish). Nobody reads an error here.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let shell = arguments.next();
    let shell = shell.and_then(|name| Shell::from_name(name.to_str()?));
    let Some(shell) = shell else {
        return ExitCode::FAILURE;
    };
    let given: Vec<String> = arguments
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let (words, current) = match shell {
        Shell::Bash => typed_words::of_line(&given),
        Shell::Zsh | Shell::Fish => typed_words::of_words(given),
    };
    let offers = offers(&words, &current.text);
    Printer::for_people().exact(&shell.answer(&offers, &current));
    ExitCode::SUCCESS
}

/// Returns the command in the arguments, of which the program is the first.
pub(crate) fn command_of<'a>(
    commands: &'a clap::Command,
    arguments: &[OsString],
) -> &'a clap::Command {
    let words: Vec<String> = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Place::of(commands, &words, "").command
}

/// Returns the words that fit at the end of these words, of which the program is the first.
fn offers(words: &[String], current: &str) -> Offers {
    let mut commands = command_line();
    commands.build();
    let before = words.get(1..).unwrap_or_default();
    let place = Place::of(&commands, before, current);
    let mut offers = choices::at(&place);
    let begun = place.begun;
    offers.words.retain(|offer| offer.value.starts_with(begun));
    for offer in &mut offers.words {
        offer.value.insert_str(0, place.prefix);
    }
    offers.words.truncate(MOST_OFFERS);
    offers
}
