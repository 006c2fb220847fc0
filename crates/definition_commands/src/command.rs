//! The command `profile` and its subcommands.

use pi_subagents_vocabulary::Advice;
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use pi_subagents_vocabulary::{Dialect, Scope};

use super::ask::{AtTerminal, Person};
use super::visible_agents::VisibleAgents;
use super::{add, create, delete, edit, examples, explain, import, list, show};
use pi_subagents_ground::error::{CommandError, Kind};
use pi_subagents_ground::print::Printer;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ProfileArgs {
    #[command(subcommand)]
    command: Option<ProfileCommand>,
    /// Name of the agent to show [default: list all]
    name: Option<String>,
    /// Words after an unknown subcommand
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Subcommand)]
enum ProfileCommand {
    /// List all agents in a table
    #[command(visible_alias = "ls", after_help = examples::LIST)]
    List,
    /// Show all fields and the text of an agent
    #[command(after_help = examples::SHOW)]
    Show(NameArgs),
    /// Create an agent from flags, or by answering questions
    #[command(visible_alias = "new", after_help = examples::CREATE)]
    Create(create::CreateArgs),
    /// Copy ready-made agents, or list them
    #[command(after_help = examples::ADD)]
    Add(add::AddArgs),
    /// Copy agents of Claude Code, Copilot, Codex and other tools as agents of your own
    #[command(after_help = examples::IMPORT)]
    Import(import::ImportArgs),
    /// Change an agent with flags, or by answering questions
    #[command(after_help = examples::EDIT)]
    Edit(edit::EditArgs),
    /// Delete the file of an agent
    #[command(visible_aliases = ["rm", "remove"], after_help = examples::DELETE)]
    Delete(delete::DeleteArgs),
    /// Show where each field comes from, what it overrides and how children are started
    #[command(after_help = examples::EXPLAIN)]
    Explain(NameArgs),
}

#[derive(Args)]
pub(super) struct NameArgs {
    /// Name of the agent
    pub(super) name: String,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ScopeName {
    /// For this user, in every directory
    Global,
    /// For everybody who works in this directory
    Project,
}

/// Returns the reader of a flag whose value is a dialect.
pub(super) fn dialect_parser() -> impl TypedValueParser<Value = Dialect> {
    let values = Dialect::OURS.map(|dialect| {
        let help = dialect.our_files().map_or("", |files| files.help);
        PossibleValue::new(dialect.as_str()).help(help)
    });
    // A word of the list is a dialect.
    PossibleValuesParser::new(values).map(|word| Dialect::from_word(&word).unwrap_or_default())
}

impl From<ScopeName> for Scope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Global => Self::Global,
            ScopeName::Project => Self::Project,
        }
    }
}

/// Runs the command as it was typed on a terminal.
pub fn run(args: &ProfileArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let seen = VisibleAgents::look()?;
    let person = AtTerminal {
        places: &seen.places,
    };
    run_for(args, &seen, &person, printer).map_err(|error| match error.kind() {
        Kind::NotFound => error.or_advise(Advice::GetAgent),
        Kind::Usage | Kind::NoAnswer | Kind::Failed | Kind::Interrupted => error,
    })
}

/// Runs the command for a person at a terminal or inside pi.
pub fn run_for(
    args: &ProfileArgs,
    seen: &VisibleAgents,
    person: &dyn Person,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    if let (Some(word), [_, ..]) = (&args.name, args.rest.as_slice()) {
        return Err(
            CommandError::usage(format!("there is no command \"{word}\" for agents"))
                .hint("Use one of list, show, create, add, import, edit, delete and explain."),
        );
    }
    match (&args.command, &args.name) {
        (Some(ProfileCommand::List), _) | (None, None) => Ok(list::run(seen, printer)),
        (None, Some(name)) => show::run(name, seen, printer),
        (Some(ProfileCommand::Show(args)), _) => show::run(&args.name, seen, printer),
        (Some(ProfileCommand::Create(args)), _) => create::run(args, seen, person, printer),
        (Some(ProfileCommand::Add(args)), _) => add::run(args, seen, printer),
        (Some(ProfileCommand::Import(args)), _) => import::run(args, seen, printer),
        (Some(ProfileCommand::Edit(args)), _) => edit::run(args, seen, person, printer),
        (Some(ProfileCommand::Delete(args)), _) => delete::run(args, seen, person, printer),
        (Some(ProfileCommand::Explain(args)), _) => explain::run(&args.name, seen, printer),
    }
}
