//! `export`: writes a conversation into one file for other people.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_files::{self as files, Audience};

use crate::doors::command_line::markdown_file::markdown_file;
use crate::doors::command_line::read_conversation::{Scope, read_conversation};
use crate::doors::command_line::sheet::Sheet;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or definition
    id: String,
    /// Write Markdown, with the calls of tools folded
    #[arg(long, required = true)]
    markdown: bool,
    /// The file to write, or - for stdout [default: subagent-SESSION.md in the current directory]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the file even if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &ExportArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let zone = Sheet::of_stdout(&places).zone().clone();
    let cwd = places.cwd.clone();
    let conversation = read_conversation(&places, &args.id, "export", printer, Scope::Meant)?;
    let page = markdown_file(&conversation, &zone);
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if to_stdout {
        printer.data(&page);
    } else {
        let usual = || PathBuf::from(format!("subagent-{}.md", conversation.session()));
        let file = cwd.join(args.output.clone().unwrap_or_else(usual));
        write(&file, &page, args.force)?;
        let name = file.display().to_string();
        printer.data(&name);
    }
    conversation.note_state(printer);
    Ok(ExitCode::SUCCESS)
}

fn write(file: &Path, page: &str, is_forced: bool) -> Result<(), CommandError> {
    let written = if is_forced {
        files::replace(file, page.as_bytes(), Audience::Private)
    } else {
        files::write_whole_once(file, page.as_bytes()).and_then(|is_written| {
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
