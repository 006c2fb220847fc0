//! Commits as files: the state that a machine sends so that another one can work on it, and the
//! result that comes back.
//!
//! A *base* holds some commits of history and is sent once. The commits beyond it travel as a thin
//! bundle.

use std::fs;
use std::path::{Path, PathBuf};

use crate::capture::Captured;
use crate::changes::changes;
use crate::error::WorkspaceError;
use crate::git::{Git, strange, words};
use crate::object_id::ObjectId;
use crate::pins::{Pin, Pins, checked, pin};
use crate::repository::{Repository, entries, path, read_shallow};
use crate::scratch::Scratch;

/// The ref of a bundle that travels to a worker.
pub(crate) const SENT: &str = "refs/pi-subagents/sent";

/// The refs of a bundle that comes back.
const RESULT: &str = "refs/pi-subagents/result";
const LEFT: &str = "refs/pi-subagents/left";

/// A bundle that was written into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBundle {
    /// The commit that it leads to.
    pub commit: ObjectId,
    /// The size of the file.
    pub bytes: u64,
    /// The boundary of its history: commits whose parents are not in it.
    pub shallow: Vec<ObjectId>,
}

/// Switches on checks of objects from elsewhere. Old histories have some harmless flaws, which are
/// allowed.
pub(crate) fn with_checks(git: Git) -> Git {
    let mut git = git.with_setting("transfer.fsckObjects=true");
    for flaw in [
        "zeroPaddedFilemode",
        "missingSpaceBeforeDate",
        "badTimezone",
    ] {
        git = git.with_setting(format!("fetch.fsck.{flaw}=warn"));
    }
    git
}

/// Writes a base: a commit with a limited number of commits of its history.
pub fn bundle_base(
    repository: &Repository,
    commit: &ObjectId,
    history: u32,
    file: &Path,
) -> Result<WrittenBundle, WorkspaceError> {
    let scratch = Scratch::empty(commit.format())?;
    let depth = format!("--depth={}", history.max(1));
    let wish = format!("{commit}:{SENT}");
    let options = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        &depth,
    ];
    let mut arguments = words(&options);
    arguments.extend([repository.common_dir().as_os_str(), wish.as_ref()]);
    scratch.git().run(&arguments)?;
    write(scratch.git(), file, &[SENT], &[])?;
    Ok(WrittenBundle {
        commit: commit.clone(),
        bytes: size(file)?,
        shallow: read_shallow(&scratch.path().join("shallow"))?,
    })
}

/// Writes the objects that lead to a commit from the commits of the other side. `shallow` is the
/// boundary of the other side's histories. Returns `None` if the other side has the commit.
pub fn bundle_thin(
    repository: &Repository,
    commit: &ObjectId,
    have: &[ObjectId],
    shallow: &[ObjectId],
    file: &Path,
) -> Result<Option<WrittenBundle>, WorkspaceError> {
    if have.contains(commit) {
        return Ok(None);
    }
    let mut boundary = repository.shallow()?;
    boundary.extend(shallow.iter().cloned());
    boundary.sort();
    boundary.dedup();
    let scratch = Scratch::of(repository, &boundary)?;
    scratch.git().run(&["update-ref", SENT, commit.as_str()])?;
    write(scratch.git(), file, &[SENT], have)?;
    Ok(Some(WrittenBundle {
        commit: commit.clone(),
        bytes: size(file)?,
        shallow: boundary,
    }))
}

/// Writes the result of a run in a clone, beyond the commits that its caller has. Returns `None` if
/// there is nothing to send.
pub fn bundle_result(
    workspace: &Repository,
    captured: &Captured,
    have: &[ObjectId],
    file: &Path,
) -> Result<Option<WrittenBundle>, WorkspaceError> {
    let git = workspace.git();
    let mut names = vec![RESULT.to_owned()];
    git.run(&["update-ref", RESULT, captured.result.as_str()])?;
    for (number, commit) in captured.left.iter().enumerate() {
        let name = format!("{LEFT}/{}", number + 1);
        git.run(&["update-ref", &name, commit.as_str()])?;
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut arguments = [&["rev-list", "--count"][..], &names, &["--not"]].concat();
    arguments.extend(have.iter().map(ObjectId::as_str));
    if git.line(&arguments)? == "0" {
        return Ok(None);
    }
    write(git, file, &names, have)?;
    Ok(Some(WrittenBundle {
        commit: captured.result.clone(),
        bytes: size(file)?,
        shallow: Vec::new(),
    }))
}

/// Takes the state that a run began from out of a file that came from elsewhere, and keeps it under
/// the name of the run.
pub fn receive_begin(
    repository: &Repository,
    run: &str,
    begin: &ObjectId,
    file: &Path,
) -> Result<(), WorkspaceError> {
    let wish = format!("+{SENT}:refs/pi-subagents/runs/{}/base", checked(run)?);
    fetch(repository, file, &[wish])?;
    pin(repository, run, Pin::Base, begin)
}

/// Takes the result of a run out of a file that came from elsewhere, and keeps it under the name of
/// the run. The checkout is not touched.
pub fn receive_result(
    repository: &Repository,
    run: &str,
    result: &ObjectId,
    file: &Path,
) -> Result<Pins, WorkspaceError> {
    let place = format!("refs/pi-subagents/runs/{}", checked(run)?);
    let wishes = [
        format!("+{RESULT}*:{place}/result*"),
        format!("+{LEFT}/*:{place}/left/*"),
    ];
    fetch(repository, file, &wishes)?;
    pin(repository, run, Pin::Result, result)?;
    Pins::read(repository, run)
}

fn fetch(repository: &Repository, file: &Path, wishes: &[String]) -> Result<(), WorkspaceError> {
    let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
    let mut arguments = words(&options);
    arguments.push(file.as_os_str());
    arguments.extend(wishes.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
    with_checks(repository.git().clone()).run(&arguments)?;
    Ok(())
}

/// Returns the ten largest files that a commit adds to a base, or of the whole commit if there is
/// no base.
pub fn largest_files(
    repository: &Repository,
    base: Option<&ObjectId>,
    commit: &ObjectId,
) -> Result<Vec<(PathBuf, u64)>, WorkspaceError> {
    let arguments = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit.as_str()];
    let printed = repository.git().run(&arguments)?;
    let sizes = entries(&printed).map(file_size);
    let sizes: Option<Vec<_>> = sizes.collect();
    let mut sizes = sizes.ok_or_else(|| strange(&arguments, &printed))?;
    if let Some(base) = base {
        let changed = changes(repository, base, commit)?;
        sizes.retain(|(name, _)| changed.iter().any(|file| file.path == *name));
    }
    sizes.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    sizes.truncate(10);
    Ok(sizes)
}

/// Reads `100644 blob <id>     123\tname`. An entry that is no file has `-` for its size.
fn file_size(entry: &[u8]) -> Option<(PathBuf, u64)> {
    let at = entry.iter().position(|byte| *byte == b'\t')?;
    let words = std::str::from_utf8(&entry[..at]).ok()?;
    let bytes = words.split_whitespace().nth(3)?;
    Some((
        path(&entry[at + 1..]).to_owned(),
        bytes.parse().unwrap_or(0),
    ))
}

fn write(git: &Git, file: &Path, names: &[&str], have: &[ObjectId]) -> Result<(), WorkspaceError> {
    let options = ["bundle", "create", "--quiet"];
    let mut arguments = words(&options);
    arguments.push(file.as_os_str());
    arguments.extend(words(names));
    let have: Vec<String> = have.iter().map(|id| format!("^{id}")).collect();
    arguments.extend(have.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
    git.run(&arguments)?;
    Ok(())
}

fn size(file: &Path) -> Result<u64, WorkspaceError> {
    let metadata = fs::metadata(file).map_err(WorkspaceError::of_file(file))?;
    Ok(metadata.len())
}
