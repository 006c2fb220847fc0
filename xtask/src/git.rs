//! The git that the tests use. Worktrees and merges need 2.43, which is younger than what some systems
//! package.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::machine::{program, variable};

/// The oldest version that can merge and make worktrees as the program does.
const OLDEST: (u32, u32) = (2, 43);

/// Directories that may hold a git beside those of PATH.
const PLACES: [&str; 2] = ["/usr/local/bin", "/opt/git/bin"];

/// Returns the PATH with which the tests find a git that is new enough, or stops with one sentence.
/// No package registry has a git whose program is in the package itself, so none is installed.
pub(crate) fn require() -> Outcome<OsString> {
    let path = variable("PATH").unwrap_or_default();
    path_with_git(&path, &PLACES.map(PathBuf::from))
}

/// Puts the first directory with a git that is new enough before a path, unless the path leads to
/// it anyway.
fn path_with_git(path: &OsStr, beside: &[PathBuf]) -> Outcome<OsString> {
    let mut found = Vec::new();
    let places = env::split_paths(path).chain(beside.iter().cloned());
    for place in places {
        let Some((version, words)) = version_in(&place) else {
            continue;
        };
        if version >= OLDEST {
            let first = std::iter::once(place).filter(|_| !found.is_empty());
            return Ok(env::join_paths(first.chain(env::split_paths(path)))?);
        }
        found.push(words);
    }
    let there = found.first().map_or("none", String::as_str);
    let (major, minor) = OLDEST;
    Err(format!(
        "the tests of worktrees need git {major}.{minor} or newer on PATH, and there is {there}: \
         install a newer one and run this again"
    )
    .into())
}

/// Returns the version of the git in a directory, if there is one.
fn version_in(place: &Path) -> Option<((u32, u32), String)> {
    let git = place.join("git");
    if !git.is_file() {
        return None;
    }
    let output = program(&git).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let version = said.strip_prefix("git version ")?;
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    let number = |text: Option<&str>| text?.parse().ok();
    let version = (number(numbers.next())?, number(numbers.next())?);
    Some((version, said))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Makes a directory with a git of this version.
    fn git(directory: &Path, version: &str) -> PathBuf {
        let place = directory.join(version);
        let file = place.join("git");
        fs::create_dir(&place).unwrap();
        // Another process writes it: a child that another test starts while this process writes
        // has the file open too, and the system does not run a file that somebody writes.
        let script =
            "printf '#!/bin/sh\\necho git version %s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let written = program("sh")
            .args(["-c", script, "sh", version])
            .arg(&file)
            .status();
        assert!(written.unwrap().success());
        place
    }

    #[test]
    fn an_old_git_stops_the_tests_in_a_sentence_unless_there_is_a_newer_one() {
        let directory = env::temp_dir().join(format!("xtask-git-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (old, new) = (git(&directory, "2.39.5"), git(&directory, "2.43.0"));
        let stopped = path_with_git(old.as_os_str(), &[]);
        let found = path_with_git(old.as_os_str(), std::slice::from_ref(&new));
        let plain = path_with_git(new.as_os_str(), &[]);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(
            stopped.unwrap_err().to_string(),
            "the tests of worktrees need git 2.43 or newer on PATH, and there is git version \
             2.39.5: install a newer one and run this again"
        );
        assert_eq!(found.unwrap(), env::join_paths([&new, &old]).unwrap());
        assert_eq!(plain.unwrap(), new);
    }
}
