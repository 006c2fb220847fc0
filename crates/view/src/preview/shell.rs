//! Previews of shell commands.

use std::path::Path;

use pi_subagents_vocabulary::text::{self, CUT_MARK};
use unicode_width::UnicodeWidthStr;

use super::arguments::Arguments;
use super::outcome::FAILED;
use super::path::shorten_all;
use super::sentence::ARROW;
use super::{CallOutcome, PreviewContext};
use crate::paint::fit;
use crate::{Line, Role, Span};

const LEAD: &str = "bash → ";
/// The beginning of a line that continues a command: it is below the command, not below the tool's
/// name.
const CONTINUATION: &str = "     │ ";
const AND: &str = " && ";

/// A command takes no more lines than this.
const MAX_LINES: usize = 4;

/// The number of columns of a command that stay, even if its outcome does not fit then.
const MIN_COMMAND: usize = 12;

/// A command that is shown whole takes no more lines than this.
const MAX_WHOLE_LINES: usize = 100;

/// A shell command, with its paths shortened.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Command {
    /// Its first line, without a `cd` to where it runs anyway.
    first: String,
    /// Its other lines, up to a bound.
    further: Vec<String>,
}

impl Command {
    pub(super) fn new(arguments: Arguments<'_>, context: &PreviewContext) -> Self {
        let command = text::clean(&arguments.text(&["command"]));
        let mut lines = command
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or(CUT_MARK).trim();
        let mut further: Vec<String> = lines
            .by_ref()
            .take(MAX_WHOLE_LINES)
            .map(str::to_owned)
            .collect();
        if lines.next().is_some() {
            further.push(CUT_MARK.to_owned());
        }
        Self {
            first: shorten_all(without_cd(first, &context.cwd), context),
            further,
        }
    }

    /// Shows `bash → command`. A command that is too wide for one line is continued on further
    /// lines at its `&&`.
    pub(super) fn lines(&self, outcome: &CallOutcome, width: usize) -> Vec<Line> {
        let tail = outcome.tail(width);
        let taken: usize = tail.iter().map(Span::width).sum();
        let mark = if outcome.is_failed() {
            FAILED.width()
        } else {
            0
        };
        let room = width.saturating_sub(LEAD.width() + mark);
        let mut parts = packed(&self.first, room.saturating_sub(taken));
        if parts.len() > MAX_LINES {
            parts.truncate(MAX_LINES);
            if let Some(last) = parts.last_mut() {
                last.push(' ');
                last.push_str(CUT_MARK);
            }
        }
        if let Some(last) = parts.last_mut() {
            *last = text::cut_columns(last, room.saturating_sub(taken).max(MIN_COMMAND));
        }
        drawn(&parts, outcome, width)
    }

    /// Shows all lines of the command.
    pub(super) fn whole(&self, outcome: &CallOutcome, width: usize) -> Vec<Line> {
        let first = std::iter::once(&self.first);
        let parts: Vec<String> = first.chain(&self.further).cloned().collect();
        drawn(&parts, outcome, width)
    }

    /// Returns how many bytes it holds.
    pub(super) fn size(&self) -> usize {
        self.first.len() + self.further.iter().map(String::len).sum::<usize>()
    }
}

/// Puts the parts of a command below each other, with the outcome behind the last part.
fn drawn(parts: &[String], outcome: &CallOutcome, width: usize) -> Vec<Line> {
    let is_failed = outcome.is_failed();
    let mut lines: Vec<Line> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| match (number, is_failed) {
            (0, false) => Line::new(Role::Muted, &format!("{LEAD}{part}")),
            (0, true) => Line::new(Role::Failed, &format!("{FAILED}bash"))
                .with(Role::Muted, &format!("{ARROW}{part}")),
            (_, false) => Line::new(Role::Muted, &format!("{CONTINUATION}{part}")),
            (_, true) => Line::new(Role::Muted, &format!("  {CONTINUATION}{part}")),
        })
        .collect();
    if let Some(last) = lines.last_mut() {
        last.extend(outcome.tail(width));
    }
    lines.iter().map(|line| fit(line, width)).collect()
}

/// Splits a command into its parts and puts as many on each line as fit.
fn packed(command: &str, room: usize) -> Vec<String> {
    if command.width() <= room {
        return vec![command.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts(command) {
        match lines.last_mut() {
            Some(line) if line.width() + AND.width() + part.width() + " &&".width() <= room => {
                line.push_str(AND);
                line.push_str(part);
            }
            Some(line) => {
                line.push_str(AND.trim_end());
                lines.push(part.to_owned());
            }
            None => lines.push(part.to_owned()),
        }
    }
    lines
}

/// Splits at each `&&` that is not quoted.
fn parts(command: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut quote = None;
    let mut is_escaped = false;
    for (place, character) in command.char_indices() {
        match (quote, character) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '"' | '\'' | '`') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, '&') if place >= begin && command[place..].starts_with("&&") => {
                parts.push(command[begin..place].trim());
                begin = place + 2;
            }
            _ => {}
        }
    }
    parts.push(command[begin..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Takes away a `cd` to where the command runs anyway.
fn without_cd<'a>(command: &'a str, cwd: &Path) -> &'a str {
    let rest = command.strip_prefix("cd ").and_then(|rest| {
        let end = rest.find("&&").into_iter().chain(rest.find(';')).min()?;
        let target = rest[..end].trim().trim_matches(['"', '\'']);
        let after = rest[end..].trim_start_matches(['&', ';']).trim_start();
        let is_here = matches!(target, "." | "./") || Path::new(target) == cwd;
        (is_here && !after.is_empty()).then_some(after)
    });
    match rest {
        Some(rest) => without_cd(rest, cwd),
        None => command,
    }
}
