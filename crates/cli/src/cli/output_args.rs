//! The options for the output of a command. Each command has the group whose options it obeys.

use std::process::ExitCode;

use clap::{Args, ValueEnum};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::{Format, Output, Printer};

/// The position of these options, after those of the command itself.
pub(super) const LAST: usize = 900;

/// A command with the options of its own, and those that decide what it prints.
#[derive(Args)]
#[group(skip)]
pub(super) struct Printing<A: Args, O: Args> {
    #[command(flatten)]
    args: A,
    #[command(flatten)]
    output: O,
}

impl<A: Args, O: Args + Into<Output>> Printing<A, O> {
    /// Runs a command and prints its error, if it returns one.
    pub(super) fn run(
        self,
        command: impl FnOnce(&A, Printer<'static>) -> Result<ExitCode, CommandError>,
    ) -> ExitCode {
        let printer = Printer::new(self.output.into());
        command(&self.args, printer).unwrap_or_else(|error| printer.fail(&error))
    }
}

/// For commands that print what sub-agents answered.
#[derive(Args)]
#[group(skip)]
pub(super) struct AnswerArgs {
    /// Form of the result [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["json", "json_stream"], display_order = LAST)]
    format: Option<AnswerForm>,
    /// With JSON, print also the windows, their header and their footer, as pi's extension gets them
    #[arg(long, display_order = LAST)]
    details: bool,
    #[command(flatten)]
    followed: FollowedArgs,
}

/// The forms of a result that one can ask for.
#[derive(Clone, Copy, ValueEnum)]
enum AnswerForm {
    /// The bare answer; a heading before each if there are several
    Text,
    /// One object: the runs, and the text that the tool gives a model
    Json,
    /// One document with status and session of each run, as the tool gives it to a model
    Markdown,
}

/// For commands that start runs, show them and wait for them.
#[derive(Args)]
#[group(skip)]
pub(super) struct FollowedArgs {
    /// Print the result as one JSON object instead of text
    #[arg(long, display_order = LAST)]
    json: bool,
    /// Print JSON lines: each event when it happens, then the result as with --json
    #[arg(long, conflicts_with = "json", display_order = LAST)]
    json_stream: bool,
    /// Show no progress and no hints on stderr
    #[arg(long, short, display_order = LAST)]
    quiet: bool,
}

/// For commands that print a result, and notes about it on stderr.
#[derive(Args)]
#[group(skip)]
pub(super) struct ResultArgs {
    /// Print the result as one JSON object instead of text
    #[arg(long, global = true, display_order = LAST)]
    json: bool,
    /// Print no notes and no warnings on stderr
    #[arg(long, short, global = true, display_order = LAST)]
    quiet: bool,
}

/// For commands that print nothing but a result.
#[derive(Args)]
#[group(skip)]
pub(super) struct JsonArgs {
    /// Print the result as one JSON object instead of text
    #[arg(long, display_order = LAST)]
    json: bool,
}

/// For commands whose result has one form only.
#[derive(Args)]
#[group(skip)]
pub(super) struct QuietArgs {
    /// Print no notes on stderr
    #[arg(long, short, display_order = LAST)]
    quiet: bool,
}

impl From<AnswerArgs> for Output {
    fn from(args: AnswerArgs) -> Self {
        let followed = Self::from(args.followed);
        Self {
            format: match args.format {
                Some(AnswerForm::Text) => Format::Text,
                Some(AnswerForm::Json) => Format::Json,
                Some(AnswerForm::Markdown) => Format::Markdown,
                None => followed.format,
            },
            details: args.details,
            ..followed
        }
    }
}

impl From<FollowedArgs> for Output {
    fn from(args: FollowedArgs) -> Self {
        Self {
            format: if args.json_stream {
                Format::JsonStream
            } else {
                Format::json_if(args.json)
            },
            quiet: args.quiet,
            ..Self::default()
        }
    }
}

impl From<ResultArgs> for Output {
    fn from(args: ResultArgs) -> Self {
        Self {
            format: Format::json_if(args.json),
            quiet: args.quiet,
            ..Self::default()
        }
    }
}

impl From<JsonArgs> for Output {
    fn from(args: JsonArgs) -> Self {
        Self {
            format: Format::json_if(args.json),
            ..Self::default()
        }
    }
}

impl From<QuietArgs> for Output {
    fn from(args: QuietArgs) -> Self {
        Self {
            quiet: args.quiet,
            ..Self::default()
        }
    }
}

/// Prints the error of a command that takes no options of output, if it returned one.
pub(super) fn finished(result: Result<ExitCode, CommandError>) -> ExitCode {
    result.unwrap_or_else(|error| Printer::for_people().fail(&error))
}
