//! `diff`: prints the changes of a run.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_git::FileChange;
use pi_subagents_view::{Line, Paint};
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::{aligned, count, one_line};

use super::read_runs::meant_in;
use crate::pager;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::acts::{self, Checkout, RunDiff, SharedDiff, WantedChanges};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::workspace::{WorkspaceFile, files_words};

#[derive(Args)]
pub(crate) struct DiffArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// Print one line per file instead of the patch
    #[arg(long)]
    stat: bool,
}

pub(crate) fn run(args: &DiffArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let index = KnownIndex::of(&places);
    let runs = meant_in(&index, &args.id, "diff", &places, printer)?;
    let known = index.runs().map_err(find_failure)?;
    let wanted = WantedChanges {
        places: &places,
        known: &known,
        checkout: Checkout::Here,
    };
    let diff = acts::diff(&wanted, &runs)?;
    if printer.is_json() {
        printer.json(&diff.printed()?);
        return Ok(ExitCode::SUCCESS);
    }
    match &diff {
        RunDiff::Kept(kept) if args.stat || kept.files.is_empty() => {
            print_stat(&kept.files, printer);
        }
        RunDiff::Kept(kept) => print_patch(&diff, &kept.result.patch_text()?, &places, printer)?,
        RunDiff::Shared(shared) => {
            let patch = shared.patch_text()?;
            if args.stat {
                print_shared_stat(shared, printer);
            } else {
                print_patch(&diff, &patch, &places, printer)?;
            }
        }
    }
    for note in diff.notes(Door::CommandLine) {
        printer.note(&note);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints one line per file that a run in a shared checkout has changed.
fn print_shared_stat(shared: &SharedDiff, printer: Printer) {
    let rows: Vec<Vec<String>> = shared.files_words().into_iter().map(Vec::from).collect();
    printer.data(&aligned(&rows));
    printer.note(&count(rows.len(), "file"));
}

fn print_stat(files: &[FileChange], printer: Printer) {
    let described: Vec<WorkspaceFile> = files.iter().map(WorkspaceFile::of).collect();
    let rows: Vec<Vec<String>> = described.iter().map(stat_row).collect();
    if rows.is_empty() {
        printer.note("no file has changed");
        return;
    }
    printer.data(&aligned(&rows));
    printer.note(&files_words(&described));
}

/// Describes a file in three columns: its name, its lines, and what was done with it.
fn stat_row(file: &WorkspaceFile) -> Vec<String> {
    let status = match &file.from {
        Some(from) => format!("{} from {}", file.status, one_line(from)),
        None => file.status.clone(),
    };
    vec![one_line(&file.path), file.figures(), status]
}

/// Prints a patch as it is, or in colours on a terminal.
fn print_patch(
    diff: &RunDiff,
    patch: &str,
    places: &Places,
    printer: Printer,
) -> Result<(), CommandError> {
    if Sheet::of_stdout(places).paint() == Paint::Plain {
        printer.data(patch);
    } else {
        print_lines(&diff.lines()?, places, printer);
    }
    Ok(())
}

/// Prints the lines of a patch in colours, and in a pager if they are longer than the terminal.
fn print_lines(lines: &[Line], places: &Places, printer: Printer) {
    let page: Vec<String> = lines.iter().map(|line| Paint::Ansi.line(line)).collect();
    let sheet = Sheet::of_stdout(places);
    if !(sheet.is_longer(lines.len()) && pager::show(&page.join("\n"), places)) {
        printer.lines(lines, Paint::Ansi);
    }
}
