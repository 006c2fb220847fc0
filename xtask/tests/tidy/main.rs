//! # The rules of the house
//!
//! Each rule is a function from the [`Tree`] of all files to [`Finding`]s, with a test that shows
//! it failing on a small made-up tree. No rule is about a length.

mod finding;
mod rules;

use std::error::Error;
use std::path::{Path, PathBuf};

use xtask::dependencies::licensed;
use xtask::documents::generated_documents;
use xtask::source::Tree;

use crate::finding::Finding;

#[test]
fn every_rule_is_kept() -> Result<(), Box<dyn Error>> {
    let tree = workspace()?;
    let findings: Vec<Finding> = rules::ALL.iter().flat_map(|rule| rule(&tree)).collect();
    assert!(findings.is_empty(), "{}", finding::report(&findings));
    Ok(())
}

#[test]
fn every_generated_document_is_up_to_date() -> Result<(), Box<dyn Error>> {
    let documents = generated_documents(&built_binary()?)?;
    let findings = rules::documents::check(&workspace()?, &documents);
    assert!(findings.is_empty(), "{}", finding::report(&findings));
    Ok(())
}

#[test]
fn every_dependency_has_a_licence_we_take() -> Result<(), Box<dyn Error>> {
    let findings = rules::dependencies::check_licences(&licensed()?);
    assert!(findings.is_empty(), "{}", finding::report(&findings));
    Ok(())
}

fn workspace() -> std::io::Result<Tree> {
    Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
}

/// The binary of the app, which `cargo xtask` has built before it runs this.
fn built_binary() -> Result<PathBuf, Box<dyn Error>> {
    let test = std::env::current_exe()?;
    let directory = test
        .ancestors()
        .nth(2)
        .ok_or("the test is not in a target directory")?;
    let binary = directory.join("pi-subagents");
    if binary.is_file() {
        return Ok(binary);
    }
    Err("pi-subagents is not built; run cargo build --workspace --all-targets".into())
}
