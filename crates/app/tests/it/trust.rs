//! `trust`: nothing of a repository counts before somebody said yes, and a yes is remembered.

use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::profile::terminal::{CTRL_C, ENTER, Terminal};
use crate::stage::Stage;

/// A repository that carries everything there is.
fn repository() -> Stage {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/evil.md",
        "---\nname: evil\nmodel: m\nextensions: ./evil.js\nextraArgs: --verbose\napiKey: sk-evil-1234567890\n---\n",
    );
    stage.sandbox.write(
        "project/.pi/agents/plain.md",
        "---\nname: plain\n---\nYou are plain.\n",
    );
    stage.sandbox.write(
        "project/.pi/settings.json",
        r#"{"subagents": {"runner": "embedded", "definitionDirs": ["prompts"]}}"#,
    );
    stage.sandbox.write(
        "project/prompts/named.md",
        "---\nname: named\nfinalize: false\n---\nNamed.\n",
    );
    stage.sandbox.write(
        "project/.pi/skills/hack/SKILL.md",
        "---\nname: hack\ndescription: Hacks.\n---\nHack.\n",
    );
    stage
}

#[test]
fn what_a_repository_carries_is_shown_and_ignored_until_somebody_says_yes() {
    let stage = repository();
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["profile", "show", "evil"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["trust"]).run(), @"");
    let shown = stage.command(&["trust", "--show", "--json"]).run();
    let shown = shown.expect_success().json();
    assert_eq!(shown["decision"], "undecided");
    assert_eq!(
        shown["carries"]["settings"],
        json!(["runner", "definitionDirs"])
    );
    assert_eq!(shown["carries"]["skills"], json!(["hack"]));
    assert_eq!(
        shown["carries"]["definitions"][0]["extraArgs"],
        json!(["--verbose"])
    );
    let listed = stage.command(&["profile", "--json"]).run().json();
    assert_eq!(listed["profiles"], json!([]));
    assert_eq!(listed["ignored"][0]["reason"], "undecided");
    insta::assert_snapshot!(stage.command(&["trust", "--yes"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["trust", "--no"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"");
    let decided = stage.command(&["trust", "--json"]).run().json();
    assert_eq!(
        (&decided["decision"], &decided["decidedWith"]),
        (&json!("refused"), &json!("pi-subagents"))
    );
}

#[test]
fn a_decision_of_pi_counts_and_ours_beats_it() {
    let stage = repository();
    let decisions = json!({stage.sandbox.root().display().to_string(): true});
    stage
        .sandbox
        .write("home/.pi/agent/trust.json", &decisions.to_string());
    let first_line = || {
        let output = stage.command(&["trust", "--show"]).run().expect_success();
        let line = output.stdout.lines().next().unwrap_or_default();
        stage.sandbox.normalise(line)
    };
    assert_eq!(
        first_line(),
        "$PROJECT is trusted (decided with pi for $SANDBOX)."
    );
    stage.command(&["trust", "--no"]).run().expect_success();
    assert_eq!(
        first_line(),
        "$PROJECT is not trusted (decided with pi-subagents for $PROJECT)."
    );
}

#[test]
fn a_link_that_leads_outside_does_not_smuggle_trust() {
    let stage = Stage::new();
    let profiles = stage.sandbox.project().join(".pi/agent-profiles");
    fs::create_dir_all(&profiles).unwrap();
    let outside = stage
        .sandbox
        .write("elsewhere/evil.md", "---\nname: evil\nmodel: m\n---\n");
    symlink(&outside, profiles.join("evil.md")).unwrap();
    stage.command(&["trust", "--yes"]).run().expect_success();
    insta::assert_snapshot!(stage.command(&["trust"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"");
    insta::assert_snapshot!(stage.command(&["profile", "edit", "evil", "--model", "n"]).run(), @"");
    assert_eq!(
        fs::read_to_string(outside).unwrap(),
        "---\nname: evil\nmodel: m\n---\n"
    );
}

#[test]
fn what_lies_above_the_project_is_decided_there() {
    let stage = repository();
    fs::create_dir_all(stage.sandbox.project().join("inner/.pi")).unwrap();
    let inner = |arguments: &[&str]| stage.command(arguments).cwd("inner").run();
    insta::assert_snapshot!(inner(&["trust", "--yes"]), @"");
    insta::assert_snapshot!(inner(&["profile"]), @"");
    stage.command(&["trust", "--yes"]).run().expect_success();
    insta::assert_snapshot!(inner(&["profile"]), @"");
}

#[test]
fn the_home_directory_cannot_be_trusted() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["trust", "--yes"]).cwd(stage.sandbox.home()).run(), @"");
    stage
        .command(&["trust", "--no"])
        .cwd(stage.sandbox.home())
        .run()
        .expect_success();
    let both = stage.command(&["trust", "--yes", "--no"]).run();
    assert_eq!(both.code, Some(2));
}

#[test]
fn on_a_terminal_somebody_is_asked() {
    let stage = repository();
    let ask = |keys: &str| {
        let mut terminal = Terminal::start(stage.command(&["trust"]));
        terminal.answer("carries? (", keys);
        let (code, screen) = terminal.end();
        (code, stage.sandbox.normalise(&screen))
    };
    let (code, screen) = ask(CTRL_C);
    assert_eq!(code, Some(130), "{screen}");
    insta::assert_snapshot!(screen, @"");
    let decisions = stage.sandbox.agent_dir().join("subagents-trust.json");
    assert!(!decisions.exists());
    let (code, screen) = ask("y\r");
    assert_eq!(code, Some(0), "{screen}");
    let last = "$PROJECT is trusted (decided with pi-subagents for $PROJECT).";
    assert!(screen.contains(last), "{screen}");
    let (code, screen) = ask(ENTER);
    assert_eq!(code, Some(0), "{screen}");
    assert!(fs::read_to_string(decisions).unwrap().contains("true"));
}
