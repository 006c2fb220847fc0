//! A file as it is now: absent, read whole, or left alone for a reason.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_files::{Directory, is_absent, open_plain, read_bounded};

/// A larger file is left alone.
const LARGEST: u64 = 16 << 20;

/// A file with its permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileContent {
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileState {
    Absent,
    Read(FileContent),
    /// It is there and is left alone. The reason is a part of a sentence, such as "it is a link".
    Refused(String),
}

impl FileState {
    /// Reads a file. No part of its path below the home directory may be a link: what a link leads to
    /// may belong to another program, and a written file takes the place of a link.
    pub(super) fn of(path: &Path, home: &Path) -> Self {
        match read(path, home) {
            Ok(content) => Self::Read(content),
            Err(error) if is_absent(&error) => Self::Absent,
            Err(error) => Self::Refused(error.to_string()),
        }
    }

    /// Returns the content, or `None` if there is no such file.
    pub(super) fn into_content(self) -> Result<Option<FileContent>, String> {
        match self {
            Self::Absent => Ok(None),
            Self::Read(content) => Ok(Some(content)),
            Self::Refused(why) => Err(why),
        }
    }
}

fn read(path: &Path, home: &Path) -> io::Result<FileContent> {
    let file = match path.strip_prefix(home) {
        Ok(below) => Directory::open(home)?.open_file(below)?,
        Err(_) => open_plain(path)?,
    };
    Ok(FileContent {
        bytes: read_bounded(&file, LARGEST)?,
        mode: file.metadata()?.permissions().mode() & 0o777,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test makes the file that it looks at"
    )]
    fn links_directories_and_large_files_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let state = |name: &str| FileState::of(&home.join(name), home);
        assert_eq!(state("a"), FileState::Absent);
        assert_eq!(state("no/a"), FileState::Absent);
        fs::create_dir(home.join("directory")).unwrap();
        let size = usize::try_from(LARGEST).unwrap() + 1;
        fs::write(home.join("directory/large"), vec![0; size]).unwrap();
        symlink(home.join("directory"), home.join("link")).unwrap();
        let reason = |name: &str| state(name).into_content().unwrap_err();
        assert_eq!(reason("directory"), "it is not a regular file");
        assert_eq!(
            reason("directory/large"),
            "it is larger than 16777216 bytes"
        );
        assert_eq!(reason("link"), "it is a link");
        assert_eq!(reason("link/a"), "it is a link");
    }
}
