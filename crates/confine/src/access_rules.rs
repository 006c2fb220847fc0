//! Landlock: which files may be read and written, and no signals and abstract sockets out.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};

/// The interface without which nothing is promised: since it, truncating a file is writing.
const LEAST: ABI = ABI::V3;

/// The newest interface whose rules were tried.
const TRIED: ABI = ABI::V7;

/// The rules of one layer. A later layer can only take away.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AccessRules {
    /// Paths below which everything may be read and executed.
    pub(crate) readable: Vec<PathBuf>,
    /// Directories below which names may be listed. Landlock has no rule for one directory alone, so
    /// names below a hidden directory are seen; what is in its files is not.
    pub(crate) listable: Vec<PathBuf>,
    /// Paths below which everything may be read and written.
    pub(crate) writable: Vec<PathBuf>,
}

/// Puts the rules in force for this process and everything it starts. Returns the number of the
/// interface that the kernel has.
pub(crate) fn restrict(rules: &AccessRules) -> io::Result<u32> {
    // The rights of the least interface are required, newer ones are taken if they are there.
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(io::Error::other)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(TRIED))
        .map_err(io::Error::other)?
        .scope(Scope::from_all(TRIED))
        .map_err(io::Error::other)?;
    let mut created = ruleset.create().map_err(io::Error::other)?;
    let read = AccessFs::from_read(TRIED);
    let all = AccessFs::from_all(TRIED);
    for path in &rules.readable {
        created = allow(created, path, read)?;
    }
    for path in &rules.listable {
        created = allow(created, path, AccessFs::ReadDir.into())?;
    }
    for path in &rules.writable {
        created = allow(created, path, all)?;
    }
    enforced(&created.restrict_self().map_err(io::Error::other)?)
}

fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let is_directory = match fs::metadata(path) {
        Ok(found) => found.is_dir(),
        // A device that this machine does not have; or nobody may look there.
        Err(error) if is_absent(&error) => return Ok(created),
        Err(error) => return Err(error),
    };
    let access = if is_directory {
        access
    } else {
        access & AccessFs::from_file(TRIED)
    };
    let opened = match PathFd::new(path) {
        Ok(opened) => opened,
        Err(error) => return Err(io::Error::other(error)),
    };
    created
        .add_rule(PathBeneath::new(opened, access))
        .map_err(io::Error::other)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
    )
}

/// Returns the interface that is in force. The crate would be content with less.
fn enforced(status: &RestrictionStatus) -> io::Result<u32> {
    let LandlockStatus::Available {
        effective_abi,
        kernel_abi,
    } = status.landlock
    else {
        return Err(io::Error::other("the kernel has no Landlock"));
    };
    if effective_abi < LEAST {
        return Err(io::Error::other(format!(
            "Landlock 3 or newer is needed, and the kernel has {}",
            effective_abi as i32
        )));
    }
    match status.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => {}
        RulesetStatus::NotEnforced => {
            return Err(io::Error::other("Landlock was not enforced"));
        }
    }
    if !status.no_new_privs {
        return Err(io::Error::other("no_new_privs could not be set"));
    }
    let number = kernel_abi.unwrap_or(effective_abi as i32);
    u32::try_from(number).map_err(io::Error::other)
}

/// Returns rules that allow everything except the content of files below some paths: names can be
/// listed, and everything beside these paths is named.
pub(crate) fn all_but(hidden: &[PathBuf]) -> io::Result<AccessRules> {
    let mut rules = AccessRules::default();
    add_all_but(Path::new("/"), &HiddenFiles::of(hidden), &mut rules)?;
    Ok(rules)
}

/// A file or directory, whatever its path: a bind mount gives a directory above a hidden file a
/// second one, and a rule for that would open the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }
}

/// The hidden files, and the directories above them.
#[derive(Debug, Default)]
struct HiddenFiles {
    hidden: BTreeSet<FileIdentity>,
    above: BTreeSet<FileIdentity>,
}

impl HiddenFiles {
    fn of(paths: &[PathBuf]) -> Self {
        let mut files = Self::default();
        for path in paths {
            // A path that is not there hides nothing, but nothing that appears there is read.
            files.hidden.extend(FileIdentity::of(path));
            let above = path.ancestors().skip(1);
            files.above.extend(above.flat_map(FileIdentity::of));
        }
        files
    }
}

fn add_all_but(directory: &Path, files: &HiddenFiles, rules: &mut AccessRules) -> io::Result<()> {
    let identity = match FileIdentity::of(directory) {
        Ok(identity) => identity,
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    if files.hidden.contains(&identity) {
        return Ok(());
    }
    if !files.above.contains(&identity) {
        rules.readable.push(directory.to_owned());
        return Ok(());
    }
    rules.listable.push(directory.to_owned());
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        // A rule for a link would be one for its target.
        if !entry.file_type()?.is_symlink() {
            add_all_but(&entry.path(), files, rules)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn everything_but_a_path_names_what_is_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for name in ["a/x", "a/y", "b"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("a/y"), root.join("link")).unwrap();
        let mut rules = AccessRules::default();
        let hidden = HiddenFiles::of(&[root.join("a/y"), root.join("c/z")]);
        add_all_but(&root, &hidden, &mut rules).unwrap();
        rules.readable.sort();
        assert_eq!(
            rules,
            AccessRules {
                readable: vec![root.join("a/x"), root.join("b")],
                listable: vec![root.clone(), root.join("a")],
                writable: Vec::new(),
            }
        );
    }
}
