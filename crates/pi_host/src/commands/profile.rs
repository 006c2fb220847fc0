//! `/profile`: the same command as in a terminal, with pi's dialogs for its questions.

use clap::Parser;
use clap::error::ErrorKind;
use pi_subagents_configuration::{Asker, summary};
use serde_json::Value;

use super::{item, show_output};
use crate::dialogs::InPi;
use pi_subagents_definition_commands::ask::Person;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_definition_commands::{ProfileArgs, run_for};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::{Page, Printer};

/// The words that can follow the command, with their purposes.
const SUBCOMMANDS: [(&str, &str); 6] = [
    ("list", "all profiles, one line each"),
    ("show", "everything a profile says"),
    ("create", "make a new profile, step by step"),
    ("edit", "change a profile, step by step"),
    ("delete", "delete the file of a profile"),
    ("explain", "where each field comes from"),
];

/// The subcommands that take the name of an existing profile.
const TAKE_NAME: [&str; 6] = ["show", "edit", "delete", "rm", "remove", "explain"];

#[derive(Parser)]
#[command(name = "/profile", no_binary_name = true)]
struct Typed {
    #[command(flatten)]
    profile: ProfileArgs,
}

/// Runs the command on the thread it is called on, and shows its output.
pub(crate) fn run(typed: &str, seen: &VisibleAgents, person: &InPi) {
    let page = Page::default();
    let outcome = parse(typed, &page).and_then(|typed| match typed {
        Some(typed) => run_for(
            &typed.profile,
            seen,
            person as &dyn Person,
            Printer::to_page(&page),
        )
        .map(drop),
        None => Ok(()),
    });
    let title = format!("/profile {typed}");
    show_output(
        &person.link,
        title.trim_end(),
        &page.into_printed(),
        outcome.err().as_ref(),
    );
}

/// Reads the typed words; help is printed and is no command.
fn parse(typed: &str, page: &Page) -> Result<Option<Typed>, CommandError> {
    let words = shlex::split(typed).ok_or_else(|| {
        CommandError::usage(format!("a quote in /profile {typed} is not closed"))
            .hint("Put words that belong together between two quotes, as in a shell.")
    })?;
    let reads_stdin = |word: &&String| {
        *word == "-" || word.ends_with("=-") || word.starts_with("--api-key-stdin")
    };
    // Our stdin is the wire.
    if let Some(word) = words.iter().find(reads_stdin) {
        let message = format!("{word} reads stdin, which does not exist inside pi");
        return Err(CommandError::usage(message));
    }
    match Typed::try_parse_from(&words) {
        Ok(typed) => Ok(Some(typed)),
        Err(error) if error.use_stderr() => Err(refusal(typed.trim(), &error)),
        Err(help) => {
            Printer::to_page(page).data(&help.render().to_string());
            Ok(None)
        }
    }
}

/// Writes an error without the advice that is meant for a shell.
fn refusal(typed: &str, error: &clap::Error) -> CommandError {
    if error.kind() == ErrorKind::MissingRequiredArgument {
        return CommandError::usage(format!("/profile {typed} needs a name"))
            .hint(format!("Use /profile {typed} NAME."));
    }
    let text = error.render().to_string();
    let said = text.trim_start_matches("error: ");
    let sentence = said.split("\n\n").next().unwrap_or(said);
    CommandError::usage(sentence.trim()).hint("Use /profile --help to see what you can type.")
}

/// Returns the subcommands and names that begin with the typed text.
pub(crate) fn complete(typed: &str, seen: &VisibleAgents) -> Vec<Value> {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    let names = |before: &str, begun: &str| -> Vec<Value> {
        definitions
            .iter()
            .filter(|definition| definition.name.starts_with(begun))
            .map(|definition| {
                let value = format!("{before}{}", definition.name);
                item(&value, &definition.name, &summary(definition))
            })
            .collect()
    };
    match typed.split_once(' ') {
        None => {
            let subcommands = SUBCOMMANDS
                .iter()
                .filter(|(name, _)| name.starts_with(typed));
            subcommands
                .map(|(name, what_for)| item(name, name, what_for))
                .chain(names("", typed))
                .collect()
        }
        Some((subcommand, begun)) if TAKE_NAME.contains(&subcommand) => {
            names(&format!("{subcommand} "), begun.trim_start())
        }
        Some(_) => Vec::new(),
    }
}
