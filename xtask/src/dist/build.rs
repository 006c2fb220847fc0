//! Builds the program as it is shipped: with zig's linker for an old glibc where zig is there, and
//! with the usual linker for the glibc of this machine where it is not.

use std::env;
use std::fs;
use std::path::PathBuf;

use super::elf::GlibcVersion;
use super::release::{NAME, Release};
use crate::Outcome;
use crate::machine::{cargo, program, target, variable};

/// The packages of Python that link for an old glibc.
const PACKAGES: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// Installs zig and its subcommand of cargo by their names into the build directory.
pub(crate) fn install_zig() -> Outcome<()> {
    let directory = target()?.join("zig");
    if !zig()?.exists() {
        let made = program("python3")
            .args(["-m", "venv"])
            .arg(&directory)
            .status()?;
        let installed = program(directory.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(PACKAGES)
            .status()?;
        if !made.success() || !installed.success() {
            return Err(format!("pip install {} ({installed})", PACKAGES.join(" ")).into());
        }
    }
    println!("{}", directory.display());
    Ok(())
}

fn zig() -> Outcome<PathBuf> {
    Ok(target()?.join("zig/bin/cargo-zigbuild"))
}

/// Builds the program and returns its bytes.
pub(super) fn build(release: &Release) -> Outcome<Vec<u8>> {
    let zig = zig()?;
    let triple = release.platform.triple;
    let mut cargo = cargo();
    let built = if zig.exists() {
        let path = variable("PATH").unwrap_or_default();
        let first = zig.parent().map(PathBuf::from);
        cargo
            .env(
                "PATH",
                env::join_paths(first.into_iter().chain(env::split_paths(&path)))?,
            )
            .arg("zigbuild")
            .arg(format!("--target={triple}.{}", GlibcVersion::FLOOR));
        target()?.join(triple).join("dist").join(NAME)
    } else {
        println!(
            "xtask: dist: zig is not here, so the program needs the glibc of this machine; cargo xtask zig fetches it"
        );
        cargo.arg("build");
        target()?.join("dist").join(NAME)
    };
    cargo.args(["--profile", "dist", "--locked", "--package", NAME]);
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("{cargo:?} ({status})").into());
    }
    Ok(fs::read(built)?)
}
