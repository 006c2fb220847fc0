//! Runs as a person reads them: one line each, and more about a run that was named.

use pi_subagents_delegation::{Timestamp, text};

use super::Seen;
use crate::runs::row::RunRow;

/// How much of a prompt is shown.
const SHORT_PROMPT: usize = 100;

impl Seen {
    pub(super) fn text(&self, now: Timestamp) -> String {
        let runs = self.runs.iter();
        let rows: Vec<RunRow> = if self.is_named {
            runs.map(|run| self.row(run)).collect()
        } else {
            runs.map(RunRow::of_index).collect()
        };
        let mut lines = vec![self.counts.line()];
        let names: Vec<String> = rows.iter().map(|row| one_line(&row.name)).collect();
        let widths = names.iter().map(|name| text::columns(name));
        let width = widths.max().unwrap_or(0).min(24);
        let sessions = rows.iter().map(|row| row.session_id.as_str().len());
        let session_width = sessions.max().unwrap_or(0);
        for (row, name) in rows.iter().zip(&names) {
            let name = text::cut_columns(name, width.max(3));
            let name = format!(
                "{name}{}",
                " ".repeat(width.saturating_sub(text::columns(&name)))
            );
            let icon = row.status.icon();
            // The hourglass alone takes two columns.
            let gap = if row.is_over() { "  " } else { " " };
            lines.push(format!(
                "{icon}{gap}{name}  {:9}  {:>8}  {:session_width$}  {}",
                row.status.as_str(),
                text::duration(row.lasted(now).unwrap_or_default()),
                row.session_id.as_str(),
                row.run_id,
            ));
            lines.extend(stopped_owner(row));
            if self.is_named {
                lines.extend(details(row));
            }
        }
        if rows.is_empty() && self.counts.total() > 0 {
            lines.push(
                "Nothing is running. pi-subagents status --all lists the finished runs.".to_owned(),
            );
        }
        lines.join("\n")
    }
}

fn stopped_owner(row: &RunRow) -> Option<String> {
    let owner = row.owner.as_ref().filter(|owner| owner.owner_stopped)?;
    let pid = owner.owner_pid;
    Some(format!(
        "   its owner (pid {pid}) is stopped (suspended); kill -CONT {pid} continues it"
    ))
}

/// Writes what the record tells of a run that was asked for by its id.
fn details(row: &RunRow) -> Vec<String> {
    let line = |label: &str, text: String| format!("   {label:8}{text}");
    let directory = row.directory().map(|directory| directory.path().to_owned());
    let place = directory.unwrap_or_default().display().to_string();
    if let Some(problem) = &row.record_problem {
        return vec![line("record", problem.clone())];
    }
    let is_background = row.owner.as_ref().is_some_and(|owner| owner.background);
    let prompt = row.task.as_deref().unwrap_or_default();
    let optional = [
        (
            "runs",
            is_background.then(|| "in the background".to_owned()),
        ),
        ("agent", row.preset.as_deref().map(one_line)),
        (
            "task",
            Some(text::cut_characters(&one_line(prompt), SHORT_PROMPT)),
        ),
        ("cwd", row.cwd.as_ref().map(|cwd| cwd.display().to_string())),
        ("model", row.resolved_model.clone()),
        ("record", Some(place)),
    ];
    let lacks = row
        .end
        .incomplete
        .iter()
        .map(|lack| ("lacks", Some(one_line(lack))));
    let end = [
        ("error", row.end.error_message.as_deref().map(one_line)),
        ("resume", row.end.resume.clone()),
    ];
    let all = optional.into_iter().chain(lacks).chain(end);
    all.filter_map(|(label, text)| Some(line(label, text?)))
        .collect()
}

fn one_line(words: &str) -> String {
    text::one_line(&text::clean(words))
}
