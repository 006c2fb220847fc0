//! Shows which runs fit the checkout and each other, as a table.

use pi_subagents_git::{Change, Conflict, Matrix, ObjectId, Repository};
use pi_subagents_vocabulary::text::{aligned, first_of, one_line};

use super::{Workspace, WorkspaceState};

/// Compares the results of the runs of one call, if two or more wait to be merged into the same
/// checkout. Results that git cannot compare are not shown: `merge --check` says why.
pub fn matrix_of_call(runs: &[(String, Workspace)]) -> Option<String> {
    let waiting: Vec<&(String, Workspace)> = runs
        .iter()
        .filter(|(_, workspace)| workspace.state == WorkspaceState::Captured)
        .collect();
    let (_, first) = waiting.first()?;
    if waiting.len() < 2
        || waiting
            .iter()
            .any(|(_, other)| other.repository != first.repository)
    {
        return None;
    }
    let changes: Option<Vec<Change>> = waiting.iter().map(|(_, one)| change(one)).collect();
    let repository = Repository::find(&first.repository).ok()?;
    let matrix = Matrix::of(&repository, &changes?).ok()?;
    let names: Vec<String> = waiting.iter().map(|(name, _)| one_line(name)).collect();
    Some(matrix_table(&names, &matrix))
}

fn change(workspace: &Workspace) -> Option<Change> {
    Some(Change {
        base: ObjectId::parse(&workspace.base.as_ref()?.commit)?,
        result: ObjectId::parse(&workspace.left.as_ref()?.result)?,
    })
}

/// Returns for each worktree that waits to be merged what it conflicts with in a checkout; `None`
/// for the others, and if git cannot compare them.
pub fn conflicts_with_checkout(
    checkout: &Repository,
    workspaces: &[&Workspace],
) -> Vec<Option<Vec<Conflict>>> {
    let waiting = |one: &&&Workspace| one.state == WorkspaceState::Captured;
    let change_of = |one: &&Workspace| waiting(&one).then(|| change(one)).flatten();
    let changes: Vec<Option<Change>> = workspaces.iter().map(change_of).collect();
    let known: Vec<Change> = changes.iter().flatten().cloned().collect();
    let compared = Matrix::with_checkout(checkout, &known);
    let mut compared = compared.unwrap_or_default().into_iter();
    let conflicts = changes.iter();
    conflicts
        .map(|change| change.as_ref().and_then(|_| compared.next()))
        .collect()
}

/// Draws one row per run: first the checkout, then every run. Cells name the first conflict.
pub fn matrix_table(names: &[String], matrix: &Matrix) -> String {
    let table = table(names, matrix, cell);
    match whose_lines(matrix) {
        Some(words) => format!("{table}\n{words}"),
        None => table,
    }
}

/// Draws the same in little room: cells say only whether something fits.
pub fn small_table(names: &[String], matrix: &Matrix) -> String {
    table(names, matrix, |conflicts| {
        let mark = if conflicts.is_empty() { "✓" } else { "✗" };
        mark.to_owned()
    })
}

fn table(names: &[String], matrix: &Matrix, cell: fn(&[Conflict]) -> String) -> String {
    let mut table = vec![Vec::from([String::new(), "checkout".to_owned()])];
    // One run has nothing but the checkout to be compared with.
    let shows_pairs = names.len() > 1;
    if shows_pairs {
        table[0].extend(names.iter().cloned());
    }
    for (row, name) in names.iter().enumerate() {
        let mut cells = vec![name.clone(), cell(&matrix.checkout[row])];
        if shows_pairs {
            cells.extend(matrix.pairs[row].iter().enumerate().map(|(column, pair)| {
                if column == row {
                    "–".to_owned()
                } else {
                    cell(pair)
                }
            }));
        }
        table.push(cells);
    }
    aligned(&table)
}

/// Says whose lines the cells name, if any does.
fn whose_lines(matrix: &Matrix) -> Option<&'static str> {
    let has_lines = |cells: &[Vec<Conflict>]| cells.iter().flatten().any(|it| !it.lines.is_empty());
    let in_pairs = matrix.pairs.iter().any(|row| has_lines(row));
    match (has_lines(&matrix.checkout), in_pairs) {
        (true, true) => Some(
            "Lines of the checkout's file below \"checkout\", elsewhere of the row's own file.",
        ),
        (true, false) => Some("Lines are those of the checkout's file."),
        (false, true) => Some("Line numbers are from the run in that row."),
        (false, false) => None,
    }
}

/// Describes the conflicts of one pair: `✗ src/app.rs:40-61 and 2 more`.
fn cell(conflicts: &[Conflict]) -> String {
    if conflicts.is_empty() {
        return "✓".to_owned();
    }
    format!("✗ {}", first_place(conflicts))
}

/// Names the place of the first of some conflicts, and counts the others.
pub fn first_place(conflicts: &[Conflict]) -> String {
    first_of(conflicts.iter().map(place), 1, ", ")
}

/// Names the place of a conflict: file and lines of the first side, or file and kind.
pub fn place(conflict: &Conflict) -> String {
    let path = one_line(&conflict.path.display().to_string());
    match conflict.lines.first() {
        Some((first, last)) => format!("{path}:{}", range(*first, *last)),
        None => format!("{path} ({})", conflict.kind),
    }
}

/// Names the place of a conflict between two runs: the file, and the lines as each of them has it.
pub fn place_in_both(conflict: &Conflict, one: &str, other: &str) -> String {
    match (conflict.lines.first(), conflict.other_lines.first()) {
        (Some(_), Some((first, last))) => {
            format!(
                "{} in {one}, {} in {other}",
                place(conflict),
                range(*first, *last)
            )
        }
        (Some(_) | None, _) => place(conflict),
    }
}

fn range(first: usize, last: usize) -> String {
    if first == last {
        return first.to_string();
    }
    format!("{first}-{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict(path: &str, kind: &str, lines: &[(usize, usize)]) -> Conflict {
        let mut conflict = Conflict::without_lines(path.into(), kind);
        conflict.lines = lines.to_vec();
        conflict.other_lines = lines.to_vec();
        conflict
    }

    #[test]
    fn the_table_names_files_and_lines() {
        let between = vec![conflict("src/app.rs", "contents", &[(40, 61)])];
        let matrix = Matrix {
            checkout: vec![
                vec![],
                vec![],
                vec![
                    conflict("Cargo.toml", "modify/delete", &[]),
                    conflict("b", "binary", &[]),
                ],
            ],
            pairs: vec![
                vec![vec![], between.clone(), vec![]],
                vec![between, vec![], vec![]],
                vec![vec![], vec![], vec![]],
            ],
        };
        let names = ["api", "ui", "tests"].map(str::to_owned);
        insta::assert_snapshot!(matrix_table(&names, &matrix), @"
               checkout                                 api                 ui                  tests
        api    ✓                                        –                   ✗ src/app.rs:40-61  ✓
        ui     ✓                                        ✗ src/app.rs:40-61  –                   ✓
        tests  ✗ Cargo.toml (modify/delete) and 1 more  ✓                   ✓                   –
        Line numbers are from the run in that row.
        ");
    }
}
