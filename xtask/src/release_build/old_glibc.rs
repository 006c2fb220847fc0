//! The parts of an old glibc that linking needs: its list of symbols and the beginning of a program.
//! zig carries them for every version and makes them when it links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::machine::{program, target};

/// The package of Python that is zig.
const PACKAGE: &str = "ziglang==0.17.0";
/// The version that a program for everybody needs at most: that of Debian 10 and RHEL 8.
const FLOOR: &str = "2.28";
/// The libraries of which zig makes lists of symbols, by the names that programs load.
const LIBRARIES: [&str; 6] = [
    "libc.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
];
/// What `-lc` means: the library, and the functions that old versions put into each program.
const LIBC: &str = "GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )\n";

/// Returns the directory of the parts, if they are here.
pub(super) fn find() -> Outcome<Option<PathBuf>> {
    let parts = directory()?;
    Ok(parts.join("libc.so").exists().then_some(parts))
}

fn directory() -> Outcome<PathBuf> {
    Ok(target()?.join(format!("glibc-{FLOOR}")))
}

/// Installs zig by its name into the build directory and takes the parts from it.
pub(crate) fn install() -> Outcome<()> {
    let parts = directory()?;
    if find()?.is_none() {
        let zig = target()?.join("zig");
        install_zig(&zig)?;
        take(&zig, &parts)?;
    }
    println!("{}", parts.display());
    Ok(())
}

fn install_zig(directory: &Path) -> Outcome<()> {
    let made = program("python3")
        .args(["-m", "venv"])
        .arg(directory)
        .status()?;
    let installed = program(directory.join("bin/pip"))
        .args(["install", "--quiet", "--disable-pip-version-check", PACKAGE])
        .status()?;
    if !made.success() || !installed.success() {
        return Err(format!("pip install {PACKAGE} ({installed})").into());
    }
    Ok(())
}

/// Lets zig link an empty program, and copies the parts that it made for that.
fn take(zig: &Path, parts: &Path) -> Outcome<()> {
    let cache = zig.join("cache");
    let source = zig.join("empty.c");
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let linked = program(zig.join("bin/python3"))
        .args(["-m", "ziglang", "cc", "-no-pie"])
        .arg(format!(
            "--target={}-linux-gnu.{FLOOR}",
            std::env::consts::ARCH
        ))
        .arg(&source)
        .arg("-o")
        .arg(zig.join("empty"))
        .env("ZIG_GLOBAL_CACHE_DIR", &cache)
        .env("ZIG_LOCAL_CACHE_DIR", &cache)
        .status()?;
    if !linked.success() {
        return Err(format!("zig cc ({linked})").into());
    }
    fs::create_dir_all(parts)?;
    let others = ["libld.so.2", "libc_nonshared.a", "crt1.o"];
    for name in LIBRARIES.into_iter().chain(others) {
        let made = made(&cache, name)?.ok_or_else(|| format!("zig made no {name}"))?;
        fs::copy(made, parts.join(name))?;
    }
    for library in LIBRARIES.into_iter().filter(|name| *name != "libc.so.6") {
        let short = library.trim_end_matches(|last: char| last == '.' || last.is_ascii_digit());
        let link = parts.join(short);
        if !link.exists() {
            symlink(library, link)?;
        }
    }
    // It is written last: with it the parts are whole.
    fs::write(parts.join("libc.so"), LIBC)?;
    Ok(())
}

/// Finds a file among the objects of zig, which are in directories named by hashes.
fn made(cache: &Path, name: &str) -> Outcome<Option<PathBuf>> {
    let objects = fs::read_dir(cache.join("o"))?;
    let files = objects.flatten().map(|object| object.path().join(name));
    Ok(files.into_iter().find(|file| file.exists()))
}
