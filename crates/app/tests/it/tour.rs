//! The tour of the main job: a project of its own, scripted sub-agents in worktrees, a gate, a
//! conflict, a merge and a receipt.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::process::wait_until_gone;
use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_mins(1);

/// A stage with a place for temporary files of its own.
struct TourStage(Stage);

impl TourStage {
    fn new() -> Self {
        let stage = Self(Stage::new());
        fs::create_dir(stage.temporary()).unwrap();
        stage
    }

    fn temporary(&self) -> PathBuf {
        self.0.sandbox.root().join("tmp")
    }

    /// The tour of a user without settings, without pi and without a name that git knows.
    fn tour(&self, arguments: &[&str]) -> SandboxCommand {
        self.0
            .command(&["tour"])
            .args(arguments)
            .env("TMPDIR", self.temporary())
            .env_remove("PI_SUBAGENTS_PI")
    }

    /// The directories of tours that are there.
    fn directories(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.temporary()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The tour with gates that never end. Each of them writes its process into a file.
    fn held(&self) -> SandboxCommand {
        let gates = self.gates();
        fs::create_dir_all(&gates).unwrap();
        let script = format!(
            "#!/bin/sh\necho $$ > {0}/$$.new; mv {0}/$$.new {0}/$$\nexec sleep 1000\n",
            gates.display()
        );
        let shell = self.0.sandbox.program("bin/sh", &script);
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", shell.parent().unwrap().display());
        self.tour(&[]).env("PATH", path)
    }

    fn gates(&self) -> PathBuf {
        self.0.sandbox.root().join("gates")
    }

    /// Waits until the gates of all three runs are at work, and returns their processes.
    fn wait_for_gates(&self) -> Vec<u32> {
        let processes = || {
            let entries = fs::read_dir(self.gates()).unwrap().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let processes: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
            (processes.len() == 3).then_some(processes)
        };
        wait_until(PATIENCE, processes).unwrap()
    }

    fn assert_nothing_is_left(&self) {
        assert_eq!(self.directories(), Vec::<PathBuf>::new());
        let status = self.0.command(&["status", "--all", "--json"]).run();
        assert_eq!(status.json()["counts"]["total"], 0);
    }
}

/// Leaves out the figures of a run, which differ from run to run.
fn without_figures(text: &str) -> String {
    let line = |line: &str| {
        let (words, _) = line.split_once(" • ").unwrap_or((line, ""));
        format!("{words}\n")
    };
    text.lines().map(line).collect()
}

#[test]
fn the_tour_shows_the_main_job_and_leaves_nothing() {
    let stage = TourStage::new();
    let output = stage.tour(&[]).run().expect_success();
    let text = stage.0.sandbox.normalise(&output.stdout);
    insta::assert_snapshot!(without_figures(&text));
    let progress = &output.stderr;
    let failed = progress.find("horn   gate failed (exit 1): sh check.sh");
    let passed = progress.find("horn   gate passed: sh check.sh");
    assert!(failed.is_some() && failed < passed, "{progress}");
    stage.assert_nothing_is_left();
    assert!(!stage.0.sandbox.project().join(".pi").exists());
}

#[test]
fn programs_get_the_runs_and_the_merge_of_the_tour() {
    let stage = TourStage::new();
    let output = stage.tour(&["--json", "--quiet"]).run().expect_success();
    let printed = output.json();
    assert_eq!(printed["project"], json!(null));
    let runs = printed["runs"].as_array().unwrap();
    let statuses: Vec<_> = runs.iter().map(|run| &run["status"]).collect();
    assert_eq!(statuses, ["completed"; 3]);
    assert_eq!(runs[1]["receipt"]["gate"]["attempts"], 2);
    let merged = printed["merge"]["results"].as_array().unwrap();
    let outcomes: Vec<_> = merged.iter().map(|one| &one["merged"]).collect();
    assert_eq!(outcomes, [true, true, false]);
    assert_eq!(merged[2]["conflicts"][0]["path"], "lamp.sh");
    stage.assert_nothing_is_left();
}

#[test]
fn a_tour_that_is_interrupted_leaves_nothing() {
    let stage = TourStage::new();
    for signal in [Signal::INT, Signal::TERM] {
        let tour = stage.held().spawn();
        let gates = stage.wait_for_gates();
        tour.kill(signal);
        let output = tour.wait();
        assert_eq!(wait_until_gone(&gates, Duration::ZERO), Ok(()));
        fs::remove_dir_all(stage.gates()).unwrap();
        assert_eq!(output.code, Some(128 + signal.as_raw()), "{output}");
        let last = "The project of the tour is removed, and nothing of it runs.\n";
        assert!(output.stderr.ends_with(last), "{output}");
        stage.assert_nothing_is_left();
    }
}

#[test]
fn a_tour_that_was_killed_is_removed_by_the_next_one() {
    let stage = TourStage::new();
    let tour = stage.held().spawn();
    let gates = stage.wait_for_gates();
    tour.kill(Signal::KILL);
    _ = tour.wait_for_exit();
    assert_eq!(wait_until_gone(&gates, PATIENCE), Ok(()));
    assert_eq!(stage.directories().len(), 1);
    _ = stage.tour(&["--quiet"]).run().expect_success();
    stage.assert_nothing_is_left();
}

#[test]
fn ctrl_c_in_live_windows_ends_the_tour() {
    let stage = TourStage::new();
    let terminal = Terminal::start(stage.held());
    let gates = stage.wait_for_gates();
    terminal.signal(Signal::INT);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(130), "{screen}");
    assert_eq!(wait_until_gone(&gates, Duration::ZERO), Ok(()));
    stage.assert_nothing_is_left();
}

#[test]
fn the_project_can_be_kept_and_its_conflict_resolved() {
    let stage = TourStage::new();
    let output = stage.tour(&["--keep", "--quiet"]).run().expect_success();
    let directories = stage.directories();
    let [directory] = directories.as_slice() else {
        panic!("{directories:?}");
    };
    let name = directory.file_name().unwrap().to_str().unwrap();
    let (_, end) = output.stdout.split_once("The project of the tour").unwrap();
    let end = end.replace(name, "TOUR");
    insta::assert_snapshot!(stage.0.sandbox.normalise(&end));
    let agent_dir = directory.join("home/.pi/agent");
    let ours = |arguments: &[&str]| {
        let command = stage.0.command(arguments);
        let command = command.env("PI_CODING_AGENT_DIR", &agent_dir);
        command.cwd(directory.join("lighthouse")).run()
    };
    _ = ours(&["merge", "glow", "--resolve"]).expect_success();
    _ = ours(&["merge", "glow"]).expect_success();
    let lamp = fs::read_to_string(directory.join("lighthouse/lamp.sh")).unwrap();
    assert_eq!(
        lamp,
        "# Lights the lamp.\necho \"glow and flash flash flash\"\n"
    );
    // The next tour removes only what nobody keeps.
    _ = stage.tour(&["--quiet"]).run().expect_success();
    assert_eq!(stage.directories(), directories);
}

#[test]
fn an_old_git_or_none_is_named_with_the_tour_that_needs_none() {
    let stage = TourStage::new();
    let sandbox = &stage.0.sandbox;
    let old = "#!/bin/sh\necho 'git version 2.39.5'\n";
    let old = sandbox.program("old/git", old);
    let old = stage.tour(&[]).env("PATH", old.parent().unwrap()).run();
    let none = stage.tour(&[]).env("PATH", "/nowhere").run();
    assert_eq!([old.code, none.code], [Some(1); 2]);
    insta::assert_snapshot!(format!("{}\n{}", old.stderr, none.stderr), @"
    error: the tour shows worktrees and merges, and git 2.39.5 is too old for this; it needs 2.43 or newer
    hint: pi-subagents tour --here shows running sub-agents without git.

    error: the tour shows worktrees and merges, and git is not installed, or not in PATH
    hint: pi-subagents tour --here shows running sub-agents without git.
    ");
    stage.assert_nothing_is_left();
}

/// A sub-agent that looks at the program plays the tour as a person does, and its run stays the only
/// one of the user.
#[test]
fn the_tour_works_inside_a_sub_agent() {
    let stage = TourStage::new();
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let script = json!({"rules": [{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {
            "command": format!("{program} tour --quiet | grep merged"), "timeout": 60,
        }}]},
        {"text": "{{lastToolResult}}"},
    ]}]});
    let sandbox = &stage.0.sandbox;
    sandbox.write("project/model.json", &script.to_string());
    let arguments = [
        "run",
        "--runner",
        "embedded",
        "--model",
        "scripted/model.json",
    ];
    let command = stage
        .0
        .command(&arguments)
        .args(["Play the tour", "--quiet"]);
    let output = command.env("TMPDIR", stage.temporary()).run();
    assert_eq!(
        output.expect_success().stdout.trim_end(),
        "4. What fits is merged into the checkout, the rest is left out\n\
         ✓ flash: merged, 1 file +1 −1\n\
         ✓ horn: merged, 1 file +3 −0\n\
         ✗ glow: not merged; conflicts with this checkout in lamp.sh:2"
    );
    let status = stage.0.command(&["status", "--all", "--json"]).run();
    assert_eq!(status.json()["counts"]["total"], 1);
}
