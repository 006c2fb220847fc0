//! `schema`: prints the JSON schemas of what commands print.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::nearest;

use crate::json_schemas::{names, schema};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(crate) struct SchemaArgs {
    /// Schema to print: a command with - between its words, or error, event, one-run, types [default: list the names]
    name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<ExitCode, CommandError> {
    let printer = Printer::for_people();
    let Some(name) = &args.name else {
        printer.data(&names().join("\n"));
        return Ok(ExitCode::SUCCESS);
    };
    let Some(schema) = schema(name) else {
        let names = names();
        let error = CommandError::not_found(format!("there is no schema {name}"));
        let like = nearest(name, names.iter().map(String::as_str));
        return Err(match like {
            Some(like) => error.hint(format!("Did you mean {like}?")),
            None => error.hint("pi-subagents schema lists the names."),
        });
    };
    printer.exact(&format!("{schema:#}"));
    Ok(ExitCode::SUCCESS)
}
