//! The git that the tests use. Worktrees and merges need 2.43, which is younger than what some systems
//! package.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

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
    let mut found = Vec::new();
    let places = env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    for place in places.collect::<Vec<_>>() {
        let Some((version, words)) = version_in(&place) else {
            continue;
        };
        if version >= OLDEST {
            let first = std::iter::once(place).filter(|_| !found.is_empty());
            return Ok(env::join_paths(first.chain(env::split_paths(&path)))?);
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
fn version_in(place: &std::path::Path) -> Option<((u32, u32), String)> {
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
