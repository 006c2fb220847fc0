//! Checks whether pi has our package, and whether the package fits this program.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_files::read_own;
use pi_subagents_pi_files::{SettingsFile, is_program, on_path};
use serde_json::Value;

use super::check::Check;
use super::machine::is_same;
use crate::commands::tools;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::places::Places;

const NAME: &str = "pi package";

pub(super) fn pi_package(seen: &VisibleAgents, has_pi: bool) -> Check {
    let Some(package) = installed_package(&seen.places).map(|found| found.folder) else {
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

/// Our package, as pi has installed it.
pub(in crate::commands) struct InstalledPackage {
    /// The source that pi was given.
    pub(in crate::commands) source: String,
    folder: PathBuf,
}

/// Returns our package, if the settings of pi name it.
pub(in crate::commands) fn installed_package(places: &Places) -> Option<InstalledPackage> {
    let of_user = &places.agent_dir;
    let files = [
        SettingsFile::of_project(&places.cwd),
        SettingsFile::of_user(of_user),
    ];
    files.iter().flatten().find_map(|settings| {
        let base = settings.path.parent()?;
        let sources = settings.get("packages")?.as_array()?.iter();
        sources
            .filter_map(source)
            .flat_map(|source| {
                let folder = folder(source, base, of_user);
                // The repository is a package too, and has ours in a folder.
                [folder.join("extension"), folder].map(|folder| InstalledPackage {
                    source: source.to_owned(),
                    folder,
                })
            })
            .find(|package| is_ours(&package.folder))
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
    package.is_some_and(|package| package["name"] == "@pi-subagents/pi")
        && folder.join("manifest.json").is_file()
}

/// Returns the program that the package would start, and whether a variable names it. The rules are
/// those of `extension/src/binary.ts`.
fn program_of(package: &Path, seen: &VisibleAgents) -> (Option<PathBuf>, bool) {
    if let Some(named) = seen.places.variable("PI_SUBAGENTS_BIN") {
        let named = seen.places.cwd.join(named);
        return (is_program(&named).then_some(named), true);
    }
    let package = fs::canonicalize(package).unwrap_or_else(|_| package.to_owned());
    let path = seen.places.variable("PATH").unwrap_or_default();
    let built = package.join("../target/release/pi-subagents");
    let found = in_platform_package(&package)
        .chain([built])
        .chain(on_path("pi-subagents", path))
        .find(|candidate| is_program(candidate));
    (found, false)
}

/// Returns the places where Node looks for the package that has the program for this machine.
fn in_platform_package(package: &Path) -> impl Iterator<Item = PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let program = format!("node_modules/@pi-subagents/linux-{architecture}/bin/pi-subagents");
    package.ancestors().map(move |folder| folder.join(&program))
}

/// A larger file is not looked at.
const LARGEST_FILE: u64 = 4 << 20;

fn read_json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&read_own(file, LARGEST_FILE).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_looked_for_where_node_looks_for_packages() {
        let places: Vec<PathBuf> = in_platform_package(Path::new("/a/extension")).collect();
        let found: Vec<&Path> = places
            .iter()
            .filter_map(|place| place.ancestors().nth(5))
            .collect();
        assert_eq!(found, ["/a/extension", "/a", "/"].map(Path::new));
        assert!(
            places
                .iter()
                .all(|place| place.ends_with("bin/pi-subagents"))
        );
    }
}
