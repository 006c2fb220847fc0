//! `trust`: nothing of a repository counts before somebody said yes, and a yes is remembered.

use std::fs;
use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::terminal::{CTRL_C, ENTER, Terminal};

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
        r#"{"subagents": {"runner": "embedded", "agentDirs": ["prompts"]}}"#,
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

const UNDECIDED: &str = "$PROJECT is not trusted yet; what it contains is ignored until you say yes to \"pi-subagents trust\".";
const TRUSTED: &str = "$PROJECT is trusted (decided with pi-subagents for $PROJECT).";
const REFUSED: &str = "$PROJECT is not trusted (decided with pi-subagents for $PROJECT).";

/// The first line of a command that must succeed, and the rest.
fn first_line_and_rest(stage: &Stage, arguments: &[&str]) -> (String, String) {
    let output = stage.command(arguments).run().expect_success();
    assert_eq!(output.stderr, "");
    let text = stage.sandbox.normalise(&output.stdout);
    let (first, rest) = text.split_once('\n').unwrap();
    (first.to_owned(), rest.to_owned())
}

#[test]
fn what_a_repository_carries_is_shown_and_ignored_until_somebody_says_yes() {
    let stage = repository();
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.
    [EOF]
    --- stderr
    warning: Ignored the settings of $PROJECT, which is not trusted yet (trust it with the command trust, or with /subagents trust inside pi).
    Ignored 2 agents of $PROJECT, which is not trusted yet: evil, plain. Run "pi-subagents trust" to look at it and allow that.
    [EOF]
    "#);
    insta::assert_snapshot!(stage.command(&["agents", "show", "evil"]).run(), @r#"
    --- exit code
    3
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: Unknown profile: "evil". Available profiles: (none)
    hint: Ignored 2 agents of $PROJECT, which is not trusted yet: evil, plain. Run "pi-subagents trust" to look at it and allow that.
    [EOF]
    "#);
    let (undecided, carried) = first_line_and_rest(&stage, &["trust"]);
    assert_eq!(undecided, UNDECIDED);
    insta::assert_snapshot!(carried, @r#"
    It contains:
      agent       evil            .pi/agent-profiles/evil.md  (extensions: ./evil.js; extraArgs: --verbose)
      agent       named [prompt]  prompts/named.md
      agent       plain [prompt]  .pi/agents/plain.md
      settings    runner, agentDirs
      skill       hack
      warning     $PROJECT/.pi/agent-profiles/evil.md:6:9: "apiKey" is never taken from a file of a project; it is ignored
    "#);
    let shown = stage.command(&["trust", "--show", "--json"]).run();
    insta::assert_snapshot!(shown.expect_success(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    {
      "schemaVersion": 1,
      "type": "result",
      "project": "$PROJECT",
      "decision": "undecided",
      "decidedWith": null,
      "decidedFor": null,
      "carries": {
        "agents": [
          {
            "name": "evil",
            "format": "profile",
            "file": "$PROJECT/.pi/agent-profiles/evil.md",
            "extensions": [
              "./evil.js"
            ],
            "extraArgs": [
              "--verbose"
            ],
            "command": [],
            "gates": [],
            "mcpServers": {},
            "replacesDefault": false,
            "ignoredAnyway": null
          },
          {
            "name": "named",
            "format": "prompt",
            "file": "$PROJECT/prompts/named.md",
            "extensions": [],
            "extraArgs": [],
            "command": [],
            "gates": [],
            "mcpServers": {},
            "replacesDefault": false,
            "ignoredAnyway": null
          },
          {
            "name": "plain",
            "format": "prompt",
            "file": "$PROJECT/.pi/agents/plain.md",
            "extensions": [],
            "extraArgs": [],
            "command": [],
            "gates": [],
            "mcpServers": {},
            "replacesDefault": false,
            "ignoredAnyway": null
          }
        ],
        "settings": [
          "runner",
          "agentDirs"
        ],
        "worktreeSetup": null,
        "reviewGate": null,
        "skills": [
          "hack"
        ],
        "forPi": [],
        "warnings": [
          "$PROJECT/.pi/agent-profiles/evil.md:6:9: \"apiKey\" is never taken from a file of a project; it is ignored"
        ]
      },
      "warnings": []
    }
    [EOF]
    --- stderr
    [EOF]
    "#);
    let listed = stage.command(&["profile", "--json"]).run().json();
    assert_eq!(listed["agents"], json!([]));
    assert_eq!(listed["ignored"][0]["reason"], "undecided");
    assert_eq!(
        first_line_and_rest(&stage, &["trust", "--yes"]),
        (TRUSTED.to_owned(), carried.clone())
    );
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    NAME   FORMAT   MODEL  SCOPE    DESCRIPTION
    evil   profile  m      project
    named  prompt          project  "Named."
    plain  prompt          project  "You are plain."
    [EOF]
    --- stderr
    warning: $PROJECT/.pi/agent-profiles/evil.md:6:9: "apiKey" is never taken from a file of a project; it is ignored
    [EOF]
    "#);
    assert_eq!(
        first_line_and_rest(&stage, &["trust", "--no"]),
        (REFUSED.to_owned(), carried.clone())
    );
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"
    --- exit code
    0
    [EOF]
    --- stdout
    No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.
    [EOF]
    --- stderr
    warning: Ignored the settings of $PROJECT, which is not trusted (trust it with the command trust, or with /subagents trust inside pi).
    Ignored 2 agents of $PROJECT, which is not trusted: evil, plain.
    [EOF]
    ");
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
    let by_pi = "$PROJECT is trusted (decided with pi for $SANDBOX).";
    assert_eq!(first_line_and_rest(&stage, &["trust", "--show"]).0, by_pi);
    stage.command(&["trust", "--no"]).run().expect_success();
    assert_eq!(first_line_and_rest(&stage, &["trust", "--show"]).0, REFUSED);
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
    insta::assert_snapshot!(stage.command(&["trust"]).run(), @"
    --- exit code
    0
    [EOF]
    --- stdout
    $PROJECT is trusted (decided with pi-subagents for $PROJECT).
    It contains:
      agent       evil  .pi/agent-profiles/evil.md  (is a link to a file outside the project, and stays ignored)
    [EOF]
    --- stderr
    [EOF]
    ");
    insta::assert_snapshot!(stage.command(&["profile"]).run(), @"
    --- exit code
    0
    [EOF]
    --- stdout
    No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.
    [EOF]
    --- stderr
    Ignored 1 agent of $PROJECT, found outside of it: evil.
    [EOF]
    ");
    insta::assert_snapshot!(stage.command(&["agents", "edit", "evil", "--model", "n"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: $PROJECT/.pi/agent-profiles/evil.md is a link to a file outside the project
    hint: Edit the file that the link leads to.
    [EOF]
    ");
    assert_eq!(
        fs::read_to_string(outside).unwrap(),
        "---\nname: evil\nmodel: m\n---\n"
    );
}

#[test]
fn what_lies_above_the_project_is_decided_there() {
    let stage = repository();
    fs::create_dir_all(stage.sandbox.project().join("inner/.pi/skills")).unwrap();
    let inner = |arguments: &[&str]| stage.command(arguments).cwd("inner").run();
    insta::assert_snapshot!(inner(&["trust", "--yes"]), @"
    --- exit code
    0
    [EOF]
    --- stdout
    $PROJECT/inner is trusted (decided with pi-subagents for $PROJECT/inner).
    It contains:
      agent       plain [prompt]  $PROJECT/.pi/agents/plain.md  (belongs to the project $PROJECT, which has its own decision)
    [EOF]
    --- stderr
    [EOF]
    ");
    insta::assert_snapshot!(inner(&["profile"]), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.
    [EOF]
    --- stderr
    Ignored 1 agent of $PROJECT, which is not trusted yet: plain. Run "pi-subagents trust" to look at it and allow that.
    [EOF]
    "#);
    stage.command(&["trust", "--yes"]).run().expect_success();
    insta::assert_snapshot!(inner(&["profile"]), @r#"
    --- exit code
    0
    [EOF]
    --- stdout
    NAME   FORMAT  SCOPE    DESCRIPTION
    plain  prompt  project  "You are plain."
    [EOF]
    --- stderr
    [EOF]
    "#);
}

#[test]
fn the_home_directory_cannot_be_trusted() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["trust", "--yes"]).cwd(stage.sandbox.home()).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: trusting $HOME would trust everything in the home directory
    hint: Run it in the directory of the project itself.
    [EOF]
    ");
    stage
        .command(&["trust", "--no"])
        .cwd(stage.sandbox.home())
        .run()
        .expect_success();
}

#[test]
fn a_yes_and_a_no_at_once_are_refused() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.command(&["trust", "--yes", "--no"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the argument '--yes' cannot be used with '--no'

    Usage: pi-subagents trust --yes

    For more information, try '--help'.
    [EOF]
    ");
}

#[test]
fn on_a_terminal_somebody_is_asked() {
    let stage = repository();
    let ask = |keys: &str| {
        let mut terminal = Terminal::start(stage.command(&["trust"]));
        terminal.answer("contains? (", keys);
        let (code, screen) = terminal.end();
        (code, stage.sandbox.normalise(&screen))
    };
    let (code, screen) = ask(CTRL_C);
    assert_eq!(code, Some(130), "{screen}");
    let (listed, asked) = screen.split_at(screen.find("? Trust").unwrap());
    assert_eq!(
        listed,
        format!("{UNDECIDED}\n{}", first_line_and_rest(&stage, &["trust"]).1)
    );
    insta::assert_snapshot!(asked, @r#"
    ? Trust $PROJECT and use what it contains? (y/N)
    Nothing was written.
    "#);
    let decisions = stage.sandbox.agent_dir().join("subagents-trust.json");
    assert!(!decisions.exists());
    let (code, screen) = ask("y\r");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains(TRUSTED), "{screen}");
    let decided = fs::read_to_string(&decisions).unwrap();
    let (code, screen) = ask(ENTER);
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(fs::read_to_string(decisions).unwrap(), decided);
    assert_eq!(first_line_and_rest(&stage, &["trust"]).0, TRUSTED);
}

#[test]
fn every_command_that_a_yes_would_run_is_shown_in_full() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agent-profiles/default.md",
        "---\nname: default\nextraArgs: --foo\ngate:\n  - touch PWNED_gate\n  - |\n    true\n    rm -rf x\n---\n",
    );
    stage.sandbox.write(
        "project/.pi/settings.json",
        r#"{"subagents": {"worktreeSetup": "touch PWNED_setup", "maxConcurrency": 2}}"#,
    );
    insta::assert_snapshot!(first_line_and_rest(&stage, &["trust"]).1, @"
    It contains:
      agent       default  .pi/agent-profiles/default.md  (extraArgs: --foo)
        replaces  default: every task that names no agent uses it
        will run: touch PWNED_gate
        will run: true
                  rm -rf x
      settings    worktreeSetup, maxConcurrency
        will run: touch PWNED_setup
    ");
    let json = stage.command(&["trust", "--show", "--json"]).run().json();
    let carries = &json["carries"];
    assert_eq!(carries["agents"][0]["replacesDefault"], true);
    assert_eq!(carries["agents"][0]["gates"][0], "touch PWNED_gate");
    assert_eq!(carries["worktreeSetup"], "touch PWNED_setup");
    for name in ["PWNED_gate", "PWNED_setup"] {
        assert!(!stage.sandbox.project().join(name).exists());
    }
}
