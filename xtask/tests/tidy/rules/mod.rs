//! The rules, one file each.

mod command_lines;
pub(crate) mod dependencies;
pub(crate) mod documents;
mod file_names;
mod file_sizes;
mod headings;
mod layers;
mod links;
mod machine_paths;
mod named_paths;
mod operating_system;
mod pictures;
mod plain_texts;
mod plain_words;
mod promises;
mod public_types;
mod quoted_messages;
mod registries;
mod release_facts;
mod settings_page;
mod terminology;
mod tuple_parameters;
mod unfinished_code;

use xtask::source::Tree;

use crate::finding::Finding;

/// Every rule that needs the tree alone.
pub(crate) const ALL: [fn(&Tree) -> Vec<Finding>; 22] = [
    command_lines::check,
    dependencies::check,
    file_names::check,
    file_sizes::check,
    headings::check,
    layers::check,
    links::check,
    machine_paths::check,
    named_paths::check,
    operating_system::check,
    plain_texts::check,
    plain_words::check,
    pictures::check,
    promises::check,
    public_types::check,
    quoted_messages::check,
    registries::check,
    release_facts::check,
    settings_page::check,
    terminology::check,
    tuple_parameters::check,
    unfinished_code::check,
];

/// The findings of a rule on made-up files, as text.
#[cfg(test)]
fn found(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let findings = check(&Tree::of(files));
    findings.iter().map(ToString::to_string).collect()
}
