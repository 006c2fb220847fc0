//! The quick look before a commit: everything but the tests, and a hint about sizes.

use crate::Outcome;
use crate::figures::figures;
use crate::hints::{functions, significant_lines};
use crate::machine::root;
use crate::source::{SourceFile, Tree};
use crate::steps::{self, Step};

const SHOWN: usize = 10;

/// Checks, then lists long files and functions. A length never fails anything.
pub(crate) fn check() -> Outcome<()> {
    steps::run(&Step::checks())?;
    let tree = Tree::read(&root())?;
    let sources: Vec<&SourceFile> = tree.files.iter().filter(|file| is_source(file)).collect();
    let files = sources
        .iter()
        .map(|file| (significant_lines(&file.text), file.path.clone()));
    println!("\nThe longest files, in lines before their tests (a hint, not a limit):");
    print_longest(files.collect());
    let functions = sources.iter().flat_map(|file| {
        functions(&file.text).into_iter().map(|found| {
            (
                found.lines,
                format!("{}:{} {}", file.path, found.line, found.name),
            )
        })
    });
    println!("\nThe longest functions (a hint, not a limit):");
    print_longest(functions.collect());
    print_figures(&tree);
    println!("\nxtask check PASSED");
    Ok(())
}

/// Prints the documents whose language is above an aim.
fn print_figures(tree: &Tree) {
    println!("\nDocuments above 3 \"what\", 3 semicolons or 9 passives in 1,000 words (a hint):");
    for one in figures(tree).iter().filter(|one| one.is_above()) {
        let [what, semicolons, passives] = one.rates;
        let words = one.words;
        println!(
            "{what:6.1} {semicolons:6.1} {passives:6.1}  {} ({words} words)",
            one.path
        );
    }
}

fn is_source(file: &SourceFile) -> bool {
    file.has_extension(&["rs"])
        && !file.path.contains("/tests/")
        && !file.path.ends_with("tests.rs")
}

fn print_longest(mut rows: Vec<(usize, String)>) {
    rows.sort_by(|one, other| other.cmp(one));
    for (lines, name) in rows.iter().take(SHOWN) {
        println!("{lines:6}  {name}");
    }
}
