//! The list of worktrees and of results that came from a fleet: name, run, state, files, age, size,
//! and what each conflicts with.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pi_subagents_git::{Conflict, Repository};
use pi_subagents_records::IndexedRun;
use pi_subagents_view::figures;
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Door, RunId, SessionId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::Found;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::merging::PrintedConflict;
use pi_subagents_runs::workspace::{
    Stray, Workspace, conflicts_with_checkout, first_place, size_of,
};

/// The worktrees that are shown, with the conflicts of those that wait to be merged.
pub(super) struct Listed {
    rows: Vec<(Found, Option<Vec<Conflict>>)>,
}

impl Listed {
    /// Compares the worktrees that wait with their checkouts.
    pub(super) fn of(found: Vec<Found>) -> Self {
        let mut of_repository: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
        for (at, one) in found.iter().enumerate() {
            let repository = one.workspace.repository.as_path();
            of_repository.entry(repository).or_default().push(at);
        }
        let mut conflicts: Vec<Option<Vec<Conflict>>> = vec![None; found.len()];
        for (repository, places) in of_repository {
            // A checkout that is gone has nothing to compare with.
            let Ok(checkout) = Repository::find(repository) else {
                continue;
            };
            let workspaces: Vec<&Workspace> =
                places.iter().map(|at| &found[*at].workspace).collect();
            let compared = conflicts_with_checkout(&checkout, &workspaces);
            for (at, one) in places.into_iter().zip(compared) {
                conflicts[at] = one;
            }
        }
        let rows = found.into_iter().zip(conflicts).collect();
        Self { rows }
    }
}

/// Prints the list, and what no run knows.
pub(super) fn print_list(listed: &Listed, strays: &[Stray], printer: Printer) {
    if printer.is_json() {
        let rows = listed.rows.iter();
        let rows = rows.map(|(found, with)| ListedWorktree::of(found, with.as_deref()));
        printer.json(&WorktreesResult {
            worktrees: rows.collect(),
            strays: strays.iter().map(|stray| stray.path.as_path()).collect(),
        });
        return;
    }
    if listed.rows.is_empty() && strays.is_empty() {
        printer.note("no run has its own worktree, and no result of a fleet waits");
        printer.note("hint: --isolation worktree gives each run one.");
    }
    for (found, with) in &listed.rows {
        printer.data(&lines(&found.run, &found.workspace));
        if let Some(with) = with {
            printer.data(&format!("  {}", fit_words(with)));
        }
    }
    for stray in strays {
        printer.data(&stray_line(stray));
    }
}

/// Describes one worktree in some lines.
pub(super) fn lines(run: &IndexedRun, workspace: &Workspace) -> String {
    let age = Timestamp::now().duration_since(run.accepted_at);
    let age = figures::ago(Duration::try_from(age).unwrap_or_default());
    let kept = if workspace.is_kept { "  kept" } else { "" };
    let id = run.run.as_str();
    let mut lines = vec![
        format!("{}  {}  {age}{kept}", one_line(&run.name), run.run),
        format!("  {}", workspace.line(id, Door::CommandLine)),
    ];
    let place = workspace.path();
    lines.extend(place.map(|path| format!("  {}{}", path.display(), size_words(path))));
    let flags = workspace.flags(id, Door::CommandLine);
    let notes = flags.chain(workspace.notes.iter().cloned());
    lines.extend(notes.map(|note| format!("  ! {note}")));
    lines.join("\n")
}

fn size_words(path: &Path) -> String {
    if !path.exists() {
        return " (gone)".to_owned();
    }
    let size = size_of(path).map(figures::bytes);
    size.map(|size| format!(" ({size})")).unwrap_or_default()
}

fn fit_words(with: &[Conflict]) -> String {
    if with.is_empty() {
        return "fits its checkout".to_owned();
    }
    format!("conflicts with its checkout: {}", first_place(with))
}

fn stray_line(stray: &Stray) -> String {
    let age = stray.age.map(figures::ago).unwrap_or_default();
    let path = stray.path.display();
    let size = size_words(&stray.path);
    format!("no run knows  {age}\n  {path}{size}")
}

/// The JSON of `worktrees`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorktreesResult<'a> {
    worktrees: Vec<ListedWorktree<'a>>,
    /// Directories of worktrees that no run knows.
    strays: Vec<&'a Path>,
}

/// The worktree of a run, or a result that came from a fleet.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListedWorktree<'a> {
    run_id: &'a RunId,
    session_id: &'a SessionId,
    /// The name of the task.
    name: &'a str,
    /// The size of its directory, if it is there.
    bytes: Option<u64>,
    /// The conflicts with its checkout, if it waits to be merged.
    conflicts: Option<Vec<PrintedConflict>>,
    workspace: &'a Workspace,
}

impl<'a> ListedWorktree<'a> {
    fn of(found: &'a Found, with: Option<&[Conflict]>) -> Self {
        Self {
            run_id: &found.run.run,
            session_id: &found.run.session,
            name: &found.run.name,
            bytes: found.workspace.path().and_then(size_of),
            conflicts: with.map(PrintedConflict::all),
            workspace: &found.workspace,
        }
    }
}
