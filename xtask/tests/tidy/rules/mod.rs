//! The rules, one file each.

mod command_lines;
pub(crate) mod dependencies;
pub(crate) mod documents;
mod file_names;
mod file_sizes;
mod headings;
mod layers;
mod machine_paths;
mod named_paths;
mod operating_system;
mod pictures;
mod registries;
mod terminology;
mod unfinished;

use xtask::source::Tree;

use crate::finding::Finding;

/// Every rule that needs the tree alone.
pub(crate) const ALL: [fn(&Tree) -> Vec<Finding>; 13] = [
    command_lines::check,
    dependencies::check,
    file_names::check,
    file_sizes::check,
    headings::check,
    layers::check,
    machine_paths::check,
    named_paths::check,
    operating_system::check,
    pictures::check,
    registries::check,
    terminology::check,
    unfinished::check,
];

/// The findings of a rule on made-up files, as text.
#[cfg(test)]
fn found(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let findings = check(&Tree::of(files));
    findings.iter().map(ToString::to_string).collect()
}
