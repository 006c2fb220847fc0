//! `review`: everything that waits for a person, and accepting it as far as it stays green.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_calls::user_variables;
use pi_subagents_ground::colour;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_records::{CallerName, IndexedRun};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::review::{
    AcceptAll, AcceptReport, Fate, ReviewGates, ReviewNote, ReviewQueue, WantedParts,
};
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend;
use pi_subagents_tui::{ReviewScreen, review_screen};
use pi_subagents_vocabulary::review::RiskTier;
use pi_subagents_vocabulary::text::{count, first_of, one_line};
use pi_subagents_vocabulary::{RunId, Timestamp};

use crate::commands::control::each_conversation;
use crate::places::find_places;

/// At most so many lines of a failed gate's output are printed.
const SHOWN_OUTPUT: usize = 20;

/// At most so many attempts are named.
const MOST_NAMED: usize = 6;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is given or not"
)]
pub(crate) struct ReviewArgs {
    /// Runs or sessions whose results are meant: ids or their beginnings, last, last~2, or names of tasks or agents [default: all that wait]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Take all results that stay green together, in one step; without an ID, those up to --up-to
    #[arg(long, group = "taking")]
    accept_all: bool,
    /// Take these results as far as they stay green, in one step; the same as --accept-all with an ID
    #[arg(
        long,
        requires = "ids",
        conflicts_with = "accept_all",
        group = "taking"
    )]
    accept: bool,
    /// Take only these files or directories of the result, as diff names them, and leave the rest where it is
    #[arg(
        long,
        value_name = "PATH",
        value_delimiter = ',',
        requires = "taking",
        requires = "ids"
    )]
    files: Vec<String>,
    /// Command that must pass on the taken results, run in a scratch copy of this checkout [default: subagents.reviewGate]
    #[arg(
        long,
        value_name = "CMD",
        requires = "taking",
        conflicts_with = "no_gate"
    )]
    gate: Option<String>,
    /// Take results without running any gate
    #[arg(long, requires = "taking")]
    no_gate: bool,
    /// Leave results of a higher risk to a person
    #[arg(
        long,
        value_enum,
        value_name = "RISK",
        default_value = "careful",
        requires = "taking"
    )]
    up_to: UpTo,
    /// Mark these as something to look at later, or take the mark away
    #[arg(long, requires = "ids", conflicts_with_all = ["taking", "dismiss"])]
    later: bool,
    /// List these failed runs no more
    #[arg(long, requires = "ids", conflicts_with = "taking")]
    dismiss: bool,
}

/// The highest risk of results that are taken without a person.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UpTo {
    /// Those with nothing to look at
    Fits,
    /// Also those with something worth a look
    Look,
    /// Also those that can do harm
    Careful,
}

impl UpTo {
    fn tier(self) -> RiskTier {
        match self {
            Self::Fits => RiskTier::Fits,
            Self::Look => RiskTier::Look,
            Self::Careful => RiskTier::Careful,
        }
    }
}

pub(crate) fn run(args: &ReviewArgs, printer: Printer<'static>) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    tend(&index, &places);
    let named = if args.ids.is_empty() {
        Vec::new()
    } else {
        let typed = TypedIds::newest(&index, &places, printer);
        each_conversation(typed, &args.ids, "review")?.concat()
    };
    if args.later || args.dismiss {
        return mark(args, &named, printer);
    }
    if args.accept_all || args.accept {
        return accept_all(args, &named, &places, &index, printer);
    }
    if !printer.is_json() && has_screen(&places) {
        return block_on(review_screen(ReviewScreen {
            paint: colour::paint(&places, true),
            starter: ScreenStarter::new(places.clone(), CallerName::Terminal),
            only: named,
            places,
        }));
    }
    let ids: Vec<RunId> = named.iter().map(|run| run.run.clone()).collect();
    let mut queue = ReviewQueue::gather_named(&places, &index, &ids)?;
    if !named.is_empty() {
        queue.keep_only(&named);
    }
    if let Some(problem) = &queue.problem {
        printer.note(&format!("! {problem}"));
    }
    note_attempts(&queue, printer);
    if printer.is_json() {
        printer.json(&queue.printed());
    } else if queue.is_empty() {
        return Err(nothing_waits());
    } else {
        printer.data(&queue.lines(Timestamp::now()));
        if !queue.results.is_empty() {
            printer.note("hint: pi-subagents diff ID shows a result; pi-subagents review --accept-all takes what stays green.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Names the attempts that nobody picked, whose picked one does not wait any more.
fn note_attempts(queue: &ReviewQueue, printer: Printer<'static>) {
    let others = &queue.left_attempts;
    if others.is_empty() || printer.is_json() {
        return;
    }
    let names = others.iter().map(|other| one_line(&other.name));
    let ids: Vec<&str> = others.iter().map(|other| other.run_id.as_str()).collect();
    printer.note(&format!(
        "{} that nobody picked: {}. pi-subagents discard {}",
        count(others.len(), "attempt"),
        first_of(names, MOST_NAMED, ", "),
        ids.join(" ")
    ));
}

/// Returns whether there is a terminal that can show a screen.
fn has_screen(places: &Places) -> bool {
    let is_known = places.variable("TERM").is_some_and(|term| term != "dumb");
    is_known && io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn nothing_waits() -> CommandError {
    CommandError::no_answer("nothing waits for you in this project")
        .hint("pi-subagents status --all lists the finished runs.")
}

/// Marks runs as something for later, or as something that nobody needs to see again.
fn mark(
    args: &ReviewArgs,
    named: &[IndexedRun],
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    for run in named {
        let directory = &run.directory;
        let mut note = ReviewNote::read(directory);
        let words = if args.dismiss {
            note.is_dismissed = true;
            "is listed no more if it failed"
        } else {
            note.is_later = !note.is_later;
            if note.is_later {
                "is marked for later"
            } else {
                "waits now again"
            }
        };
        note.write(directory).map_err(|error| {
            CommandError::failed(format!("{} cannot be marked", one_line(&run.name)))
                .because(&error)
        })?;
        printer.data(&format!("{}: {words}  {}", one_line(&run.name), run.run));
    }
    Ok(ExitCode::SUCCESS)
}

fn accept_all(
    args: &ReviewArgs,
    named: &[IndexedRun],
    places: &Places,
    index: &KnownIndex,
    printer: Printer<'static>,
) -> Result<ExitCode, CommandError> {
    let configuration = Configuration::read_once(places, false);
    configuration.check()?;
    let settings = configuration.settings;
    let only = (!named.is_empty()).then(|| named.iter().map(|run| run.run.clone()).collect());
    let accepting = AcceptAll {
        places,
        index,
        gates: if args.no_gate {
            ReviewGates::None
        } else {
            ReviewGates::Run(args.gate.clone().or(settings.review_gate))
        },
        up_to: args.up_to.tier(),
        only,
        parts: wanted_parts(args, named)?,
        confirmed: None,
        worktrees: settings.worktrees,
        variables: user_variables(places),
        keys: settings.fleet.nkey.into_iter().collect(),
    };
    let report = accepting.run(&mut |news| printer.note(&news.sentence()))?;
    print_report(&report, printer);
    if report.results.is_empty() {
        return Ok(ExitCode::from(exit::NO_ANSWER));
    }
    Ok(exit::of_some(report.taken(), report.results.len()))
}

/// Returns the parts of the named result that are wanted, if only some are.
fn wanted_parts(
    args: &ReviewArgs,
    named: &[IndexedRun],
) -> Result<BTreeMap<RunId, WantedParts>, CommandError> {
    if args.files.is_empty() {
        return Ok(BTreeMap::new());
    }
    if args.ids.len() != 1 {
        return Err(CommandError::usage(
            "--files is for one result, and more are named",
        ));
    }
    let files = WantedParts::Files(args.files.clone());
    let runs = named.iter().map(|run| (run.run.clone(), files.clone()));
    Ok(runs.collect())
}

fn print_report(report: &AcceptReport, printer: Printer<'static>) {
    if printer.is_json() {
        printer.json(&report.printed());
        return;
    }
    if report.results.is_empty() {
        printer.note("no result waits to be taken here");
    } else {
        for line in report.lines() {
            printer.data(&line);
        }
    }
    if report.others > 0 {
        let others = count(report.others, "other thing");
        let verb = if report.others == 1 { "waits" } else { "wait" };
        printer.note(&format!(
            "{others} {verb} for you. pi-subagents review shows the list."
        ));
    }
    for note in report.notes() {
        printer.note(&format!("! {note}"));
    }
    for one in &report.results {
        if let Fate::Red {
            output,
            command,
            code,
            ..
        } = &one.fate
        {
            let lines: Vec<&str> = output.lines().collect();
            let shown = &lines[lines.len().saturating_sub(SHOWN_OUTPUT)..];
            let (name, command) = (one_line(&one.name), one_line(command));
            printer.note(&format!(
                "{name}: {command} → {code}\n  {}",
                shown.join("\n  ")
            ));
        }
    }
    if report.taken() > 0 {
        printer.note("hint: pi-subagents undo takes it back.");
    }
    if let Some(red) = report
        .results
        .iter()
        .find(|one| matches!(one.fate, Fate::Red { .. }))
    {
        let run = &red.run;
        printer.note(&format!(
            "hint: pi-subagents resume {run} \"Fix it\" lets its sub-agent continue."
        ));
    }
}
