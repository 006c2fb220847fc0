//! A conflict goes back to the sub-agent that made it, in its own worktree.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

/// A run whose change and the user's are in the same line.
fn clashing(script: &str) -> WorktreeStage {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "sed -i s/two/child/ kept.txt")]);
    stage.write("kept.txt", "one\nuser\nthree\n");
    // The sub-agent does this, whatever the next prompt is.
    stage.prompt_for("Resolve every conflict", script);
    stage
}

#[test]
fn what_it_resolves_can_be_merged() {
    let stage =
        clashing("cat kept.txt > \"$HOME/marked\"; printf 'one\\nboth\\nthree\\n' > kept.txt");
    let first = stage.ours(&["merge", "api"]).run();
    assert_eq!(first.code, Some(1));
    let resolved = stage
        .ours(&["merge", "api", "--resolve"])
        .run()
        .expect_success();
    let said = stage.normalise(&resolved.stdout);
    assert!(said.contains("✓ api: fits this checkout now"), "{said}");
    // The checkout was not touched meanwhile.
    assert_eq!(stage.read("kept.txt"), "one\nuser\nthree\n");
    let marked = std::fs::read_to_string(stage.home_path("marked")).unwrap();
    let lines: Vec<&str> = marked.lines().collect();
    let bare: Vec<&str> = lines
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        bare,
        [
            "one", "<<<<<<<", "child", "=======", "user", ">>>>>>>", "three"
        ]
    );
    // Two runs have worked in the worktree, and one result waits.
    insta::assert_snapshot!(stage.printed(&["worktrees"]));
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("kept.txt"), "one\nboth\nthree\n");
    assert_eq!(stage.status(), " M kept.txt");
    let nothing = stage.ours(&["worktrees"]).run();
    assert_eq!(nothing.stdout, "");
}

#[test]
fn markers_that_are_left_are_told() {
    let stage = clashing("true");
    let output = stage.ours(&["merge", "api", "--resolve"]).run();
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    let line = "✗ api: conflict markers are left in kept.txt";
    assert!(output.stdout.contains(line), "{}", output.stdout);
    let checked = stage.ours(&["merge", "api", "--check"]).run();
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let merged = stage.ours(&["merge", "api"]).run();
    assert_eq!(merged.code, Some(1), "{}", merged.stderr);
    let line = "✗ api: not merged; conflict markers are left in kept.txt\n";
    assert_eq!(checked.stdout, format!("     checkout\napi  ✓\n{line}"));
    assert_eq!(merged.stdout, line);
    assert_eq!(stage.read("kept.txt"), "one\nuser\nthree\n");
}

#[test]
fn what_fits_needs_no_resolving() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo one > a.txt")]);
    let output = stage
        .ours(&["merge", "api", "--resolve"])
        .run()
        .expect_success();
    assert_eq!(
        output.stdout,
        "✓ api: fits this checkout; nothing is to be resolved\n"
    );
    let json = stage.ours(&["merge", "api", "--resolve", "--json"]).run();
    let run = stage.last_run();
    assert_eq!(
        json.json(),
        json!({
            "schemaVersion": 1, "type": "result",
            "resolved": true, "runId": run, "markers": [], "conflicts": [],
        })
    );
}
