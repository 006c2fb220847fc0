//! The command line. The doc comments are the help texts. The helper processes that the program
//! starts for itself have no command here: `main` knows their names.

mod aliases;
mod budget_args;
mod completed_line;
pub(crate) mod examples;
mod fleet_args;
mod groups;
mod option_groups;
mod output_args;
mod run_args;
mod suggestions;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use self::aliases::stands_for;
pub(crate) use self::budget_args::parse_time;
pub(crate) use self::fleet_args::DryRunArgs;
use self::output_args::{
    AnswerArgs, FollowedArgs, JsonArgs, LAST, Printing, QuietArgs, ResultArgs, finished,
};
pub(crate) use self::run_args::{ConcurrencyArgs, RunArgs, parse_dollars, parse_tokens};
use crate::commands;
use crate::commands::option_place::help_in_prompt;
use crate::places::find_places;
use pi_subagents_ground::colour::{self, ColourChoice};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::log::{self, LevelFilter};
use pi_subagents_ground::print::{Format, Output, Printer};
use pi_subagents_runs::cleanup::retention;

/// Runs coding sub-agents in parallel, for a person, a script or another agent.
#[derive(Parser)]
#[command(
    name = "pi-subagents",
    version,
    max_term_width = groups::WIDEST,
    help_template = groups::TEMPLATE,
    after_help = examples::MAIN,
    after_long_help = examples::MAIN_LONG
)]
struct Cli {
    /// Write a debug log; doctor prints its location
    #[arg(long, global = true, value_name = "LEVEL", value_parser = log::level_parser(), display_order = LAST)]
    log_level: Option<LevelFilter>,
    /// When to print colours [default: auto]
    #[arg(long, global = true, value_name = "WHEN", display_order = LAST)]
    color: Option<ColourChoice>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Watch offline sub-agents work in worktrees, meet a gate and get merged
    ///
    /// A small project is made among the temporary files and removed at the end, with its records.
    /// The processes, git and the checks are real; only the model is a script, so no key and no
    /// network are needed. Your own list of runs does not change, except with --here.
    #[command(after_help = examples::TOUR)]
    Tour(Printing<commands::tour::TourArgs, FollowedArgs>),
    /// Run tasks in parallel, wait, and print the answers
    #[command(after_help = examples::DELEGATE)]
    Delegate(Printing<commands::delegate::DelegateArgs, AnswerArgs>),
    /// Give a task to a sub-agent, wait, and print its answer
    ///
    /// The first word is the name of an agent if there is one of that name and more words follow;
    /// otherwise all words are the prompt of a plain sub-agent, as with the name `default`. Options
    /// may follow a prompt that is quoted; among several words they are an error.
    #[command(after_help = examples::RUN)]
    Run(Printing<commands::run::RunTaskArgs, AnswerArgs>),
    /// Start a sub-agent in the background and return at once
    #[command(after_help = examples::SPAWN)]
    Spawn(Printing<commands::spawn::SpawnArgs, ResultArgs>),
    /// Continue a run or a session with a new prompt
    #[command(after_help = examples::RESUME)]
    Resume(Printing<commands::resume::ResumeArgs, AnswerArgs>),
    /// List the runs in progress, and with --all the finished runs of this project
    #[command(visible_aliases = ["ps", "show", "ls"], after_help = examples::STATUS)]
    Status(Printing<commands::status::StatusArgs, JsonArgs>),
    /// Print the answer of a run
    #[command(after_help = examples::OUTPUT)]
    Output(Printing<commands::output::OutputArgs, ResultArgs>),
    /// Print a run as a readable log, and follow it while it runs
    #[command(after_help = examples::LOGS)]
    Logs(Printing<commands::logs::LogsArgs, QuietArgs>),
    /// Print the whole conversation of a session, with roles and times
    #[command(after_help = examples::SESSION)]
    Session(Printing<commands::session::SessionArgs, ResultArgs>),
    /// Write runs or a whole session into one file for other people
    ///
    /// --markdown writes what the record holds as it is; --html takes out what looks like a key, and
    /// says what it took out. Read the file before you pass it on: a transcript may hold anything
    /// that the sub-agent has read.
    #[command(after_help = examples::EXPORT)]
    Export(Printing<commands::export::ExportArgs, QuietArgs>),
    /// Show budgets: the limits of runs together, and their use so far
    ///
    /// A budget belongs to a call (--budget-cost and its kin), to a session or a day (the setting
    /// subagents.budget), or has a name (--budget NAME). With an id its runs are listed, each under
    /// the run whose sub-agent has started it.
    #[command(after_help = examples::BUDGET)]
    Budget(Printing<commands::budget::ShowBudgetArgs, ResultArgs>),
    /// Write the times of runs as a trace for Perfetto and Chrome
    #[command(after_help = examples::TRACE)]
    Trace(Printing<commands::trace::TraceArgs, QuietArgs>),
    /// Print the recorded events of a run, one JSON object per line
    #[command(after_help = examples::EVENTS)]
    Events(Printing<commands::events::EventsArgs, QuietArgs>),
    /// Print the changes of a run
    ///
    /// Git knows all changes of a run with its own worktree. For a run in a shared checkout,
    /// the changes are those of its edits and writes, without what its shell commands changed.
    #[command(after_help = examples::DIFF)]
    Diff(Printing<commands::diff::DiffArgs, JsonArgs>),
    /// Bring the changes of runs into this checkout
    ///
    /// The changes become uncommitted changes beside yours; nothing of yours is staged, stashed or
    /// overwritten. Each run is merged whole or not at all: what conflicts or has no result is left
    /// out and named. Exits with 0 if all were merged, 4 if some were, 1 if none was, and 5 if none
    /// has a result; --check exits with the code that the merge would have.
    #[command(after_help = examples::MERGE)]
    Merge(Printing<commands::merge::MergeArgs, JsonArgs>),
    /// List the results that wait for you, and take those that stay green together
    ///
    /// Questions come first, then runs at a limit, results with changes in the order in which they are
    /// proposed, and failed runs. --accept-all tries the results in a scratch copy of this checkout, one
    /// on top of the other, runs the gates there, and brings everything that stayed green into this
    /// checkout in one step. It exits with 0 if all were taken, 4 if some were, 1 if none was, and 5 if
    /// nothing waits. On a terminal, without an option, it is one screen on which results are read, taken,
    /// commented on, sent back and discarded.
    #[command(after_help = examples::REVIEW)]
    Review(Printing<commands::review::ReviewArgs, ResultArgs>),
    /// Take the last accepted review back out of this checkout
    ///
    /// Its files become what they were, and its results wait again; everything else stays. It changes
    /// nothing if one of these files was edited, staged or committed since.
    #[command(after_help = examples::UNDO)]
    Undo(Printing<commands::undo::UndoArgs, ResultArgs>),
    /// List the worktrees in which runs have worked, and results of a fleet
    #[command(after_help = examples::WORKTREES)]
    Worktrees(Printing<commands::worktrees::WorktreesArgs, JsonArgs>),
    /// Discard the changes of runs and remove their worktrees
    ///
    /// Their changes are kept for a while under a ref, which is printed. Exits with 0 if all were
    /// discarded, 4 if some were, and 5 if there was nothing to discard.
    #[command(after_help = examples::DISCARD)]
    Discard(Printing<commands::worktrees::DiscardArgs, JsonArgs>),
    /// Keep the worktree of a run until it is merged or discarded
    ///
    /// Without it, its directory is removed a week after the run has ended; the result stays in git
    /// either way.
    #[command(after_help = examples::KEEP)]
    Keep(Printing<commands::worktrees::KeepArgs, JsonArgs>),
    /// Send a message to a running sub-agent, which reads it before its next turn
    #[command(after_help = examples::STEER)]
    Steer(Printing<commands::control::SteerArgs, JsonArgs>),
    /// List the questions that runs wait with
    ///
    /// A run that asks waits for the answer; its clock stands meanwhile. A run that nobody answered in
    /// time is parked: it has ended, and the answer continues it.
    #[command(after_help = examples::INBOX)]
    Inbox(Printing<commands::inbox::InboxArgs, JsonArgs>),
    /// Answer a question that a run waits with
    ///
    /// The first answer counts. Exits with 3 if there is no such question, and with 1 if it is answered
    /// already. A parked run continues in the foreground with the answer.
    #[command(after_help = examples::ANSWER)]
    Answer(Printing<commands::inbox::ReplyArgs, ResultArgs>),
    /// Stop runs, and return when all their processes are gone
    #[command(visible_alias = "kill", after_help = examples::STOP)]
    Stop(Printing<commands::control::StopArgs, ResultArgs>),
    /// Wait until runs have ended, print how they ended, and exit with their exit code
    #[command(after_help = examples::WAIT)]
    Wait(Printing<commands::wait::WaitArgs, ResultArgs>),
    /// Set a fleet up, make its keys, work for it, and list its workers
    #[command(after_help = examples::FLEET)]
    Fleet(Printing<commands::fleet::FleetArgs, ResultArgs>),
    /// Remove the records of finished runs
    ///
    /// Without an id, --older or --keep-last it proposes what subagents.retention in the settings
    /// allows, and asks. A run that is in progress, that a later run continues, or of whose end a
    /// session of pi has not been told yet is never removed.
    #[command(visible_alias = "rm", after_help = examples::CLEAN)]
    Clean(Printing<commands::clean::CleanArgs, ResultArgs>),
    /// Watch, read, steer and stop runs on one screen
    #[command(after_help = examples::ATTACH)]
    Attach(commands::attach::AttachArgs),
    /// Watch, read, steer and stop runs on a page in the browser
    ///
    /// The page is served on this machine alone, and only to whoever has the printed address with its
    /// token. A second call prints the address of the first. Ctrl-C ends the page and stops no run.
    #[command(after_help = examples::WEB)]
    Web(commands::web::WebArgs),
    /// List, show, create, edit, delete and explain agents
    #[command(visible_alias = "profile", after_help = examples::AGENTS)]
    Agents(Box<Printing<pi_subagents_definition_commands::ProfileArgs, ResultArgs>>),
    /// Decide whether the agents, settings and skills of this project are used
    #[command(after_help = examples::TRUST)]
    Trust(Printing<commands::trust::TrustArgs, ResultArgs>),
    /// List the models that can be asked, with their prices and short names
    ///
    /// Lists the models of the providers that have a key. The facts are built in; `models.json` and an
    /// installed pi come before them.
    #[command(after_help = examples::MODELS)]
    Models(Printing<commands::models::ModelsArgs, JsonArgs>),
    /// Find keys, models and coding agents on this machine, and offer to set everything up
    ///
    /// Shows each change and asks before it; whatever is not answered with y stays as it is. It offers
    /// a test call, a default model, our MCP server for Claude Code, Codex, Gemini CLI, opencode and
    /// Copilot CLI, the package for pi, completions, and ready-made agents. Without a terminal it prints
    /// what it would ask, and writes nothing. --undo puts the changed files back, byte for byte.
    #[command(after_help = examples::INIT)]
    Init(Printing<commands::init::InitArgs, QuietArgs>),
    /// Check the setup, and say how to fix problems
    ///
    /// Exits with 1 if something required does not work, or if a run without options would fail. It
    /// calls no model. It makes no network requests, except to the servers of a fleet that your settings
    /// name and, if no provider has a key, to the usual model servers on this machine.
    #[command(after_help = examples::DOCTOR)]
    Doctor(Printing<commands::doctor::DoctorArgs, JsonArgs>),
    /// Serve the tools to an MCP client over stdin and stdout
    ///
    /// The options apply to every call of the client. The project is that of the directory in which
    /// the client starts this command, or of the workspace folder that the client names. When stdin
    /// is closed, all runs are stopped and no process of theirs stays behind.
    #[command(after_help = examples::MCP)]
    Mcp(commands::mcp::McpArgs),
    /// Print the tools that models see, with their parameters
    #[command(after_help = examples::TOOLS)]
    Tools(Printing<commands::tools::ToolsArgs, JsonArgs>),
    /// Print the JSON schemas of --json output
    #[command(after_help = examples::SCHEMA)]
    Schema(commands::schema::SchemaArgs),
    /// Run the embedded agent, which takes pi's flags (see embedded --help)
    Embedded(PassedOn),
    /// Serve the pi extension: JSON-RPC lines on stdin and stdout
    #[command(after_help = examples::HOST)]
    Host,
    /// Print the script with which a shell completes commands, ids, names, models and tools
    #[command(after_help = examples::COMPLETIONS)]
    Completions(commands::manual::CompletionsArgs),
    /// List everything of this program on this machine, with the lines that remove it
    ///
    /// It changes nothing itself: it names the runs in progress, the files with their sizes, the
    /// entries of MCP clients and the package of pi, each with the line to paste.
    #[command(after_help = examples::UNINSTALL)]
    Uninstall,
    /// Print the manual page, or write one page per command
    #[command(after_help = examples::MAN)]
    Man(commands::manual::ManArgs),
    /// Print the version of this program, as --version does
    #[command(after_help = examples::VERSION)]
    Version,
}

/// The arguments of `embedded`, for the help only: `main` passes them on before it parses anything.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct PassedOn {
    /// Arguments for the embedded agent
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Returns all commands with their arguments and help.
pub(crate) fn command_line() -> clap::Command {
    groups::listed(option_groups::grouped(Cli::command()))
}

/// Parses the arguments and runs the command. Returns its exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let wants_json = wants_json(&arguments);
    let arguments = aliases::resolved(arguments);
    let matches = match command_line().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return match help_in_prompt(Cli::command(), &arguments) {
                Err(error) => Printer::for_people().fail(&error),
                Ok(()) => refused(error, &arguments, wants_json),
            };
        }
        Err(error) => return refused(error, &arguments, wants_json),
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return refused(error, &arguments, wants_json),
    };
    colour::choose(cli.color.unwrap_or(ColourChoice::Auto));
    let Some(command) = cli.command else {
        Printer::for_people().data(WELCOME);
        return ExitCode::SUCCESS;
    };
    logged(cli.log_level, &matches, || dispatch(command))
}

/// Returns whether the arguments ask for JSON, also if they cannot be parsed.
fn wants_json(arguments: &[OsString]) -> bool {
    let is_asked_for = |argument: &OsString| {
        ["--json", "--json-stream", "--format=json"]
            .iter()
            .any(|option| argument == option)
    };
    let mut pairs = arguments.windows(2);
    arguments.iter().any(is_asked_for)
        || pairs.any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Runs a command, and begins and ends its log.
fn logged(
    level: Option<LevelFilter>,
    matches: &ArgMatches,
    command: impl FnOnce() -> ExitCode,
) -> ExitCode {
    let printer = printer_of(matches);
    let name = matches.subcommand_name().unwrap_or_default();
    let log = match log::start(level, name) {
        Ok(log) => log,
        Err(error) => return printer.fail(&error),
    };
    if let Some(note) = log.note() {
        printer.note(note);
    }
    let code = log::end(command());
    if io::stderr().is_terminal()
        && let Ok(places) = find_places()
        && let Some(note) = retention::first_note(&places.agent_dir)
    {
        printer.note(&note);
    }
    if let Some(note) = log.gaps() {
        printer.note(&note);
    }
    code
}

/// Returns the printer for the options of a command, with those of them that it has.
fn printer_of(matches: &ArgMatches) -> Printer<'static> {
    let options = matches.subcommand().map(|(_, options)| options);
    let is_given = |name: &str| {
        let given = options.and_then(|options| options.try_get_one::<bool>(name).ok()?);
        given.is_some_and(|is_given| *is_given)
    };
    Printer::new(Output {
        format: Format::json_if(is_given("json") || is_given("json_stream")),
        quiet: is_given("quiet"),
        ..Output::default()
    })
}

fn dispatch(command: Command) -> ExitCode {
    match command {
        Command::Tour(args) => args.run(commands::tour::run),
        Command::Delegate(args) => args.run(commands::delegate::run),
        Command::Run(args) => args.run(commands::run::run),
        Command::Spawn(args) => args.run(commands::spawn::run),
        Command::Resume(args) => args.run(commands::resume::run),
        Command::Output(args) => args.run(commands::output::output),
        Command::Logs(args) => args.run(commands::logs::run),
        Command::Session(args) => args.run(commands::session::run),
        Command::Export(args) => args.run(commands::export::run),
        Command::Budget(args) => args.run(commands::budget::run),
        Command::Trace(args) => args.run(commands::trace::run),
        Command::Events(args) => args.run(commands::events::run),
        Command::Status(args) => args.run(commands::status::run),
        Command::Diff(args) => args.run(commands::diff::run),
        Command::Merge(args) => args.run(commands::merge::run),
        Command::Review(args) => args.run(commands::review::run),
        Command::Undo(args) => args.run(commands::undo::run),
        Command::Worktrees(args) => args.run(commands::worktrees::list),
        Command::Discard(args) => args.run(commands::worktrees::discard),
        Command::Keep(args) => args.run(commands::worktrees::keep),
        Command::Steer(args) => args.run(commands::control::steer),
        Command::Inbox(args) => args.run(commands::inbox::list),
        Command::Answer(args) => args.run(commands::inbox::answer),
        Command::Stop(args) => args.run(commands::control::stop),
        Command::Wait(args) => args.run(commands::wait::run),
        Command::Fleet(args) => args.run(commands::fleet::run),
        Command::Clean(args) => args.run(commands::clean::run),
        Command::Attach(args) => finished(commands::attach::run(&args)),
        Command::Web(args) => finished(commands::web::run(&args)),
        Command::Agents(args) => args.run(pi_subagents_definition_commands::run),
        Command::Trust(args) => args.run(commands::trust::run),
        Command::Models(args) => args.run(commands::models::run),
        Command::Init(args) => args.run(commands::init::run),
        Command::Doctor(args) => args.run(|args, printer| Ok(commands::doctor::run(args, printer))),
        Command::Mcp(args) => finished(commands::mcp::run(&args)),
        Command::Tools(args) => args.run(commands::tools::run),
        Command::Schema(args) => finished(commands::schema::run(&args)),
        Command::Host => finished(commands::host::run()),
        Command::Embedded(passed) => commands::embedded_agent::run(passed.arguments.into_iter()),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Uninstall => finished(commands::uninstall::run()),
        Command::Man(args) => finished(commands::manual::man(&args)),
        Command::Version => {
            Printer::for_people().data(concat!("pi-subagents ", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
    }
}

/// Prints why the arguments were not accepted: an error of usage, unless help or the version was
/// asked for.
fn refused(mut error: clap::Error, arguments: &[OsString], wants_json: bool) -> ExitCode {
    let mut commands = command_line();
    commands.build();
    suggestions::replace(&mut error, &commands, arguments);
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
    // If the terminal is gone, nobody reads it.
    _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

const WELCOME: &str = "\
pi-subagents runs coding sub-agents in parallel, each in a separate process.
They work in your directory or in git worktrees, and every run is recorded.

  pi-subagents tour                        see it work, offline, without a key
  pi-subagents init                        set it up, one question at a time
  pi-subagents doctor                      check that everything is set up
  pi-subagents run \"PROMPT\"                give a task to a sub-agent
  pi-subagents delegate \"PROMPT\" \"PROMPT\"  run tasks in parallel
  pi-subagents attach                      watch, read, steer and stop runs
  pi-subagents resume ID PROMPT            continue a run that has ended
  pi-subagents help                        list all commands";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_of_output_are_offered_where_they_are_obeyed() {
        let mut commands = command_line();
        commands.build();
        let offered = |flag: &str| -> Vec<&str> {
            let takes = |command: &&clap::Command| {
                command
                    .get_arguments()
                    .any(|option| option.get_long() == Some(flag))
            };
            let commands = commands.get_subcommands().filter(takes);
            commands.map(clap::Command::get_name).collect()
        };
        assert_eq!(
            offered("json-stream"),
            ["tour", "delegate", "run", "resume"]
        );
        assert_eq!(offered("format"), ["delegate", "run", "resume"]);
        assert_eq!(offered("details"), ["delegate", "run", "resume"]);
        assert_eq!(
            offered("json"),
            [
                "tour",
                "status",
                "output",
                "session",
                "budget",
                "diff",
                "merge",
                "review",
                "undo",
                "worktrees",
                "discard",
                "keep",
                "steer",
                "inbox",
                "answer",
                "stop",
                "wait",
                "fleet",
                "clean",
                "agents",
                "trust",
                "models",
                "doctor",
                "tools",
                "delegate",
                "run",
                "spawn",
                "resume"
            ]
        );
        assert_eq!(
            offered("quiet"),
            [
                "tour", "output", "logs", "session", "export", "budget", "trace", "events",
                "review", "undo", "answer", "stop", "wait", "fleet", "clean", "agents", "trust",
                "init", "delegate", "run", "spawn", "resume"
            ]
        );
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
                // The version is printed in place of a command.
                let error = Cli::try_parse_from(&typed).err();
                let error = error.filter(|error| error.kind() != ErrorKind::DisplayVersion);
                assert!(error.is_none(), "{typed:?}: {}", error.unwrap());
            }
            examples += 1;
        }
        // The embedded agent has a help of its own, and the host is not for people.
        let has_none = ["embedded", "host", "help"].contains(&command.get_name());
        assert_eq!(examples, if has_none { 0 } else { 2 }, "{command}: {help}");
        for subcommand in command.get_subcommands() {
            if command.get_name() != "help" {
                check_examples(subcommand);
            }
        }
    }

    /// Returns the words of each `pi-subagents` command in a line of a shell.
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
