//! Measures how long a catalogue takes to load: `cargo run --release --example load_many [FOLDER]`.
#![expect(
    clippy::disallowed_methods,
    reason = "an example makes the files that it reads"
)]

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use pi_subagents_configuration::{Catalogue, DefinitionPlaces, Folder, FolderDialect, Trust};
use pi_subagents_vocabulary::Scope;

const PROFILE: &str = "---
name: worker-NUMBER
description: Reads and reports
provider: anthropic
model: claude-sonnet-4-5
thinkingLevel: high
tools: read,bash,grep,edit,write
noExtensions: true
---

You are an expert code reviewer. Analyze code for bugs, security and performance.
Be thorough but concise. Report findings in order of severity.
";

fn time(what: &str, folder: PathBuf) {
    let places = DefinitionPlaces {
        folders: vec![Folder {
            dialect: FolderDialect::of_folder(&folder),
            owner: folder.clone(),
            path: folder,
            scope: Scope::Global,
            distance: 0,
        }],
    };
    let start = Instant::now();
    let catalogue = Catalogue::load(&places, &Trust::default());
    let taken = start.elapsed();
    let loaded = catalogue
        .effective(pi_subagents_configuration::Asker::Delegation)
        .len();
    let warnings = catalogue.warnings().len();
    #[expect(clippy::print_stdout, reason = "an example prints")]
    {
        println!("{what}: {taken:?} ({loaded} definitions, {warnings} warnings)");
    }
}

fn main() -> std::io::Result<()> {
    let many = tempfile::tempdir()?;
    let folder = many.path().join("agent-profiles");
    fs::create_dir(&folder)?;
    for number in 0..1000 {
        let content = PROFILE.replace("NUMBER", &number.to_string());
        fs::write(folder.join(format!("worker-{number}.md")), content)?;
    }
    time("1000 definitions, first", folder.clone());
    time("1000 definitions, again", folder);
    let odd = many.path().join("odd");
    fs::create_dir(&odd)?;
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for case in fs::read_dir(cases)? {
        let case = case?;
        fs::copy(case.path(), odd.join(case.file_name()))?;
    }
    fs::write(
        odd.join("big.md"),
        format!("---\nname: big\n---\n{}", "x".repeat(10_000_000)),
    )?;
    time("odd files and a body of 10 MB", odd);
    Ok(())
}
