//! `clean`: removes the records of runs that nobody needs any more, and explains which ones stay
//! and why.

mod json;
mod report;

use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::upkeep::tend_records;
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_configuration::Retention;
use pi_subagents_view::figures;
use pi_subagents_vocabulary::{RunId, Timestamp, text};

pub(crate) use self::json::CleanResult;
use self::report::{Report, Tense};
use crate::commands::control::conversations_of;
use crate::past_time::parse_age;
use crate::places::find_places;
use pi_subagents_definition_commands::ask::{AtTerminal, Person, can_ask};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::acts::{CleanReport, Cleaning, SessionFiles};
use pi_subagents_runs::cleanup::choice::{Choice, Rule};
use pi_subagents_runs::typed_ids::TypedIds;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct CleanArgs {
    /// Runs or sessions to remove: ids or their beginnings, last, last~2, or names of tasks or agents
    #[arg(value_name = "ID", conflicts_with_all = ["older", "keep_last", "all_projects"])]
    ids: Vec<String>,
    /// Remove sessions whose last run ended at least this long ago, such as 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older: Option<Duration>,
    /// Keep the newest N runs of each project
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Remove runs of all projects [default: only of this project]
    #[arg(long)]
    all_projects: bool,
    /// Also remove the files of shared sessions to which no remaining run belongs
    #[arg(long)]
    sessions: bool,
    /// List the records that would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask on a terminal; without other options, remove what subagents.retention in the settings allows
    #[arg(long, short)]
    yes: bool,
}

impl CleanArgs {
    /// Returns whether a person named the runs to remove.
    fn has_selector(&self) -> bool {
        !self.ids.is_empty() || self.older.is_some() || self.keep_last.is_some()
    }
}

pub(crate) fn run(args: &CleanArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let retention = Configuration::read_once(&places, false).settings.retention;
    let typed = TypedIds::newest(&index, &places, printer);
    let cleaning = Cleaning {
        choice: choice(args, typed, retention)?,
        places: &places,
        store: index.store(),
        sessions: if args.sessions {
            SessionFiles::Go {
                older: args.older.or(retention.age),
            }
        } else {
            SessionFiles::Stay
        },
        now: Timestamp::now(),
    };
    if args.dry_run {
        print(&cleaning.preview()?, Tense::Would, cleaning.now, printer);
        return Ok(ExitCode::SUCCESS);
    }
    let person = AtTerminal { places: &places };
    if !args.yes
        && let Some(code) = ask(&cleaning, args, retention, &person, printer)?
    {
        return Ok(code);
    }
    let report = cleaning.clean()?;
    print(&report, Tense::Did, cleaning.now, printer);
    Ok(ExitCode::from(u8::from(report.has_failed())))
}

/// Returns the choice of runs to remove.
fn choice(
    args: &CleanArgs,
    typed: TypedIds<'_>,
    retention: Retention,
) -> Result<Choice, CommandError> {
    if !args.ids.is_empty() {
        let runs = conversations_of(typed, &args.ids, "clean")?;
        let named: HashSet<RunId> = runs.into_iter().map(|run| run.run).collect();
        return Ok(Choice::Named(named));
    }
    let rule = if args.has_selector() {
        Rule::Old {
            older: args.older,
            keep_last: args.keep_last,
        }
    } else {
        Rule::Retention(retention)
    };
    Ok(Choice::Rule {
        rule,
        project: (!args.all_projects).then(|| typed.places.project.clone()),
    })
}

/// Shows the runs that would be removed, and asks a person whether they may go, because nothing
/// brings them back. Nobody is asked where there is no terminal; then the runs must be chosen.
/// Returns the end of the command if nothing is to be removed.
fn ask(
    cleaning: &Cleaning<'_>,
    args: &CleanArgs,
    retention: Retention,
    person: &dyn Person,
    printer: Printer,
) -> Result<Option<ExitCode>, CommandError> {
    if !can_ask(person, printer) {
        if args.has_selector() {
            return Ok(None);
        }
        return Err(CommandError::usage("clean was not told what to remove").hint(
            "Name runs, or use --older 30d or --keep-last N. --yes removes what subagents.retention in the settings allows; --dry-run shows it.",
        ));
    }
    let report = cleaning.preview()?;
    print(&report, Tense::Would, cleaning.now, printer);
    if report.is_empty() {
        return Ok(Some(ExitCode::SUCCESS));
    }
    if !args.has_selector() {
        printer.note(&rule(retention));
    }
    match person.yes("Remove them?", false) {
        Ok(Some(true)) => Ok(None),
        Ok(Some(false) | None) => {
            printer.note("Nothing was removed.");
            Ok(Some(ExitCode::SUCCESS))
        }
        Err(stopped) => stopped.into_result(printer).map(Some),
    }
}

fn print(cleaned: &CleanReport, tense: Tense, now: Timestamp, printer: Printer) {
    let report = Report {
        cleaned,
        tense,
        now,
    };
    if printer.is_json() {
        printer.json(&json::of(&report));
        return;
    }
    printer.data(&report.text());
    for problem in report.problems() {
        printer.note(&format!("! {problem}"));
    }
}

/// Says by which rule the retention of the settings chooses.
fn rule(retention: Retention) -> String {
    let age = retention.age.map(|age| {
        let days = usize::try_from(age.as_secs() / 86_400).unwrap_or(usize::MAX);
        format!("older than {}", text::count(days, "day"))
    });
    let size = retention
        .bytes
        .map(|bytes| format!("more than {} of one project", figures::bytes(bytes)));
    let limits: Vec<String> = age.into_iter().chain(size).collect();
    format!("subagents.retention: {}", limits.join(", or "))
}
