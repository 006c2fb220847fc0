//! `completions` and `man`: what the command line says about itself, for shells and for `man`.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use crate::doors::command_line::cli::command_line;
use crate::error::CommandError;
use crate::print::Printer;

/// What the program is called, whatever its file is.
const NAME: &str = "pi-subagents";

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this directory, instead of printing one for all
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs, printer: Printer) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), NAME, &mut script);
    // The generator for bash spells a name with a hyphen in two ways, and then finds no command.
    let script = String::from_utf8_lossy(&script).replace("pi__subcmd__subagents", "pi__subagents");
    if printer.is_json() {
        printer.json(&json!({"shell": args.shell.to_string(), "script": script}));
    } else {
        printer.exact(&script);
    }
    ExitCode::SUCCESS
}

pub(crate) fn man(args: &ManArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let written = match &args.dir {
        Some(directory) => write_pages(directory, printer).map_err(|error| {
            let what = format!("the manual cannot be written to {}", directory.display());
            CommandError::failed(what).because(&error)
        }),
        None => print_page(printer)
            .map_err(|error| CommandError::failed("there is no manual").because(&error)),
    };
    written.map(|()| ExitCode::SUCCESS)
}

/// The commands that have a page; `help` has none.
fn described() -> clap::Command {
    command_line().disable_help_subcommand(true)
}

fn print_page(printer: Printer) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(described()).render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    if printer.is_json() {
        printer.json(&json!({"page": page}));
        return Ok(());
    }
    printer.exact(&page);
    if io::stdout().is_terminal() {
        printer.note("\nThis is what man reads: pi-subagents man | man -l -");
    }
    Ok(())
}

fn write_pages(directory: &Path, printer: Printer) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut commands = described();
    commands.build();
    let mut pages = Vec::new();
    write_with_subcommands(commands, directory, &mut pages)?;
    if printer.is_json() {
        printer.json(&json!({"pages": pages}));
    } else {
        let pages: Vec<String> = pages
            .iter()
            .map(|page| page.display().to_string())
            .collect();
        printer.data(&pages.join("\n"));
    }
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
