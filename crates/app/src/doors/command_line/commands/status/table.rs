//! What a person sees of runs: one line each, and more of the one they asked for.

use std::time::Duration;

use pi_subagents_delegation::{Timestamp, text};
use pi_subagents_sessions::{IndexedRun, RecordedRun, RunState};

use super::Seen;
use crate::runs::find::status_of;
use crate::runs::missing_record::LostRecord;
use crate::runs::owned::OwnerProcess as _;

/// How much of a prompt is shown.
const SHORT_PROMPT: usize = 100;

impl Seen {
    pub(super) fn text(&self, now: Timestamp) -> String {
        let runs = &self.runs;
        let mut lines = vec![self.counts.line()];
        let names: Vec<String> = runs.iter().map(|run| one_line(&run.name)).collect();
        let widths = names.iter().map(|name| text::columns(name));
        let width = widths.max().unwrap_or(0).min(24);
        let sessions = runs.iter().map(|run| run.session.as_str().len());
        let session_width = sessions.max().unwrap_or(0);
        for (run, name) in runs.iter().zip(&names) {
            let name = text::cut_columns(name, width.max(3));
            let name = format!(
                "{name}{}",
                " ".repeat(width.saturating_sub(text::columns(&name)))
            );
            let status = status_of(run);
            let icon = status.icon();
            // The hourglass alone takes two columns.
            let gap = if status.is_over() { "  " } else { " " };
            lines.push(format!(
                "{icon}{gap}{name}  {:9}  {:>8}  {:session_width$}  {}",
                status.as_str(),
                text::duration(lasted(run, now)),
                run.session.as_str(),
                run.run,
            ));
            if run.is_open() && run.is_owner_stopped() {
                let pid = run.owner.pid;
                lines.push(format!(
                    "   its owner (pid {pid}) is stopped; kill -CONT {pid} continues it"
                ));
            }
            if self.is_named {
                lines.extend(details(run));
            }
        }
        if runs.is_empty() && self.counts.total() > 0 {
            lines.push(
                "Nothing is running. pi-subagents status --all lists what ran here.".to_owned(),
            );
        }
        lines.join("\n")
    }
}

/// What the record tells of a run that was asked for.
fn details(run: &IndexedRun) -> Vec<String> {
    let line = |label: &str, text: String| format!("   {label:8}{text}");
    let record = match RecordedRun::read(&run.directory) {
        Ok(record) => record,
        Err(error) => return vec![line("record", LostRecord::new(run, error).what())],
    };
    let task = &record.task;
    let end = record.end.as_ref();
    let prompt = text::cut_characters(&one_line(&task.prompt), SHORT_PROMPT);
    let mut lines = Vec::new();
    if run.is_background() {
        lines.push(line("runs", "in the background".to_owned()));
    }
    if let Some(used) = &task.definition {
        lines.push(line("agent", one_line(&used.name)));
    }
    lines.push(line("task", prompt));
    lines.push(line("cwd", task.cwd.display().to_string()));
    let answered = end.and_then(|end| end.model.clone());
    if let Some(model) = answered.or(record.model) {
        lines.push(line("model", model));
    }
    lines.push(line("record", run.directory.path().display().to_string()));
    for lack in end.iter().flat_map(|end| &end.incomplete) {
        lines.push(line("lacks", one_line(lack)));
    }
    if let Some(error) = end.and_then(|end| end.error_message.as_ref()) {
        lines.push(line("error", one_line(error)));
    }
    if let Some(end) = end {
        lines.push(line("resume", end.resume.clone()));
    }
    lines
}

fn one_line(words: &str) -> String {
    text::one_line(&text::clean(words))
}

fn lasted(run: &IndexedRun, now: Timestamp) -> Duration {
    let end = match run.state {
        RunState::Open => now,
        RunState::Over { at, .. } => at,
    };
    Duration::try_from(end.duration_since(run.accepted_at)).unwrap_or_default()
}
