//! The facts of a release, each read from the one place that has it: the `Cargo.toml` files.

use std::env;
use std::fs;

use super::template::Values;
use crate::Outcome;
use crate::machine::root;

/// The name of the program and of most packages.
pub(super) const NAME: &str = "pi-subagents";

/// The facts of the release that is made.
pub(super) struct Release {
    pub(super) version: String,
    description: String,
    license: String,
    /// The address of the repository, without a slash at its end.
    repository: String,
    pub(super) platform: Platform,
}

/// The machine for which a release is made, in the words of those who name it.
pub(super) struct Platform {
    /// The name that Rust and the archives use.
    pub(super) triple: &'static str,
    /// The name that Node uses for the processor.
    cpu: &'static str,
    /// The name that Debian uses for the processor.
    pub(super) debian: &'static str,
    /// The name that Homebrew uses for the processor.
    homebrew: &'static str,
}

const X64: Platform = Platform {
    triple: "x86_64-unknown-linux-gnu",
    cpu: "x64",
    debian: "amd64",
    homebrew: "x86_64",
};

const ARM64: Platform = Platform {
    triple: "aarch64-unknown-linux-gnu",
    cpu: "arm64",
    debian: "arm64",
    homebrew: "arm64",
};

impl Platform {
    /// Returns the platform of this machine.
    fn of_this_machine() -> Outcome<Self> {
        match env::consts::ARCH {
            "x86_64" => Ok(X64),
            "aarch64" => Ok(ARM64),
            other => Err(format!("nothing is shipped for {other}").into()),
        }
    }

    /// Returns the name of the npm package without its scope.
    pub(super) fn npm(&self) -> String {
        format!("linux-{}", self.cpu)
    }
}

impl Release {
    /// Reads the facts for a release for this machine.
    pub(super) fn read() -> Outcome<Self> {
        let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
        let app = fs::read_to_string(root().join("crates/app/Cargo.toml"))?;
        let of_workspace = |key: &str| value(&workspace, "workspace.package", key);
        Ok(Self {
            version: of_workspace("version")?,
            license: of_workspace("license")?,
            repository: of_workspace("repository")?,
            description: value(&app, "package", "description")?,
            platform: Platform::of_this_machine()?,
        })
    }

    /// Returns the name of the folder in the archive, and of the archive without its ending.
    pub(super) fn folder(&self) -> String {
        format!("{NAME}-{}-{}", self.version, self.platform.triple)
    }

    /// Returns the address of the repository.
    pub(super) fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the values that templates may name.
    pub(super) fn values(&self) -> Values {
        vec![
            ("version", self.version.clone()),
            ("description", self.description.clone()),
            ("license", self.license.clone()),
            ("repository", self.repository.clone()),
            ("triple", self.platform.triple.to_owned()),
            ("cpu", self.platform.cpu.to_owned()),
            ("debian", self.platform.debian.to_owned()),
            ("homebrew", self.platform.homebrew.to_owned()),
            ("folder", self.folder()),
        ]
    }
}

/// Returns the text that a key has in a section of a TOML file.
fn value(toml: &str, section: &str, key: &str) -> Outcome<String> {
    let heading = format!("[{section}]");
    let lines = toml.lines().skip_while(|line| *line != heading).skip(1);
    let found = lines
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let (name, value) = line.split_once(" = ")?;
            (name == key).then(|| value.trim_matches('"').to_owned())
        });
    Ok(found.ok_or_else(|| format!("there is no {key} in {heading}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_in_its_own_section() {
        let toml = "[a]\nversion = \"1\"\n\n[b]\nversion = \"2\"\n";
        assert_eq!(value(toml, "b", "version").unwrap(), "2");
        let error = value(toml, "a", "license").unwrap_err();
        assert_eq!(error.to_string(), "there is no license in [a]");
    }

    #[test]
    fn the_facts_of_this_release_are_there() {
        let release = Release::read().unwrap();
        assert!(release.folder().starts_with("pi-subagents-"));
        assert!(release.values().iter().all(|(_, value)| !value.is_empty()));
    }
}
