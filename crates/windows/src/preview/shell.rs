//! Previews of shell commands.

use std::path::Path;

use pi_subagents_delegation::text::{self, CUT_MARK};
use unicode_width::UnicodeWidthStr;

use super::PreviewContext;
use super::arguments::Arguments;
use super::path::shorten_all;
use crate::paint::fit;
use crate::{Line, Role};

const LEAD: &str = "bash → ";
/// A line that continues a command stands under the command, not under the tool's name.
const CONTINUATION: &str = "     │ ";
const AND: &str = " && ";

/// A command takes no more lines than this.
const MAX_LINES: usize = 4;

/// A command that is shown whole takes no more lines than this.
const MAX_WHOLE_LINES: usize = 100;

/// Shows `bash → command`, at its `&&` continued on further lines where it is too wide for one.
pub(super) fn bash(arguments: Arguments<'_>, context: &PreviewContext) -> Vec<Line> {
    let command = arguments.text(&["command"]);
    let command = text::clean(&command);
    let first = command.lines().find(|line| !line.trim().is_empty());
    let first = without_cd(first.unwrap_or(CUT_MARK).trim(), &context.cwd);
    let first = shorten_all(first, context);
    let room = context.width() - LEAD.width();
    let mut packed = packed(&first, room);
    if packed.len() > MAX_LINES {
        packed.truncate(MAX_LINES);
        if let Some(last) = packed.last_mut() {
            last.push(' ');
            last.push_str(CUT_MARK);
        }
    }
    packed
        .iter()
        .zip(std::iter::once(LEAD).chain(std::iter::repeat(CONTINUATION)))
        .map(|(part, lead)| {
            let line = Line::new(Role::Muted, &format!("{lead}{part}"));
            fit(&line, context.width())
        })
        .collect()
}

/// Shows all lines of a command, up to a bound.
pub(super) fn whole(arguments: Arguments<'_>, context: &PreviewContext) -> Vec<Line> {
    let command = arguments.text(&["command"]);
    let command = text::clean(&command);
    let mut lines: Vec<&str> = command
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return bash(arguments, context);
    }
    if lines.len() > MAX_WHOLE_LINES {
        lines.truncate(MAX_WHOLE_LINES);
        lines.push(CUT_MARK);
    }
    let first = shorten_all(without_cd(lines[0].trim(), &context.cwd), context);
    let further = lines.iter().skip(1).map(|&line| line.to_owned());
    std::iter::once(first)
        .chain(further)
        .zip(std::iter::once(LEAD).chain(std::iter::repeat(CONTINUATION)))
        .map(|(part, lead)| {
            let line = Line::new(Role::Muted, &format!("{lead}{part}"));
            fit(&line, context.width())
        })
        .collect()
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
