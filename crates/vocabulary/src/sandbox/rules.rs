//! The rules for lists of texts that definitions and settings have about a sandbox.

use std::path::Path;

use super::{NetworkHost, NetworkReach, Sandbox};

/// The largest number of entries of such a list.
const MOST: usize = 100;

/// Checks paths: absolute, or in the home.
pub(crate) fn check_paths(paths: &[String]) -> Result<(), String> {
    check_count(paths)?;
    let is_wrong = |path: &&String| Sandbox::absolute(path, Path::new("/")).is_none();
    match paths.iter().find(is_wrong) {
        None => Ok(()),
        Some(path) => Err(format!(
            "must be absolute paths or paths that begin with ~/, without \"..\"; \"{path}\" is neither"
        )),
    }
}

/// Checks hosts.
pub(crate) fn check_hosts(hosts: &[String]) -> Result<(), String> {
    check_count(hosts)?;
    let wrong = hosts.iter().find_map(|host| NetworkHost::parse(host).err());
    wrong.map_or(Ok(()), |error| {
        Err(format!("must be a list of hosts: {error}"))
    })
}

/// Checks the reach of tools: one word, or hosts.
pub(crate) fn check_reach(words: &[String]) -> Result<(), String> {
    check_count(words)?;
    if words.is_empty() {
        return Ok(());
    }
    let read = NetworkReach::of_hosts(words.iter().map(String::as_str));
    read.map(drop).map_err(|error| format!("must be {error}"))
}

fn check_count(list: &[String]) -> Result<(), String> {
    if list.len() > MOST {
        return Err(format!("must have at most {MOST} entries"));
    }
    Ok(())
}
