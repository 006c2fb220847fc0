//! Finds options among the words of a prompt.
//!
//! The parser takes options from anywhere. In `run scout what does --json do` it would take a word
//! away from the prompt, and nobody would notice. So options may follow a prompt that is one quoted
//! argument; among or behind several words they are an error.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use pi_subagents_ground::error::CommandError;

/// The names of the arguments that make up a prompt, and of those before it.
const WORDS: [&str; 4] = ["name", "id", "prompt", "message"];

/// The commands that take a prompt of several words.
const PROMPTED: [&str; 5] = ["run", "spawn", "resume", "steer", "answer"];

/// The last option behind words. It is the first field of a command's arguments: the fields before
/// it would have taken their values out of the parsed arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OptionPlace {
    last: Option<LastOption>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LastOption {
    /// As it is typed, such as `--json`.
    name: String,
    /// The number of words before it.
    words_before: usize,
}

impl OptionPlace {
    /// Fails if an option is among or behind the words of a prompt of several words. The prompt
    /// begins after `leading` other words.
    pub(crate) fn check(&self, leading: usize, words: usize) -> Result<(), CommandError> {
        let Some(last) = &self.last else {
            return Ok(());
        };
        if words < 2 || last.words_before <= leading {
            return Ok(());
        }
        let name = &last.name;
        Err(CommandError::usage(format!(
            "{name} appears in the middle of an unquoted prompt"
        ))
        .hint(
            "Quote the prompt, or put options before it. After -- every word belongs to the prompt.",
        ))
    }
}

/// Fails if the option that asks for help is among several words of a prompt.
pub(crate) fn help_in_prompt(program: Command, arguments: &[OsString]) -> Result<(), CommandError> {
    let help = Arg::new("help").short('h').long("help");
    let help = help.action(ArgAction::SetTrue);
    let program = PROMPTED.into_iter().fold(program, |program, command| {
        let help = help.clone();
        program.mut_subcommand(command, |command| command.disable_help_flag(true).arg(help))
    });
    let Ok(matches) = program.try_get_matches_from(arguments) else {
        return Ok(());
    };
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let place = OptionPlace::from_arg_matches(matches).unwrap_or_default();
    let words = matches.ids().filter(|id| WORDS.contains(&id.as_str()));
    let words = words.flat_map(|id| matches.indices_of(id.as_str()).into_iter().flatten());
    place.check(1, words.count().saturating_sub(1))
}

impl FromArgMatches for OptionPlace {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (words, options): (Vec<&str>, Vec<&str>) = matches
            .ids()
            .map(clap::Id::as_str)
            .filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine))
            .partition(|id| WORDS.contains(id));
        let places = |id: &str| matches.indices_of(id).into_iter().flatten();
        let words: Vec<usize> = words.into_iter().flat_map(places).collect();
        let last = options
            .into_iter()
            // An option of the program itself was counted among the words before the command. There
            // is a word at its place then.
            .filter_map(|id| Some((places(id).filter(|at| !words.contains(at)).max()?, id)))
            .max()
            .map(|(at, id)| LastOption {
                name: format!("--{}", id.replace('_', "-")),
                words_before: words.iter().filter(|word| **word < at).count(),
            });
        Ok(Self { last })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// It looks at the arguments of others and has none itself.
impl Args for OptionPlace {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
