//! Files with a token of this user, which programs of the user send to a server of ours.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_files::{
    Audience, create_directories, open_own, read_bounded, replace, write_whole_once,
};

use crate::error::CommandError;
use crate::random;

/// The length of the longest file with a token.
const LONGEST_TOKEN: u64 = 1024;

/// Replaces the token in a file by a new one, so that the old one opens nothing any more.
pub fn new_token_in(file: &Path) -> Result<(), CommandError> {
    let made = random::new_secret()?;
    if let Some(directory) = file.parent() {
        create_directories(directory).map_err(|error| unusable(file, &error))?;
    }
    let replaced = replace(file, format!("{made}\n").as_bytes(), Audience::Private);
    replaced.map_err(|error| unusable(file, &error))
}

fn unusable(file: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("the token in {} cannot be used", file.display()))
        .because(error)
        .hint("Remove the file; the next start creates a new one.")
}

/// Reads the token in a file, which is made when it is first needed.
pub fn token_in(file: &Path) -> Result<String, CommandError> {
    let failed = |error: &io::Error| unusable(file, error);
    if let Some(directory) = file.parent() {
        create_directories(directory).map_err(|error| failed(&error))?;
    }
    let made = random::new_secret()?;
    // Another process may have made it first.
    write_whole_once(file, format!("{made}\n").as_bytes()).map_err(|error| failed(&error))?;
    let secret = read_private(file).map_err(|error| failed(&error))?;
    if secret.len() < made.len() {
        return Err(failed(&io::Error::other("it is too short")));
    }
    Ok(secret)
}

/// Reads a token from a file that only the user can read.
fn read_private(file: &Path) -> io::Result<String> {
    let opened = open_own(file)?;
    if opened.metadata()?.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("others can read it"));
    }
    let content = read_bounded(&opened, LONGEST_TOKEN)?;
    Ok(String::from_utf8_lossy(&content).trim().to_owned())
}
