//! The directory of the packages, and their names.

use std::fs;
use std::path::{Path, PathBuf};

use super::checksum::{checksum, checksums};
use super::client_packages;
use super::contents::Contents;
use super::deb::deb;
use super::elf::GlibcVersion;
use super::image::image;
use super::npm_package;
use super::plugin;
use super::release::{NAME, Release};
use super::tarball::tarball;
use super::template::filled;
use crate::Outcome;
use crate::machine::target;

/// The file with the checksums of all others.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

/// The script that installs the archive.
pub(super) const INSTALLER: &str = "install.sh";

/// The packages of one release.
pub(super) struct Packages {
    directory: PathBuf,
    names: Vec<String>,
    pub(super) archive: String,
    pub(super) extension: String,
    pub(super) platform: String,
    pub(super) deb: String,
    pub(super) bundle: String,
    pub(super) plugin: String,
    pub(super) gemini: String,
    pub(super) image: String,
    pub(super) typescript: String,
    pub(super) python: String,
}

impl Packages {
    /// Begins with an empty directory.
    pub(super) fn new(release: &Release) -> Outcome<Self> {
        let directory = target()?.join("dist/packages");
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        let Release {
            version, platform, ..
        } = release;
        Ok(Self {
            directory,
            names: Vec::new(),
            archive: format!("{}.tar.gz", release.folder()),
            extension: format!("{NAME}-pi-{version}.tgz"),
            platform: format!("{NAME}-{}-{version}.tgz", platform.npm()),
            deb: format!("{NAME}_{version}_{}.deb", platform.debian),
            bundle: format!("{}.mcpb", release.folder()),
            plugin: format!("{NAME}-claude-plugin-{version}.tar.gz"),
            gemini: format!("{NAME}-gemini-{version}.tar.gz"),
            typescript: format!("{NAME}-client-{version}.tgz"),
            python: format!("pi_subagents_client-{version}-py3-none-any.whl"),
            image: format!("{NAME}-worker-{version}-{}.oci.tar", platform.triple),
        })
    }

    /// Returns the path of a package.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns the directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes every package.
    pub(super) fn add_all(
        &mut self,
        release: &Release,
        contents: &Contents,
        glibc: GlibcVersion,
    ) -> Outcome<()> {
        self.add(&self.archive.clone(), tarball(release, contents)?)?;
        self.add(&self.extension.clone(), npm_package::extension()?)?;
        self.add(
            &self.platform.clone(),
            npm_package::platform(release, contents)?,
        )?;
        self.add(&self.deb.clone(), deb(release, contents, glibc)?)?;
        self.add(&self.bundle.clone(), plugin::bundle(release, contents)?)?;
        self.add(&self.plugin.clone(), plugin::marketplace()?)?;
        self.add(&self.gemini.clone(), plugin::gemini(release)?)?;
        self.add(&self.typescript.clone(), client_packages::typescript()?)?;
        self.add(&self.python.clone(), client_packages::python(release)?)?;
        if let Some(image) = image(release, contents)? {
            self.add(&self.image.clone(), image)?;
        }
        self.add_texts(release)
    }

    /// Makes the files that name the others.
    fn add_texts(&mut self, release: &Release) -> Outcome<()> {
        for (name, text) in texts(release, checksum(&self.directory, &self.archive)?)? {
            self.add(name, text.into_bytes())?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, bytes: Vec<u8>) -> Outcome<()> {
        println!("  {name:56} {:>9} bytes", bytes.len());
        fs::write(self.path(name), bytes)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Writes the checksums.
    pub(super) fn finish(&mut self) -> Outcome<()> {
        self.names.sort();
        let lines = checksums(&self.directory, &self.names)?;
        fs::write(self.path(CHECKSUMS), lines)?;
        println!("xtask: dist: {}", self.directory.display());
        Ok(())
    }
}

/// The files that are templates as a whole: their names, and their places in `packaging/`.
const TEXTS: [(&str, &str); 3] = [
    (INSTALLER, "install.sh"),
    ("pi-subagents.rb", "homebrew/pi-subagents.rb"),
    ("server.json", "mcp-registry/server.json"),
];

/// Returns the texts of a release whose archive has this checksum.
fn texts(release: &Release, sha256: String) -> Outcome<Vec<(&'static str, String)>> {
    let mut values = release.values();
    values.push(("sha256", sha256));
    let text = |(name, template): (&'static str, &str)| Ok((name, filled(template, &values)?));
    TEXTS.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// cargo-binstall fills in the names, and must come to the archive and to the program in it.
    #[test]
    fn binstall_finds_the_archive_and_the_program() {
        let release = Release::read().unwrap();
        let manifest = fs::read_to_string(crate::machine::root().join("crates/app/Cargo.toml"));
        let manifest = manifest.unwrap();
        let filled = |key: &str| {
            let start = format!("{key} = \"");
            let line = manifest.lines().find_map(|line| line.strip_prefix(&start));
            let line = line.unwrap().trim_end_matches('"').to_owned();
            line.replace("{ repo }", release.repository())
                .replace("{ name }", NAME)
                .replace("{ bin }", NAME)
                .replace("{ version }", &release.version)
                .replace("{ target }", release.platform.triple)
        };
        let archive = format!(
            "{}/releases/download/v{}/{}.tar.gz",
            release.repository(),
            release.version,
            release.folder()
        );
        assert_eq!(filled("pkg-url"), archive);
        assert_eq!(filled("bin-dir"), format!("{}/{NAME}", release.folder()));
    }

    #[test]
    fn the_formula_names_the_archive_and_its_checksum() {
        let release = Release::read().unwrap();
        let texts = texts(&release, "c0ffee".to_owned()).unwrap();
        let (_, formula) = texts
            .iter()
            .find(|(name, _)| *name == "pi-subagents.rb")
            .unwrap();
        let archive = format!("/v{}/{}.tar.gz\"\n", release.version, release.folder());
        for part in [
            archive.as_str(),
            "  sha256 \"c0ffee\"\n",
            "depends_on :linux\n",
        ] {
            assert!(formula.contains(part), "{part:?} is not in {formula}");
        }
    }
}
