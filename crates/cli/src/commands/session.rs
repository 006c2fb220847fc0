//! `session`: prints the whole conversation of a session, as text or as JSON.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_view::{Line, Role, markdown, wrap};
use pi_subagents_vocabulary::{Timestamp, text};

use crate::log_entry::{EntryKind, LogEntry};
use crate::places::find_places;
use crate::read_conversation::{ReadConversation, ReadRun, Scope, read_conversation};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;

/// The number of characters of a call's arguments that are shown if a person wants it short.
const SHORT_ARGUMENTS: usize = 120;

/// The number of characters of a tool's answer that are shown if a person wants it short.
const SHORT_RESULT: usize = 500;

#[derive(Args)]
pub(crate) struct SessionArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// Leave out thoughts, and cut the arguments of tools after 120 characters and their answers after 500
    #[arg(long, conflicts_with = "json")]
    short: bool,
}

pub(crate) fn run(args: &SessionArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let sheet = Sheet::of_stdout(&places);
    let conversation = read_conversation(&places, &args.id, "session", printer, Scope::Whole)?;
    if printer.is_json() {
        printer.json(&conversation.json());
    } else {
        print(&conversation, args.short, &sheet, printer)?;
        conversation.note_state(printer);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(
    conversation: &ReadConversation,
    is_short: bool,
    sheet: &Sheet,
    printer: Printer,
) -> Result<(), CommandError> {
    let now = Timestamp::now();
    let all = conversation.runs.len();
    for (place, run) in conversation.runs.iter().enumerate() {
        if all > 1 {
            let gap = if place > 0 { "\n" } else { "" };
            let status = run.status().as_str();
            let (place, name) = (
                place + 1,
                text::one_line(&text::clean(&run.row.report.name)),
            );
            let words = format!("=== Run {place}/{all}: {name} ({status}) ===");
            let heading = sheet.text(&[Line::new(Role::Title, &words)]);
            printer.painted(&format!("{gap}{heading}\n"));
        }
        print_run(run, is_short, sheet, now, printer)?;
    }
    Ok(())
}

fn print_run(
    run: &ReadRun,
    is_short: bool,
    sheet: &Sheet,
    now: Timestamp,
    printer: Printer,
) -> Result<(), CommandError> {
    let mut is_first = true;
    run.each_entry(|read| {
        let is_left_out = match read.entry.kind {
            EntryKind::Child => true,
            EntryKind::Thought => is_short,
            _ => false,
        };
        if is_left_out {
            return;
        }
        if !std::mem::replace(&mut is_first, false) {
            printer.painted("");
        }
        let mut entry = read.entry;
        if is_short {
            shorten(&mut entry);
        }
        let time = sheet.time(read.at, now);
        let head = Line::new(Role::Muted, &format!("[{time}] "));
        let head = head.with(entry.role, &heading(&entry));
        printer.painted(&sheet.text(&[head]));
        print_words(&entry, sheet, printer);
    })
}

/// Names an item: `result of bash`.
fn heading(entry: &LogEntry) -> String {
    match &entry.tool {
        Some(tool) if entry.label == "failed" => format!("failed result of {tool}"),
        Some(tool) => format!("{} of {tool}", entry.label),
        None => entry.label.clone(),
    }
}

fn shorten(entry: &mut LogEntry) {
    let most = match entry.kind {
        EntryKind::Call(_) => SHORT_ARGUMENTS,
        EntryKind::Answer => SHORT_RESULT,
        _ => return,
    };
    entry.words = text::cut_characters(&entry.words, most);
}

/// Prints words whole: a pipe gets them as they are, without escape sequences.
fn print_words(entry: &LogEntry, sheet: &Sheet, printer: Printer) {
    let words = entry.words.trim_end();
    if words.is_empty() {
        return;
    }
    let Some(columns) = sheet.columns() else {
        return printer.data(words);
    };
    let lines = if entry.kind == EntryKind::Words {
        markdown::render(words, columns)
    } else {
        let role = match entry.role {
            Role::Failed => Role::Failed,
            _ if entry.kind == EntryKind::Thought => Role::Muted,
            _ => Role::Plain,
        };
        words
            .lines()
            .flat_map(|line| wrap(&Line::new(role, line), columns))
            .collect()
    };
    printer.painted(&sheet.text(&lines));
}
