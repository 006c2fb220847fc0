//! Four sub-agents in a repository with many files: two of them edit the same lines, and what fits is
//! merged onto a checkout with work of its user.

use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

const FILES: usize = 300;

#[test]
fn what_fits_is_merged_onto_a_dirty_checkout_and_nothing_of_the_user_changes() {
    let stage = WorktreeStage::new();
    for number in 0..FILES {
        let lines: Vec<String> = (1..=20).map(|line| format!("line {line}")).collect();
        let text = format!("file {number}\n{}\n", lines.join("\n"));
        stage.write(&format!("f{number:04}.txt"), &text);
    }
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "many"]);
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("kept.txt", "one\nuser\nthree\n");
    stage.write("untracked.bin", "\u{0}\u{1}untracked\n");
    let index = std::fs::read(stage.project().join(".git/index")).unwrap();
    let edit = |file: &str, line: usize, text: &str| format!("sed -i '{line}s/.*/{text}/' {file}");
    let (api, ui) = (edit("f0001.txt", 5, "api"), edit("f0001.txt", 5, "ui"));
    let (docs, tests) = (edit("f0002.txt", 3, "docs"), edit("f0003.txt", 21, "tests"));
    let said = stage.printed_by_run(&[
        ("api", &api),
        ("ui", &ui),
        ("docs", &docs),
        ("tests", &tests),
    ]);
    let matrix = said.split("\n\n").last().unwrap();
    insta::assert_snapshot!(matrix, @"
           checkout  api            ui             docs  tests
    api    ✓         –              ✗ f0001.txt:5  ✓     ✓
    ui     ✓         ✗ f0001.txt:5  –              ✓     ✓
    docs   ✓         ✓              ✓              –     ✓
    tests  ✓         ✓              ✓              ✓     –
    Line numbers are from the run in that row.
    ");
    let merged = stage.ours(&["merge", "api", "ui", "docs", "tests"]).run();
    assert_eq!(merged.code, Some(4));
    insta::assert_snapshot!(merged.stdout, @"
    ✓ api: merged, 1 file +1 −1
    ✗ ui: not merged; conflicts with this checkout in f0001.txt:5
    ✓ docs: merged, 1 file +1 −1
    ✓ tests: merged, 1 file +1 −1
    ");
    assert_eq!(
        std::fs::read(stage.project().join(".git/index")).unwrap(),
        index
    );
    assert_eq!(stage.read("staged.txt"), "staged\n");
    assert_eq!(stage.read("kept.txt"), "one\nuser\nthree\n");
    assert_eq!(stage.read("untracked.bin"), "\u{0}\u{1}untracked\n");
    assert_eq!(
        stage.status(),
        " M f0001.txt\n M f0002.txt\n M f0003.txt\n M kept.txt\nA  staged.txt\n?? untracked.bin"
    );
}
