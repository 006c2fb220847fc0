//! The rules, one file each.

mod app_rooms;
mod banned_crates;
mod directions;
mod doc_subjects;
pub(crate) mod documents;
mod file_names;
mod file_sizes;
mod fleet_doors;
mod function_docs;
mod headings;
pub(crate) mod licenses;
mod machine_paths;
mod module_directions;
mod named_paths;
mod pictures;
mod registries;
mod serialization;
mod sources;
mod terminology;
mod unfinished;
mod white_space;
pub(crate) mod without_fleet;

use xtask::source::Tree;

use crate::finding::Finding;

/// Every rule that needs the tree alone.
pub(crate) const ALL: [fn(&Tree) -> Vec<Finding>; 19] = [
    app_rooms::check,
    banned_crates::check,
    directions::check,
    doc_subjects::check,
    file_names::check,
    file_sizes::check,
    fleet_doors::check,
    function_docs::check,
    headings::check,
    machine_paths::check,
    module_directions::check,
    named_paths::check,
    pictures::check,
    registries::check,
    serialization::check,
    sources::check,
    terminology::check,
    unfinished::check,
    white_space::check,
];

/// The findings of a rule on made-up files, as text.
#[cfg(test)]
fn found(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let findings = check(&Tree::of(files));
    findings.iter().map(ToString::to_string).collect()
}
