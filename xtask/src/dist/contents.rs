//! The files that come with the program: manual pages and completions, which it prints itself.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::packed_file::PackedFile;
use super::release::NAME;
use crate::Outcome;
use crate::machine::{program, root};

/// The program with everything that it prints about itself.
pub(super) struct Contents {
    pub(super) program: Vec<u8>,
    /// The manual pages, by the names of their files.
    pub(super) manual: Vec<PackedFile>,
    /// The scripts of the shells.
    pub(super) completions: Completions,
}

/// The scripts with which shells complete.
pub(super) struct Completions {
    pub(super) bash: Vec<u8>,
    pub(super) zsh: Vec<u8>,
    pub(super) fish: Vec<u8>,
}

impl Contents {
    /// Asks the program for its pages and scripts.
    pub(super) fn of(program: Vec<u8>) -> Outcome<Self> {
        let place = Place::new(&program)?;
        let completions = Completions {
            bash: place.output(&["completions", "bash"])?,
            zsh: place.output(&["completions", "zsh"])?,
            fish: place.output(&["completions", "fish"])?,
        };
        Ok(Self {
            manual: place.manual()?,
            completions,
            program,
        })
    }
}

/// Returns a file of the repository.
pub(super) fn own_file(path: &str) -> Outcome<Vec<u8>> {
    fs::read(root().join(path)).map_err(|error| format!("{path}: {error}").into())
}

/// A directory with the program, removed on drop.
struct Place {
    directory: PathBuf,
}

impl Place {
    fn new(bytes: &[u8]) -> Outcome<Self> {
        let directory = env::temp_dir().join(format!("pi-dist-{}", std::process::id()));
        let place = Self { directory };
        fs::create_dir_all(place.directory.join("man"))?;
        fs::write(place.program(), bytes)?;
        fs::set_permissions(place.program(), fs::Permissions::from_mode(0o755))?;
        Ok(place)
    }

    fn program(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    fn output(&self, words: &[&str]) -> Outcome<Vec<u8>> {
        let output = program(self.program())
            .args(words)
            .env("HOME", &self.directory)
            .output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{NAME} {} ({}): {why}", words.join(" "), output.status).into());
        }
        Ok(output.stdout)
    }

    fn manual(&self) -> Outcome<Vec<PackedFile>> {
        let pages = self.directory.join("man");
        self.output(&["man", "--dir", &pages.to_string_lossy()])?;
        let page = |entry: std::io::Result<fs::DirEntry>| {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok(PackedFile::text(name, fs::read(entry.path())?))
        };
        fs::read_dir(pages)?.map(page).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A directory that cannot be removed stays in the temporary directory.
        _ = fs::remove_dir_all(&self.directory);
    }
}
