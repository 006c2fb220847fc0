//! The command line. The doc comments are the help. The processes we start for ourselves have no
//! command here: `main` knows their names.

pub(crate) mod examples;
mod run_args;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ContextKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub(crate) use self::run_args::{ConcurrencyArgs, RunArgs};
use crate::doors::command_line::commands;
use crate::error::CommandError;
use crate::print::{OutputArgs, Printer};
use crate::profiles;

/// A team of sub-agents: tasks run in parallel, each in a process of its own.
#[derive(Parser)]
#[command(
    name = "pi-subagents",
    version,
    max_term_width = 100,
    after_help = examples::MAIN,
    after_long_help = examples::MAIN_LONG
)]
struct Cli {
    #[command(flatten)]
    output: OutputArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Watch three offline sub-agents do real work in this directory
    #[command(after_help = examples::TOUR)]
    Tour,
    /// Run tasks in parallel and wait for them
    #[command(after_help = examples::DELEGATE)]
    Delegate(commands::delegate::DelegateArgs),
    /// Hand a task to a named sub-agent and wait for its result
    #[command(after_help = examples::RUN)]
    Run(commands::run::RunTaskArgs),
    /// Start a sub-agent that works on its own, and return at once
    #[command(after_help = examples::SPAWN)]
    Spawn(commands::spawn::SpawnArgs),
    /// Continue a run or a session with a new prompt
    #[command(after_help = examples::RESUME)]
    Resume(commands::resume::ResumeArgs),
    /// Show what runs, and with --all what ran in this project
    #[command(after_help = examples::STATUS)]
    Status(commands::status::StatusArgs),
    /// Print what a run answered
    #[command(after_help = examples::OUTPUT)]
    Output(commands::output::IdArgs),
    /// Print the whole conversation of a session, or of the one a run belongs to
    #[command(after_help = examples::SESSION)]
    Session(commands::output::IdArgs),
    /// Print the recorded events of a run, one JSON object per line
    #[command(after_help = examples::EVENTS)]
    Events(commands::events::EventsArgs),
    /// Say something to a running sub-agent; it hears it before its next turn
    #[command(after_help = examples::STEER)]
    Steer(commands::control::SteerArgs),
    /// Stop runs, and return when nothing of them is left
    #[command(after_help = examples::STOP)]
    Stop(commands::control::StopArgs),
    /// Wait until runs are over, say how they ended, and exit as they did
    #[command(after_help = examples::WAIT)]
    Wait(commands::wait::WaitArgs),
    /// Watch, read, steer and stop runs on one screen
    #[command(after_help = examples::ATTACH)]
    Attach(commands::attach::AttachArgs),
    /// List, show, make, change, delete and explain definitions of agents
    #[command(after_help = examples::PROFILE)]
    Profile(Box<profiles::ProfileArgs>),
    /// Decide whether the definitions, settings and skills of this project are used
    #[command(after_help = examples::TRUST)]
    Trust(commands::trust::TrustArgs),
    /// Say whether everything is in place, and what to do where it is not
    ///
    /// Exits with 1 if something that is needed does not work. It asks no network and no model.
    #[command(after_help = examples::DOCTOR)]
    Doctor,
    /// Serve the tools to an MCP client over stdin and stdout
    ///
    /// The options hold for all calls of the client. The project is that of the directory in which
    /// the client starts this command, or of the folder it says it works in. When stdin ends, all
    /// runs are stopped, and nothing of them is left.
    #[command(after_help = examples::MCP)]
    Mcp(commands::mcp::McpArgs),
    /// Print the tools that a caller's model sees, with their arguments
    #[command(after_help = examples::TOOLS)]
    Tools(commands::tools::ToolsArgs),
    /// Be a sub-agent: the embedded agent, with pi's flags (try: agent --help)
    Agent(PassedOn),
    /// Serve the extension of pi: JSON-RPC lines on stdin and stdout
    #[command(after_help = examples::HOST)]
    Host,
    /// Print the script by which a shell completes our commands and options
    #[command(after_help = examples::COMPLETIONS)]
    Completions(commands::manual::CompletionsArgs),
    /// Print the manual page, or write one for each command
    #[command(after_help = examples::MAN)]
    Man(commands::manual::ManArgs),
}

/// Stands in the help; `main` has passed these on before the command line is parsed.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct PassedOn {
    /// Passed on as they are
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// All commands with their arguments and help.
pub(crate) fn command_line() -> clap::Command {
    Cli::command()
}

/// Parses the arguments, runs the command and turns what came of it into an exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let wants_json = arguments
        .iter()
        .any(|argument| argument == "--json" || argument == "--json-stream");
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return refused(error, wants_json),
    };
    let printer = Printer::new(cli.output);
    let Some(command) = cli.command else {
        printer.data(WELCOME);
        return ExitCode::SUCCESS;
    };
    match dispatch(command, printer) {
        Ok(code) => code,
        Err(error) => printer.fail(&error),
    }
}

fn dispatch(command: Command, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    match command {
        Command::Tour => commands::tour::run(printer),
        Command::Delegate(args) => commands::delegate::run(&args, printer),
        Command::Run(args) => commands::run::run(&args, printer),
        Command::Spawn(args) => commands::spawn::run(&args, printer),
        Command::Resume(args) => commands::resume::run(&args, printer),
        Command::Output(args) => commands::output::output(&args, printer),
        Command::Session(args) => commands::output::session(&args, printer),
        Command::Events(args) => commands::events::run(&args, printer),
        Command::Status(args) => commands::status::run(&args, printer),
        Command::Steer(args) => commands::control::steer(&args, printer),
        Command::Stop(args) => commands::control::stop(&args, printer),
        Command::Wait(args) => commands::wait::run(&args, printer),
        Command::Attach(args) => commands::attach::run(&args, printer),
        Command::Profile(args) => profiles::run(&args, printer),
        Command::Trust(args) => commands::trust::run(&args, printer),
        Command::Doctor => Ok(commands::doctor::run(printer)),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Tools(args) => commands::tools::run(&args, printer),
        Command::Host => commands::host::run(),
        Command::Agent(passed) => Ok(commands::agent::run(passed.arguments.into_iter())),
        Command::Completions(args) => Ok(commands::manual::completions(&args, printer)),
        Command::Man(args) => commands::manual::man(&args, printer),
    }
}

/// Help and version are no errors; everything else the parser refuses is one of usage.
fn refused(mut error: clap::Error, wants_json: bool) -> ExitCode {
    // All values are listed; the parser would guess zsh for tcsh.
    error.remove(ContextKind::SuggestedValue);
    if wants_json && error.use_stderr() {
        let text = error.render().to_string();
        let (message, hint) = text.split_once("\n\n").unwrap_or((&text, ""));
        let message = message.trim_start_matches("error: ").trim();
        let mut error = CommandError::usage(message);
        if !hint.trim().is_empty() {
            error = error.hint(hint.trim());
        }
        return Printer::for_programs().fail(&error);
    }
    // Nothing can be done about a terminal that is gone.
    _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

const WELCOME: &str = "\
pi-subagents gives a coding agent, a script or a person a team of sub-agents.
Each works in a process of its own, several at once; every run is on disk.

  pi-subagents tour                            see it work, offline and without a key
  pi-subagents doctor                          see whether everything is in place
  pi-subagents delegate --task NAME=PROMPT …   run tasks in parallel
  pi-subagents run NAME TASK …                 hand a task to a named sub-agent
  pi-subagents attach                          watch, read, steer and stop runs
  pi-subagents resume ID PROMPT                go on where a run ended
  pi-subagents help                            all commands";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_ends_with_two_examples_that_can_be_typed() {
        let mut commands = command_line();
        commands.build();
        check_examples(&commands);
    }

    fn check_examples(command: &clap::Command) {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let mut examples = 0;
        for line in help.lines().filter(|line| line.starts_with("  ")) {
            for typed in typed(line) {
                let parsed = Cli::try_parse_from(&typed);
                assert!(parsed.is_ok(), "{typed:?}: {}", parsed.err().unwrap());
            }
            examples += 1;
        }
        // The embedded agent has a help of its own, and the host is not for people.
        let has_none = ["agent", "host", "help"].contains(&command.get_name());
        assert_eq!(examples, if has_none { 0 } else { 2 }, "{command}: {help}");
        for subcommand in command.get_subcommands() {
            if command.get_name() != "help" {
                check_examples(subcommand);
            }
        }
    }

    /// The words of our own commands in a line of a shell.
    fn typed(line: &str) -> Vec<Vec<String>> {
        let mut commands = vec![Vec::new()];
        for word in words(line) {
            match word.as_str() {
                "|" | "&&" => commands.push(Vec::new()),
                _ => commands.last_mut().unwrap().push(word),
            }
        }
        for command in &mut commands {
            let redirected = command.iter().position(|word| word == "<" || word == ">");
            command.truncate(redirected.unwrap_or(command.len()));
        }
        commands.retain(|command| command.first().is_some_and(|word| word == "pi-subagents"));
        commands
    }

    /// Splits at spaces that are not between quotes.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in line.trim().chars() {
            match character {
                '"' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        words
    }
}
