//! A file that a command writes for its person, or its content on stdout.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use pi_subagents_files::{self as files, Audience};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// Where something is written.
#[derive(Args)]
pub(super) struct WrittenArgs {
    /// The file to write, or - for stdout [default: subagent-ID with an ending that fits, in the current directory]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the file even if it exists
    #[arg(long)]
    force: bool,
}

impl WrittenArgs {
    /// Writes the content, and prints the name of the file.
    pub(super) fn write(
        &self,
        content: &str,
        usual: &str,
        places: &Places,
        printer: Printer,
    ) -> Result<(), CommandError> {
        if self.output.as_deref() == Some(Path::new("-")) {
            printer.data(content);
            return Ok(());
        }
        let name = self.output.clone().unwrap_or_else(|| usual.into());
        let file = places.cwd.join(name);
        write(&file, content, self.force)?;
        printer.data(&file.display().to_string());
        Ok(())
    }
}

fn write(file: &Path, content: &str, is_forced: bool) -> Result<(), CommandError> {
    let written = if is_forced {
        files::replace(file, content.as_bytes(), Audience::Private)
    } else {
        files::write_whole_once(file, content.as_bytes()).and_then(|is_written| {
            if is_written {
                return Ok(());
            }
            Err(io::ErrorKind::AlreadyExists.into())
        })
    };
    written.map_err(|error| {
        let name = file.display();
        if error.kind() == io::ErrorKind::AlreadyExists {
            return CommandError::usage(format!("{name} exists already"))
                .hint("Use --force to write it anew, or --output to name another file.");
        }
        CommandError::failed(format!("could not write {name}")).because(&error)
    })
}
