//! Results of a fleet wait to be merged beside those of worktrees: they are listed, checked, merged
//! and discarded by the same commands and tools.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, git};
use crate::host_stage::Shim;
use crate::mcp_stage::McpClient;
use crate::stage::{Stage, call, outcomes};

/// Two tasks of which each changes the file of the project, in its own way, and a third that does
/// not.
fn tasks() -> [(&'static str, Value); 3] {
    let script = |command: &str| json!([{"shell": command}, {"reply": "done"}]);
    [
        ("api", script("echo api > readme.md")),
        ("ui", script("echo ui > readme.md")),
        ("docs", script("echo docs > docs.txt")),
    ]
}

/// Makes all calls of a user go to the fleet.
fn always_in_the_fleet(fleet: &FleetStage) {
    let settings = json!({"servers": [fleet.server.url()], "on": "fleet"});
    fleet.stage.settings(&json!({"fleet": settings}));
}

fn status(stage: &Stage) -> String {
    git(stage, &stage.sandbox.project(), &["status", "--porcelain"])
}

#[test]
fn results_of_a_fleet_are_listed_merged_and_discarded_like_those_of_worktrees() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let delegated = stage.delegate(&call(&tasks())).args(["--on", "fleet"]);
    let answered = delegated.run();
    assert_eq!(outcomes(&answered).len(), 3, "{answered}");
    let kept = answered.json()["runs"][2]["workspace"].clone();
    let files = json!([{"path": "docs.txt", "status": "added", "added": 1, "removed": 0}]);
    assert_eq!(
        (&kept["state"], &kept["files"]),
        (&json!("captured"), &files),
        "{kept}"
    );
    let said = |arguments: &[&str]| stage.printed(&stage.command(arguments).run());
    let screens = [
        said(&["worktrees"]),
        said(&["merge"]),
        said(&["merge", "api", "ui", "docs"]),
        said(&["discard", "ui", "--yes"]),
        said(&["worktrees"]),
        // It was thrown away here, and is not fetched again.
        said(&["merge", "ui"]),
    ];
    insta::assert_snapshot!(screens.join("---\n"), @"
    api  <run-1>  <past>
      changes: 1 file +1 −1; not merged (pi-subagents merge <run-1>)
      fits its checkout
    ui  <run-2>  <past>
      changes: 1 file +1 −1; not merged (pi-subagents merge <run-2>)
      fits its checkout
    docs  <run-3>  <past>
      changes: 1 file +1 −0; not merged (pi-subagents merge <run-3>)
      fits its checkout
    ---
    error: name a run to merge
    hint: api: 1 file +1 −1; not merged (pi-subagents merge <run-1>)
    hint: ui: 1 file +1 −1; not merged (pi-subagents merge <run-2>)
    hint: docs: 1 file +1 −0; not merged (pi-subagents merge <run-3>)
    ---
    ✓ api: merged, 1 file +1 −1
    ✗ ui: not merged; conflicts with this checkout in readme.md:1
    ✓ docs: merged, 1 file +1 −0
    api (run: <run-1>, session: <session-1>, started <past>)
    ui (run: <run-2>, session: <session-2>, started <past>)
    docs (run: <run-3>, session: <session-3>, started <past>)
    ---
    ui: discarded
    ui (run: <run-2>, session: <session-2>, started <past>)
    hint: for 30 days, git branch NAME refs/pi-subagents/discarded/<run-2>/result gets it back.
    ---
    no run has its own worktree, and no result of a fleet waits
    hint: --isolation worktree gives each run one.
    ---
    ui (run: <run-2>, session: <session-2>, started <past>)
    error: ui has no result: 1 file +1 −1; discarded (run <run-2>)
    ");
    assert_eq!(status(stage), " M readme.md\n?? docs.txt\n");
}

#[test]
fn a_session_goes_on_from_the_files_that_it_left_until_they_are_merged() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let preset = "---\nname: scout\ndescription: looks\nmodel: fake/fake-model\n---\nYou look.\n";
    stage
        .sandbox
        .write("home/.pi/agent/subagents/scout.md", preset);
    let told = |command: &str| {
        let script = json!([{"shell": command}, {"reply": "done"}]).to_string();
        let run = ["run", "scout", &script, "--session", "talk"];
        let said = stage.command(&run).args(["--on", "fleet"]).run();
        let said = stage.printed(&said.expect_success());
        let mut lines = said.lines();
        let line = lines.find(|line| line.contains("begins from"));
        line.unwrap_or("as the caller has it").to_owned() + "\n"
    };
    let said = |arguments: &[&str]| stage.printed(&stage.command(arguments).run());
    let commit = "git add . && git -c user.name=a -c user.email=a@b commit --quiet -m one";
    let screens = [
        told(&format!("echo one > one.txt; {commit}")),
        told("git log --format=%s > log.txt; cp one.txt two.txt"),
        told("echo nothing"),
        {
            stage.sandbox.write("project/readme.md", "A torch.\n");
            told("echo three > two.txt; cp readme.md seen.txt")
        },
        said(&["worktrees"]),
        said(&["diff", "talk", "--stat"]),
        said(&["merge", "talk", "--check"]),
        said(&["merge", "talk"]),
        said(&["worktrees"]),
        said(&["merge", "talk"]),
        told("cp readme.md again.txt"),
        said(&["diff", "talk", "--stat"]),
    ];
    insta::assert_snapshot!(screens.join("---\n"), @"
    as the caller has it
    ---
    scout  warning: it begins from the unmerged result of run <run-1>
    ---
    scout  warning: it begins from the unmerged result of run <run-2>
    ---
    scout  warning: it begins from the unmerged result of run <run-2>, without what you changed since
    ---
    scout  <run-3>  <past>
      changes: 4 files +5 −0; not merged (pi-subagents merge <run-3>)
      fits its checkout
    ---
    log.txt   +2 −0  added
    one.txt   +1 −0  added
    seen.txt  +1 −0  added
    two.txt   +1 −0  added
    4 files +5 −0
    ---
           checkout
    scout  ✓
    ---
    ✓ scout: merged, 4 files +5 −0
    ---
    no run has its own worktree, and no result of a fleet waits
    hint: --isolation worktree gives each run one.
    ---
    ✓ scout: this checkout has its changes already
    ---
    as the caller has it
    ---
    again.txt  +1 −0  added
    1 file +1 −0
    ");
    let read = |name: &str| {
        let path = stage.sandbox.project().join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let names = ["one.txt", "two.txt", "log.txt", "seen.txt", "readme.md"];
    let expected = ["one\n", "three\n", "one\nlamp\n", "A lamp.\n", "A torch.\n"];
    assert_eq!(names.map(read), expected.map(str::to_owned));
}

#[test]
fn people_are_told_how_to_merge_several_results_at_once() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let step = |names: [&str; 2]| {
        let tasks = names.map(|name| {
            let script = json!([{"shell": format!("echo > '{name}.txt'")}, {"reply": "done"}]);
            format!("{name}={script}")
        });
        let delegate = ["delegate", "--task", &tasks[0], "--task", &tasks[1]];
        let said = stage.command(&delegate).args(["--on", "fleet"]).run();
        let said = stage.printed(&said);
        let mut lines = said.lines();
        let line = lines.find(|line| line.starts_with("Merge them"));
        line.unwrap_or(&said).to_owned()
    };
    let plain = "Merge them:      pi-subagents merge api fix-ui";
    assert_eq!(step(["api", "fix-ui"]), plain);
    let with_a_space = "Merge them:      pi-subagents merge <run-3> <run-4>";
    assert_eq!(step(["the api", "ui"]), with_a_space);
}

#[test]
fn a_model_merges_results_of_a_fleet_without_naming_them() {
    let fleet = FleetStage::with_git();
    always_in_the_fleet(&fleet);
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let mut client = McpClient::start(stage, "legacy", &["--runner", "pi", "--allow-merge"]);
    let mut asked = |id: &str, tool: &str, arguments: &Value| {
        client.call(id, tool, arguments);
        let answer = client.answer(id);
        answer["text"][0].as_str().unwrap_or_default().to_owned()
    };
    asked("begin", "delegate_to_subagents", &call(&tasks()[1..]));
    let check = asked("check", "merge_subagents", &json!({"check": true}));
    let merged = asked("merge", "merge_subagents", &json!({}));
    let again = asked("again", "merge_subagents", &json!({}));
    let project = stage.sandbox.project().display().to_string();
    let texts = [check, merged, again]
        .join("\n----\n")
        .replace(&project, "$PROJECT");
    insta::assert_snapshot!(texts, @"
          checkout  ui  docs
    ui    ✓         –   ✓
    docs  ✓         ✓   –

    All of it fits. merge_subagents without check merges it.
    ----
    ✓ ui: merged, 1 file +1 −1
    ✓ docs: merged, 1 file +1 −0

    What was merged is in $PROJECT as uncommitted changes. Look at it, and run the tests.
    ----
    no result waits to be merged
    ");
    assert_eq!(status(stage), " M readme.md\n?? docs.txt\n");
    client.leave();
}

#[test]
fn a_person_in_pi_merges_results_of_a_fleet() {
    let fleet = FleetStage::with_git();
    always_in_the_fleet(&fleet);
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let mut shim = Shim::start(stage);
    shim.session_start("startup", "pi-1", &[]);
    let id = shim.delegate("call-1", &tasks()[1..]);
    shim.result(id);
    // With the first result the extension registers the tools for results.
    let entries = shim.notifications("entry/append");
    let results = entries
        .iter()
        .filter(|entry| entry["customType"] == "pi-subagents:result");
    assert_eq!(results.count(), 2, "{entries:?}");
    let id = shim.execute("call-2", "merge_subagents", &json!({}));
    let answer = shim.result(id);
    let text = answer.to_string();
    assert!(
        text.contains("ui: merged, 1 file +1 −1") && text.contains("docs: merged"),
        "{text}"
    );
    assert_eq!(status(stage), " M readme.md\n?? docs.txt\n");
    shim.hang_up();
}
