//! Only the crate `os` asks for things that not every Unix has. The other crates do not depend on a
//! crate of system calls, so the compiler keeps most of this rule; the words that need no such crate
//! are looked for here. See `docs/design/platforms.md`.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The crates that may do everything. A sandbox is made of what one system has.
const EDGES: [&str; 2] = ["crates/os/", "crates/confine/"];

/// Crates that make system calls, and the crates of ours that may depend on them beside the edge.
const CALLERS: [(&str, &[&str]); 4] = [
    ("rustix", &["crates/files/"]),
    ("libc", &[]),
    ("nix", &[]),
    ("inotify", &[]),
];

/// Words of one system, in code.
const WORDS: [&str; 9] = [
    "target_os",
    "\"/proc",
    "\"/dev/fd",
    "\"/dev/shm",
    "\"/sys/",
    "OFlags::PATH",
    "RDHUP",
    "fstatfs",
    "renameat_with",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter();
    let outside = files.filter(|file| {
        file.path.starts_with("crates/")
            && !EDGES.iter().any(|edge| file.path.starts_with(edge))
            && !file.path.starts_with("crates/app/")
    });
    outside.flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    if file.path.ends_with("/Cargo.toml") {
        return check_manifest(file);
    }
    let is_product = file.path.contains("/src/") && file.has_extension(&["rs"]);
    if !is_product || file.path.split(['/', '.', '_']).any(|part| part == "tests") {
        return Vec::new();
    }
    let lines = file.numbered_lines();
    // Tests stand at the end of a file, and may look at the system that they run on.
    let code = lines.take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = code.filter_map(|(number, line)| {
        let word = WORDS.iter().find(|word| line.contains(**word))?;
        let message = format!(
            "{} is a matter of one operating system: ask the crate os for it",
            word.trim_start_matches('"')
        );
        Some(Finding::at(&file.path, number, message))
    });
    found.collect()
}

fn check_manifest(file: &SourceFile) -> Vec<Finding> {
    let found = file.numbered_lines().filter_map(|(number, line)| {
        let name = line.split(['.', ' ', '=']).next()?;
        let (_, allowed) = CALLERS.iter().find(|(caller, _)| *caller == name)?;
        let is_allowed = allowed.iter().any(|folder| file.path.starts_with(folder));
        let message =
            format!("{name} makes system calls: add what is missing to the crate os and use that");
        (!is_allowed).then(|| Finding::at(&file.path, number, message))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn only_the_edge_names_a_system() {
        let code = "//! Reads \"/proc\".\nlet file = open(\"/proc/self/stat\");\n#[cfg(test)]\nmod tests { const A: &str = \"/proc\"; }\n";
        let none: [String; 0] = [];
        assert_eq!(found(check, &[("crates/os/src/linux/stat.rs", code)]), none);
        assert_eq!(
            found(check, &[("crates/engine/tests/it/main.rs", code)]),
            none
        );
        assert_eq!(
            found(check, &[("crates/engine/src/room.rs", code)]),
            [
                "crates/engine/src/room.rs:2: /proc is a matter of one operating system: ask the crate os for it"
            ]
        );
    }

    #[test]
    fn only_the_edge_and_the_files_make_system_calls() {
        let manifest = "[dependencies]\nrustix.workspace = true\nnix = \"1\"\n";
        assert_eq!(
            found(check, &[("crates/files/Cargo.toml", manifest)]),
            [
                "crates/files/Cargo.toml:3: nix makes system calls: add what is missing to the crate os and use that"
            ]
        );
        assert_eq!(
            found(check, &[("crates/engine/Cargo.toml", manifest)]).len(),
            2
        );
    }
}
