//! Checks whether pi has our package, and whether the package fits this program.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_files::read_own;
use pi_subagents_pi_files::{SettingsFile, is_program, on_path};
use serde_json::Value;

use super::check::Check;
use super::machine::is_same;
use crate::commands::tools;
use pi_subagents_definition_commands::seen::Seen;

const NAME: &str = "pi package";

pub(super) fn pi_package(seen: &Seen, has_pi: bool) -> Check {
    let Some(package) = find(seen) else {
        let check = Check::new(NAME, "not installed");
        return if has_pi {
            check.hint(
                "To give pi the tools, run pi install extension in the repository of pi-subagents.",
            )
        } else {
            check
        };
    };
    let shown = seen.short(&package);
    let check = Check::new(NAME, shown.clone());
    let manifest = read_json(&package.join("manifest.json"));
    if manifest != Some(tools::manifest_of_all()) {
        return check
            .problem()
            .hint(format!("The installed pi package does not match this version of pi-subagents ({}). Install the package that belongs to it.", env!("CARGO_PKG_VERSION")));
    }
    let (program, is_named) = program_of(&package, seen);
    match program {
        Some(program) if is_same(&program, &seen.places.program) => check,
        Some(program) => check.warning().hint(format!(
            "The package starts a different program: {}",
            program.display()
        )),
        None if is_named => check
            .problem()
            .hint("PI_SUBAGENTS_BIN does not name a program that can be started. Set it to the path of pi-subagents, or unset it."),
        None => check.problem().hint(
            "The package does not find this program. Put the program on PATH, or set PI_SUBAGENTS_BIN to its path.",
        ),
    }
}

/// Returns the folder of our package, if the settings of pi name it.
fn find(seen: &Seen) -> Option<PathBuf> {
    let of_user = &seen.places.agent_dir;
    let files = [
        SettingsFile::of_project(&seen.places.cwd),
        SettingsFile::of_user(of_user),
    ];
    files.iter().flatten().find_map(|settings| {
        let base = settings.path.parent()?;
        let sources = settings.get("packages")?.as_array()?.iter();
        sources
            .filter_map(source)
            .map(|source| folder(source, base, of_user))
            .find(|folder| is_ours(folder))
    })
}

/// Returns the source of an entry, which is a text or an object.
fn source(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry["source"].as_str())
}

/// Returns the folder in which pi keeps an installed package; a path is used in place.
fn folder(source: &str, base: &Path, agent_dir: &Path) -> PathBuf {
    let without_version = |name: &str| match name.rfind('@') {
        Some(at) if at > 0 => name[..at].to_owned(),
        Some(_) | None => name.to_owned(),
    };
    if let Some(name) = source.strip_prefix("npm:") {
        let modules = agent_dir.join("npm").join("node_modules");
        return modules.join(without_version(name));
    }
    if let Some(place) = source.strip_prefix("git:") {
        return agent_dir.join("git").join(without_version(place));
    }
    // Without the dot that such a path often begins with.
    base.join(source).components().collect()
}

fn is_ours(folder: &Path) -> bool {
    let package = read_json(&folder.join("package.json"));
    package.is_some_and(|package| package["name"] == "pi-subagents")
        && folder.join("manifest.json").is_file()
}

/// Returns the program that the package would start, and whether a variable names it. The rules are
/// those of `extension/src/binary.ts`.
fn program_of(package: &Path, seen: &Seen) -> (Option<PathBuf>, bool) {
    if let Some(named) = seen.places.variable("PI_SUBAGENTS_BIN") {
        let named = seen.places.cwd.join(named);
        return (is_program(&named).then_some(named), true);
    }
    let package = fs::canonicalize(package).unwrap_or_else(|_| package.to_owned());
    let path = seen.places.variable("PATH").unwrap_or_default();
    let found = [
        Some(package.join("bin/pi-subagents")),
        Some(package.join("../target/release/pi-subagents")),
        on_path("pi-subagents", path),
    ]
    .into_iter()
    .flatten()
    .find(|candidate| is_program(candidate));
    (found, false)
}

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 4 << 20;

fn read_json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&read_own(file, LARGEST_FILE).ok()?).ok()
}
