//! `fleet key`: a new key in a file of its own, and the entry of its owner for the server's file.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::places::find_places;
use clap::{Args, ValueEnum};
use pi_subagents_files::{create_directories, create_new};
use pi_subagents_vocabulary::fits_fleet_name;
use schemars::JsonSchema;
use serde::Serialize;

use super::server_entry::server_entry;
use pi_subagents_fleet::new_key;
use pi_subagents_fleet::values::{KeyOwner, NewKey};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

pub(super) const EXAMPLES: &str = "\
Examples:
  pi-subagents fleet key caller ada
  pi-subagents fleet key worker build-7 --pool gpu --file build-7.nk";

#[derive(Args)]
pub(super) struct KeyArgs {
    /// Who the key is for
    #[arg(value_enum, value_name = "ROLE")]
    role: Role,
    /// Name of the owner; a worker must be started under this name
    #[arg(value_parser = parse_name)]
    name: String,
    /// Pool that the worker may take tasks from; may be given several times [default: the setting subagents.worker.pools, or default]
    #[arg(long = "pool", value_name = "POOL", value_parser = parse_name)]
    pools: Vec<String>,
    /// File that the key is written into [default: fleet-NAME.nk in the agent directory]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    /// Somebody who sets the fleet up with fleet init
    Admin,
    /// Somebody who sends tasks
    Caller,
    /// A machine that does them
    Worker,
}

fn parse_name(text: &str) -> Result<String, String> {
    if fits_fleet_name(text) {
        return Ok(text.to_owned());
    }
    Err("a name has 1 to 32 letters, digits, - and _".to_owned())
}

/// The JSON of `fleet key`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyResult<'a> {
    /// The owner of the key.
    name: &'a str,
    public_key: &'a str,
    /// The file that holds the key.
    file: &'a Path,
    /// The entry for the file of the server.
    server_entry: &'a str,
    permissions: KeyPermissions<'a>,
}

/// The subjects that the owner of a key may use.
#[derive(Serialize, JsonSchema)]
struct KeyPermissions<'a> {
    publish: &'a [String],
    subscribe: &'a [String],
}

pub(super) fn run(args: &KeyArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    if args.role != Role::Worker && !args.pools.is_empty() {
        return Err(CommandError::usage(
            "only the key of a worker is for pools, so --pool is for workers",
        ));
    }
    let places = find_places()?;
    let settings = Configuration::read_once(&places, false).settings;
    let pools = if args.pools.is_empty() {
        &settings.worker.pools
    } else {
        &args.pools
    };
    let owner = match args.role {
        Role::Admin => KeyOwner::Admin,
        Role::Caller => KeyOwner::Caller,
        Role::Worker => KeyOwner::Worker {
            name: &args.name,
            pools,
        },
    };
    let key = new_key(owner, &settings.fleet)?;
    let entry = server_entry(&args.name, &key);
    let file = args.file.as_ref().map_or_else(
        || places.agent_dir.join(format!("fleet-{}.nk", args.name)),
        |file| places.cwd.join(file),
    );
    write_key(&key, &file)?;
    let path = file.display();
    if printer.is_json() {
        printer.json(&KeyResult {
            name: &args.name,
            public_key: &key.public,
            file: &file,
            server_entry: &entry,
            permissions: KeyPermissions {
                publish: &key.permissions.publish,
                subscribe: &key.permissions.subscribe,
            },
        });
        return Ok(ExitCode::SUCCESS);
    }
    printer.note(&format!(
        "Wrote the key of {} to {path}; keep it secret.",
        args.name
    ));
    printer.note(
        "Put this entry into accounts.FLEET.users of the server's file, and reload the server:\n",
    );
    printer.data(&entry);
    printer.note(&next_step(args, &file));
    Ok(ExitCode::SUCCESS)
}

/// Says what the owner of a key does with it. The key of a worker or of another person is copied to
/// their machine first.
fn next_step(args: &KeyArgs, file: &Path) -> String {
    let (name, path) = (&args.name, file.display());
    let file = file.file_name().unwrap_or_default().display();
    match args.role {
        Role::Admin => {
            format!("\nUse it to set the fleet up: pi-subagents fleet init --nkey {path}")
        }
        Role::Caller => format!(
            "\nSet \"nkey\": \"~/.pi/agent/{file}\" under subagents.fleet in settings.json of {name}, with the file in that place."
        ),
        Role::Worker => format!(
            "\nCopy it to ~/.pi/agent on {name}, set \"nkey\": \"~/.pi/agent/{file}\" under subagents.fleet in settings.json there, and start it with pi-subagents fleet work --name {name}."
        ),
    }
}

/// Writes the seed into a new file that only the user may read.
fn write_key(key: &NewKey, file: &Path) -> Result<(), CommandError> {
    let path = file.display();
    let failed = |error: &dyn std::error::Error| {
        CommandError::failed(format!("the key could not be written to {path}")).because(error)
    };
    if let Some(above) = file.parent() {
        create_directories(above).map_err(|error| failed(&error))?;
    }
    let mut written = create_new(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => CommandError::usage(format!(
            "{path} is there already, and a key is never overwritten"
        ))
        .hint("Remove the file, or name another with --file."),
        _ => failed(&error),
    })?;
    written
        .write_all(format!("{}\n", key.seed.expose()).as_bytes())
        .map_err(|error| failed(&error))
}
