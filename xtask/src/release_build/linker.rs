//! The linker of what is shipped: it finds the kept names of functions among those of the objects, and
//! calls the usual linker with them in that order.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use super::symbols::{functions, in_order};
use crate::Outcome;
use crate::machine::program;

/// The name by which this program is a linker.
pub(super) const NAME: &str = "dist-linker";
const ORDER: &str = "-Wl,--symbol-ordering-file=";
const STRIP: &str = "-Wl,--strip-all";
/// Keeps one of several functions that have the same code. Nothing here depends on their addresses.
const FOLD: &str = "-Wl,--icf=all";

/// Returns whether this program was called as a linker.
pub(crate) fn is_linker() -> bool {
    let called = env::args_os().next().map(PathBuf::from);
    called.is_some_and(|called| called.file_name() == Some(NAME.as_ref()))
}

/// Links: first with the names of functions, which `cargo xtask order` needs, then without them.
pub(crate) fn link(arguments: &[String]) -> Outcome<()> {
    let arguments: Vec<String> = with_lld(arguments)?;
    let out = after(&arguments, "-o").ok_or("the linker got no -o")?;
    let named: Vec<String> = arguments
        .iter()
        // A folded function would be counted by another name.
        .filter(|argument| ![STRIP, FOLD].contains(&argument.as_str()))
        .map(|argument| {
            if *argument == out {
                symbols_path(&out)
            } else {
                argument.clone()
            }
        })
        .collect();
    let linked = program("cc").args(&named).status()?;
    if !linked.success() {
        return Err(format!("cc ({linked})").into());
    }
    // Only a failed start returns.
    Err(program("cc").args(&arguments).exec().into())
}

/// Returns the path of the program that has the names of its functions.
pub(super) fn symbols_path(out: &str) -> String {
    format!("{out}.symbols")
}

/// Replaces the kept order by that of the functions that are here. Linkers that cannot order functions
/// get none.
fn with_lld(arguments: &[String]) -> Outcome<Vec<String>> {
    let is_lld = arguments.iter().any(|argument| argument == "-fuse-ld=lld");
    let mut result = Vec::new();
    for argument in arguments {
        match argument.strip_prefix(ORDER) {
            Some(kept) if is_lld => {
                let order = write_order(Path::new(kept), arguments)?;
                result.push(format!("{ORDER}{}", order.display()));
                result.push("-Wl,--no-warn-symbol-ordering".to_owned());
                result.push(FOLD.to_owned());
            }
            Some(_) => {}
            None => result.push(argument.clone()),
        }
    }
    Ok(result)
}

fn write_order(kept: &Path, arguments: &[String]) -> Outcome<PathBuf> {
    let is_object = |argument: &&String| Path::new(argument).extension() == Some("o".as_ref());
    let objects = arguments.iter().filter(is_object);
    let objects: Vec<OsString> = objects.map(OsString::from).collect();
    let listed = program("nm")
        .args(["--defined-only", "--format=posix"])
        .args(objects)
        .output()?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let order = in_order(&fs::read_to_string(kept)?, functions(&listed));
    let path = kept.with_extension("found");
    fs::write(&path, order.join("\n"))?;
    Ok(path)
}

fn after(arguments: &[String], flag: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == flag)?;
    arguments.get(at + 1).cloned()
}
