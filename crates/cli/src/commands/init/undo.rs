//! `init --undo`: puts every changed file back as it was, unless somebody changed it since.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

use super::file_state::{FileContent, FileState};
use super::journal::{Journal, JournalEntry, put};
use super::tilde;

/// What is done with a file.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It gets these bytes and permissions.
    PutBack(FileContent),
    /// It was not there before, and goes.
    Remove,
    /// It is as it was before.
    AsBefore,
    /// Somebody changed it since.
    Changed,
}

/// Takes back all changes, the latest first. Exits with 1 if some of them stay.
pub(super) fn run(
    journal: &Journal,
    home: &Path,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let entries = journal.entries().map_err(|error| {
        CommandError::failed("the journal of init cannot be read").because(&error)
    })?;
    if entries.is_empty() {
        printer.note("init has changed nothing that could be taken back.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut has_left = false;
    for entry in entries.iter().rev() {
        let shown = tilde(&entry.path, home);
        let done = take_back(journal, entry, home).map_err(|error| {
            CommandError::failed(format!("{shown} could not be put back")).because(&error)
        })?;
        match done {
            Verdict::PutBack(_) => printer.data(&format!("Put back {shown}.")),
            Verdict::Remove => printer.data(&format!("Removed {shown}, which init had made.")),
            Verdict::AsBefore => printer.data(&format!("{shown} is as it was before.")),
            Verdict::Changed => {
                has_left = true;
                printer.complain(&format!(
                    "{shown} was changed after init, so it is left as it is. {}",
                    entry.by_hand
                ));
            }
        }
    }
    Ok(ExitCode::from(u8::from(has_left)))
}

/// Takes one change back if the file is as the change left it.
fn take_back(journal: &Journal, entry: &JournalEntry, home: &Path) -> io::Result<Verdict> {
    let now = FileState::of(&entry.path, home);
    let verdict = verdict(journal.before(entry)?, &journal.after(entry)?, &now);
    match &verdict {
        Verdict::Changed => return Ok(verdict),
        Verdict::AsBefore => {}
        Verdict::PutBack(before) => put(&entry.path, &before.bytes, before.mode)?,
        Verdict::Remove => fs::remove_file(&entry.path)?,
    }
    for directory in entry.directories.iter().rev() {
        // A directory that holds something by now stays.
        _ = fs::remove_dir(directory);
    }
    journal.forget(entry)?;
    Ok(verdict)
}

/// Decides about a file by its bytes before the change, after it, and now.
fn verdict(before: Option<FileContent>, after: &[u8], now: &FileState) -> Verdict {
    match (now, before) {
        (FileState::Read(now), Some(before)) if now.bytes == after => {
            if before.bytes == after {
                Verdict::AsBefore
            } else {
                Verdict::PutBack(before)
            }
        }
        (FileState::Read(now), None) if now.bytes == after => Verdict::Remove,
        (FileState::Read(now), Some(before)) if now.bytes == before.bytes => Verdict::AsBefore,
        (FileState::Absent, None) => Verdict::AsBefore,
        (FileState::Read(_) | FileState::Absent | FileState::Refused(_), _) => Verdict::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> FileContent {
        FileContent {
            bytes: text.into(),
            mode: 0o600,
        }
    }

    #[test]
    fn a_file_is_put_back_only_if_it_is_as_init_left_it() {
        let read = |text: &str| FileState::Read(content(text));
        let before = || Some(content("old"));
        let after = b"new";
        assert_eq!(
            verdict(before(), after, &read("new")),
            Verdict::PutBack(content("old"))
        );
        assert_eq!(verdict(None, after, &read("new")), Verdict::Remove);
        assert_eq!(verdict(before(), after, &read("old")), Verdict::AsBefore);
        assert_eq!(verdict(None, after, &FileState::Absent), Verdict::AsBefore);
        assert_eq!(verdict(before(), after, &read("newer")), Verdict::Changed);
        assert_eq!(verdict(None, after, &read("newer")), Verdict::Changed);
        assert_eq!(
            verdict(before(), after, &FileState::Absent),
            Verdict::Changed
        );
        let link = FileState::Refused("it is a link".to_owned());
        assert_eq!(verdict(before(), after, &link), Verdict::Changed);
    }
}
