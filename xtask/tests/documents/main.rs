//! # The documents of users, typed
//!
//! Every command and every JSON of the user documents is typed in order, each document in a fresh
//! home with a project, a key and a scripted model. A comment before a code block says if a command
//! ends with another code than 0 (`<!-- exits: 0 4 -->`), why a block is not typed
//! (`<!-- not typed: … -->`), that its commands serve (`<!-- serves -->`), which command comes first (`<!-- first: … -->`), or which file the block is (`<!-- file: ~/.pi/agent/settings.json -->`).

#![expect(
    clippy::disallowed_methods,
    reason = "a test that types commands starts programs and makes files"
)]

mod blocks;
mod commands;
mod fresh_home;
mod programs;

use std::error::Error;
use std::path::{Path, PathBuf};

use xtask::source::{SourceFile, Tree};

use crate::blocks::{Block, Remark, blocks};
use crate::fresh_home::FreshHome;

/// Documents that are generated; other tests look at their content.
const GENERATED: [&str; 2] = ["docs/cli.md", "docs/tools.md"];

#[test]
fn every_command_and_every_json_of_the_documents_works() -> Result<(), Box<dyn Error>> {
    let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    let wanted = std::env::var("DOCUMENT").unwrap_or_default();
    let mut findings = Vec::new();
    for document in tree.files.iter().filter(|file| is_for_users(file)) {
        if document.path.contains(&wanted) {
            type_document(document, &mut findings)?;
        }
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
    Ok(())
}

fn is_for_users(file: &SourceFile) -> bool {
    let of_docs = file.path.strip_prefix("docs/");
    let is_page = of_docs.is_some_and(|rest| file.has_extension(&["md"]) && !rest.contains('/'));
    (is_page || file.path == "README.md") && !GENERATED.contains(&file.path.as_str())
}

/// Types a document from its first block to its last, and adds one finding per failure.
fn type_document(document: &SourceFile, findings: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let home = FreshHome::new(&built_programs()?)?;
    for block in blocks(&document.text) {
        let at = |line: usize, words: &str| format!("{}:{line}: {words}", document.path);
        match &block.remark {
            Remark::NotTyped => continue,
            Remark::File(path) => {
                home.write(path, &block.text)?;
                findings.extend(home.complaint(path)?.map(|words| at(block.line, &words)));
                continue;
            }
            Remark::First(command) => {
                let ended = home.type_in(command)?;
                if ended.code != 0 {
                    findings.push(at(block.line, &ended.output));
                }
            }
            Remark::Exits(_) | Remark::Serves | Remark::None => {}
        }
        let found = match block.language.as_str() {
            "sh" | "bash" | "console" | "text" => type_commands(&block, &home)?,
            "json" | "jsonl" => home.json_problem(&block)?.into_iter().collect(),
            _ => Vec::new(),
        };
        findings.extend(found.into_iter().map(|(line, words)| at(line, &words)));
    }
    Ok(())
}

/// Types the commands of a block, and returns the line and the words of each failure.
fn type_commands(block: &Block, home: &FreshHome) -> Result<Vec<(usize, String)>, Box<dyn Error>> {
    let mut failures = Vec::new();
    for (command, place) in commands::commands(block)?.into_iter().zip(0..) {
        let expected = block.remark.exit_code(place);
        match programs::verdict(&command.text) {
            programs::Verdict::Ours => {}
            programs::Verdict::OfOthers => continue,
            programs::Verdict::Unknown(name) => {
                let words = format!(
                    "types {name}; name it in {}",
                    "xtask/tests/documents/programs.rs"
                );
                failures.push((command.line, words));
                continue;
            }
        }
        let typed = match block.remark {
            Remark::Serves => home.serve(&command.text)?,
            _ => home.type_in(&command.text)?,
        };
        if typed.code != expected {
            let words = format!(
                "`{}` exits with {} and not with {expected}:\n{}",
                command.text, typed.code, typed.output
            );
            failures.push((command.line, words));
        }
    }
    Ok(failures)
}

/// Returns the directory of the programs that `cargo xtask` has built before it runs this.
fn built_programs() -> Result<PathBuf, Box<dyn Error>> {
    let test = std::env::current_exe()?;
    let directory = test.ancestors().nth(2);
    Ok(directory
        .ok_or("the test is not in a target directory")?
        .to_owned())
}
