//! Crates depend downwards only. Cargo refuses a circle; this rule also keeps crates of one layer
//! apart, so that no door knows another one.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

const PREFIX: &str = "pi-subagents-";

/// The crates, from the bottom to the top, as in the drawing of `ARCHITECTURE.md`. A crate may use
/// the layers below its own.
const LAYERS: [&[&str]; 11] = [
    &["host-tools", "loopback", "os", "schemas"],
    &["files", "vocabulary"],
    &["confine"],
    &["engine", "git", "pi-files", "records", "view"],
    &["agent", "bridge", "configuration", "fleet-queue"],
    &["ground"],
    &["runs"],
    &["calls"],
    &["definition-commands", "fleet"],
    &["mcp", "pi-host", "team", "tui", "web"],
    &["cli"],
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files.iter().filter(|file| {
        file.path.starts_with("crates/")
            && file.path.ends_with("/Cargo.toml")
            && file.path != "crates/app/Cargo.toml"
    });
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(file: &SourceFile) -> Vec<Finding> {
    let name = file.path.split('/').nth(1).unwrap_or_default();
    let name = name.replace('_', "-");
    let Some(layer) = layer_of(&name) else {
        let message = "stands in no layer; place it in xtask/tests/tidy/rules/layers.rs";
        return vec![Finding::of_file(&file.path, message)];
    };
    let used = file.numbered_lines().filter_map(|(number, line)| {
        let used = dependency(line).filter(|used| *used != "testkit")?;
        let is_below = layer_of(used).is_some_and(|other| other < layer);
        let message = format!(
            "{name} must not use {used}, which is not in a layer below it: move what both need \
             down, or hand it over as a value"
        );
        (!is_below).then(|| Finding::at(&file.path, number, message))
    });
    used.collect()
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

/// Returns the crate of ours that a line of a manifest names as a dependency.
fn dependency(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(PREFIX)?;
    rest.split(['.', ' ', '=']).next()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_crate_uses_lower_layers_only() {
        let uses = |name: &str, used: &str| {
            let path = format!("crates/{name}/Cargo.toml");
            let text = format!("[dependencies]\n{PREFIX}{used}.workspace = true\n");
            found(check, &[(&path, &text)])
        };
        let none: [String; 0] = [];
        assert_eq!(uses("runs", "records"), none);
        assert_eq!(uses("fleet_queue", "testkit"), none);
        assert_eq!(
            uses("web", "tui"),
            [
                "crates/web/Cargo.toml:2: web must not use tui, which is not in a layer below it: move what both need down, or hand it over as a value"
            ]
        );
        assert_eq!(uses("records", "runs").len(), 1);
        assert_eq!(uses("pi_host", "definition-commands"), none);
        assert_eq!(
            uses("cellar", "os"),
            [
                "crates/cellar/Cargo.toml: stands in no layer; place it in xtask/tests/tidy/rules/layers.rs"
            ]
        );
    }
}
