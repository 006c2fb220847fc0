//! `diff`: prints the changes of a run.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_git::{ChangedFile, changes};
use pi_subagents_view::{Line, Paint};
use pi_subagents_vocabulary::text::{aligned, one_line};
use serde_json::json;

use super::merge::because;
use super::read_runs::meant;
use super::shared_diff::SharedDiff;
use crate::pager;
use crate::sheet::Sheet;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::elsewhere::fetch_missing;
use pi_subagents_runs::results::{Results, RunResult, failed};
use pi_subagents_runs::submodule_changes::{changed_submodules, submodule_note};
use pi_subagents_runs::workspace::{WorkspaceFile, files_words};

#[derive(Args)]
pub(crate) struct DiffArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or definition
    id: String,
    /// Print one line per file instead of the patch
    #[arg(long)]
    stat: bool,
}

pub(crate) fn run(args: &DiffArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let runs = meant(&args.id, "diff", &places, printer)?;
    if let Some(edits) = SharedDiff::of_latest(&runs)? {
        return edits.print(args.stat, &places, printer);
    }
    let missing = fetch_missing(&places, &runs);
    let mut asked = Results::here(&places.cwd).of_conversation(&runs)?;
    let latest = asked.pop();
    let latest = latest.ok_or_else(|| CommandError::not_found("there is no such run"))?;
    let result = latest.map_err(|without| because(without, missing))?;
    let change = &result.change;
    let files = changes(&result.repository, &change.base, &change.result)
        .map_err(|error| failed(&error))?;
    if printer.is_json() {
        printer.json(&to_json(&result, &files));
        return Ok(ExitCode::SUCCESS);
    }
    if args.stat || files.is_empty() {
        print_stat(&files, printer);
    } else {
        print_patch(&result, &places, printer)?;
    }
    for earlier in asked.iter().flatten() {
        let run = &earlier.run.run;
        printer.note(&format!(
            "! an earlier run of this session has a result of its own, which waits: pi-subagents diff {run}"
        ));
    }
    for path in changed_submodules(&result.repository, result.run.run.as_str()) {
        let note = submodule_note(&path, result.run.run.as_str());
        printer.note(&format!("! {note}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(result: &RunResult, files: &[ChangedFile]) -> serde_json::Value {
    let described: Vec<WorkspaceFile> = files.iter().map(WorkspaceFile::of).collect();
    json!({
        "runId": result.run.run.as_str(),
        "base": result.change.base.as_str(),
        "result": result.change.result.as_str(),
        "merged": result.is_merged,
        "files": described,
        "submodules": changed_submodules(&result.repository, result.run.run.as_str()),
    })
}

fn print_stat(files: &[ChangedFile], printer: Printer) {
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

/// Prints the patch of a result in git.
fn print_patch(result: &RunResult, places: &Places, printer: Printer) -> Result<(), CommandError> {
    if Sheet::of_stdout(places).paint() == Paint::Plain {
        printer.data(&result.patch_text()?);
    } else {
        print_lines(&result.patch_lines()?, places, printer);
    }
    Ok(())
}

/// Prints the lines of a patch in colours, and in a pager if they are longer than the terminal.
pub(super) fn print_lines(lines: &[Line], places: &Places, printer: Printer) {
    let page: Vec<String> = lines.iter().map(|line| Paint::Ansi.line(line)).collect();
    let sheet = Sheet::of_stdout(places);
    if !(sheet.is_longer(lines.len()) && pager::show(&page.join("\n"), places)) {
        printer.lines(lines, Paint::Ansi);
    }
}
