//! Makes what a release ships into `target/dist/packages`, without the network: archives, packages,
//! plugins and their checksums. `--check` installs each into a fresh home and works with it.
//!
//! Facts come from `Cargo.toml` (`release.rs`), texts from the templates in `packaging/`.

mod ar;
mod check;
mod checksum;
mod client_packages;
mod contents;
mod deb;
mod elf;
mod filter;
mod gzip;
mod image;
mod npm_package;
mod packages;
mod packed_file;
mod plugin;
mod release;
mod roots;
mod tar;
mod tarball;
mod template;
mod zip;

pub(crate) use check::install_clients;
pub(crate) use roots::install_roots;

use std::fs;
use std::path::PathBuf;

use self::contents::Contents;
use self::elf::{GlibcVersion, needed_glibc};
use self::packages::Packages;
use self::release::Release;
use crate::Outcome;
use crate::release_build;

/// The arguments of the command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Install what was made and work with it.
    check: bool,
    /// Pack this program and build none.
    program: Option<PathBuf>,
}

impl Wishes {
    pub(crate) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut wishes = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--check" => wishes.check = true,
                "--program" => {
                    let path = rest.next().ok_or("--program needs the path of a program")?;
                    wishes.program = Some(path.into());
                }
                other => {
                    return Err(
                        format!("dist takes --check and --program FILE, not {other}").into(),
                    );
                }
            }
        }
        Ok(wishes)
    }
}

/// Makes all packages, and installs them if that is wanted.
pub(crate) fn dist(wishes: &Wishes) -> Outcome<()> {
    let release = Release::read()?;
    let program = match &wishes.program {
        Some(path) => fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => refuse_new_glibc(fs::read(release_build::build()?)?)?,
    };
    let packages = pack(&release, program)?;
    if wishes.check {
        check::check(&release, &packages)?;
    }
    Ok(())
}

/// Refuses a program that would not start on the oldest systems of the README. A program that was
/// given with `--program` may be of any kind.
fn refuse_new_glibc(program: Vec<u8>) -> Outcome<Vec<u8>> {
    let glibc = needed_glibc(&program)?;
    if glibc <= GlibcVersion::FLOOR {
        return Ok(program);
    }
    let floor = GlibcVersion::FLOOR;
    Err(format!("the program needs glibc {glibc}, and packages promise {floor}").into())
}

fn pack(release: &Release, program: Vec<u8>) -> Outcome<Packages> {
    let glibc = needed_glibc(&program)?;
    tell_floor(release, glibc);
    let contents = Contents::of(program)?;
    let mut packages = Packages::new(release)?;
    packages.add_all(release, &contents, glibc)?;
    packages.finish()?;
    Ok(packages)
}

fn tell_floor(release: &Release, glibc: GlibcVersion) {
    let verdict = if glibc <= GlibcVersion::FLOOR {
        "as shipped".to_owned()
    } else {
        format!("MORE than the {} of what is shipped", GlibcVersion::FLOOR)
    };
    println!(
        "xtask: dist: {} needs glibc {glibc}, {verdict}",
        release.folder()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Outcome<Wishes> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Wishes::parse(&words)
    }

    #[test]
    fn arguments_are_read_or_refused() {
        let wishes = parse("--program /bin/it --check").unwrap();
        assert!(wishes.check);
        assert_eq!(wishes.program, Some("/bin/it".into()));
        assert_eq!(parse("").unwrap(), Wishes::default());
        assert!(parse("--program").is_err());
        let error = parse("--publish").unwrap_err();
        assert_eq!(
            error.to_string(),
            "dist takes --check and --program FILE, not --publish"
        );
    }
}
