//! Writes down the surroundings of the process, for the test to read.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process;

/// Open descriptors by number, with their targets in `/proc`.
pub(crate) type Descriptors = BTreeMap<u32, String>;

/// Lists the open descriptors of this process.
pub(crate) fn open_descriptors() -> Descriptors {
    let own_listing = format!("/proc/{}/fd", process::id());
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return Descriptors::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let target = fs::read_link(entry.path()).ok()?;
            Some((number, target.to_string_lossy().into_owned()))
        })
        .filter(|(_, target)| *target != own_listing)
        .collect()
}

/// Returns the environment.
pub(crate) fn environment() -> BTreeMap<String, String> {
    env::vars_os()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        })
        .collect()
}

/// Returns the working directory.
pub(crate) fn working_directory() -> io::Result<String> {
    let directory = fs::read_link("/proc/self/cwd")?;
    Ok(directory.to_string_lossy().into_owned())
}

/// Writes a file by renaming, so that a process that waits for it never reads half of it.
pub(crate) fn write_whole(path: impl AsRef<Path>, text: &str) -> io::Result<()> {
    let path = path.as_ref();
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}", process::id()));
    fs::write(&partial, text)?;
    fs::rename(&partial, path)
}
