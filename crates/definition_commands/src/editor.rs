//! The user's editor, for texts that are too long to be typed at a question.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pi_subagents_files::{create_new, read_own_text};
use tokio::process::Command;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random::new_secret;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::signals::survive_interrupts;

/// An editor that every POSIX system has.
const FALLBACK: &str = "vi";

/// A longer text is no system prompt.
const LONGEST_TEXT: u64 = 1 << 20;

/// Returns the command of the user's editor.
pub(super) fn command(places: &Places) -> Cow<'_, str> {
    let chosen = places
        .variable("VISUAL")
        .or_else(|| places.variable("EDITOR"))
        .filter(|command| !command.is_empty());
    chosen.map_or(Cow::Borrowed(FALLBACK), OsStr::to_string_lossy)
}

/// Opens a text in the user's editor and returns it as it is when the editor has ended.
pub(super) fn edited(places: &Places, initial: &str) -> Result<String, CommandError> {
    let command = command(places);
    let failed = |error: &io::Error| {
        CommandError::failed(format!("could not run the editor {command}"))
            .because(error)
            .hint("Set EDITOR to an editor that is installed, or use --system-prompt @FILE.")
    };
    let file = Scratch::write(initial)?;
    // The variable may hold arguments, as in `code --wait`; a shell takes it apart as git does.
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own editor is no sub-agent"
    )]
    let mut editor = Command::new("sh");
    editor
        .args(["-c", &format!("{command} \"$1\""), "sh"])
        .arg(file.path());
    let status = block_on(async {
        // Ctrl-C is a key of the editor. Without us it would share the terminal with the shell.
        survive_interrupts();
        let started = pi_subagents_os::start(&mut editor);
        let mut running = started.map_err(|error| failed(&error))?;
        running.wait().await.map_err(|error| failed(&error))
    })?;
    if !status.success() {
        return Err(failed(&io::Error::other(status.to_string())));
    }
    let text = read_own_text(file.path(), LONGEST_TEXT);
    text.map_err(|error| CommandError::failed("could not read the text").because(&error))
}

/// A file that is gone when the question is answered.
struct Scratch(PathBuf);

impl Scratch {
    fn write(text: &str) -> Result<Self, CommandError> {
        let failed = |error: io::Error| {
            CommandError::failed("could not write a file for the editor").because(&error)
        };
        let name = format!("pi-subagents-{}.md", &new_secret()?[..16]);
        let scratch = Self(std::env::temp_dir().join(name));
        let mut file = create_new(scratch.path()).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(scratch)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, the system removes it with the other temporary files.
        _ = fs::remove_file(&self.0);
    }
}
