//! A run in a list inside pi, and the name of a run at the beginning of a text.

use std::collections::HashSet;

use pi_subagents_vocabulary::{RunId, Timestamp, text};

use pi_subagents_runs::session_runs::{SessionRun, SessionRuns};

/// The largest number of columns of a name, so that the text after it is seen too.
const NAME_COLUMNS: usize = 24;

/// The number of columns of the task that are shown.
const TASK_COLUMNS: usize = 60;

/// Writes a run as one line. A long name is cut, so that the id behind it is visible in any
/// terminal.
/// `waits` are the runs whose results nobody has merged yet.
pub(super) fn line(run: &SessionRun, now: Timestamp, waits: &HashSet<RunId>) -> String {
    let row = &run.row;
    let name = text::cut_columns(
        &text::one_line(&text::clean(&row.report.name)),
        NAME_COLUMNS,
    );
    let task = row.report.task.as_deref().map(|task| {
        let task = text::one_line(&text::clean(task));
        text::cut_columns(&task, TASK_COLUMNS)
    });
    let parts = [
        Some(format!("{} {name}", row.report.status.icon())),
        Some(row.report.session_id.to_string()),
        run.is_background().then(|| "background".to_owned()),
        Some(row.report.status.as_str().to_owned()),
        waits
            .contains(&row.report.run_id)
            .then(|| "not merged".to_owned()),
        Some(row.used_words(now)).filter(|words| !words.is_empty()),
        task,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" • ")
}

/// Returns all runs, newest first.
pub(super) fn newest_first(runs: &SessionRuns) -> Vec<SessionRun> {
    let mut all = runs.all();
    all.reverse();
    all
}

/// Splits the typed text into the run that is meant and the text for it. A name may hold spaces, so
/// the longest name at the beginning counts.
pub(super) fn run_and_text<'a>(runs: &SessionRuns, typed: &'a str) -> (&'a str, &'a str) {
    let all = runs.all();
    let begun = all.iter().map(|run| run.row.report.name.as_str());
    let longest = begun
        .filter(|name| is_first_word(typed, name))
        .map(str::len);
    if let Some(end) = longest.max() {
        return (&typed[..end], typed[end..].trim());
    }
    let (word, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    (word, rest.trim())
}

fn is_first_word(typed: &str, name: &str) -> bool {
    let rest = typed.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
