//! `clean`: removes the records of runs that nobody needs any more, and explains which ones stay
//! and why.

mod json;
mod report;

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::tending::tend_records;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use pi_subagents_configuration::Retention;
use pi_subagents_records::{IndexedRun, StickyFile, Store};
use pi_subagents_view::figures;
use pi_subagents_vocabulary::{RunId, Timestamp, text};

use self::report::{Report, Tense};
use crate::commands::control::conversations_of;
use crate::since::parse_age;
use pi_subagents_definition_commands::ask::{AtTerminal, Person, can_ask};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::keeping::choice::{Choice, Rule};
use pi_subagents_runs::keeping::plan::Going;
use pi_subagents_runs::keeping::sticky_files::{self, StickyChoice, StickySwept, files_of};
use pi_subagents_runs::keeping::sweep::{self, Limits, Swept};
use pi_subagents_runs::typed::TypedIds;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command"
)]
pub(crate) struct CleanArgs {
    /// Runs or sessions to remove: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", conflicts_with_all = ["older", "keep_last", "project"])]
    ids: Vec<String>,
    /// Remove sessions whose last run ended at least this long ago, such as 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older: Option<Duration>,
    /// Keep the newest N runs of each project
    #[arg(long, value_name = "N")]
    keep_last: Option<usize>,
    /// Remove only runs of this project [default: of all projects]
    #[arg(long)]
    project: bool,
    /// Also remove the files of sticky sessions that no remaining run belongs to
    #[arg(long)]
    sessions: bool,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove what subagents.retention in the settings allows, without asking
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
    let places = Places::find()?;
    let index = KnownIndex::of(&places);
    tend_records(&index, &places);
    let retention = Configuration::read_once(&places, false).settings.retention;
    let typed = TypedIds::newest(&index, &places, printer);
    let choice = choice(args, typed, retention)?;
    let clean = Clean {
        args,
        store: index.store().clone(),
        places,
        retention,
        choice,
        now: Timestamp::now(),
        printer,
    };
    if args.dry_run {
        clean.show(Tense::Would)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.has_selector() && !args.yes {
        let person = AtTerminal {
            places: &clean.places,
        };
        if let Some(code) = clean.ask(&person)? {
            return Ok(code);
        }
    }
    clean.remove()
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
        project: args.project.then(|| typed.places.project.clone()),
    })
}

/// One use of the command.
struct Clean<'a> {
    args: &'a CleanArgs,
    store: Store,
    places: Places,
    retention: Retention,
    choice: Choice,
    now: Timestamp,
    printer: Printer<'a>,
}

impl Clean<'_> {
    /// Shows the runs that the retention of the settings would remove, and asks a person whether it
    /// may. Returns the end of the command if nothing is to be removed.
    fn ask(&self, person: &dyn Person) -> Result<Option<ExitCode>, CommandError> {
        if !can_ask(person, self.printer) {
            return Err(CommandError::usage("clean was not told what to remove").hint(
                "Name runs, or use --older 30d or --keep-last N. --yes removes what subagents.retention in the settings allows; --dry-run shows it.",
            ));
        }
        if !self.show(Tense::Would)? {
            return Ok(Some(ExitCode::SUCCESS));
        }
        self.printer.note(&rule(self.retention));
        match person.yes("Remove them?", false) {
            Ok(Some(true)) => Ok(None),
            Ok(Some(false) | None) => {
                self.printer.note("Nothing was removed.");
                Ok(Some(ExitCode::SUCCESS))
            }
            Err(stopped) => stopped.into_result(self.printer).map(Some),
        }
    }

    /// Shows the effect of a removal. Returns whether it would remove anything.
    fn show(&self, tense: Tense) -> Result<bool, CommandError> {
        let plan = sweep::plan(&self.store, self.choice.clone(), self.now)?;
        let swept = Swept {
            removed: plan.going,
            kept: plan.kept,
            ..Swept::default()
        };
        let sessions = StickySwept {
            removed: self.sessions(&swept.removed)?,
            ..StickySwept::default()
        };
        let is_any = !swept.removed.is_empty() || !sessions.removed.is_empty();
        self.print(&swept, &sessions, tense);
        Ok(is_any)
    }

    fn remove(&self) -> Result<ExitCode, CommandError> {
        // Their records are gone afterwards, and with them the way to the files of their sessions.
        let plan = self
            .args
            .sessions
            .then(|| sweep::plan(&self.store, self.choice.clone(), self.now));
        let of_going = plan.transpose()?.map(|plan| files_of(runs(&plan.going)));
        let swept = sweep::sweep(&self.store, self.choice.clone(), self.now, Limits::NONE)?;
        let sessions = match of_going {
            Some(of_removed) => sticky_files::sweep(self.chosen_files(of_removed, &[])?),
            None => StickySwept::default(),
        };
        self.print(&swept, &sessions, Tense::Did);
        let is_named = matches!(self.choice, Choice::Named(_));
        let has_failed = !swept.problems.is_empty()
            || !sessions.problems.is_empty()
            || (is_named && !swept.kept.is_empty());
        Ok(ExitCode::from(u8::from(has_failed)))
    }

    /// Returns the files of sessions that would go together with these runs.
    fn sessions(&self, going: &[Going]) -> Result<Vec<StickyFile>, CommandError> {
        if !self.args.sessions {
            return Ok(Vec::new());
        }
        self.chosen_files(files_of(runs(going)), going)
    }

    /// Chooses files of sessions: those of removed runs, and old files that no run leads to.
    /// `going` are runs that are still there and do not count.
    fn chosen_files(
        &self,
        of_removed: HashSet<PathBuf>,
        going: &[Going],
    ) -> Result<Vec<StickyFile>, CommandError> {
        let going: HashSet<&RunId> = going.iter().map(|going| &going.run.run).collect();
        let runs = self.store.runs().map_err(find_failure)?;
        let kept = runs.iter().filter(|run| !going.contains(&run.run));
        let choice = StickyChoice {
            of_removed,
            older: match self.choice {
                Choice::Named(_) => None,
                Choice::Rule { .. } => self.args.older.or(self.retention.age),
            },
        };
        let of_kept = files_of(kept);
        let home = &self.places.home;
        Ok(sticky_files::chosen(home, &choice, &of_kept, self.now))
    }

    fn print(&self, swept: &Swept, sessions: &StickySwept, tense: Tense) {
        let report = Report {
            swept,
            sessions,
            tense,
            is_named: matches!(self.choice, Choice::Named(_)),
            now: self.now,
        };
        if self.printer.is_json() {
            self.printer.json(&json::of(&report));
            return;
        }
        self.printer.data(&report.text());
        for problem in report.problems() {
            self.printer.note(&format!("! {problem}"));
        }
    }
}

fn runs(going: &[Going]) -> impl Iterator<Item = &IndexedRun> {
    going.iter().map(|going| &going.run)
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
