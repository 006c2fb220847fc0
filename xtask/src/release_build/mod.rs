//! The program as it is shipped: built with the profile `dist`, linked at fixed addresses in the order
//! in which an agent executes its functions, and for an old glibc where the parts for that are here.
//!
//! The program of this crate is its own linker: rustc calls it by the name `dist-linker`, because the
//! names of functions are known only then.

mod linker;
mod old_glibc;
mod order;
mod symbols;

pub(crate) use linker::{is_linker, link};
pub(crate) use old_glibc::install as install_old_glibc;
pub(crate) use order::write as write_order;

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::Outcome;
use crate::machine::{cargo, target};

const NAME: &str = "pi-subagents";

/// Builds the program and returns its path.
pub(crate) fn build() -> Outcome<PathBuf> {
    let mut cargo = cargo();
    cargo.args(["rustc", "--profile", "dist", "--locked"]);
    cargo.args(["--package", NAME, "--bin", NAME, "--"]);
    for argument in arguments()? {
        cargo.args(["-C", &argument]);
    }
    println!("xtask: {cargo:?}");
    let status = cargo.status()?;
    if !status.success() {
        return Err(format!("{cargo:?} ({status})").into());
    }
    Ok(target()?.join("dist").join(NAME))
}

/// Returns the settings of code generation. Code at fixed addresses has no relocations, each of which
/// would be a page of its own in every process; docs/design/speed.md has the figures.
fn arguments() -> Outcome<Vec<String>> {
    let mut arguments = vec![
        format!("linker={}", linker_path()?.display()),
        "relocation-model=static".to_owned(),
    ];
    let order = order::kept()?;
    arguments.push(format!(
        "link-arg=-Wl,--symbol-ordering-file={}",
        order.display()
    ));
    if let Some(parts) = old_glibc::find()? {
        arguments.extend([
            format!("link-arg=-B{}", parts.display()),
            format!("link-arg=-L{}", parts.display()),
            // The libgcc of this machine may need a newer glibc; that of another brings its own.
            "link-arg=-Wl,--allow-shlib-undefined".to_owned(),
        ]);
    } else {
        println!(
            "xtask: the parts of an old glibc are not here, so the program needs the glibc of this machine; cargo xtask zig fetches them"
        );
    }
    Ok(arguments)
}

/// Gives this program the name by which it is a linker.
fn linker_path() -> Outcome<PathBuf> {
    let path = target()?.join(linker::NAME);
    if fs::symlink_metadata(&path).is_ok() {
        fs::remove_file(&path)?;
    }
    symlink(env::current_exe()?, &path)?;
    Ok(path)
}
