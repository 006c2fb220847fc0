//! Answers words that the parser does not know: with the word that was probably meant, and with
//! nothing silly.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pi_subagents_vocabulary::nearest;

use super::completed_line::completed_line;
use crate::completion::command_of;

/// The suggestions of the parser itself: it takes zsh for tcsh, and would pass every misspelt
/// option on as text.
const ITS_OWN: [ContextKind; 4] = [
    ContextKind::SuggestedSubcommand,
    ContextKind::SuggestedArg,
    ContextKind::SuggestedValue,
    ContextKind::Suggested,
];

/// Replaces the suggestions of the parser with ours.
pub(super) fn replace(error: &mut clap::Error, commands: &Command, arguments: &[OsString]) {
    for kind in ITS_OWN {
        error.remove(kind);
    }
    match error.kind() {
        ErrorKind::InvalidSubcommand => suggest(
            error,
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
            |word| nearest(word, names(commands)).map(str::to_owned),
        ),
        ErrorKind::UnknownArgument => suggest(
            error,
            ContextKind::InvalidArg,
            ContextKind::SuggestedArg,
            |word| {
                let command = command_of(commands, arguments);
                let options = command
                    .get_arguments()
                    .filter(|option| !option.is_hide_set());
                let options = options.filter_map(clap::Arg::get_long);
                let word = word.strip_prefix("--")?;
                Some(format!("--{}", nearest(word, options)?))
            },
        ),
        ErrorKind::InvalidValue => {
            let valid = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(valid)) => valid.clone(),
                _ => Vec::new(),
            };
            suggest(
                error,
                ContextKind::InvalidValue,
                ContextKind::SuggestedValue,
                |word| nearest(word, valid.iter().map(String::as_str)).map(str::to_owned),
            );
        }
        ErrorKind::MissingRequiredArgument => {
            if let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
                && let Some(line) = completed_line(arguments, missing)
            {
                let tip = ContextValue::StyledStrs(vec![line.into()]);
                error.insert(ContextKind::Suggested, tip);
            }
        }
        _ => {}
    }
}

/// Returns the names of all commands, also those that are short for another.
fn names(commands: &Command) -> impl Iterator<Item = &str> {
    let commands = commands.get_subcommands().filter(|one| !one.is_hide_set());
    commands.flat_map(|one| std::iter::once(one.get_name()).chain(one.get_visible_aliases()))
}

/// Adds the word that was probably meant by the wrong one.
fn suggest(
    error: &mut clap::Error,
    wrong: ContextKind,
    suggested: ContextKind,
    meant: impl FnOnce(&str) -> Option<String>,
) {
    let Some(ContextValue::String(word)) = error.get(wrong) else {
        return;
    };
    let Some(meant) = meant(word) else { return };
    let meant = match suggested {
        // The parser may suggest several words here.
        ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![meant]),
        _ => ContextValue::String(meant),
    };
    error.insert(suggested, meant);
}
