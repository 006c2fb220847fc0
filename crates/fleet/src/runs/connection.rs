//! The connection to the fleet of this user, as the settings describe it.

use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_configuration::{FleetSettings, ReadSettings, SettingsFiles};
use pi_subagents_files::{open_own, read_bounded};
use pi_subagents_fleet_queue::{Address, Fleet, FleetError, Key, die_at};
use pi_subagents_vocabulary::Secret;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::owner_process::this_host;

/// A longer file holds no key.
const LONGEST_KEY_FILE: u64 = 4096;

/// The number of letters of a key that name its owner: enough that no two are alike.
const NAME_FROM_KEY: usize = 32;

/// Returns the fleet settings in the user's own file.
pub(crate) fn settings_of_user(places: &Places) -> FleetSettings {
    let read = ReadSettings::of(&SettingsFiles {
        agent_dir: &places.agent_dir,
        trusted_project: None,
        home: &places.home,
    });
    read.settings.fleet
}

/// Connects to the fleet of the settings as a caller.
pub(crate) async fn connect(
    settings: &FleetSettings,
    places: &Places,
) -> Result<Fleet, CommandError> {
    let address = address(settings, None, places)?;
    Fleet::connect(&address).await.map_err(unreachable)
}

/// Returns the address of the fleet of the settings. A worker has a name of its own; a caller is
/// named after their key, or after themselves without a key.
pub(crate) fn address(
    settings: &FleetSettings,
    worker: Option<&str>,
    places: &Places,
) -> Result<Address, CommandError> {
    let seed = settings.nkey.as_deref().map(read_seed).transpose()?;
    let name = match (worker, &seed) {
        (Some(worker), _) => worker.to_owned(),
        (None, Some(seed)) => {
            let key = Key::of_seed(seed).map_err(|error| bad_key(settings, &error))?;
            caller_name(&key)
        }
        (None, None) => plain(&caller_of(places)),
    };
    Ok(Address {
        servers: settings.servers.clone(),
        nkey: seed,
        authority: settings.ca.clone(),
        name,
        prefix: settings.prefix.clone(),
    })
}

/// Lets this process die at the step that a test names.
pub(crate) fn die_in_tests(places: &Places) {
    if let Some(step) = places.variable("FLEET_DIE_AT") {
        die_at(step.to_string_lossy().into_owned());
    }
}

/// Returns the name of the caller with a key, under which answers reach them.
pub(crate) fn caller_name(key: &Key) -> String {
    key.public().chars().take(NAME_FROM_KEY).collect()
}

/// Returns who asks, as `user@machine`.
pub(crate) fn caller_of(places: &Places) -> String {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| places.variable(name));
    let user = user.map_or("somebody".into(), |user| user.to_string_lossy());
    format!("{user}@{}", this_host())
}

/// Returns the error that the fleet cannot be used, with advice.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
pub(crate) fn unreachable(error: FleetError) -> CommandError {
    let hint = match &error {
        FleetError::Unreachable { why, .. } if why.contains("certificate") => {
            "Name the certificates that the server is checked against in subagents.fleet.ca, and the server as they name it."
        }
        FleetError::Unreachable { .. } => {
            "Check subagents.fleet.servers, and that nats-server runs there; pi-subagents doctor tries every step."
        }
        FleetError::NotLetIn { .. } => {
            "Name your key in subagents.fleet.nkey; pi-subagents fleet key makes one and prints its entry for the server's file."
        }
        FleetError::Deaf { .. } => {
            "A worker needs the key that was made for its name: pi-subagents fleet key worker NAME. A caller needs one of pi-subagents fleet key caller NAME."
        }
        FleetError::BadAuthority { .. } => "Correct subagents.fleet.ca.",
        FleetError::NotAllowed { .. } => {
            "pi-subagents fleet key prints the permissions that a caller and a worker need in the server's file."
        }
        _ => return CommandError::failed(error.to_string()),
    };
    CommandError::failed(error.to_string()).hint(hint)
}

/// The name of the file that means the standard input.
const STANDARD_INPUT: &str = "-";

/// Reads the seed of a key from a file that only the user can read, or from the standard input.
fn read_seed(file: &Path) -> Result<Secret, CommandError> {
    let path = file.display();
    let failed = |error: &std::io::Error| {
        CommandError::failed(format!("the key of the fleet, {path}, cannot be read"))
            .because(error)
            .hint("Make one with pi-subagents fleet key, or correct subagents.fleet.nkey.")
    };
    if file == Path::new(STANDARD_INPUT) {
        let mut bytes = Vec::new();
        let read = io::stdin().take(LONGEST_KEY_FILE).read_to_end(&mut bytes);
        read.map_err(|error| failed(&error))?;
        return Ok(seed_in(&bytes));
    }
    let opened = open_own(file).map_err(|error| failed(&error))?;
    let metadata = opened.metadata().map_err(|error| failed(&error))?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(CommandError::failed(format!(
            "the key of the fleet, {path}, can be read by others (its mode is {mode:04o})"
        ))
        .hint(format!("Run chmod 600 {path}")));
    }
    let bytes = read_bounded(&opened, LONGEST_KEY_FILE).map_err(|error| failed(&error))?;
    Ok(seed_in(&bytes))
}

/// Finds the seed in the content of a file: everything else in it is a comment.
fn seed_in(bytes: &[u8]) -> Secret {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().map(str::trim);
    let seed = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    Secret::new(seed.unwrap_or_default())
}

fn bad_key(settings: &FleetSettings, error: &FleetError) -> CommandError {
    let file = settings.nkey.as_deref().unwrap_or(Path::new(""));
    CommandError::failed(format!("{}: {error}", file.display()))
        .hint("pi-subagents fleet key makes a key.")
}

/// Leaves out the characters that cannot be part of a subject.
fn plain(text: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let replaced = text
        .chars()
        .map(|letter| if fits(letter) { letter } else { '-' });
    replaced.take(NAME_FROM_KEY).collect()
}
