//! `completions` and `man`: the command line described for shells and for `man`.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap_mangen::Man;

use crate::cli::command_line;
use crate::completion::Shell;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that will read the script
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write one page per command into this directory instead of printing a single page
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    Printer::for_people().exact(args.shell.script());
    ExitCode::SUCCESS
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, CommandError> {
    let printer = Printer::for_people();
    let written = match &args.dir {
        Some(directory) => write_pages(directory, printer).map_err(|error| {
            let what = format!(
                "could not write the manual pages to {}",
                directory.display()
            );
            CommandError::failed(what).because(&error)
        }),
        None => print_page(printer).map_err(|error| {
            CommandError::failed("could not make the manual page").because(&error)
        }),
    };
    written.map(|()| ExitCode::SUCCESS)
}

/// Returns the commands that have a page: all but `help`.
fn described() -> clap::Command {
    command_line().disable_help_subcommand(true)
}

fn print_page(printer: Printer) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(described()).render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    printer.exact(&page);
    if io::stdout().is_terminal() {
        printer.note("\nTo read it as a page: pi-subagents man | man -l -");
    }
    Ok(())
}

fn write_pages(directory: &Path, printer: Printer) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut commands = described();
    commands.build();
    let mut pages = Vec::new();
    write_with_subcommands(commands, directory, &mut pages)?;
    let pages: Vec<String> = pages
        .iter()
        .map(|page| page.display().to_string())
        .collect();
    printer.data(&pages.join("\n"));
    Ok(())
}

fn write_with_subcommands(
    command: clap::Command,
    directory: &Path,
    pages: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let subcommands: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    pages.push(Man::new(command).generate_to(directory)?);
    for subcommand in subcommands {
        write_with_subcommands(subcommand, directory, pages)?;
    }
    Ok(())
}
