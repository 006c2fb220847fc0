//! `tour`: the main job on a fresh machine, with nothing configured. A small project is made among
//! the temporary files, and sub-agents work on it; with `--here` they look at the user's directory.

mod epilogue;
mod here;
mod performance;
mod project;
mod stage;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_configuration::RunnerChoice;
use pi_subagents_vocabulary::{Place, RunTerms};

pub(crate) use self::performance::TourResult;
use crate::view;
use pi_subagents_calls::caller::{FleetWishes, Overrides};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(crate) struct TourArgs {
    /// Look at this directory instead, without a project and without changes
    #[arg(long)]
    here: bool,
    /// Keep the project of the tour with its records, and print how to look around in it
    #[arg(long, conflicts_with = "here")]
    keep: bool,
}

pub(crate) fn run(args: &TourArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let afterwards = if args.keep {
        Afterwards::Keep
    } else {
        Afterwards::Remove
    };
    if args.here {
        here::run(printer)
    } else {
        performance::run(afterwards, printer)
    }
}

/// The fate of the project of a tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    Remove,
    Keep,
}

/// The speed of a tour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// A person watches live windows, and must be able to read them.
    Watched,
    /// Nobody watches.
    Unwatched,
}

impl Pace {
    fn of(places: &Places, printer: Printer) -> Self {
        if !printer.is_json() && !printer.is_quiet() && view::is_live(places) {
            Self::Watched
        } else {
            Self::Unwatched
        }
    }

    /// Returns the scripted model for this speed.
    fn model(self) -> &'static str {
        match self {
            Self::Watched => "scripted/slow-tour",
            Self::Unwatched => "scripted/tour",
        }
    }

    /// Returns the time that a person gets to read one act before the next begins.
    fn pause(self) -> Duration {
        match self {
            Self::Watched => Duration::from_millis(1200),
            Self::Unwatched => Duration::ZERO,
        }
    }
}

/// Returns the options of all tasks of a tour: the scripted model and these tools, on this machine,
/// whatever the settings say.
fn overrides(pace: Pace, tools: &[&str]) -> Overrides {
    Overrides {
        terms: RunTerms {
            runner: Some(RunnerChoice::Embedded),
            model: Some(pace.model().to_owned()),
            timeout: Some(Duration::from_mins(1)),
            tools: Some(tools.iter().map(|tool| (*tool).to_owned()).collect()),
            ..RunTerms::default()
        },
        fleet: FleetWishes {
            on: Some(Place::Local),
            ..FleetWishes::default()
        },
        ..Overrides::default()
    }
}
