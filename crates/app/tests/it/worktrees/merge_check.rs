//! `merge --check` says what `merge` would do, and exits with its code.

use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

/// Results that fit, that conflict with each other, with the checkout and with an ignored file, and
/// a run without a result.
fn stage() -> WorktreeStage {
    let stage = WorktreeStage::new();
    stage.write(".gitignore", "*.log\n");
    stage.write("other.txt", "one\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "more"]);
    stage.run(&[
        ("fits", "echo new > new.txt"),
        ("api", "sed -i s/two/api/ kept.txt"),
        ("ui", "sed -i s/two/ui/ kept.txt"),
        ("clashes", "echo child > other.txt"),
        ("blocked", "echo child > build.log; git add -f build.log"),
        ("idle", "true"),
    ]);
    stage.write("other.txt", "mine\n");
    stage.write("build.log", "mine\n");
    stage
}

#[test]
fn a_check_exits_as_the_merge_would() {
    for (runs, expected) in [
        (&["fits", "api"][..], 0),
        (&["fits", "idle"], 4),
        (&["api", "ui"], 4),
        (&["clashes", "fits"], 4),
        (&["clashes", "blocked"], 1),
        (&["clashes", "idle"], 1),
        (&["idle"], 5),
    ] {
        let stage = stage();
        let check = stage.ours(&["merge", "--check"]).args(runs).run();
        let merge = stage.ours(&["merge"]).args(runs).run();
        assert_eq!(
            (check.code, merge.code),
            (Some(expected), Some(expected)),
            "{runs:?}: {}\n{}",
            check.stdout,
            merge.stdout
        );
    }
}

#[test]
fn without_names_all_that_waits_is_compared() {
    let stage = stage();
    let check = stage.ours(&["merge", "--check"]).run();
    assert_eq!(check.code, Some(4), "{}", check.stderr);
    insta::assert_snapshot!(stage.normalise(&check.stdout), @r#"
             checkout                  fits  api           ui            clashes  blocked
    fits     ✓                         –     ✓             ✓             ✓        ✓
    api      ✓                         ✓     –             ✗ kept.txt:2  ✓        ✓
    ui       ✓                         ✓     ✗ kept.txt:2  –             ✓        ✓
    clashes  ✗ other.txt:1             ✓     ✓             ✓             –        ✓
    blocked  ✗ build.log (in the way)  ✓     ✓             ✓             ✓        –
    Lines of the checkout's file below "checkout", elsewhere of the row's own file.
    "#);
    let unnamed = stage.ours(&["merge"]).run();
    assert_eq!(unnamed.code, Some(2));
    let merged = stage.ours(&["merge", "fits", "api", "ui", "clashes", "blocked"]);
    let merged = merged.run();
    let said = format!("{}\n{}", unnamed.stderr, stage.stage().printed(&merged));
    insta::assert_snapshot!(stage.normalise(&said), @"
    error: name a run to merge
    hint: fits: 1 file +1 −0; not merged (pi-subagents merge <run-1>)
    hint: api: 1 file +1 −1; not merged (pi-subagents merge <run-2>)
    hint: ui: 1 file +1 −1; not merged (pi-subagents merge <run-3>)
    hint: clashes: 1 file +1 −1; not merged (pi-subagents merge <run-4>)
    hint: blocked: 1 file +1 −0; not merged (pi-subagents merge <run-5>)

    ✓ fits: merged, 1 file +1 −0
    ✓ api: merged, 1 file +1 −1
    ✗ ui: not merged; conflicts with this checkout in kept.txt:2
    ✗ clashes: not merged; conflicts with this checkout in other.txt:1
    ✗ blocked: not merged; it would overwrite build.log, which git does not keep; move it away first
    fits (run: <run-1>, session: <session-1>, started <past>)
    api (run: <run-2>, session: <session-2>, started <past>)
    ui (run: <run-3>, session: <session-3>, started <past>)
    clashes (run: <run-4>, session: <session-4>, started <past>)
    blocked (run: <run-5>, session: <session-5>, started <past>)
    hint: pi-subagents merge <run-3> --resolve lets its sub-agent resolve the conflicts.
    ");
    let resolve = stage.ours(&["merge", "blocked", "--resolve"]).run();
    assert_eq!(resolve.code, Some(1));
    insta::assert_snapshot!(stage.normalise(&resolve.stderr), @"
    blocked (run: <run-5>, session: <session-5>, started <past>)
    error: blocked would overwrite build.log in this checkout, which git does not keep
    hint: Its sub-agent cannot resolve that; move what is in the way.
    ");
}

#[test]
fn where_nothing_waits_there_is_nothing_to_compare() {
    let stage = WorktreeStage::new();
    let check = stage.ours(&["merge", "--check"]).run();
    assert_eq!(check.code, Some(5));
    insta::assert_snapshot!(check.stderr, @"
    error: no result waits to be merged here
    hint: pi-subagents worktrees --all lists what was merged or discarded.
    ");
}
